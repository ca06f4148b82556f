/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The requester: selective acknowledgements, which of the packets in flight
 * are lost, and the probe of the last one.  After RFC 8985 (RACK-TLP), with an
 * order of transmissions in place of their times.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/clock.h"
#include "fabric/soft/rc/qp.h"

/*
 * A packet is lost if one that was sent later has arrived for a share of the
 * round trip, as packets are also reordered.
 */
#define REORDER_SHARE 4

/*
 * Loss is taken for congestion if the round trip shows a queue, or if more than
 * a share of the window is lost in a round trip.
 */
#define QUEUE_SHARE 8		/* of the shortest round trip, at least */
#define QUEUE_MIN 100000	/* ns */
#define LOSS_SHARE 8
#define LOSS_MIN 8		/* packets */

/*
 * An endpoint has so many from the beginning and keeps no more: a loss
 * allocates memory only if more QPs lack packets at once.
 */
#define SPARE_BOARDS 2

static struct soft_slot *slot_of(struct soft_board *board, uint64_t seq)
{
	return &board->slot[seq % SOFT_EARLY];
}

static bool answers(const struct soft_wqe *wqe)
{
	return pier__soft_wqe_is_read(wqe) || pier__soft_wqe_is_atomic(wqe);
}

static void board_put(struct soft_ep *ep, struct soft_board *board)
{
	if (ep->spare_boards == SPARE_BOARDS) {
		free(board);
		return;
	}
	board->next = ep->boards;
	ep->boards = board;
	ep->spare_boards++;
}

static struct soft_board *board_take(struct soft_ep *ep)
{
	struct soft_board *board = ep->boards;

	if (!board)
		return malloc(sizeof(*board));
	ep->boards = board->next;
	ep->spare_boards--;
	return board;
}

int pier__soft_board_reserve(struct soft_ep *ep)
{
	struct soft_board *board;

	while (ep->spare_boards < SPARE_BOARDS) {
		board = malloc(sizeof(*board));
		if (!board)
			return -ENOMEM;
		board_put(ep, board);
	}
	return 0;
}

void pier__soft_board_free_all(struct soft_ep *ep)
{
	while (ep->boards)
		free(board_take(ep));
}

static int board_get(struct soft_qp *qp)
{
	struct soft_req *req = &qp->req;

	if (req->board)
		return 0;
	req->board = board_take(qp->ep);
	if (!req->board)
		return -1;
	*req->board = (struct soft_board){
		.high = req->una, .end = req->una, .check_at = PIER__NEVER,
	};
	return 0;
}

void pier__soft_board_free(struct soft_qp *qp)
{
	if (qp->req.board)
		board_put(qp->ep, qp->req.board);
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

static void arrived(struct soft_board *board, struct soft_slot *slot)
{
	if (slot->order && (int32_t)(slot->order - board->newest) > 0)
		board->newest = slot->order;
	if (slot->flags & SOFT_SLOT_LOST)
		board->lost--;
	slot->flags &= (uint8_t)~SOFT_SLOT_LOST;
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
	if (req->board->high <= seq)
		req->board->high = seq + 1;
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
	if (req->board)
		slot_of(req->board, req->una)->flags &=
			(uint8_t)~SOFT_SLOT_HELD;
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

static void lose(struct soft_qp *qp, const struct soft_wqe *wqe, uint64_t seq)
{
	struct soft_req *req = &qp->req;
	struct soft_slot *slot = slot_of(req->board, seq);
	uint32_t packets = pier__soft_wqe_span(wqe, seq);

	slot->flags |= SOFT_SLOT_LOST;
	slot->missing_at = 0;
	req->board->lost++;
	if (req->board->end < seq + packets)
		req->board->end = seq + packets;
	release(qp, wqe, seq, packets, false);
	if (req->rtt_seq >= seq && req->rtt_seq < seq + packets)
		req->rtt_at = 0;	/* which one arrives is not known */
}

/* Returns 1 if the packet is lost. */
static int look(struct soft_qp *qp, const struct soft_wqe *wqe, uint64_t seq)
{
	struct soft_board *board = qp->req.board;
	struct soft_slot *slot = slot_of(board, seq);
	uint64_t now = qp->ep->now, due;

	if (slot->flags & (SOFT_SLOT_HELD | SOFT_SLOT_LOST))
		return 0;
	if (slot->flags & SOFT_SLOT_AGAIN &&
	    (int32_t)(board->newest - slot->order) <= 0)
		return 0;
	if (!slot->missing_at)
		slot->missing_at = now;
	due = slot->missing_at + qp->cwnd->rtt / REORDER_SHARE;
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
	if (is_congestion(qp))
		pier__soft_cwnd_reduce(qp->ep, qp->cwnd);
}

void pier__soft_board_check(struct soft_qp *qp)
{
	struct soft_req *req = &qp->req;
	struct soft_board *board = req->board;
	const struct soft_wqe *wqe;
	uint64_t at = req->una;
	uint32_t lost = 0;

	board->check_at = PIER__NEVER;
	for (wqe = req->head; wqe && at < board->high; wqe = wqe->next) {
		for (; at < wqe->first + wqe->packets && at < board->high;
		     at += pier__soft_wqe_span(wqe, at))
			lost += (uint32_t)look(qp, wqe, at);
	}
	if (lost)
		count_losses(qp, lost);
}

/*
 * The last packet, so that the peer reports what it lacks before that.  If the
 * peer has that one, the first it lacks was lost again.
 */
int pier__soft_board_tail(struct soft_qp *qp)
{
	struct soft_req *req = &qp->req;
	struct soft_wqe *wqe = req->head;
	uint64_t at = req->una, last = at;
	struct soft_wqe *of = wqe;

	if (board_get(qp))
		return -1;
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
	for (end = at + pier__soft_wqe_span(wqe, at);
	     at < end && at < req->una + SOFT_EARLY; at++)
		if (slot_of(req->board, at)->flags & SOFT_SLOT_FREE)
			note->cost += pier__soft_wqe_cost(qp, wqe, at, at + 1);
}

void pier__soft_board_sent(struct soft_qp *qp, const struct soft_tx_note *note)
{
	struct soft_req *req = &qp->req;
	struct soft_slot *slot = slot_of(req->board, note->seq);
	uint32_t packets, i;

	slot->order = ++req->board->order;
	if (!note->selective)
		return;
	slot->flags |= SOFT_SLOT_AGAIN;
	slot->flags &= (uint8_t)~SOFT_SLOT_LOST;
	req->board->lost--;
	packets = pier__soft_wqe_span(note->wqe, note->seq);
	for (i = 0; i < packets && note->seq + i - req->una < SOFT_EARLY; i++)
		slot_of(req->board, note->seq + i)->flags &=
			(uint8_t)~SOFT_SLOT_FREE;
}

void pier__soft_board_undo(struct soft_qp *qp, const struct soft_tx_note *note)
{
	struct soft_req *req = &qp->req;

	if (req->board && note->seq >= req->una)
		lose(qp, note->wqe, note->seq);
}

void pier__soft_board_drop(struct soft_qp *qp, uint64_t seq)
{
	struct soft_slot *slot = slot_of(qp->req.board, seq);

	slot->flags &= (uint8_t)~SOFT_SLOT_LOST;
	qp->req.board->lost--;
}
