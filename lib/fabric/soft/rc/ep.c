/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints: rounds of receive, timers and send; packets given to their QPs. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "core/clock.h"
#include "core/fail.h"
#include "core/landing.h"
#include "core/roce.h"
#include "fabric/soft/rc/qp.h"
#include "fabric/soft/rc/qpn.h"
#include "fabric/soft/rc/tx.h"

#define RECEIVE_BATCHES 4	/* in one round */
#define MANY_PACKETS 8
#define IDLE_POLLS 1024		/* empty receives: the socket is idle */
#define IDLE_ROUNDS 32		/* an idle one is read once in so many, */
#define IDLE_NS 20000		/* or after this time if that is longer */
#define CLOCK_ROUNDS 4		/* without packets: read the clock; */
#define BRISK_NS 1000		/* they are short ones: at most */

int pier__soft_ep_create(struct soft_io *io, struct soft_mr_table *keys,
			 struct soft_ep **ret)
{
	struct soft_ep *ep = calloc(1, sizeof(*ep));

	if (!ep)
		return pier__fail(-ENOMEM, "no memory for an endpoint");
	ep->io = io;
	pier__soft_ep_add_io(ep, io);
	ep->keys = keys;
	ep->counters = &ep->own;
	pthread_mutex_init(&ep->owner, NULL);
	pier__list_init(&ep->windows);
	pier__list_init(&ep->groups);
	pier__list_init(&ep->wqe_chunks);
	pier__hash_init(&ep->qps);
	pier__hash_init(&ep->cwnds);
	pier__list_init(&ep->ready);
	pier__list_init(&ep->replying);
	pier__list_init(&ep->coalesced);
	ep->user.lock = &ep->owner;
	pier__soft_mr_join(keys, &ep->user);
	ep->parts = malloc(SOFT_PARTS * sizeof(*ep->parts));
	if (!ep->parts || pier__soft_board_reserve(ep)) {
		pier__soft_ep_destroy(ep);
		return pier__fail(-ENOMEM, "no memory for an endpoint");
	}
	*ret = ep;
	return 0;
}

void pier__soft_ep_for_verbs(struct soft_ep *ep)
{
	ep->verbs = true;
	pier__landing_install();
}

void pier__soft_ep_add_io(struct soft_ep *ep, struct soft_io *io)
{
	ep->rx_io[ep->rx_io_count++] = (struct soft_rx_io){ .io = io };
}

void pier__soft_ep_remove_io(struct soft_ep *ep, struct soft_io *io)
{
	int i = 0;

	while (i < ep->rx_io_count && ep->rx_io[i].io != io)
		i++;
	if (i < ep->rx_io_count)
		ep->rx_io[i] = ep->rx_io[--ep->rx_io_count];
	ep->rx_io_last = 0;
}

void pier__soft_ep_destroy(struct soft_ep *ep)
{
	if (!ep)
		return;
	pier__soft_mr_leave(ep->keys, &ep->user);
	pier__soft_wqe_free_all(ep);
	pier__soft_board_free_all(ep);
	free(ep->parts);
	pier__hash_fini(&ep->cwnds);
	pier__hash_fini(&ep->qps);
	pier__soft_heap_fini(&ep->timers);
	pthread_mutex_destroy(&ep->owner);
	free(ep);
}

void pier__soft_ep_enter(struct soft_ep *ep)
{
	pthread_mutex_lock(&ep->owner);
}

void pier__soft_ep_enter_helper(struct soft_ep *ep)
{
	atomic_fetch_add(&ep->user.waiters, 1);
	pthread_mutex_lock(&ep->owner);
	atomic_fetch_sub(&ep->user.waiters, 1);
}

bool pier__soft_ep_try_enter(struct soft_ep *ep)
{
	return !pthread_mutex_trylock(&ep->owner);
}

void pier__soft_ep_leave(struct soft_ep *ep)
{
	pthread_mutex_unlock(&ep->owner);
	/* A thread beside the program's waits for this lock once. */
	if (atomic_load_explicit(&ep->user.waiters, memory_order_relaxed))
		sched_yield();
}

static bool is_response(uint8_t opcode)
{
	return opcode >= SOFT_READ_FIRST && opcode <= SOFT_ATOMIC_ACK;
}

static bool is_from_peer(const struct soft_qp *qp, const struct soft_rx *rx)
{
	if (rx->via)
		return rx->via == qp->io;
	return IN6_ARE_ADDR_EQUAL(&rx->src.ip, &qp->cwnd->addr.ip) &&
	       IN6_ARE_ADDR_EQUAL(&rx->dst.ip, &qp->src.ip);
}

/* Sends, writes, and results of reads. */
static bool may_be_several(uint8_t opcode)
{
	return opcode < SOFT_READ_REQUEST || opcode == SOFT_SEND_LAST_INV ||
	       opcode == SOFT_SEND_ONLY_INV ||
	       pier__soft_is_read_response(opcode);
}

/* Is the packet valid for @qp?  Every check but that of the ICRC. */
static bool qp_takes(const struct soft_qp *qp, const struct soft_hdr *hdr,
		     const struct soft_rx *rx)
{
	switch (qp->state) {
	case IBV_QPS_RTR:
		if (is_response(hdr->opcode))
			return false;
		break;
	case IBV_QPS_RTS:
	case IBV_QPS_SQD:
		break;
	default:
		return false;
	}
	if ((rx->pull || rx->joined) && !may_be_several(hdr->opcode))
		return false;
	return (hdr->opcode >> 5 == 0 || hdr->opcode == SOFT_CNP) &&
	       pier__roce_pkey_is_default(hdr->pkey) && is_from_peer(qp, rx);
}

static bool icrc_ok(struct soft_qp *qp, const struct soft_rx *rx)
{
	bool roce = qp->cwnd->addr.port == ROCE_UDP_PORT;

	if (rx->via)
		return true;
	return pier__soft_icrc_fits(&qp->ep->fronts, rx,
				    roce ? UINT16_MAX : SOFT_ID_MAX);
}

/* No packet that is of an earlier connection, or follows a lost one. */
static enum soft_shown shown_by(const struct soft_qp *qp,
				const struct soft_hdr *hdr)
{
	const struct soft_req *req = &qp->req;
	uint64_t probe = req->una - 1;
	uint32_t ahead;

	if (!is_response(hdr->opcode))
		return hdr->psn == (qp->resp.epsn & SOFT_PSN_MASK) ?
		       SOFT_SHOWN_REQUEST : SOFT_SHOWN_NOTHING;
	ahead = (hdr->psn - probe) & SOFT_PSN_MASK;
	if (!ahead)
		return SOFT_SHOWN_QP;
	return ahead <= req->nxt - req->una ? SOFT_SHOWN_RESPONSE :
					      SOFT_SHOWN_NOTHING;
}

/* A packet that shows that the peer is connected; it may overtake its RTU. */
static void qp_report(struct soft_qp *qp, const struct soft_hdr *hdr)
{
	struct soft_gsi *gsi = qp->ep->gsi;
	enum soft_shown shown = shown_by(qp, hdr);

	if (shown == SOFT_SHOWN_NOTHING)
		return;
	if (!gsi || gsi->ops->data(gsi, qp->cm_id, shown))
		qp->cm_id = 0;
}

/* A packet for QP 1, from a soft peer or a RoCE device. */
static void ep_management(struct soft_ep *ep, const struct soft_hdr *hdr,
			  size_t hdr_len, const struct soft_rx *rx)
{
	if (!ep->gsi)
		pier__soft_add(ep->counters, SOFT_COUNTER(dropped), 1);
	else if (!pier__soft_icrc_ok(rx, UINT16_MAX))
		pier__soft_add(ep->counters, SOFT_COUNTER(bad_icrc), 1);
	else
		ep->gsi->ops->receive(ep->gsi, hdr, rx, rx->data + hdr_len,
				      rx->len - hdr_len - hdr->pad - 4);
}

static void read_clock(struct soft_ep *ep)
{
	ep->now = ep->io->ops->now(ep->io);
	ep->clock_read = true;
}

void pier__soft_ep_look(struct soft_ep *ep)
{
	if (!ep->clock_read && !ep->brisk)
		read_clock(ep);
}

/* How many send to the peer of @qp, and how many to us. */
static void note_senders(struct soft_qp *qp, const struct soft_packet *in)
{
	uint8_t senders = qp->selective ? in->hdr.senders : 0;

	if (senders != qp->cwnd->senders)
		pier__soft_incast_report(qp->ep, qp->cwnd, senders);
	if (in->len == qp->mtu || in->hdr.opcode == SOFT_READ_REQUEST)
		pier__soft_incast_count(qp, in->hdr.opcode);
}

/* Packets that are joined are longer than one. */
static size_t decode(const struct soft_rx *rx, struct soft_hdr *hdr)
{
	size_t len = rx->len;

	if (rx->joined && len > SOFT_PACKET_MAX)
		len = SOFT_PACKET_MAX;
	return pier__soft_decode(rx->front ? rx->front : rx->data, len, hdr);
}

static void set_payload(struct soft_packet *in, const struct soft_rx *rx,
			size_t hdr_len, uint32_t mtu)
{
	in->data = rx->data + hdr_len;
	in->pull = rx->pull;
	in->len = rx->len - hdr_len - in->hdr.pad - 4;
	in->packets = 1;
	if (rx->pull)
		in->len = rx->pull->len;
	if ((rx->pull || rx->joined) && in->len)
		in->packets = mtu ? (in->len - 1) / mtu + 1 : 1;
}

void pier__soft_ep_packet(struct soft_ep *ep, const struct soft_rx *rx)
{
	struct soft_packet in;
	struct soft_qp *qp;
	size_t hdr_len, bytes = rx->len + (rx->pull ? rx->pull->len : 0);

	pier__soft_add(ep->counters, SOFT_COUNTER(rx_packets), 1);
	pier__soft_add(ep->counters, SOFT_COUNTER(rx_bytes), bytes);
	hdr_len = decode(rx, &in.hdr);
	if (hdr_len && in.hdr.qpn == ROCE_GSI_QPN && !rx->via) {
		ep_management(ep, &in.hdr, hdr_len, rx);
		return;
	}
	if (hdr_len && in.hdr.qpn == SOFT_QPN_GROUP && !rx->via) {
		in.data = rx->data + hdr_len;
		in.len = rx->len - hdr_len - in.hdr.pad - 4;
		pier__soft_group_receive(ep, &in, rx);
		return;
	}
	qp = hdr_len ? pier__soft_table_find(ep, in.hdr.qpn) : NULL;
	if (!qp) {
		pier__soft_add(ep->counters, SOFT_COUNTER(dropped), 1);
		return;
	}
	pier__soft_add(qp->counters, SOFT_COUNTER(rx_packets), 1);
	pier__soft_add(qp->counters, SOFT_COUNTER(rx_bytes), bytes);
	set_payload(&in, rx, hdr_len, qp->mtu);
	if (qp->ud && !rx->via) {
		pier__soft_ud_receive(qp, &in, rx);
		return;
	}
	if (!qp_takes(qp, &in.hdr, rx)) {
		pier__soft_count(qp, SOFT_COUNTER(dropped));
		return;
	}
	if (!icrc_ok(qp, rx)) {
		pier__soft_count(qp, SOFT_COUNTER(bad_icrc));
		return;
	}
	if (in.hdr.opcode == SOFT_CNP) {
		pier__soft_cnp_receive(qp);
		return;
	}
	if (qp->cm_id)
		qp_report(qp, &in.hdr);
	note_senders(qp, &in);
	if (rx->marked)
		pier__soft_cnp_marked(qp, &in);
	if (!is_response(in.hdr.opcode)) {
		pier__soft_resp_receive(qp, &in);
		return;
	}
	if (!ep->clock_read)
		read_clock(ep);
	pier__soft_req_receive(qp, &in);
}

/* Were the last rounds short ones? */
static void read_clock_of_round(struct soft_ep *ep)
{
	read_clock(ep);
	ep->brisk = ep->now - ep->round_at <= BRISK_NS;
	ep->round_at = ep->now;
}

static int receive_some(struct soft_ep *ep, struct soft_io *io)
{
	int n, i;

	if (io->ops->deliver)
		return io->ops->deliver(io, SOFT_BATCH);
	n = io->ops->recv(io, ep->rx, SOFT_BATCH);
	if (n > 0 && !ep->clock_read)
		read_clock(ep);
	for (i = 0; i < n; i++)
		pier__soft_ep_packet(ep, &ep->rx[i]);
	return n;
}

/*
 * After many packets receive a few times more at once: one ACK is then for all
 * of them.
 */
static int ep_receive(struct soft_ep *ep, struct soft_io *io)
{
	int done = 0, batch, n;

	for (batch = 0; batch < RECEIVE_BATCHES; batch++) {
		n = receive_some(ep, io);
		if (n > 0)
			done += n;
		if (n < MANY_PACKETS)
			break;
	}
	return done;
}

/*
 * Is io @i read in this round?  The clock may be some rounds old: those of a
 * program that polls are short, and a system call is as long as many of them.
 */
static bool is_due(const struct soft_ep *ep, int i)
{
	const struct soft_rx_io *rx_io = &ep->rx_io[i];

	return rx_io->io->shared || i == ep->rx_io_last ||
	       rx_io->idle_polls < IDLE_POLLS ||
	       ((ep->rounds + (unsigned int)i) % IDLE_ROUNDS == 0 &&
		ep->now - rx_io->read_at >= IDLE_NS);
}

int pier__soft_ep_receive(struct soft_ep *ep, bool all)
{
	int done = 0, n, i;

	ep->clock_read = false;
	if (++ep->rounds % CLOCK_ROUNDS == 0 || all)
		read_clock_of_round(ep);
	for (i = 0; i < ep->rx_io_count; i++) {
		if (!all && !is_due(ep, i))
			continue;
		n = ep_receive(ep, ep->rx_io[i].io);
		ep->rx_io[i].read_at = ep->now;
		ep->rx_io[i].idle_polls = n ? 0 : ep->rx_io[i].idle_polls + 1;
		if (n)
			ep->rx_io_last = i;
		done += n;
	}
	if (!ep->clock_read)
		return done;
	done += pier__soft_timer_run(ep);
	if (ep->gsi)
		done += ep->gsi->ops->timers(ep->gsi);
	return done;
}

bool pier__soft_ep_has_any(const struct soft_ep *ep, bool replies)
{
	return !pier__list_empty(&ep->ready) ||
	       (replies && (!pier__list_empty(&ep->coalesced) ||
			    pier__soft_ep_replies_pending(ep)));
}

int pier__soft_ep_send(struct soft_ep *ep)
{
	if (!pier__soft_ep_has_any(ep, true))
		return 0;
	if (!ep->clock_read)
		read_clock(ep);
	pier__soft_ack_coalesce_run(ep, false);
	return pier__soft_tx_run(ep, true);
}

int pier__soft_ep_send_held(struct soft_ep *ep)
{
	if (pier__soft_ep_replies_pending(ep) && !ep->clock_read)
		read_clock(ep);
	pier__soft_ack_coalesce_hold(ep);
	return pier__soft_ep_send(ep);
}

int pier__soft_ep_send_all(struct soft_ep *ep)
{
	read_clock(ep);
	pier__soft_ack_coalesce_run(ep, true);
	return pier__soft_tx_run(ep, true);
}

int pier__soft_ep_send_posted(struct soft_ep *ep, bool replies)
{
	if (!pier__soft_ep_has_any(ep, replies))
		return 0;
	read_clock(ep);
	if (replies)
		pier__soft_ack_coalesce_run(ep, false);
	return pier__soft_tx_run(ep, replies);
}

bool pier__soft_ep_replies_pending(const struct soft_ep *ep)
{
	return !pier__list_empty(&ep->replying);
}

int pier__soft_ep_drive(struct soft_ep *ep)
{
	int done = pier__soft_ep_receive(ep, true);

	return done + pier__soft_ep_send_all(ep);
}

uint64_t pier__soft_ep_deadline(const struct soft_ep *ep)
{
	uint64_t due = pier__soft_heap_due(&ep->timers);
	uint64_t cm = ep->gsi ? ep->gsi->ops->deadline(ep->gsi) : PIER__NEVER;
	uint64_t acks = pier__soft_ack_coalesce_due(ep), io;
	int i;

	for (i = 0; i < ep->rx_io_count; i++) {
		io = ep->rx_io[i].io->due;
		if (io && io < due)
			due = io;
	}
	if (cm < due)
		due = cm;
	if (acks < due)
		due = acks;
	if (pier__list_empty(&ep->ready) && pier__list_empty(&ep->replying))
		return due;
	/* There are packets to send, at once or when the socket has space. */
	return ep->send_at < due ? ep->send_at : due;
}

void pier__soft_ep_count_in(struct soft_ep *ep, struct soft_counters *counters)
{
	ep->counters = counters;
}
