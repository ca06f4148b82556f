/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "core/clock.h"
#include "core/roce.h"
#include "fabric/soft/rc/qp.h"
#include "t/fuzz/cm.h"

/* The world around connection management: time, network, and checks. */
#define ANSWERS_MAX 3		/* packets for one that came: no amplifier */

static struct net *net_of(struct soft_io *io)
{
	return (struct net *)io;
}

static struct net *host_net(struct soft_cm_host *host)
{
	return pier__container_of(host, struct net, host);
}

static uint64_t net_now(struct soft_io *io)
{
	return net_of(io)->now;
}

/* What is sent is a message, to an address that has a part in this. */
static void check_sent(const struct net *net, const struct soft_tx *tx)
{
	uint8_t bytes[SOFT_HDR_MAX + SOFT_MAD_LEN + 4];
	struct soft_hdr hdr;
	struct soft_mad mad;

	MUST(tx->iov_count == 1 && tx->payload_len == SOFT_MAD_LEN);
	MUST(tx->iov[0].iov_len == SOFT_MAD_LEN && !tx->pad);
	memcpy(bytes, tx->hdr, tx->hdr_len);
	memcpy(bytes + tx->hdr_len, tx->iov[0].iov_base, SOFT_MAD_LEN);
	MUST(pier__soft_decode(bytes, tx->hdr_len + SOFT_MAD_LEN + 4u, &hdr) ==
	     tx->hdr_len);
	MUST(hdr.qpn == ROCE_GSI_QPN && hdr.opcode == SOFT_UD_SEND_ONLY);
	MUST(pier__soft_mad_decode(bytes + tx->hdr_len, SOFT_MAD_LEN, &mad));
	MUST(IN6_ARE_ADDR_EQUAL(&tx->src.ip, &net->here.ip));
	MUST(IN6_ARE_ADDR_EQUAL(&tx->dst.ip, &net->peer.ip) ||
	     IN6_ARE_ADDR_EQUAL(&tx->dst.ip, &net->other.ip));
	MUST(tx->dst.port);
	/* Who asks for nothing is asked for nothing. */
	MUST(mad.attr != SOFT_MAD_LAP && mad.attr != SOFT_MAD_APR &&
	     mad.attr != SOFT_MAD_SIDR_REQ);
}

static int net_send(struct soft_io *io, const struct soft_tx *tx, int count)
{
	struct net *net = net_of(io);
	int i;

	for (i = 0; i < count && net->budget; i++, net->budget--)
		check_sent(net, &tx[i]);
	net->sent += (uint32_t)i;
	return i;
}

static int net_recv(struct soft_io *io, struct soft_rx *rx, int max)
{
	(void)io;
	(void)rx;
	(void)max;
	return 0;
}

static const struct soft_io_ops io_ops = {
	.now = net_now,
	.send = net_send,
	.recv = net_recv,
};

static int host_gid(struct soft_cm_host *host, const struct in6_addr *ip)
{
	const struct net *net = host_net(host);

	return net->no_gid || !IN6_ARE_ADDR_EQUAL(ip, &net->here.ip) ? -1 : 1;
}

static bool host_roce_port(struct soft_cm_host *host, bool on)
{
	struct net *net = host_net(host);

	if (on && net->roce_port_taken)
		return false;
	net->roce_port_users += on ? 1 : -1;
	MUST(net->roce_port_users >= 0);
	return true;
}

static void host_notify(struct soft_cm_host *host)
{
	(void)host;
}

static const struct soft_cm_host_ops host_ops = {
	.gid = host_gid,
	.roce_port = host_roce_port,
	.notify = host_notify,
};

static void address(struct soft_addr *addr, bool v6, uint8_t last,
		    uint16_t port)
{
	memset(addr, 0, sizeof(*addr));
	if (v6)
		addr->ip.s6_addr[0] = 0xfd;
	else
		memset(&addr->ip.s6_addr[10], 0xff, 2);
	addr->ip.s6_addr[12] = 10;
	addr->ip.s6_addr[15] = last;
	addr->port = port;
}

void net_open(struct net *net, struct fuzz_in *in)
{
	struct ibv_qp_cap cap = { .max_send_wr = 4, .max_send_sge = 1 };
	uint32_t setup = fuzz_take(in, 1), i;

	memset(net, 0, sizeof(*net));
	fuzz_seed(1);
	net->io.ops = &io_ops;
	net->io.port = NET_PORT;
	net->host.ops = &host_ops;
	net->host.mtu = 2 + (setup >> 3 & 3);
	net->now = 1000 * PIER__MS;
	net->budget = UINT32_MAX;
	net->roce_port_taken = setup & 2;
	address(&net->here, setup & 1, 1, NET_PORT);
	address(&net->peer, setup & 1, 2, NET_PEER_PORT);
	address(&net->other, setup & 1, 3, NET_PEER_PORT);
	MUST(!pier__soft_mr_table_create(&net->keys));
	MUST(!pier__soft_ep_create(&net->io, net->keys, &net->ep));
	MUST(!pier__soft_cq_create(net->ep, 16, &net->cq));
	MUST(!pier__soft_srq_create(net->ep, 4, 1, &net->srq));
	MUST(!pier__soft_qp_create(net->cq, net->srq, &cap, &net->qp));
	MUST(!pier__soft_cm_create(net->ep, &net->host, &net->cm));
	for (i = 0; i < NET_LISTENERS; i++) {
		net->listener[i].listener.port = (uint16_t)(NET_SERVICE + i);
		net->listener[i].backlog = setup & 4 ? 1 : 8;
	}
	net->listener[1].ip = net->here.ip;
	net_listen(net, 0, true);
}

void net_receive(struct net *net, const struct soft_hdr *hdr,
		 const struct soft_rx *rx, const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len + !len);

	/* Of exactly its size, so that a byte too far is noticed. */
	if (!copy)
		abort();
	memcpy(copy, data, len);
	net->sent = 0;
	pier__soft_cm_receive(&net->cm->gsi, hdr, rx, copy, len);
	MUST(net->sent <= ANSWERS_MAX);
	free(copy);
}

void net_wait(struct net *net, uint64_t ns)
{
	uint64_t end = net->now + ns, due;
	int i;

	for (i = 0; i < 20000; i++) {
		due = pier__soft_cm_deadline(&net->cm->gsi);
		if (due > end)
			break;
		net->now = due > net->now ? due : net->now;
		MUST(pier__soft_cm_timers(&net->cm->gsi));
	}
	MUST(i < 20000);
	net->now = end;
}

/* Who waits for an answer has a timer, and who has none is the program's. */
static void check_conn(const struct soft_cm_conn *conn)
{
	bool timed = conn->timer.at;

	MUST(!conn->id || conn->id->conn == conn);
	switch (conn->state) {
	case SOFT_CM_REQ_SENT:
	case SOFT_CM_REP_SENT:
		MUST(timed && conn->handshake && conn->id);
		break;
	case SOFT_CM_IDLE:
	case SOFT_CM_REQ_RCVD:
	case SOFT_CM_REP_RCVD:
		MUST(!timed && conn->handshake && conn->id);
		break;
	case SOFT_CM_ESTABLISHED:
		MUST(!timed && !conn->handshake && conn->id);
		break;
	case SOFT_CM_DREQ_SENT:
		MUST(timed && !conn->handshake);
		break;
	case SOFT_CM_TIMEWAIT:
		MUST(timed && !conn->id);
		break;
	default:
		MUST(false);
	}
}

/* How many requests are not reported to @listener yet. */
static uint32_t untold(const struct soft_cm *cm,
		       const struct soft_cm_listener *listener)
{
	const struct pier__list *pos;
	uint32_t n = 0;

	for (pos = cm->events.next; pos != &cm->events; pos = pos->next)
		n += pier__container_of(pos, const struct soft_cm_id,
					link)->listener == listener;
	return n;
}

void net_check(struct net *net)
{
	const struct soft_cm *cm = net->cm;
	const struct pier__hash *all = &cm->table[SOFT_CM_BY_LOCAL];
	struct pier__hash_link *link;
	uint32_t i, count = 0;

	for (i = 0; i <= all->mask; i++) {
		for (link = all->chains[i]; link; link = link->next, count++)
			check_conn(pier__container_of(
				link, struct soft_cm_conn,
				link[SOFT_CM_BY_LOCAL]));
	}
	MUST(count == pier__soft_cm_count(cm));
	MUST(cm->timers.len <= count + 1);
	MUST(cm->timewait_count <= SOFT_CM_TIMEWAIT_MAX);
	for (i = 0; i < NET_LISTENERS; i++) {
		if (!net->listening[i])
			continue;
		MUST(net->listener[i].waiting == untold(cm, &net->listener[i]));
		MUST(net->listener[i].waiting <= net->listener[i].backlog);
	}
}

void net_close(struct net *net)
{
	unsigned int i;

	net->budget = UINT32_MAX;
	net_events(net, 1000);
	for (i = 0; i < NET_ENDS; i++)
		net_release(&net->end[i]);
	for (i = 0; i < NET_LISTENERS; i++)
		net_listen(net, i, false);
	net_check(net);
	net_wait(net, 600 * 1000 * PIER__MS);
	MUST(!pier__soft_cm_count(net->cm));
	MUST(!net->roce_port_users && !net->cm->timewait_count);
	MUST(!net->cm->timers.len && pier__list_empty(&net->cm->events));
	pier__soft_cm_destroy(net->cm);
	pier__soft_qp_destroy(net->qp);
	pier__soft_srq_destroy(net->srq);
	pier__soft_cq_destroy(net->cq);
	pier__soft_ep_destroy(net->ep);
	pier__soft_mr_table_destroy(net->keys);
}
