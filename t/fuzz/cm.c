/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "core/roce.h"
#include "t/fuzz/cm.h"

/*
 * Connection management of a soft endpoint.  Input: a byte of setup, then
 * steps, each a byte and what belongs to it.  Most are messages of peers that
 * have found out what they can: IDs, addresses and QPNs are those of one of
 * the program's connections, unless a bit is set.
 */
enum message_flags {
	RAW_IDS = 1 << 0,
	RAW_GUID = 1 << 1,
	RAW_QPN = 1 << 2,
	RAW_ADDRESSES = 1 << 3,
	RAW_SERVICE = 1 << 4,
	OTHER_SOURCE = 1 << 5,
	LINUX = 1 << 6,		/* a peer of port 4791 */
	SAME = 1 << 7,		/* REQ: of a connection that there is */
};

#define HEADER_LEN 24
#define BODY_MAX (SOFT_MAD_LEN - HEADER_LEN)
#define LINUX_GUID UINT64_C(0x505400fffe123456)

static uint64_t guid_of(uint32_t flags)
{
	if (flags & LINUX)
		return LINUX_GUID;
	return SOFT_CM_PREFIX << 48 | (uint64_t)NET_PEER_PORT << 32 | 1;
}

/* A REQ's: who asks, whom, and for what. */
static void aim_req(const struct net *net, const struct soft_rx *rx,
		    struct soft_mad *mad, uint8_t *data, uint32_t flags,
		    uint32_t which)
{
	struct soft_mad_ip ip = { .src = rx->src.ip, .dst = rx->dst.ip,
				  .src_port = 1 };

	if (!(flags & RAW_ADDRESSES)) {
		memcpy(mad->primary.local_gid, &rx->src.ip, 16);
		memcpy(mad->primary.remote_gid, &rx->dst.ip, 16);
		pier__soft_mad_ip_encode(&ip, data);
	}
	if (!(flags & RAW_SERVICE)) {
		mad->service_id = UINT64_C(0x0106) << 16 |
				  (NET_SERVICE + which % NET_LISTENERS);
		mad->transport = mad->ext_transport = 0;
		if (!mad->mtu || mad->mtu > net->host.mtu)
			mad->mtu = net->host.mtu;
	}
}

static void aim(const struct net *net, const struct soft_rx *rx,
		struct soft_mad *mad, uint8_t *data, uint32_t flags,
		uint32_t which)
{
	const struct net_end *end = &net->end[which % NET_ENDS];
	bool again = mad->attr != SOFT_MAD_REQ || flags & SAME;
	int i;

	if (!(flags & RAW_IDS)) {
		mad->remote_id = end->local_id;
		mad->local_id = again && end->remote_id ? end->remote_id :
							  1000 + which;
		mad->tid = again ? end->tid : which;
	}
	if (!(flags & RAW_GUID)) {
		mad->guid = flags & SAME && end->guid ? end->guid :
							guid_of(flags);
		for (i = 0; mad->attr == SOFT_MAD_REJ && i < 8; i++)
			mad->info[i] = (uint8_t)(mad->guid >> (56 - 8 * i));
	}
	if (!(flags & RAW_QPN))
		mad->qpn = mad->attr == SOFT_MAD_DREQ ? end->qpn : 64 + which;
	if (mad->attr == SOFT_MAD_REQ)
		aim_req(net, rx, mad, data, flags, which);
}

static uint32_t take_bytes(struct fuzz_in *in, uint8_t *ret, uint32_t len)
{
	if (len > in->left)
		len = (uint32_t)in->left;
	memcpy(ret, in->data, len);
	in->data += len;
	in->left -= len;
	return len;
}

static const struct soft_hdr for_qp1 = {
	.opcode = SOFT_UD_SEND_ONLY,
	.pkey = ROCE_PKEY_DEFAULT,
	.qpn = ROCE_GSI_QPN,
	.src_qpn = ROCE_GSI_QPN,
	.qkey = ROCE_GSI_QKEY,
};

static void message(struct net *net, struct fuzz_in *in)
{
	uint32_t flags = fuzz_take(in, 1), which = fuzz_take(in, 1);
	uint32_t attr = SOFT_MAD_REQ + fuzz_take(in, 1) % 11;
	uint32_t len = fuzz_take(in, 1) % (BODY_MAX + 1);
	uint8_t bytes[SOFT_MAD_LEN] = { 1, 7, 2, 3 };
	uint8_t data[SOFT_MAD_DATA_MAX];
	struct soft_rx rx = { .src = net->peer, .dst = net->here };
	struct soft_mad mad;

	bytes[17] = (uint8_t)attr;
	take_bytes(in, bytes + HEADER_LEN, len);
	MUST(pier__soft_mad_decode(bytes, sizeof(bytes), &mad));
	if (flags & OTHER_SOURCE)
		rx.src = net->other;
	rx.dst.port = flags & LINUX ? ROCE_UDP_PORT : NET_SERVICE;
	memcpy(data, mad.data, mad.len);
	mad.data = data;
	aim(net, &rx, &mad, data, flags, which);
	pier__soft_mad_encode(&mad, bytes);
	net_receive(net, &for_qp1, &rx, bytes, sizeof(bytes));
}

/* Bytes as they are, from any address. */
static void raw(struct net *net, struct fuzz_in *in)
{
	uint32_t flags = fuzz_take(in, 1), len = fuzz_take(in, 2) % 300;
	uint8_t bytes[300] = { 0 };
	struct soft_rx rx = { .src = net->peer, .dst = net->here };
	struct soft_hdr hdr = for_qp1;

	if (flags & 1)
		hdr.opcode = (uint8_t)fuzz_take(in, 1);
	if (flags & 2)
		hdr.qkey = fuzz_take(in, 4);
	if (flags & 4)
		hdr.src_qpn = fuzz_take(in, 3);
	if (flags & 8)
		hdr.pkey = (uint16_t)fuzz_take(in, 2);
	take_bytes(in, bytes, len);
	net_receive(net, &hdr, &rx, bytes, flags & 16 ? len : SOFT_MAD_LEN);
}

static void data(struct net *net, struct fuzz_in *in)
{
	uint32_t which = fuzz_take(in, 1);
	enum soft_shown shown = (enum soft_shown)(which / NET_ENDS % 4);

	pier__soft_cm_data(&net->cm->gsi, net->end[which % NET_ENDS].local_id,
			   shown);
}

/* Once this, once that. */
static void toggle(struct net *net, struct fuzz_in *in)
{
	uint32_t what = fuzz_take(in, 1);

	switch (what % 5) {
	case 0:
		net->no_gid = !net->no_gid;
		break;
	case 1:
		net->roce_port_taken = !net->roce_port_taken;
		break;
	case 2:
		net->budget = net->budget == UINT32_MAX ? what >> 4 :
							  UINT32_MAX;
		break;
	default:
		net_listen(net, what & 1, !net->listening[what & 1]);
	}
}

static void program(struct net *net, struct fuzz_in *in, uint32_t what)
{
	struct net_end *end = &net->end[fuzz_take(in, 1) % NET_ENDS];

	switch (what) {
	case 0:
		net_accept(net, end, fuzz_take(in, 1));
		break;
	case 1:
		net_reject(end, fuzz_take(in, 1));
		break;
	case 2:
		net_establish(net, end);
		break;
	case 3:
		net_disconnect(end);
		break;
	default:
		net_release(end);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_in in = { bytes, size };
	static struct net net;
	uint32_t step;

	net_open(&net, &in);
	while (in.left) {
		step = fuzz_take(&in, 1) % 24;
		if (step < 5)
			program(&net, &in, step);
		else if (step == 5)
			net_connect(&net, fuzz_take(&in, 1) % 64);
		else if (step == 6)
			net_wait(&net, 1000ull << fuzz_take(&in, 1) % 28);
		else if (step == 7)
			toggle(&net, &in);
		else if (step == 8)
			raw(&net, &in);
		else if (step == 9)
			data(&net, &in);
		else if (step < 14)
			net_events(&net, step == 10 ? 1 : 1000);
		else
			message(&net, &in);
		net_check(&net);
	}
	net_close(&net);
	return 0;
}
