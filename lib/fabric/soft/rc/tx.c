/* SPDX-License-Identifier: BSD-2-Clause */
/* The batch of packets to send: which QP sends next, and how many packets. */
#include <errno.h>

#include "core/landing.h"
#include "core/probe.h"
#include "core/roce.h"
#include "fabric/soft/rc/tx.h"

#define BATCHES 2	/* in one round */

struct soft_tx *pier__soft_tx_next(struct soft_qp *qp,
				   const struct soft_tx_note *note)
{
	struct soft_ep *ep = qp->ep;
	struct soft_tx *tx = &ep->tx[ep->tx_count];

	ep->note[ep->tx_count] = *note;
	tx->src = qp->src;
	tx->dst = qp->cwnd->addr;
	tx->tclass = qp->tclass;
	tx->hop_limit = qp->hop_limit;
	tx->pull = false;
	tx->joined = false;
	tx->payload_len = 0;
	tx->iov_count = 0;
	return tx;
}

uint32_t pier__soft_tx_packets(const struct soft_qp *qp, uint32_t n,
			       uint32_t len, bool may_pull)
{
	const struct soft_io *io = qp->io;
	uint32_t most = SOFT_JOIN_MAX / qp->mtu, withdrawn;

	if (!io->shared)
		return 1;
	if (may_pull && len >= SOFT_PULL_MIN && io->ops->pulls &&
	    io->ops->pulls(io, &withdrawn))
		most = SOFT_PULL_MAX / qp->mtu;
	return n < most ? n : most;
}

/*
 * Built before a failure, it is sent with what was before that.  A peer that
 * does not read any more has it sent again.
 */
void pier__soft_tx_several(const struct soft_qp *qp, struct soft_tx *tx,
			   uint32_t packets)
{
	tx->pull = packets > SOFT_JOIN_MAX / qp->mtu;
	tx->joined = packets > 1 && !tx->pull;
	if (tx->pull)
		qp->io->ops->pulls(qp->io, &tx->withdrawn);
}

void pier__soft_tx_commit(struct soft_qp *qp, struct soft_hdr *hdr)
{
	struct soft_tx *tx = &qp->ep->tx[qp->ep->tx_count++];

	tx->pad = tx->pull ? 0 : -tx->payload_len & 3;
	hdr->pad = tx->pad;
	hdr->pkey = ROCE_PKEY_DEFAULT;
	hdr->qpn = qp->dest_qpn;
	hdr->selective = qp->selective;
	hdr->senders = qp->selective ? qp->ep->senders.reported : 0;
	tx->hdr_len = pier__soft_encode(hdr, tx->hdr);
}

static void tx_undo(const struct soft_tx_note *note)
{
	if (note->wqe)
		pier__soft_req_undo(note->qp, note);
	else
		pier__soft_reply_undo(note->qp, note);
}

static void tx_count(const struct soft_tx_note *note, const struct soft_tx *tx)
{
	struct soft_qp *qp = note->qp;
	size_t len = tx->hdr_len + tx->payload_len + tx->pad + 4;

	pier__soft_count(qp, SOFT_COUNTER(tx_packets));
	pier__soft_add(qp->counters, SOFT_COUNTER(tx_bytes), len);
	pier__soft_add(qp->ep->counters, SOFT_COUNTER(tx_bytes), len);
	if (qp->io->shared)
		pier__soft_count(qp, SOFT_COUNTER(shm_sent));
	if (note->retransmit) {
		pier__probe_retransmission(qp->qpn, note->seq & SOFT_PSN_MASK);
		pier__soft_count(qp, SOFT_COUNTER(resent));
		pier__soft_ep_note(qp->ep, qp->qpn, SOFT_EVENT_RESENT, 0,
				   note->seq);
	}
	if (note->selective)
		pier__soft_count(qp, SOFT_COUNTER(selective_resent));
	if (!note->wqe)
		pier__soft_reply_sent(qp, note);
}

struct sending {
	struct soft_io *io;
	const struct soft_tx *tx;
	int count, took;
};

static void send_guarded(void *arg)
{
	struct sending *sending = arg;

	sending->took = sending->io->ops->send(sending->io, sending->tx,
					       sending->count);
}

/*
 * Memory that another thread unmaps meanwhile: nothing is taken.  A packet that
 * has left is repeated.
 */
static int send_some(const struct soft_ep *ep, struct soft_io *io,
		     const struct soft_tx *tx, int count)
{
	struct sending sending = { .io = io, .tx = tx, .count = count };

	if (!ep->verbs)
		return io->ops->send(io, tx, count);
	return pier__landing_call(send_guarded, &sending) ? 0 : sending.took;
}

/* Send the batch, each packet by its QP's socket.  Returns how many. */
static int tx_send(struct soft_ep *ep)
{
	int i, n, took, count = ep->tx_count;
	struct soft_io *io;

	for (i = 0; i < count; i += n) {
		io = ep->note[i].qp->io;
		for (n = 1; i + n < count; n++)
			if (ep->note[i + n].qp->io != io)
				break;
		took = send_some(ep, io, &ep->tx[i], n);
		if (took < n)
			return i + (took > 0 ? took : 0);
	}
	return count;
}

int pier__soft_tx_flush(struct soft_ep *ep)
{
	int count = ep->tx_count, took, i;

	took = tx_send(ep);
	for (i = 0; i < took; i++)
		tx_count(&ep->note[i], &ep->tx[i]);
	for (i = count; i-- > took;)
		tx_undo(&ep->note[i]);
	if (took < count)
		ep->send_at = ep->now + SOFT_TX_RETRY_NS;
	ep->tx_count = 0;
	return took;
}

static void fill_replies(struct soft_ep *ep, int max)
{
	struct pier__list *link;
	struct soft_qp *qp;
	int n;

	while (ep->tx_count < max && (link = pier__list_pop(&ep->replying))) {
		qp = pier__container_of(link, struct soft_qp, resp.link);
		for (n = 0; n < SOFT_QUOTA && ep->tx_count < max; n++)
			if (!pier__soft_reply_send(qp))
				break;
		/* sending may have scheduled it already */
		if (pier__soft_reply_pending(qp) &&
		    pier__list_empty(&qp->resp.link))
			pier__list_add(&ep->replying, &qp->resp.link);
	}
}

/* Packets of the first QP.  Returns -EAGAIN if the window is full. */
static int send_requests_of(struct soft_ep *ep, struct soft_cwnd *cwnd, int max)
{
	struct pier__list *link = pier__list_pop(&cwnd->qps);
	struct soft_qp *qp;
	int n, sent;

	qp = pier__container_of(link, struct soft_qp, req.link);
	for (n = 0; n < SOFT_QUOTA && ep->tx_count < max; n++) {
		sent = pier__soft_req_send(qp);
		if (sent == -EAGAIN) {
			/* It is the first one when the window opens. */
			pier__list_add(cwnd->qps.next, &qp->req.link);
			return -EAGAIN;
		}
		if (!sent)
			break;
	}
	if (pier__soft_req_can_send(qp))
		pier__list_add(&cwnd->qps, &qp->req.link);
	return 0;
}

static void fill_requests(struct soft_ep *ep, int max)
{
	struct pier__list *link;
	struct soft_cwnd *cwnd;
	int err;

	while (ep->tx_count < max && (link = pier__list_pop(&ep->ready))) {
		cwnd = pier__container_of(link, struct soft_cwnd, active);
		err = 0;
		if (!pier__list_empty(&cwnd->qps))
			err = send_requests_of(ep, cwnd, max);
		if (!err && !pier__list_empty(&cwnd->qps) &&
		    pier__list_empty(&cwnd->active))
			pier__list_add(&ep->ready, &cwnd->active);
		else if (err)
			pier__list_del(&cwnd->active);
	}
}

int pier__soft_tx_run(struct soft_ep *ep, bool replies)
{
	int sent = 0, round;

	if (ep->send_at > ep->now)
		return 0;
	ep->send_at = 0;
	for (round = 0; round < BATCHES && !ep->send_at; round++) {
		if (pier__list_empty(&ep->ready) &&
		    (!replies || pier__list_empty(&ep->replying)))
			break;
		/*
		 * Requests and responses each have a share.  Responses are
		 * last: an acknowledgement is shorter than most packets and
		 * so can end a segmented send.
		 */
		fill_requests(ep, !replies || pier__list_empty(&ep->replying)
					  ? SOFT_BATCH : SOFT_BATCH * 3 / 4);
		if (replies)
			fill_replies(ep, SOFT_BATCH);
		fill_requests(ep, SOFT_BATCH);
		if (!ep->tx_count)
			break;
		sent += pier__soft_tx_flush(ep);
	}
	return sent;
}

void pier__soft_tx_datagram(struct soft_ep *ep, struct soft_io *io,
			    struct soft_tx *tx, struct soft_hdr *hdr)
{
	tx->pad = -tx->payload_len & 3;
	hdr->pad = tx->pad;
	tx->hdr_len = (uint8_t)pier__soft_encode(hdr, tx->hdr);
	if (send_some(ep, io, tx, 1) != 1)
		return;
	pier__soft_add(ep->counters, SOFT_COUNTER(tx_packets), 1);
	pier__soft_add(ep->counters, SOFT_COUNTER(tx_bytes),
		       tx->hdr_len + tx->payload_len + tx->pad + 4);
}
