/* SPDX-License-Identifier: BSD-2-Clause */
/* The requester: ACK, NAK, RNR NAK, responses and timeouts. */
#include <endian.h>
#include <string.h>

#include "core/clock.h"
#include "fabric/soft/rc/post_direct.h"

/*
 * Between two retransmissions: this, or half the ack time if that is more, but
 * at most the ack time; unless the peer is further away.  A peer that is near
 * is tried often before it is given up.
 */
#define AGAIN_MAX (32 * PIER__MS)

/*
 * The last packet is sent again after two round trips, and what an answer may
 * take: an ACK that is coalesced, a process that has to wake up.
 */
#define TAIL_MIN PIER__MS
#define TAILS_MAX 8

static uint64_t ack_time(const struct soft_qp *qp)
{
	return UINT64_C(4096) << qp->req.timeout;
}

static uint64_t tail_time(const struct soft_qp *qp)
{
	uint64_t off = 4 * qp->cwnd->rtt_var;

	return 2 * qp->cwnd->rtt + (off < TAIL_MIN ? TAIL_MIN : off);
}

/*
 * Senders that began together would wait for the same time, and lose all again:
 * each waits longer, depending on its address.  Returns by how much.
 */
static uint64_t spread(const struct soft_qp *qp, uint64_t wait)
{
	uint32_t from = qp->src.ip.s6_addr32[3] + qp->src.port;
	uint32_t share = (from + qp->req.backoff) * 2654435761u >> 22;

	if (!qp->req.backoff)
		return 0;
	return (wait < AGAIN_MAX ? wait : AGAIN_MAX) * share / 2048;
}

/* When to retransmit what is not acknowledged: before it is given up. */
static uint64_t retransmit_time(const struct soft_qp *qp)
{
	const struct soft_cwnd *cwnd = qp->cwnd;
	uint64_t wait = pier__soft_cwnd_rto(cwnd) << qp->req.backoff;
	uint64_t most = AGAIN_MAX, due;

	if (qp->req.timeout && most < ack_time(qp) / 2)
		most = ack_time(qp) / 2;
	if (qp->req.timeout && most > ack_time(qp))
		most = ack_time(qp);
	if (most < 2 * cwnd->rtt)
		most = 2 * cwnd->rtt;
	if (wait > most)
		wait = most;
	/* Long enough that what was not sent before can be timed. */
	if (!qp->req.probe && wait < 2 * cwnd->late)
		wait = 2 * cwnd->late;
	/* After two probes of the last packet, if it is not far away. */
	if (qp->req.tail_at != PIER__NEVER && wait < 3 * tail_time(qp) &&
	    most >= 3 * tail_time(qp))
		wait = 3 * tail_time(qp);
	due = qp->ep->now + wait + spread(qp, wait);
	return due < qp->req.give_up_at ? due : qp->req.give_up_at;
}

/* When the QP fails if nothing is acknowledged. */
static uint64_t give_up_time(const struct soft_qp *qp)
{
	const struct soft_cwnd *cwnd = qp->cwnd;
	uint64_t each = 2 * (cwnd->rtt > cwnd->late ? cwnd->rtt : cwnd->late);

	if (!qp->req.timeout)
		return PIER__NEVER;
	if (each < ack_time(qp))
		each = ack_time(qp);
	return qp->ep->now + (qp->req.retry_cnt + 1) * each;
}

static uint64_t answer_due(const struct soft_req *req)
{
	uint64_t due = req->retransmit_at;

	if (due > req->tail_at)
		due = req->tail_at;
	if (req->board && due > req->board->check_at)
		due = req->board->check_at;
	return due;
}

void pier__soft_req_arm(struct soft_qp *qp)
{
	const struct soft_req *req = &qp->req;
	uint64_t paced = pier__soft_cwnd_send_at(qp->ep, qp->cwnd);
	uint64_t due = PIER__NEVER;

	if (req->rnr_wait)
		due = req->rnr_at;
	else if (req->una < req->max)
		due = answer_due(req);
	else if (req->waiting && !req->head)
		due = qp->ep->now + 1;	/* in the next round */
	if (paced > qp->ep->now && paced < due && pier__soft_req_can_send(qp))
		due = paced;
	pier__soft_timer_set(qp, due);
}

static void publish_window(struct soft_qp *qp)
{
	pier__soft_set(qp->counters, SOFT_COUNTER(window), qp->cwnd->window);
	pier__soft_set(qp->counters, SOFT_COUNTER(rtt), qp->cwnd->rtt);
}

/* Something was acknowledged: restart both timeouts. */
static void req_restart_timer(struct soft_qp *qp)
{
	struct soft_req *req = &qp->req;

	req->progress_at = qp->ep->now;
	req->give_up_at = give_up_time(qp);
	req->tail_at = PIER__NEVER;
	if (qp->selective && qp->cwnd->rtt && !req->probe)
		req->tail_at = qp->ep->now + (tail_time(qp) << req->tails);
	req->retransmit_at = retransmit_time(qp);
}

void pier__soft_req_start_timer(struct soft_qp *qp)
{
	publish_window(qp);
	qp->req.progressed = false;
	req_restart_timer(qp);
	pier__soft_req_arm(qp);
}

static bool req_alive(const struct soft_qp *qp)
{
	return qp->state == IBV_QPS_RTS || qp->state == IBV_QPS_SQD;
}

/* Schedule @qp if it can send now, and set its timer. */
static void req_resume(struct soft_qp *qp)
{
	if (!req_alive(qp))
		return;
	if (qp->req.waiting && !qp->req.head)
		pier__soft_waiting_run(qp);
	if (pier__soft_req_can_send(qp))
		pier__soft_cwnd_schedule(qp->ep, qp);
	pier__soft_req_arm(qp);
}

void pier__soft_req_timed(struct soft_qp *qp)
{
	struct soft_req *req = &qp->req;

	if (!pier__soft_timer_is_late(qp))
		pier__soft_cwnd_rtt(qp->ep, qp->cwnd,
				    qp->ep->now - req->rtt_at);
	req->rtt_at = 0;
	req->backoff = 0;
	req->tails = 0;
}

static void req_progress(struct soft_qp *qp)
{
	struct soft_req *req = &qp->req;
	uint64_t now = qp->ep->now;

	if (req->rtt_at && req->una > req->rtt_seq)
		pier__soft_req_timed(qp);
	else if (req->backoff && req->una > req->go_back_una)
		pier__soft_cwnd_late(qp->cwnd, now - req->progress_at,
				     now - req->go_back_at, req->nak);
	if (req->rnr_wait && req->una > req->rnr_seq)
		req->rnr_wait = false;
	req->rnr_left = req->rnr_retry;
	req->progressed = true;
	req->probe = false;
	if (req->board && req->una >= req->board->end)
		pier__soft_board_free(qp);
	publish_window(qp);
	req_restart_timer(qp);
}

/*
 * @last: none follows at once, so that the timers restart once.  While packets
 * are missing the board is looked at for each.
 */
static void advance(struct soft_qp *qp, struct soft_wqe *wqe, uint64_t to,
		    bool last)
{
	struct soft_req *req = &qp->req;
	uint64_t end = wqe->first + wqe->packets;
	uint64_t sent = to < req->nxt ? to : req->nxt;
	uint32_t cost;

	if (sent > req->una) {
		cost = req->board ?
			       pier__soft_board_acked(qp, wqe, sent) :
			       pier__soft_wqe_cost(qp, wqe, req->una, sent);
		if (cost > req->inflight)
			cost = req->inflight;	/* a probe has no cost */
		req->inflight -= cost;
		pier__soft_cwnd_release(qp->ep, qp->cwnd, cost, true);
	}
	req->una = to;
	if (req->nxt < to) {
		/* The original arrived before it was retransmitted. */
		req->nxt = to;
		req->cur = to == end ? wqe->next : wqe;
	}
	if (last || req->board)
		req_progress(qp);
	if (to == end)
		pier__soft_req_complete(qp, IBV_WC_SUCCESS);
	if (req->head && req->head->status)
		pier__soft_qp_fail(qp, req->head->status);
}

void pier__soft_req_advance(struct soft_qp *qp, struct soft_wqe *wqe,
			    uint64_t to)
{
	advance(qp, wqe, to, true);
}

static bool has_answer(const struct soft_wqe *wqe)
{
	return pier__soft_wqe_is_read(wqe) || pier__soft_wqe_is_atomic(wqe);
}

/*
 * All before @seq is acknowledged.  Returns false if the response of a READ or
 * atomic before it is missing, or the QP has failed.
 */
static bool req_ack_up_to(struct soft_qp *qp, uint64_t seq)
{
	struct soft_req *req = &qp->req;
	struct soft_wqe *wqe;
	uint64_t end;

	while (req->una < seq) {
		wqe = req->head;
		if (has_answer(wqe))
			return false;
		end = wqe->first + wqe->packets;
		advance(qp, wqe, end < seq ? end : seq,
			end >= seq || has_answer(wqe->next));
		if (!req_alive(qp))
			return false;
	}
	return true;
}

/* Go back N: retransmit all that is not acknowledged. */
static void req_go_back(struct soft_qp *qp)
{
	struct soft_req *req = &qp->req;
	uint32_t cost = req->inflight;

	pier__soft_board_free(qp);
	req->tail_at = PIER__NEVER;
	req->inflight = 0;
	req->nxt = req->una;
	req->cur = req->head;
	req->ack_req_seq = req->una;
	req->rd_atomic = 0;
	req->rtt_at = 0;
	req->nak = false;
	req->go_back_una = req->una;
	req->go_back_at = qp->ep->now;
	req->retransmit_at = retransmit_time(qp);
	publish_window(qp);
	pier__soft_cwnd_release(qp->ep, qp->cwnd, cost, false);
}

/* A packet was lost, by congestion. */
static void req_reduce(struct soft_qp *qp)
{
	pier__soft_incast_lost(qp);
	pier__soft_cwnd_reduce(qp->ep, qp->cwnd);
}

/* The packet una is lost.  Go back for it once; after that by the timer. */
static void req_lost(struct soft_qp *qp)
{
	if (qp->req.rnr_wait || qp->req.una == qp->req.go_back_una)
		return;
	req_reduce(qp);
	req_go_back(qp);
	qp->req.nak = true;
}

/*
 * A later response arrived: that of una is lost or reordered.  Go back at most
 * once a round trip, as several reordered packets are one loss.
 */
static void req_lost_implicit(struct soft_qp *qp)
{
	if (req_alive(qp) && qp->ep->now - qp->req.go_back_at >= qp->cwnd->rtt)
		req_lost(qp);
}

static uint64_t rnr_time(uint8_t code)
{
	static const uint32_t us10[32] = {
		65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
		256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192,
		12288, 16384, 24576, 32768, 49152,
	};

	return us10[code & 31] * UINT64_C(10000);
}

static void req_rnr(struct soft_qp *qp, uint8_t syndrome)
{
	struct soft_req *req = &qp->req;

	pier__soft_count(qp, SOFT_COUNTER(rnr_received));
	pier__soft_ep_note(qp->ep, qp->qpn, SOFT_EVENT_NAK_RECEIVED, syndrome,
			   req->una);
	if (req->rnr_wait)
		return;		/* a duplicate */
	if (req->rnr_retry != 7 && !req->rnr_left) {
		pier__soft_qp_fail(qp, IBV_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	if (req->rnr_retry != 7)
		req->rnr_left--;
	req_go_back(qp);
	req->rnr_wait = true;
	req->rnr_seq = req->una;
	req->rnr_at = qp->ep->now + rnr_time(syndrome);
}

bool pier__soft_qp_rnr(const struct soft_qp *qp)
{
	const struct soft_req *req = &qp->req;

	return req->rnr_at && req->una == req->rnr_seq && req->una < req->end;
}

static enum ibv_wc_status nak_status(uint8_t syndrome)
{
	switch (syndrome) {
	case SOFT_NAK_INVALID:
		return IBV_WC_REM_INV_REQ_ERR;
	case SOFT_NAK_ACCESS:
		return IBV_WC_REM_ACCESS_ERR;
	case SOFT_NAK_OPERATIONAL:
		return IBV_WC_REM_OP_ERR;
	default:
		return IBV_WC_BAD_RESP_ERR;
	}
}

/* Are responses that arrive ahead of a gap kept? */
static bool keeps(const struct soft_qp *qp)
{
	return qp->selective && req_alive(qp);
}

/* @fresh: something arrived ahead of a gap; -1: go back. */
static void req_early(struct soft_qp *qp, int fresh)
{
	if (fresh < 0) {
		req_lost_implicit(qp);
	} else if (fresh && req_alive(qp)) {
		qp->req.progressed = true;
		req_restart_timer(qp);
	}
}

/*
 * @in says what the peer holds from @seq on, where it waits for a packet.
 * After going back there is no order of transmissions to tell by what is lost:
 * go back once more.  A probe is what it waits for.
 */
static void req_selective(struct soft_qp *qp, const struct soft_packet *in,
			  uint64_t seq)
{
	struct soft_req *req = &qp->req;
	int fresh;

	pier__soft_count(qp, SOFT_COUNTER(selective_received));
	if (req->rnr_wait || req->probe)
		return;
	fresh = req->nxt < req->max ? -1 : pier__soft_board_read(qp, in, seq);
	if (fresh < 0)
		req_lost(qp);
	else
		req_early(qp, fresh);
}

/*
 * @in is about what is before @seq, of which responses are missing.  They are
 * requested again; what else it says is said again then.
 */
static void req_unanswered(struct soft_qp *qp, const struct soft_packet *in,
			   uint64_t seq)
{
	uint8_t syndrome = in->hdr.syndrome;
	bool selective = syndrome == SOFT_NAK_SEQUENCE && in->len;
	int err = -1;

	if (selective && qp->req.nxt < qp->req.max)
		selective = false;	/* see req_selective() */
	if (keeps(qp) && (syndrome >> 5 == 0 || selective))
		err = pier__soft_board_passed(qp, seq);
	if (err)
		req_lost_implicit(qp);
	else if (selective)
		req_selective(qp, in, seq);
}

/* A soft device has the length of its receive behind the AETH. */
static void req_invalid(struct soft_qp *qp, const struct soft_packet *in)
{
	uint32_t len;

	if (!qp->selective || in->len != sizeof(len))
		return;
	memcpy(&len, in->data, sizeof(len));
	qp->req.refused_len = be32toh(len);
	qp->req.refused = true;
}

static void req_nak(struct soft_qp *qp, const struct soft_packet *in)
{
	uint8_t syndrome = in->hdr.syndrome;

	if (syndrome <= SOFT_NAK_OPERATIONAL) {
		pier__soft_count(qp, SOFT_COUNTER(naks_received[syndrome & 3]));
		pier__soft_ep_note(qp->ep, qp->qpn, SOFT_EVENT_NAK_RECEIVED,
				   syndrome, qp->req.una);
	}
	if (syndrome == SOFT_NAK_SEQUENCE)
		req_lost(qp);
	else if (syndrome == SOFT_NAK_INVALID)
		req_invalid(qp, in);
	if (syndrome != SOFT_NAK_SEQUENCE)
		pier__soft_qp_fail(qp, nak_status(syndrome));
}

static void req_ack(struct soft_qp *qp, const struct soft_packet *in,
		    uint64_t seq)
{
	uint8_t syndrome = in->hdr.syndrome;

	if (syndrome >> 5 == 0)
		seq++;
	if (syndrome >> 5 == 2 || syndrome >> 7)
		return;		/* reserved */
	if (!req_ack_up_to(qp, seq)) {
		req_unanswered(qp, in, seq);
		return;
	}
	if (qp->req.una == qp->req.max)
		return;		/* nothing is missing */
	if (syndrome >> 5 == 1)
		req_rnr(qp, syndrome);
	else if (syndrome == SOFT_NAK_SEQUENCE && qp->selective && in->len)
		req_selective(qp, in, seq);
	else if (syndrome >> 5 == 3)
		req_nak(qp, in);
}

static void req_response(struct soft_qp *qp, const struct soft_packet *in,
			 uint64_t seq)
{
	if (req_ack_up_to(qp, seq)) {
		if (!pier__soft_req_answered(qp, in))
			req_lost(qp);
	} else if (keeps(qp)) {
		req_early(qp, pier__soft_req_answered_early(qp, in, seq));
	} else {
		req_lost_implicit(qp);
	}
}

/*
 * Does the peer wait for the packet @seq, which was not sent?  It holds one
 * that we have not sent either; but it has all before @seq.
 */
static bool waits_for_next(const struct soft_qp *qp,
			   const struct soft_packet *in, uint64_t seq)
{
	return seq == qp->req.max && seq > qp->req.una && qp->selective &&
	       in->hdr.opcode == SOFT_ACK &&
	       in->hdr.syndrome == SOFT_NAK_SEQUENCE;
}

void pier__soft_req_receive(struct soft_qp *qp, const struct soft_packet *in)
{
	struct soft_req *req = &qp->req;
	uint64_t seq = pier__soft_seq(req->una, in->hdr.psn);

	if (seq < req->una ||
	    (seq >= req->max && !waits_for_next(qp, in, seq))) {
		/* acknowledged before, or never sent */
		pier__soft_count(qp, SOFT_COUNTER(stale));
		return;
	}
	if (in->hdr.opcode == SOFT_ACK)
		req_ack(qp, in, seq);
	else
		req_response(qp, in, seq);
	if (req->board && req->board->check_at <= qp->ep->now)
		pier__soft_board_check(qp);
	req_resume(qp);
}

/* No answer came for two round trips, or a packet is missing for too long. */
static void req_missing(struct soft_qp *qp)
{
	struct soft_req *req = &qp->req;
	uint64_t now = qp->ep->now;

	if (req->board && req->board->check_at <= now)
		pier__soft_board_check(qp);
	if (req->tail_at > now)
		return;
	req->tail_at = PIER__NEVER;
	if (req->nxt < req->max || pier__soft_board_tail(qp))
		return;
	pier__soft_count(qp, SOFT_COUNTER(tail_probes));
	pier__soft_ep_note(qp->ep, qp->qpn, SOFT_EVENT_TAIL_PROBE, 0, req->una);
	if (pier__soft_incast_is_likely(qp->cwnd))
		req_reduce(qp);
	if (req->tails < TAILS_MAX)
		req->tails++;
	req->tail_at = now + (tail_time(qp) << req->tails);
}

void pier__soft_req_timer(struct soft_qp *qp, uint64_t late)
{
	struct soft_req *req = &qp->req;
	uint64_t now = qp->ep->now;

	/* We were late, not the peer. */
	req->progress_at += late;
	if (req->give_up_at != PIER__NEVER)
		req->give_up_at += late;
	if (req->rnr_wait) {
		if (req->rnr_at <= now) {
			req->rnr_wait = false;
			req->probe = true;
			req_restart_timer(qp);
		}
	} else if (req->una < req->max && req->give_up_at <= now) {
		pier__soft_qp_fail(qp, IBV_WC_RETRY_EXC_ERR);
	} else if (req->una < req->max && req->retransmit_at <= now) {
		pier__soft_count(qp, SOFT_COUNTER(timeouts));
		pier__soft_ep_note(qp->ep, qp->qpn, SOFT_EVENT_TIMEOUT, 0,
				   req->una);
		if (req->backoff < 16)
			req->backoff++;
		/* Congestion if acknowledgements came; else a dead peer. */
		if (req->progressed && !req->probe)
			pier__soft_cwnd_reduce(qp->ep, qp->cwnd);
		pier__soft_incast_lost(qp);
		req->probe = true;
		req_go_back(qp);
	} else if (req->una < req->max) {
		req_missing(qp);
	}
	req_resume(qp);
}
