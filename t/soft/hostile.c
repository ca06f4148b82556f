/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/clock.h"
#include "core/roce.h"
#include "fabric/soft/rc/qp.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/*
 * Packets that no honest peer sends: whatever comes, nothing is written but
 * where a peer may write, every request completes once, and a connection made
 * afterwards works.
 */
#define SECOND (1000 * PIER__MS)
#define EDGE 65536		/* at both ends of the memory, not registered */
#define ROUNDS 1500

static struct softpair *pair;
static struct softpair_end *a, *b;
static uint64_t posted[2], completed[2];
static uint64_t hits;		/* hostile packets that reached a QP */

/* Register the middle alone. */
static void narrow(struct softpair_end *end)
{
	pier__soft_mr_remove(end->keys, &end->mr);
	end->mr.addr += EDGE;
	end->mr.len -= 2 * EDGE;
	pier__soft_mr_add(end->keys, &end->mr);
	memset(end->mem, 0x5a, EDGE);
	memset(end->mem + PAIR_MEM - EDGE, 0x5a, EDGE);
}

static bool edges_whole(const struct softpair_end *end)
{
	uint32_t i;

	for (i = 0; i < EDGE; i++)
		if (end->mem[i] != 0x5a ||
		    end->mem[PAIR_MEM - 1 - i] != 0x5a)
			return false;
	return true;
}

/* Change some bytes, or the length, and make the ICRC right again. */
static void mutate(struct vnet_packet *packet)
{
	struct vnet *net = &pair->net;
	struct soft_tx tx = { .src = packet->src, .dst = packet->dst };
	uint32_t n = 1 + vnet_random(net) % 3, at, len = packet->len - 4;

	if (vnet_chance(net, 0.2))
		len = 12 + vnet_random(net) % (SOFT_PACKET_MAX - 16) / 4 * 4;
	while (n--) {
		at = vnet_random(net) % (vnet_chance(net, 0.9) ? 44 : len);
		if (at < len && (at < 4 || at > 7))
			packet->data[at] = vnet_random(net);
	}
	if (vnet_chance(net, 0.3))
		packet->data[0] = vnet_random(net) % 0x18;
	if (vnet_chance(net, 0.5))
		packet->data[1] &= 0xf0;
	packet->data[2] = 0xff;
	packet->data[3] = 0xff;
	tx.hdr_len = 12;
	memcpy(tx.hdr, packet->data, 12);
	tx.payload_len = len - 12;
	tx.iov_count = 1;
	tx.iov[0].iov_base = packet->data + 12;
	tx.iov[0].iov_len = tx.payload_len;
	vnet_build(net, &tx, packet);
	hits++;
}

static bool meddle(const struct vnet_packet *packet, void *arg)
{
	struct vnet_packet *evil = arg;

	if (!vnet_chance(&pair->net, 0.1))
		return true;
	*evil = *packet;
	mutate(evil);
	vnet_deliver(&pair->net, evil);
	return vnet_chance(&pair->net, 0.5);
}

static void post_some(struct softpair_end *end, struct softpair_end *peer)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_CMP_AND_SWP,
	};
	enum ibv_wr_opcode opcode;
	uint32_t len, i;

	for (i = 0; i < 4; i++) {
		opcode = opcodes[vnet_random(&pair->net) % 7];
		len = vnet_random(&pair->net) % 10000;
		if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
		    opcode == IBV_WR_ATOMIC_CMP_AND_SWP)
			len = 8;
		if (!softpair_send(end, i, opcode, EDGE, len, peer, 2 * EDGE))
			posted[end == b]++;
		while (!softpair_recv(peer, 0, EDGE, 10000))
			;
	}
}

static void count(struct softpair_end *end)
{
	uint32_t i;

	end->wcs = 0;
	softpair_poll(end);
	for (i = 0; i < end->wcs; i++)
		completed[end == b] += end->wc[i].status != 0 ||
			!(end->wc[i].opcode & IBV_WC_RECV);
}

/* Both to error, so that all completes; then as new. */
static void again(void)
{
	struct softpair_end *end[2] = { a, b };
	int i;

	for (i = 0; i < 2; i++) {
		softpair_state(end[i]->qp, IBV_QPS_ERR);
		count(end[i]);
		softpair_state(end[i]->qp, IBV_QPS_RESET);
	}
	pair->opts.psn[0] = vnet_random(&pair->net) & 0xffffff;
	softpair_connect(pair, a->qp, b->qp);
}

/* Receives completed in error are counted too: not fewer than was posted. */
static void meddled_traffic_touches_only_what_it_may(void)
{
	struct softpair_opts opts = { .timeout = 8, .min_rnr_timer = 1 };
	struct vnet_packet *evil = malloc(sizeof(*evil));
	uint32_t round;

	for (opts.mtu = 256; evil && opts.mtu <= 4096; opts.mtu *= 4) {
		memset(posted, 0, sizeof(posted));
		memset(completed, 0, sizeof(completed));
		pair = softpair_open(&opts, opts.mtu);
		a = &pair->end[0];
		b = &pair->end[1];
		narrow(a);
		narrow(b);
		pair->net.tap = meddle;
		pair->net.tap_arg = evil;
		for (round = 0; round < ROUNDS / 4; round++) {
			post_some(a, b);
			post_some(b, a);
			vnet_run(&pair->net, SECOND, NULL, NULL);
			if (round % 4 == 3)
				again();
			count(a);
			count(b);
		}
		pair->net.tap = NULL;
		again();
		OK(completed[0] >= posted[0]);
		OK(completed[1] >= posted[1]);
		OK(edges_whole(a));
		OK(edges_whole(b));
		a->wcs = 0;
		IS(softpair_send(a, 1, IBV_WR_RDMA_WRITE, EDGE, 5000, b, EDGE),
		   0);
		OK(softpair_wait(pair, 0, 1, SECOND));
		IS(a->wc[0].status, IBV_WC_SUCCESS);
		softpair_close(pair);
	}
	OK(hits > 1000);
	free(evil);
}

/* Random headers for the QP of @end, with what a guesser may have right. */
static void shoot(struct vnet *net, struct softpair_end *end, int i)
{
	static uint8_t data[SOFT_MTU_MAX];
	struct soft_hdr hdr = {
		.opcode = vnet_random(net) % 0x18,
		.solicited = vnet_chance(net, 0.5),
		.ack_req = vnet_chance(net, 0.5),
		.pkey = ROCE_PKEY_DEFAULT,
		.qpn = end->qp->qpn,
		.psn = vnet_random(net) % 12 - 4,
		.va = vnet_random(net),
		.rkey = vnet_random(net),
		.dma_len = vnet_random(net) >> vnet_random(net) % 40,
		.swap_add = vnet_random(net),
		.compare = vnet_random(net),
		.syndrome = vnet_random(net),
		.msn = vnet_random(net),
		.imm = vnet_random(net),
	};
	uint32_t len = vnet_chance(net, 0.5) ? pair->opts.mtu
		: vnet_random(net) % (SOFT_MTU_MAX + 1);

	if (vnet_chance(net, 0.8))
		hdr.rkey = end->mr.mr.rkey;
	if (vnet_chance(net, 0.8))
		hdr.va = (uintptr_t)end->mem + EDGE +
			 vnet_random(net) % (PAIR_MEM - EDGE);
	softpair_inject(pair, i, &hdr, data, vnet_chance(net, 0.3) ? 0 : len);
}

static void shots_touch_only_what_they_may(void)
{
	uint32_t round, shot;

	pair = softpair_open(&(struct softpair_opts){ .mtu = 512 }, 7);
	a = &pair->end[0];
	b = &pair->end[1];
	narrow(a);
	narrow(b);
	for (round = 0; round < ROUNDS; round++) {
		post_some(a, b);
		for (shot = 0; shot < 6; shot++) {
			shoot(&pair->net, a, 0);
			shoot(&pair->net, b, 1);
		}
		vnet_run(&pair->net, SECOND, NULL, NULL);
		again();
		pair->opts.psn[0] = 0;
		softpair_state(a->qp, IBV_QPS_RESET);
		softpair_state(b->qp, IBV_QPS_RESET);
		softpair_connect(pair, a->qp, b->qp);
	}
	OK(edges_whole(a));
	OK(edges_whole(b));
	softpair_close(pair);
}

static void noise_is_dropped(void)
{
	struct vnet_packet *noise = calloc(1, sizeof(*noise));
	uint64_t *word = (uint64_t *)noise->data;
	uint32_t i, k;

	pair = softpair_open(&(struct softpair_opts){ 0 }, 9);
	a = &pair->end[0];
	b = &pair->end[1];
	noise->src = vnet_addr(a->io);
	noise->dst = vnet_addr(b->io);
	for (i = 0; i < 20000; i++) {
		noise->len = vnet_random(&pair->net) %
			     (i % 2 ? 64 : SOFT_PACKET_MAX);
		for (k = 0; k < noise->len / 8; k++)
			word[k] = vnet_random(&pair->net);
		noise->data[5] = b->qp->qpn >> 16;
		noise->data[6] = b->qp->qpn >> 8;
		noise->data[7] = b->qp->qpn;
		noise->data[0] %= 0x18;
		noise->data[1] &= 0xf0;
		noise->data[2] = 0xff;
		noise->data[3] = 0xff;
		vnet_deliver(&pair->net, noise);
		vnet_settle(&pair->net);
	}
	OK(b->ep->counters->bad_icrc > 1000);
	IS(b->ep->counters->rx_packets, 20000);
	IS(b->ep->counters->tx_packets, 0);
	IS(b->qp->state, IBV_QPS_RTS);
	softpair_close(pair);
	free(noise);
}

static bool enough(void *arg)
{
	(void)arg;
	return pair->net.sent > 2000;
}

/* The largest message, begun: no counter exceeds 32 bits on the way. */
static void two_gigabytes_are_a_message(enum ibv_wr_opcode opcode,
					const struct soft_mr *from)
{
	struct ibv_sge sge = { .addr = from->addr, .length = 1u << 31,
			       .lkey = from->mr.lkey };
	struct ibv_send_wr wr = { .opcode = opcode, .sg_list = &sge,
				  .num_sge = 1,
				  .send_flags = IBV_SEND_SIGNALED };

	wr.wr.rdma.remote_addr = b->mr.addr;
	wr.wr.rdma.rkey = b->mr.mr.rkey;
	pair->net.sent = 0;
	IS(softpair_post(a->qp, &wr), 0);
	OK(vnet_run(&pair->net, SECOND, enough, NULL));
	IS(b->ep->counters->naks_sent[1], 0);
	IS(a->ep->counters->resent, 0);
}

static void a_message_may_be_as_long_as_two_gigabytes(void)
{
	const size_t huge = (size_t)1 << 32;
	struct soft_mr mr = { .access = IBV_ACCESS_LOCAL_WRITE };
	struct softpair_end *end;
	void *map[2];
	int i;

	pair = softpair_open(&(struct softpair_opts){ .mtu = 256 }, 7);
	a = &pair->end[0];
	b = &pair->end[1];
	for (i = 0; i < 2; i++)
		map[i] = mmap(NULL, huge, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			      0);
	if (!OK(map[0] != MAP_FAILED && map[1] != MAP_FAILED))
		return;
	end = b;
	pier__soft_mr_remove(end->keys, &end->mr);
	end->mr.addr = (uintptr_t)map[1];
	end->mr.len = huge;
	IS(pier__soft_mr_add(end->keys, &end->mr), 0);
	mr.addr = (uintptr_t)map[0];
	mr.len = huge;
	IS(pier__soft_mr_add(a->keys, &mr), 0);

	memset(map[0], 1, 4096);
	two_gigabytes_are_a_message(IBV_WR_RDMA_WRITE, &mr);
	IS(*(uint8_t *)map[1], 1);
	again();
	((uint8_t *)map[1])[5] = 9;
	two_gigabytes_are_a_message(IBV_WR_RDMA_READ, &mr);
	IS(((uint8_t *)map[0])[5], 9);
	pier__soft_mr_remove(a->keys, &mr);
	softpair_close(pair);
	munmap(map[0], huge);
	munmap(map[1], huge);
}

/* IPv4 multicast, broadcast and 0.0.0.0 in a descriptor. */
static void a_peer_that_is_no_host_is_refused(void)
{
	static const char *const bad[] = {
		"::ffff:0.0.0.0", "::ffff:224.0.0.1", "::ffff:240.0.0.1",
		"::ffff:255.255.255.255", "::", "ff02::1",
	};
	struct soft_addr src;
	struct soft_qp *qp;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
		.dest_qp_num = 5, .max_dest_rd_atomic = 1,
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh = { .hop_limit = 64 } },
	};

	pair = softpair_open(&(struct softpair_opts){ 0 }, 1);
	src = vnet_addr(pair->end[0].io);
	qp = softpair_qp(&pair->end[0]);
	IS(softpair_init(qp, &pair->opts), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		inet_pton(AF_INET6, bad[i], &attr.ah_attr.grh.dgid);
		IS(pier__soft_qp_modify(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
					IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					IBV_QP_RQ_PSN | IBV_QP_MIN_RNR_TIMER |
					IBV_QP_MAX_DEST_RD_ATOMIC, &src, 4791),
		   -EINVAL);
		LIKE(pier_last_error(), bad[i]);
		LIKE(pier_last_error(), " is no address of a host");
	}
	IS(qp->state, IBV_QPS_INIT);
	pier__soft_qp_destroy(qp);
	softpair_close(pair);
}

int main(void)
{
	TEST(meddled_traffic_touches_only_what_it_may);
	TEST(shots_touch_only_what_they_may);
	TEST(noise_is_dropped);
	TEST(a_peer_that_is_no_host_is_refused);
	TEST(a_message_may_be_as_long_as_two_gigabytes);
	return tap_done();
}
