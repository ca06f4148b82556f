/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The requester: selective acknowledgements, which of the packets in flight
 * are lost, and the probe of the last one.  After RFC 8985 (RACK-TLP), with an
 * order of transmissions in place of their times.
 */
#include "core/clock.h"
#include "fabric/soft/rc/qp.h"

/*
 * A packet is lost if one that was sent later has arrived for a share of the
 * round trip, as packets are also reordered.
 */
#define REORDER_SHARE 4
#define ANSWER_MIN 100000	/* ns, besides two round trips */

/*
 * Loss is taken for congestion if the round trip shows a queue, or if more than
 * a share of the window is lost in a round trip.
 */
#define QUEUE_SHARE 8		/* of the shortest round trip, at least */
#define QUEUE_MIN 200000	/* ns */
#define LOSS_SHARE 8
#define LOSS_MIN 8		/* packets */

static struct soft_slot *slot_of(struct soft_board *board, uint64_t seq)
{
	return &board->slot[seq % SOFT_EARLY];
}

static bool answers(const struct soft_wqe *wqe)
{
	return pier__soft_wqe_is_read(wqe) || pier__soft_wqe_is_atomic(wqe);
}

/* Where responses to a READ have come, all of its request was executed. */
static uint64_t known_passed(const struct soft_req *req)
{
	const struct soft_wqe *wqe = req->head;

	if (!wqe || !pier__soft_wqe_is_read(wqe) || req->una < wqe->first ||
	    (req->una - wqe->first) % wqe->read_packets == 0)
		return req->una;
	return req->una + pier__soft_wqe_span(wqe, req->una);
}

static int board_get(struct soft_qp *qp)
{
	struct soft_req *req = &qp->req;

	if (req->board)
		return 0;
	req->board = pier__soft_board_take(qp->ep);
	if (!req->board)
		return -1;
	*req->board = (struct soft_board){
		.high = req->una, .end = req->una, .check_at = PIER__NEVER,
		.passed = known_passed(req), .answered = req->una,
	};
	return 0;
}

void pier__soft_board_free(struct soft_qp *qp)
{
	if (qp->req.board)
		pier__soft_board_put(qp->ep, qp->req.board);
	qp->req.board = NULL;
}

/* One of @packets from @seq on is not in flight. */
static void release(struct soft_qp *qp, const struct soft_wqe *wqe,
		    uint64_t seq, uint32_t packets, bool acked)
{
	struct soft_req *req = &qp->req;
	uint32_t cost = 0, i;
	struct soft_slot *slot;

	for (i = 0; i < packets && seq + i - req->una < SOFT_EARLY; i++) {
		slot = slot_of(req->board, seq + i);
		if (!(slot->flags & SOFT_SLOT_FREE))
			cost += pier__soft_wqe_cost(qp, wqe, seq + i,
						    seq + i + 1);
		slot->flags |= SOFT_SLOT_FREE;
	}
	if (cost > req->inflight)
		cost = req->inflight;	/* a probe has no cost */
	req->inflight -= cost;
	pier__soft_cwnd_release(qp->ep, qp->cwnd, cost, acked);
}

static void no_part(struct soft_board *board, struct soft_slot *slot)
{
	if (slot->flags & SOFT_SLOT_PART)
		board->parts--;
	slot->flags &= (uint8_t)~SOFT_SLOT_PART;
}

/* Of what was sent before it, some may be lost. */
static void newest(struct soft_board *board, const struct soft_slot *slot)
{
	if (!slot->order || (int32_t)(slot->order - board->newest) <= 0)
		return;
	board->newest = slot->order;
	board->check_at = 0;
}

static void arrived(struct soft_board *board, struct soft_slot *slot)
{
	newest(board, slot);
	no_part(board, slot);
	if (slot->flags & SOFT_SLOT_LOST)
		board->lost--;
	slot->flags &= (uint8_t)~SOFT_SLOT_LOST;
}

/* Move @mark up to @seq: what is before may be lost. */
static void lift(struct soft_board *board, uint64_t *mark, uint64_t seq)
{
	if (*mark >= seq)
		return;
	*mark = seq;
	board->check_at = 0;
}

/* The peer holds the packet @seq of @wqe.  Returns 1 if that is new. */
static int held(struct soft_qp *qp, const struct soft_wqe *wqe, uint64_t seq)
{
	struct soft_req *req = &qp->req;
	struct soft_slot *slot = slot_of(req->board, seq);

	if (slot->flags & SOFT_SLOT_HELD)
		return 0;
	if (req->rtt_at && req->rtt_seq == seq)
		pier__soft_req_timed(qp);
	arrived(req->board, slot);
	slot->flags |= SOFT_SLOT_HELD;
	if (!answers(wqe))
		release(qp, wqe, seq, 1, true);
	lift(req->board, &req->board->high, seq + 1);
	if (req->board->end <= seq)
		req->board->end = seq + 1;
	return 1;
}

int pier__soft_board_read(struct soft_qp *qp, const struct soft_packet *in,
			  uint64_t seq)
{
	struct soft_req *req = &qp->req;
	const struct soft_wqe *wqe;
	uint64_t at = seq + 1, end = at + 8 * (uint64_t)in->len, bit;
	int fresh = 0;

	/* It was dropped after all. */
	if (req->board && seq - req->una < SOFT_EARLY) {
		slot_of(req->board, seq)->flags &= (uint8_t)~SOFT_SLOT_HELD;
		req->board->check_at = 0;
	}
	if (end > req->nxt)
		end = req->nxt;
	if (end > req->una + SOFT_EARLY)
		end = req->una + SOFT_EARLY;
	for (wqe = req->head; wqe && at < end; wqe = wqe->next) {
		for (; at < wqe->first + wqe->packets && at < end;
		     at += pier__soft_wqe_span(wqe, at)) {
			bit = at - seq - 1;
			if (!(in->data[bit / 8] & 1u << bit % 8))
				continue;
			if (board_get(qp))
				return -1;
			fresh += held(qp, wqe, at);
		}
	}
	return fresh;
}

/* The first response to the request of @wqe that has @seq. */
static uint64_t start_of(const struct soft_wqe *wqe, uint64_t seq)
{
	if (!pier__soft_wqe_is_read(wqe))
		return seq;
	return seq - (seq - wqe->first) % wqe->read_packets;
}

/* A response of @seq shows that its request was executed, if that is new. */
static void executed(struct soft_board *board, const struct soft_wqe *wqe,
		     uint64_t seq)
{
	uint64_t end = seq + pier__soft_wqe_span(wqe, seq);
	struct soft_slot *slot = slot_of(board, start_of(wqe, seq));

	if (board->passed >= end)
		return;
	lift(board, &board->passed, end);
	/* It may have been sent again.  Its responses were not. */
	newest(board, slot);
	slot->flags &= (uint8_t)~SOFT_SLOT_AGAIN;
}

int pier__soft_board_answered(struct soft_qp *qp, const struct soft_wqe *wqe,
			      uint64_t seq)
{
	struct soft_req *req = &qp->req;
	struct soft_slot *slot;

	if (board_get(qp))
		return -1;
	executed(req->board, wqe, seq);
	if (seq == req->una)
		return 0;
	if (req->rtt_at && req->rtt_seq == seq)
		pier__soft_req_timed(qp);
	slot = slot_of(req->board, seq);
	arrived(req->board, slot);
	slot->flags |= SOFT_SLOT_HERE;
	release(qp, wqe, seq, 1, true);
	lift(req->board, &req->board->answered, seq + 1);
	if (req->board->end <= seq)
		req->board->end = seq + 1;
	return 0;
}

bool pier__soft_board_is_answered(const struct soft_qp *qp, uint64_t seq)
{
	struct soft_board *board = qp->req.board;

	return board && slot_of(board, seq)->flags & SOFT_SLOT_HERE;
}

int pier__soft_board_passed(struct soft_qp *qp, uint64_t seq)
{
	struct soft_board *board;

	if (board_get(qp))
		return -1;
	board = qp->req.board;
	lift(board, &board->passed, seq);
	lift(board, &board->answered, seq);
	if (board->end < seq)
		board->end = seq;
	return 0;
}

uint64_t pier__soft_board_complete(const struct soft_qp *qp)
{
	const struct soft_req *req = &qp->req;
	const struct soft_wqe *wqe = req->head;
	uint64_t at = req->una, end;

	if (!wqe || at >= req->board->passed)
		return at;
	if (!answers(wqe)) {
		end = wqe->first + wqe->packets;
		return end < req->board->passed ? end : req->board->passed;
	}
	end = at + pier__soft_wqe_span(wqe, at);
	while (at < end && at - req->una < SOFT_EARLY &&
	       slot_of(req->board, at)->flags & SOFT_SLOT_HERE)
		at++;
	return at;
}

/* Is a READ or atomic executed, so that only its response may be missing? */
static bool is_executed(const struct soft_board *board,
			const struct soft_wqe *wqe, uint64_t seq)
{
	return answers(wqe) && seq < board->passed;
}

/* The sequence numbers from @seq on that arrive together or are lost so. */
static uint32_t extent(const struct soft_board *board,
		       const struct soft_wqe *wqe, uint64_t seq)
{
	return is_executed(board, wqe, seq) ? 1 :
					      pier__soft_wqe_span(wqe, seq);
}

static void lose(struct soft_qp *qp, const struct soft_wqe *wqe, uint64_t seq)
{
	struct soft_req *req = &qp->req;
	struct soft_slot *slot = slot_of(req->board, seq);
	uint32_t packets = extent(req->board, wqe, seq);

	no_part(req->board, slot);
	slot->flags |= SOFT_SLOT_LOST;
	slot->missing_at = 0;
	req->board->lost++;
	if (req->board->end < seq + packets)
		req->board->end = seq + packets;
	release(qp, wqe, seq, packets, false);
	if (req->rtt_seq >= seq && req->rtt_seq < seq + packets)
		req->rtt_at = 0;	/* which one arrives is not known */
}

/* Is it still due, or known to have arrived or to be lost? */
static bool is_settled(const struct soft_board *board,
		       const struct soft_wqe *wqe, uint64_t seq)
{
	uint8_t flags = board->slot[seq % SOFT_EARLY].flags;

	if (flags & SOFT_SLOT_LOST)
		return true;
	if (seq < board->passed)
		return !answers(wqe) || flags & SOFT_SLOT_HERE ||
		       seq >= board->answered;
	return flags & SOFT_SLOT_HELD || seq >= board->high;
}

/*
 * How long the response to what was requested again may take, if no later one
 * arrives: what is behind it may wait for it.
 */
static uint64_t answer_time(const struct soft_qp *qp)
{
	uint64_t off = 4 * qp->cwnd->rtt_var;

	return 2 * qp->cwnd->rtt + (off < ANSWER_MIN ? ANSWER_MIN : off);
}

/* Returns 1 if the packet is lost. */
static int look(struct soft_qp *qp, const struct soft_wqe *wqe, uint64_t seq)
{
	struct soft_board *board = qp->req.board;
	struct soft_slot *slot = slot_of(board, seq);
	uint64_t now = qp->ep->now, due;

	if (is_settled(board, wqe, seq))
		return 0;
	if (slot->flags & SOFT_SLOT_AGAIN &&
	    (int32_t)(board->newest - slot->order) <= 0) {
		if (!answers(wqe))
			return 0;
		due = slot->missing_at + answer_time(qp);
	} else {
		if (!slot->missing_at)
			slot->missing_at = now;
		due = slot->missing_at + qp->cwnd->rtt / REORDER_SHARE;
	}
	if (now < due) {
		if (board->check_at > due)
			board->check_at = due;
		return 0;
	}
	lose(qp, wqe, seq);
	return 1;
}

/* Is what was lost in this round trip a sign of congestion? */
static bool is_congestion(const struct soft_qp *qp)
{
	const struct soft_cwnd *cwnd = qp->cwnd;
	uint32_t packets = cwnd->window / (qp->mtu + SOFT_PACKET_COST);
	uint64_t queue = cwnd->rtt_min / QUEUE_SHARE;
	uint32_t most = packets / LOSS_SHARE;

	if (queue < QUEUE_MIN)
		queue = QUEUE_MIN;
	if (most < LOSS_MIN)
		most = LOSS_MIN;
	if (pier__soft_incast_is_likely(cwnd))
		most = 0;
	return cwnd->rtt > cwnd->rtt_min + queue ||
	       qp->req.board->round_lost > most;
}

static void count_losses(struct soft_qp *qp, uint32_t lost)
{
	struct soft_board *board = qp->req.board;

	if (qp->ep->now - board->round_at >= qp->cwnd->rtt) {
		board->round_at = qp->ep->now;
		board->round_lost = 0;
	}
	board->round_lost += lost;
	pier__soft_incast_lost(qp);
	if (is_congestion(qp))
		pier__soft_cwnd_reduce(qp->ep, qp->cwnd);
}

void pier__soft_board_check(struct soft_qp *qp)
{
	struct soft_req *req = &qp->req;
	struct soft_board *board = req->board;
	const struct soft_wqe *wqe;
	uint64_t high = board->high, answered = board->answered;
	uint64_t at = req->una, end = high > answered ? high : answered;
	uint32_t lost = 0;

	board->check_at = PIER__NEVER;
	if (end > req->una + SOFT_EARLY)
		end = req->una + SOFT_EARLY;
	if (end > req->nxt)
		end = req->nxt;		/* the rest is sent again anyway */
	for (wqe = req->head; wqe && at < end; wqe = wqe->next) {
		for (; at < wqe->first + wqe->packets && at < end;
		     at += extent(board, wqe, at))
			lost += (uint32_t)look(qp, wqe, at);
	}
	if (lost)
		count_losses(qp, lost);
}

/* The responses that are missing from una on, of one request. */
static void tail_responses(struct soft_qp *qp)
{
	struct soft_req *req = &qp->req;
	const struct soft_wqe *wqe = req->head;
	uint64_t at = req->una, end = at + pier__soft_wqe_span(wqe, at);

	if (end > req->una + SOFT_EARLY)
		end = req->una + SOFT_EARLY;
	for (; at < end && !(slot_of(req->board, at)->flags & SOFT_SLOT_HERE);
	     at++)
		if (!(slot_of(req->board, at)->flags & SOFT_SLOT_LOST))
			lose(qp, wqe, at);
}

/*
 * The last packet, so that the peer reports what it lacks before that.  If the
 * peer has that one, the first it lacks was lost again.  If it has executed the
 * first, that was a response.
 */
int pier__soft_board_tail(struct soft_qp *qp)
{
	struct soft_req *req = &qp->req;
	struct soft_wqe *wqe = req->head;
	uint64_t at = req->una, last = at;
	struct soft_wqe *of = wqe;

	if (board_get(qp))
		return -1;
	if (is_executed(req->board, wqe, at)) {
		tail_responses(qp);
		return 0;
	}
	for (; wqe && at < req->nxt; wqe = wqe->next)
		for (; at < wqe->first + wqe->packets && at < req->nxt &&
		     at < req->una + SOFT_EARLY;
		     at += pier__soft_wqe_span(wqe, at)) {
			last = at;
			of = wqe;
		}
	if (slot_of(req->board, last)->flags & SOFT_SLOT_HELD) {
		last = req->una;
		of = req->head;
	}
	if (!(slot_of(req->board, last)->flags & SOFT_SLOT_LOST))
		lose(qp, of, last);
	return 0;
}

uint32_t pier__soft_board_acked(struct soft_qp *qp, const struct soft_wqe *wqe,
				uint64_t to)
{
	struct soft_req *req = &qp->req;
	struct soft_slot *slot;
	uint32_t cost = 0;
	uint64_t at;

	for (at = req->una; at < to && at < req->una + SOFT_EARLY; at++) {
		slot = slot_of(req->board, at);
		arrived(req->board, slot);
		if (!(slot->flags & SOFT_SLOT_FREE))
			cost += pier__soft_wqe_cost(qp, wqe, at, at + 1);
		*slot = (struct soft_slot){ 0 };
	}
	return cost + (at < to ? pier__soft_wqe_cost(qp, wqe, at, to) : 0);
}

bool pier__soft_board_can_send(const struct soft_qp *qp)
{
	const struct soft_board *board = qp->req.board;

	return board && board->lost && board->parts < SOFT_PARTS;
}

/* How many packets from @seq on, which is lost, are requested by one. */
static uint32_t run(const struct soft_req *req, const struct soft_wqe *wqe,
		    uint64_t seq)
{
	uint32_t most = pier__soft_wqe_span(wqe, seq), n = 1;

	if (!is_executed(req->board, wqe, seq))
		return most;
	while (n < most && seq + n - req->una < SOFT_EARLY &&
	       slot_of(req->board, seq + n)->flags & SOFT_SLOT_LOST)
		n++;
	return n;
}

void pier__soft_board_next(const struct soft_qp *qp, struct soft_tx_note *note)
{
	const struct soft_req *req = &qp->req;
	struct soft_wqe *wqe = req->head;
	uint64_t at = req->una, end;

	while (!(slot_of(req->board, at)->flags & SOFT_SLOT_LOST))
		at++;
	while (at >= wqe->first + wqe->packets)
		wqe = wqe->next;
	note->wqe = wqe;
	note->seq = at;
	note->packets = run(req, wqe, at);
	for (end = at + note->packets;
	     at < end && at < req->una + SOFT_EARLY; at++)
		if (slot_of(req->board, at)->flags & SOFT_SLOT_FREE)
			note->cost += pier__soft_wqe_cost(qp, wqe, at, at + 1);
}

/* Sent again; of a READ that was executed: it is asked for. */
static void sent_again(struct soft_board *board, uint64_t seq, uint64_t now)
{
	struct soft_slot *slot = slot_of(board, seq);

	if (slot->flags & SOFT_SLOT_LOST) {
		slot->flags |= SOFT_SLOT_AGAIN;
		slot->order = board->order;
		slot->missing_at = now;
		board->lost--;
	}
	slot->flags &= (uint8_t)~(SOFT_SLOT_LOST | SOFT_SLOT_FREE);
}

static void part_sent(struct soft_req *req, const struct soft_tx_note *note)
{
	slot_of(req->board, note->seq)->flags |= SOFT_SLOT_PART;
	req->board->parts++;
	if (req->parts_end < note->seq + note->packets)
		req->parts_end = note->seq + note->packets;
}

void pier__soft_board_sent(struct soft_qp *qp, const struct soft_tx_note *note)
{
	struct soft_req *req = &qp->req;
	uint64_t due = qp->ep->now + answer_time(qp);
	uint32_t i;

	slot_of(req->board, note->seq)->order = ++req->board->order;
	if (!note->selective)
		return;
	for (i = 0; i < note->packets && note->seq + i - req->una < SOFT_EARLY;
	     i++)
		sent_again(req->board, note->seq + i, qp->ep->now);
	if (answers(note->wqe) && req->board->check_at > due)
		req->board->check_at = due;
	if (is_executed(req->board, note->wqe, note->seq))
		part_sent(req, note);
}

void pier__soft_board_undo(struct soft_qp *qp, const struct soft_tx_note *note)
{
	struct soft_board *board = qp->req.board;
	uint32_t i;

	if (!board || note->seq < qp->req.una)
		return;
	for (i = 0; i < note->packets;
	     i += extent(board, note->wqe, note->seq + i))
		lose(qp, note->wqe, note->seq + i);
}

void pier__soft_board_drop(struct soft_qp *qp, const struct soft_tx_note *note)
{
	struct soft_board *board = qp->req.board;
	struct soft_slot *slot;
	uint32_t i;

	for (i = 0; i < note->packets &&
		    note->seq + i - qp->req.una < SOFT_EARLY; i++) {
		slot = slot_of(board, note->seq + i);
		if (slot->flags & SOFT_SLOT_LOST)
			board->lost--;
		slot->flags &= (uint8_t)~SOFT_SLOT_LOST;
	}
}
