/* SPDX-License-Identifier: BSD-2-Clause */
/* The requester: packets of SEND, WRITE, READ and atomic requests. */
#include <errno.h>
#include <string.h>

#include "core/clock.h"
#include "fabric/soft/rc/post_direct.h"
#include "fabric/soft/rc/tx.h"
#include "fabric/soft/rc/window.h"

/*
 * Bytes and packets of one READ request: the lesser of the two, or up to
 * READ_PACKETS_MAX if the window holds two of that length.  The first and the
 * last packet of a response have a longer header than the others, and so are
 * not in the same segmented send.
 */
#define READ_BYTES 65536
#define READ_PACKETS 64
#define READ_PACKETS_MAX 256

/* By enum ibv_wr_opcode, for each that post_send.c accepts; SEND is 0. */
static const enum ibv_wc_opcode wc_opcodes[] = {
	[IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
	[IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
	[IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
	[IBV_WR_ATOMIC_CMP_AND_SWP] = IBV_WC_COMP_SWAP,
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = IBV_WC_FETCH_ADD,
	[IBV_WR_SEND_WITH_INV] = IBV_WC_SEND,
};

enum ibv_wc_opcode pier__soft_wc_opcode(uint8_t opcode)
{
	return wc_opcodes[opcode];
}

void pier__soft_req_init(struct soft_req *req, uint32_t psn)
{
	/* Above 0, so that earlier sequence numbers are positive. */
	uint64_t seq = (UINT64_C(1) << 32) + psn;

	req->head = NULL;
	req->tail = &req->head;
	req->cur = NULL;
	req->una = seq;
	req->nxt = seq;
	req->end = seq;
	req->max = seq;
	req->ack_req_seq = seq;
	req->drain_end = UINT64_MAX;
	req->notify_drained = false;
	req->read_from = 0;
	req->go_back_una = 0;
	req->go_back_at = 0;
	req->rtt_at = 0;
	req->posted = 0;
	req->others = 0;
	req->waiting = NULL;
	req->waiting_tail = &req->waiting;
	req->inflight = 0;
	req->rd_atomic = 0;
	req->backoff = 0;
	req->nak = false;
	req->give_up_at = PIER__NEVER;
	req->rnr_wait = false;
	req->refused = false;
	req->probe = false;
	req->tail_at = PIER__NEVER;
	req->tails = 0;
	req->parts_end = 0;
	req->board = NULL;
}

void pier__soft_req_complete(struct soft_qp *qp, enum ibv_wc_status status)
{
	struct soft_req *req = &qp->req;
	struct soft_wqe *wqe = req->head, *local = wqe->local;
	struct ibv_wc wc = {
		.wr_id = wqe->wr_id,
		.status = status,
		.opcode = pier__soft_wc_opcode(wqe->opcode),
		.byte_len = wqe->length,
	};

	req->head = wqe->next;
	if (!req->head)
		req->tail = &req->head;
	req->posted--;
	if (!pier__soft_may_be_direct(wqe->opcode))
		req->others--;
	if (status || wqe->flags & IBV_SEND_SIGNALED)
		pier__soft_cq_push(qp, qp->cq, &wc);
	pier__soft_wqe_put(qp->ep, wqe);
	if (local)
		pier__soft_local_complete(qp, local, status);
	if (req->notify_drained)
		pier__soft_req_drained(qp);
}

bool pier__soft_req_is_drained(const struct soft_qp *qp)
{
	const struct soft_req *req = &qp->req;

	return !req->head || req->head->first >= req->drain_end;
}

void pier__soft_req_drained(struct soft_qp *qp)
{
	if (qp->state == IBV_QPS_SQD && !pier__soft_req_is_drained(qp))
		return;
	qp->req.notify_drained = false;
	if (qp->state == IBV_QPS_SQD)
		pier__soft_async(qp->ep, IBV_EVENT_SQ_DRAINED, qp->async);
}

uint32_t pier__soft_read_packets(const struct soft_qp *qp)
{
	uint32_t least = READ_BYTES / qp->mtu;
	uint32_t n = qp->cwnd->window / 2 / (qp->mtu + SOFT_PACKET_COST);

	if (least > READ_PACKETS)
		least = READ_PACKETS;
	if (n > READ_PACKETS_MAX)
		n = READ_PACKETS_MAX;
	return n > least ? n : least;
}

uint32_t pier__soft_wqe_cost(const struct soft_qp *qp,
			     const struct soft_wqe *wqe, uint64_t from,
			     uint64_t to)
{
	uint64_t a = (from - wqe->first) * qp->mtu;
	uint64_t b = (to - wqe->first) * qp->mtu;

	if (b > wqe->length)
		b = wqe->length;
	return (to - from) * SOFT_PACKET_COST + (b > a ? b - a : 0);
}

/* Packets unacknowledged: while one is missing, what the peer can hold. */
static uint32_t ahead_max(const struct soft_req *req)
{
	if (req->board)
		return SOFT_EARLY;
	return req->probe ? 1 : SOFT_AHEAD_MAX;
}

bool pier__soft_req_can_send(const struct soft_qp *qp)
{
	const struct soft_req *req = &qp->req;
	const struct soft_wqe *wqe = req->cur;

	if (req->board && pier__soft_board_can_send(qp))
		return true;
	if (!wqe || wqe->status || req->rnr_wait ||
	    req->nxt >= req->drain_end ||
	    req->nxt - req->una >= ahead_max(req))
		return false;
	if (qp->state != IBV_QPS_RTS && qp->state != IBV_QPS_SQD)
		return false;
	if (wqe->flags & IBV_SEND_FENCE && req->nxt == wqe->first &&
	    req->rd_atomic)
		return false;
	if (pier__soft_wqe_is_read(wqe) || pier__soft_wqe_is_atomic(wqe))
		return req->rd_atomic < req->rd_max;
	return true;
}

static uint8_t send_opcode(const struct soft_wqe *wqe, bool first, bool last)
{
	static const uint8_t only[] = {
		[IBV_WR_RDMA_WRITE] = SOFT_WRITE_ONLY,
		[IBV_WR_RDMA_WRITE_WITH_IMM] = SOFT_WRITE_ONLY_IMM,
		[IBV_WR_SEND] = SOFT_SEND_ONLY,
		[IBV_WR_SEND_WITH_IMM] = SOFT_SEND_ONLY_IMM,
		[IBV_WR_SEND_WITH_INV] = SOFT_SEND_ONLY_INV,
	};
	static const uint8_t at_end[] = {
		[IBV_WR_RDMA_WRITE] = SOFT_WRITE_LAST,
		[IBV_WR_RDMA_WRITE_WITH_IMM] = SOFT_WRITE_LAST_IMM,
		[IBV_WR_SEND] = SOFT_SEND_LAST,
		[IBV_WR_SEND_WITH_IMM] = SOFT_SEND_LAST_IMM,
		[IBV_WR_SEND_WITH_INV] = SOFT_SEND_LAST_INV,
	};
	bool write = wqe->opcode == IBV_WR_RDMA_WRITE ||
		     wqe->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;

	if (last)
		return first ? only[wqe->opcode] : at_end[wqe->opcode];
	if (first)
		return write ? SOFT_WRITE_FIRST : SOFT_SEND_FIRST;
	return write ? SOFT_WRITE_MIDDLE : SOFT_SEND_MIDDLE;
}

/*
 * Should the packet of @cost at nxt request an ACK?  Each ACK costs both sides
 * a system call; with too few the window is full before the next one.
 */
static bool needs_ack(const struct soft_qp *qp, uint32_t cost)
{
	const struct soft_req *req = &qp->req;
	uint64_t since = req->nxt + 1 - req->ack_req_seq;

	return req->probe || since > SOFT_ACK_EVERY ||
	       since * cost >= qp->cwnd->window / 4 ||
	       req->nxt + 1 - req->una >= SOFT_AHEAD_MAX ||
	       qp->cwnd->inflight + 2 * cost > qp->cwnd->window;
}

static int put_payload(struct soft_qp *qp, struct soft_wqe *wqe,
		       uint32_t off, uint32_t len, struct soft_tx *tx)
{
	int n;

	if (wqe->flags & IBV_SEND_INLINE) {
		tx->iov[0].iov_base = wqe->data + off;
		tx->iov[0].iov_len = len;
		n = len ? 1 : 0;
	} else {
		n = pier__soft_sge_map(qp, wqe->sge, wqe->sges, off, len,
				       0, tx->iov);
		if (n > 0 && pier__soft_readable(qp->ep, tx->iov, n))
			n = -EFAULT;
	}
	if (n < 0)
		return n;
	tx->iov_count = n;
	tx->payload_len = len;
	return 0;
}

/*
 * How many packets of @wqe, a SEND or WRITE, are one from @seq on.  What is
 * sent again since the peer reported a gap, or to find out whether it takes it,
 * is single packets.
 */
static uint32_t packets_at(const struct soft_qp *qp,
			   const struct soft_wqe *wqe, uint64_t seq)
{
	uint32_t k = (uint32_t)(seq - wqe->first);

	if (qp->req.board || qp->req.probe)
		return 1;
	return pier__soft_tx_packets(qp, wqe->packets - k,
				     wqe->length - k * qp->mtu,
				     !(wqe->flags & IBV_SEND_INLINE));
}

/* One packet of a SEND or WRITE, or one that is @packets. */
static int put_data(struct soft_qp *qp, const struct soft_tx_note *note,
		    uint32_t packets, struct soft_tx *tx, struct soft_hdr *hdr)
{
	struct soft_wqe *wqe = note->wqe;
	uint32_t k = note->seq - wqe->first;
	uint32_t off = k * qp->mtu, len = wqe->length - off;
	bool last = k + packets == wqe->packets;

	hdr->opcode = send_opcode(wqe, !k, last);
	hdr->solicited = last && wqe->flags & IBV_SEND_SOLICITED;
	hdr->ack_req = last || note->selective || packets > 1 ||
		       needs_ack(qp, note->cost);
	hdr->va = wqe->remote;
	hdr->rkey = wqe->rkey;
	hdr->dma_len = wqe->length;
	hdr->imm = wqe->imm;
	hdr->invalidate = wqe->imm;
	pier__soft_tx_several(qp, tx, packets);
	return put_payload(qp, wqe, off, last ? len : packets * qp->mtu, tx);
}

/* A READ request for @packets. */
static int put_read(struct soft_qp *qp, const struct soft_tx_note *note,
		    uint32_t packets, struct soft_hdr *hdr)
{
	struct soft_wqe *wqe = note->wqe;
	uint32_t off = (note->seq - wqe->first) * qp->mtu;
	uint32_t len = wqe->length - off;
	struct iovec iov[SOFT_SEND_SGE];
	int n;

	if (len > packets * qp->mtu)
		len = packets * qp->mtu;
	if (note->seq == qp->req.una)
		qp->req.read_from = (uint32_t)note->seq;
	hdr->opcode = SOFT_READ_REQUEST;
	hdr->ack_req = true;
	hdr->va = wqe->remote + off;
	hdr->rkey = wqe->rkey;
	hdr->dma_len = len;
	n = pier__soft_sge_map(qp, wqe->sge, wqe->sges, off, len,
			       IBV_ACCESS_LOCAL_WRITE, iov);
	return n < 0 ? n : 0;
}

static int put_atomic(struct soft_qp *qp, struct soft_wqe *wqe,
		      struct soft_hdr *hdr)
{
	struct iovec iov[SOFT_SEND_SGE];
	int n;

	hdr->opcode = wqe->opcode == IBV_WR_ATOMIC_CMP_AND_SWP
			      ? SOFT_COMPARE_SWAP : SOFT_FETCH_ADD;
	hdr->ack_req = true;
	hdr->va = wqe->remote;
	hdr->rkey = wqe->rkey;
	hdr->swap_add = wqe->swap_add;
	hdr->compare = wqe->compare;
	n = pier__soft_sge_map(qp, wqe->sge, wqe->sges, 0, 8,
			       IBV_ACCESS_LOCAL_WRITE, iov);
	return n < 0 ? n : 0;
}

/* The packet of @note.  Errors: -EACCES. */
static int put(struct soft_qp *qp, const struct soft_tx_note *note,
	       uint32_t packets, struct soft_hdr *hdr)
{
	struct soft_tx *tx = pier__soft_tx_next(qp, note);

	if (pier__soft_wqe_is_read(note->wqe))
		return put_read(qp, note, packets, hdr);
	if (pier__soft_wqe_is_atomic(note->wqe))
		return put_atomic(qp, note->wqe, hdr);
	return put_data(qp, note, packets, tx, hdr);
}

uint32_t pier__soft_wqe_span(const struct soft_wqe *wqe, uint64_t seq)
{
	uint32_t k = seq - wqe->first, n;

	if (!pier__soft_wqe_is_read(wqe))
		return 1;
	n = wqe->read_packets - k % wqe->read_packets;
	return n < wqe->packets - k ? n : wqe->packets - k;
}

static void charge(struct soft_qp *qp, uint32_t cost)
{
	qp->req.inflight += cost;
	pier__soft_cwnd_charge(qp->ep, qp->cwnd, cost);
}

/* Account for the packet that was built. */
static void req_sent(struct soft_qp *qp, const struct soft_hdr *hdr,
		     uint32_t packets, const struct soft_tx_note *note)
{
	struct soft_req *req = &qp->req;
	struct soft_wqe *wqe = req->cur;
	uint64_t now = qp->ep->now;
	bool idle = req->una == req->max;

	if (req->board)
		pier__soft_board_sent(qp, note);
	if (req->nxt == req->max && hdr->ack_req && !req->rtt_at) {
		req->rtt_seq = req->nxt;
		req->rtt_at = now;
	}
	if (hdr->ack_req)
		req->ack_req_seq = req->nxt;
	if (pier__soft_wqe_is_read(wqe) || pier__soft_wqe_is_atomic(wqe))
		req->rd_atomic++;
	charge(qp, note->cost);
	req->nxt += packets;
	if (req->max < req->nxt)
		req->max = req->nxt;
	if (req->nxt == wqe->first + wqe->packets)
		req->cur = wqe->next;
	if (idle)
		pier__soft_req_start_timer(qp);
}

/* It fails when the requests before it are complete. */
static void cannot_be_sent(struct soft_qp *qp, struct soft_wqe *wqe)
{
	wqe->status = IBV_WC_LOC_PROT_ERR;
	if (wqe == qp->req.head)
		pier__soft_qp_fail(qp, IBV_WC_LOC_PROT_ERR);
}

/* Pacing leaves space at some time, without an acknowledgement. */
static int window_full(struct soft_qp *qp)
{
	if (pier__soft_cwnd_send_at(qp->ep, qp->cwnd) > qp->ep->now)
		pier__soft_req_arm(qp);
	return -EAGAIN;
}

/*
 * The peer executes no request before the oldest.  If that is lost, responses
 * to READs behind it are in flight until it has come: no reason to wait.
 */
static bool lost_fits(const struct soft_qp *qp, const struct soft_tx_note *note)
{
	return (note->seq == qp->req.una && !qp->cwnd->incast &&
		pier__soft_wqe_is_read(note->wqe)) ||
	       pier__soft_cwnd_fits(qp->ep, qp->cwnd, note->cost);
}

/* Send a packet again that is lost. */
static int send_lost(struct soft_qp *qp)
{
	struct soft_tx_note note = { .qp = qp,
				     .retransmit = true,
				     .selective = true };
	struct soft_hdr hdr = { 0 };

	pier__soft_board_next(qp, &note);
	if (!lost_fits(qp, &note))
		return window_full(qp);
	hdr.psn = note.seq & SOFT_PSN_MASK;
	if (put(qp, &note, note.packets, &hdr)) {
		pier__soft_board_drop(qp, &note);
		cannot_be_sent(qp, note.wqe);
		return 0;
	}
	pier__soft_tx_commit(qp, &hdr);
	pier__soft_board_sent(qp, &note);
	charge(qp, note.cost);
	pier__soft_req_arm(qp);
	return 1;
}

/*
 * In incast, requests of a READ not sent yet are for a packet each; of one that
 * was sent to a soft peer, too.  RoCE devices may ignore one that has another
 * end when it is sent again.
 */
static void shorten_read(struct soft_qp *qp)
{
	struct soft_req *req = &qp->req;
	struct soft_wqe *wqe = req->cur;
	uint64_t end = wqe->first + wqe->packets;

	if (!qp->cwnd->incast || wqe->read_packets == 1 ||
	    (req->nxt != wqe->first && req->nxt != req->una) ||
	    (!qp->selective && req->nxt < req->max))
		return;
	wqe->read_packets = 1;
	if (req->parts_end < end)
		req->parts_end = end;	/* of longer ones, some may come */
}

int pier__soft_req_send(struct soft_qp *qp)
{
	struct soft_hdr hdr = { .psn = qp->req.nxt & SOFT_PSN_MASK };
	struct soft_tx_note note = { .qp = qp, .wqe = qp->req.cur,
				  .seq = qp->req.nxt,
				  .retransmit = qp->req.nxt < qp->req.max };
	uint32_t packets;

	if (!pier__soft_req_can_send(qp))
		return 0;
	if (qp->req.board && pier__soft_board_can_send(qp))
		return send_lost(qp);
	if (pier__soft_wqe_is_read(note.wqe))
		shorten_read(qp);
	packets = pier__soft_wqe_is_read(note.wqe) ||
			  pier__soft_wqe_is_atomic(note.wqe) ?
			  pier__soft_wqe_span(note.wqe, note.seq) :
			  packets_at(qp, note.wqe, note.seq);
	/* A probe is not limited by the window. */
	if (!qp->req.probe)
		note.cost = pier__soft_wqe_cost(qp, note.wqe, note.seq,
						note.seq + packets);
	if (!pier__soft_cwnd_fits(qp->ep, qp->cwnd, note.cost))
		return window_full(qp);
	if (put(qp, &note, packets, &hdr)) {
		cannot_be_sent(qp, note.wqe);
		return 0;
	}
	pier__soft_tx_commit(qp, &hdr);
	req_sent(qp, &hdr, packets, &note);
	return 1;
}

static void undo_lost(struct soft_qp *qp, const struct soft_tx_note *note)
{
	pier__soft_board_undo(qp, note);
	pier__soft_cwnd_schedule(qp->ep, qp);
}

void pier__soft_req_undo(struct soft_qp *qp, const struct soft_tx_note *note)
{
	struct soft_req *req = &qp->req;

	if (qp->state != IBV_QPS_RTS && qp->state != IBV_QPS_SQD)
		return;		/* it has failed meanwhile */
	if (note->selective) {
		undo_lost(qp, note);
		return;
	}
	if (pier__soft_wqe_is_read(note->wqe) ||
	    pier__soft_wqe_is_atomic(note->wqe))
		req->rd_atomic--;
	if (!note->retransmit)
		req->max = note->seq;
	req->nxt = note->seq;
	req->cur = note->wqe;
	req->inflight -= note->cost;
	if (req->ack_req_seq > req->nxt)
		req->ack_req_seq = req->nxt;
	req->rtt_at = 0;
	pier__soft_cwnd_release(qp->ep, qp->cwnd, note->cost, false);
	pier__soft_cwnd_schedule(qp->ep, qp);
}
