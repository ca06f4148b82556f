/* SPDX-License-Identifier: BSD-2-Clause */
/* The responder: requests executed, and duplicates. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "core/device_access.h"
#include "core/landing.h"
#include "fabric/soft/rc/qp.h"
#include "fabric/soft/rc/window.h"

void pier__soft_resp_init(struct soft_resp *resp, uint32_t psn)
{
	resp->epsn = (UINT64_C(1) << 32) + psn;
	resp->msn = 0;
	resp->within = SOFT_IDLE;
	resp->established = false;
	resp->due = SOFT_DUE_NONE;
	resp->nak_sent = false;
	resp->too_short = false;
	resp->gaps = 0;
	resp->res_head = 0;
	resp->res_count = 0;
	resp->res_todo = 0;
	resp->part_count = 0;
	resp->rwqe = NULL;
	resp->early = NULL;
	pier__soft_ack_coalesce_init(&resp->coalesce);
}

void pier__soft_resp_complete(struct soft_qp *qp, struct ibv_wc *wc)
{
	struct soft_rwqe *rwqe = qp->resp.rwqe;

	if (!rwqe)
		return;
	wc->wr_id = rwqe->wr_id;
	qp->resp.rwqe = NULL;
	pier__soft_srq_give(qp->srq, rwqe);
	pier__soft_cq_push(qp, qp->recv_cq, wc);
}

/* One that was taken for a packet whose data did not come is used first. */
static bool take_receive(struct soft_qp *qp)
{
	if (!qp->resp.rwqe)
		qp->resp.rwqe = pier__soft_srq_take(qp->srq);
	return qp->resp.rwqe;
}

/* The current receive fails: it is too short for @in and what came before. */
static void receive_too_short(struct soft_qp *qp, const struct soft_packet *in)
{
	struct ibv_wc wc = { .status = IBV_WC_LOC_LEN_ERR,
			     .opcode = IBV_WC_RECV };
	struct soft_packet whole = *in;

	whole.len += qp->resp.total;
	qp->resp.short_len = htobe32(qp->resp.rwqe->length);
	qp->resp.too_short = true;
	pier__soft_resp_complete(qp, &wc);
	pier__soft_refuse_send(qp, &whole, SOFT_NAK_INVALID);
}

/* The current receive fails. */
static void receive_failed(struct soft_qp *qp, const struct soft_packet *in,
			   enum ibv_wc_status status, uint8_t syndrome)
{
	struct ibv_wc wc = { .status = status, .opcode = IBV_WC_RECV };

	pier__soft_resp_complete(qp, &wc);
	pier__soft_refuse_send(qp, in, syndrome);
}

static void receive_not_ready(struct soft_qp *qp, const struct soft_packet *in)
{
	qp->resp.rnr_opcode = in->hdr.opcode;
	pier__soft_reply_nak(qp, SOFT_SYN_RNR | qp->resp.min_rnr_timer);
}

static bool has_imm(uint8_t opcode)
{
	return opcode == SOFT_SEND_LAST_IMM || opcode == SOFT_SEND_ONLY_IMM ||
	       opcode == SOFT_WRITE_LAST_IMM || opcode == SOFT_WRITE_ONLY_IMM;
}

static bool has_inv(uint8_t opcode)
{
	return opcode == SOFT_SEND_LAST_INV || opcode == SOFT_SEND_ONLY_INV;
}

static bool is_start(uint8_t opcode)
{
	return opcode == SOFT_SEND_FIRST || opcode == SOFT_WRITE_FIRST ||
	       opcode == SOFT_SEND_ONLY || opcode == SOFT_SEND_ONLY_IMM ||
	       opcode == SOFT_SEND_ONLY_INV ||
	       opcode == SOFT_WRITE_ONLY || opcode == SOFT_WRITE_ONLY_IMM;
}

static bool is_end(uint8_t opcode)
{
	return opcode != SOFT_SEND_FIRST && opcode != SOFT_SEND_MIDDLE &&
	       opcode != SOFT_WRITE_FIRST && opcode != SOFT_WRITE_MIDDLE;
}

/* A packet of a SEND or WRITE is executed: @within is the message's kind. */
static void executed(struct soft_qp *qp, const struct soft_packet *in,
		     enum soft_within within)
{
	struct soft_resp *resp = &qp->resp;
	bool end = is_end(in->hdr.opcode);

	if (in->pull)
		pier__soft_count(qp, SOFT_COUNTER(shm_pulled));
	resp->epsn += in->packets;
	resp->within = within;
	resp->coalesce.may_coalesce = end && in->hdr.ack_req && !resp->filled;
	/*
	 * rxe counts a retry for every NAK, and resets the count by an ACK
	 * only: without one it fails a long message with several losses.
	 */
	if (in->hdr.ack_req || (resp->filled && resp->gaps >= SOFT_GAPS))
		pier__soft_reply_ack(qp);
	if (end) {
		resp->within = SOFT_IDLE;
		resp->msn = (resp->msn + 1) & SOFT_PSN_MASK;
		resp->gaps = 0;
	}
}

/* Complete the receive of a SEND or WRITE with immediate. */
static void received(struct soft_qp *qp, const struct soft_packet *in,
		     enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc = {
		.status = IBV_WC_SUCCESS,
		.opcode = opcode,
		.byte_len = qp->resp.total,
	};

	if (has_imm(in->hdr.opcode)) {
		wc.wc_flags = IBV_WC_WITH_IMM;
		wc.imm_data = in->hdr.imm;
	}
	if (has_inv(in->hdr.opcode)) {
		wc.wc_flags = IBV_WC_WITH_INV;
		wc.invalidated_rkey = in->hdr.invalidate;
	}
	if (in->hdr.solicited)
		qp->recv_cq->solicited++;
	pier__soft_resp_complete(qp, &wc);
}

static bool send_length_ok(const struct soft_qp *qp,
			   const struct soft_packet *in)
{
	uint32_t most = in->packets * qp->mtu;

	if (!is_end(in->hdr.opcode))
		return in->len == most;
	return in->len <= most && (in->len || is_start(in->hdr.opcode));
}

/*
 * The data of @in have not come to their place, by @err of a copy.  What the
 * peer has not sent for good it sends again.
 */
static void payload_missing(struct soft_qp *qp, const struct soft_packet *in,
			    int err)
{
	uint8_t opcode = in->hdr.opcode;

	if (err == -EAGAIN)
		pier__soft_reply_nak(qp, SOFT_NAK_SEQUENCE);
	else if (opcode >= SOFT_WRITE_FIRST && opcode <= SOFT_WRITE_ONLY_IMM)
		pier__soft_refuse(qp, in, in->pull ? SOFT_NAK_OPERATIONAL :
						     SOFT_NAK_ACCESS);
	else
		receive_failed(qp, in, IBV_WC_LOC_PROT_ERR,
			       SOFT_NAK_OPERATIONAL);
}

static void resp_send(struct soft_qp *qp, const struct soft_packet *in)
{
	struct soft_resp *resp = &qp->resp;
	bool start = is_start(in->hdr.opcode);
	int err;

	if (resp->within != (start ? SOFT_IDLE : SOFT_IN_SEND) ||
	    !send_length_ok(qp, in)) {
		pier__soft_refuse(qp, in, SOFT_NAK_INVALID);
		return;
	}
	if (start) {
		if (!take_receive(qp)) {
			receive_not_ready(qp, in);
			return;
		}
		resp->total = 0;
	}
	if (in->len > resp->rwqe->length - resp->total) {
		receive_too_short(qp, in);
		return;
	}
	err = pier__soft_rwqe_take(qp, resp->rwqe, resp->total, in);
	if (err) {
		payload_missing(qp, in, err);
		return;
	}
	if (has_inv(in->hdr.opcode) &&
	    !pier__soft_window_invalidate(qp, in->hdr.invalidate)) {
		receive_failed(qp, in, IBV_WC_LOC_ACCESS_ERR, SOFT_NAK_ACCESS);
		return;
	}
	resp->total += in->len;
	executed(qp, in, SOFT_IN_SEND);
	if (is_end(in->hdr.opcode))
		received(qp, in, IBV_WC_RECV);
}

/* Is the packet valid at this place, with this length? */
static bool write_valid(const struct soft_qp *qp, const struct soft_packet *in)
{
	const struct soft_resp *resp = &qp->resp;
	bool start = is_start(in->hdr.opcode);
	uint32_t remaining = start ? in->hdr.dma_len : resp->remaining;
	uint32_t most = in->packets * qp->mtu;

	if (resp->within != (start ? SOFT_IDLE : SOFT_IN_WRITE) ||
	    !(qp->access & IBV_ACCESS_REMOTE_WRITE) ||
	    remaining > SOFT_MESSAGE_MAX)
		return false;
	if (!is_end(in->hdr.opcode))
		return in->len == most && remaining > most;
	return in->len == remaining && remaining <= most;
}

static void resp_write(struct soft_qp *qp, const struct soft_packet *in)
{
	struct soft_resp *resp = &qp->resp;
	bool start = is_start(in->hdr.opcode), imm = has_imm(in->hdr.opcode);
	uint32_t need = start ? in->hdr.dma_len : in->len;
	void *to = NULL;
	int err;

	if (!write_valid(qp, in)) {
		pier__soft_refuse(qp, in, SOFT_NAK_INVALID);
		return;
	}
	if (imm && !resp->rwqe && (!qp->srq || !qp->srq->first)) {
		receive_not_ready(qp, in);
		return;
	}
	if (start) {
		resp->va = in->hdr.va;
		resp->rkey = in->hdr.rkey;
		resp->total = in->hdr.dma_len;
		resp->remaining = in->hdr.dma_len;
	}
	/* At the start check the whole range, then each packet's part. */
	if (need)
		to = pier__soft_memory(qp, resp->rkey, resp->va, need,
				       IBV_ACCESS_REMOTE_WRITE);
	if (need && !to) {
		pier__soft_refuse(qp, in, SOFT_NAK_ACCESS);
		return;
	}
	err = pier__soft_take(qp, to, in);
	if (err) {
		payload_missing(qp, in, err);
		return;
	}
	resp->va += in->len;
	resp->remaining -= in->len;
	executed(qp, in, SOFT_IN_WRITE);
	if (imm) {
		take_receive(qp);
		received(qp, in, IBV_WC_RECV_RDMA_WITH_IMM);
	} else if (in->len) {
		qp->ep->one_sided = true;
	}
}

static uint32_t read_packets(const struct soft_qp *qp, uint32_t len)
{
	return len ? (len - 1) / qp->mtu + 1 : 1;
}

static void resp_read(struct soft_qp *qp, const struct soft_packet *in)
{
	struct soft_resp *resp = &qp->resp;
	const struct soft_hdr *hdr = &in->hdr;
	struct soft_res *res = NULL;

	if (resp->within == SOFT_IDLE && !in->len && resp->rd_max &&
	    hdr->dma_len <= SOFT_MESSAGE_MAX &&
	    qp->access & IBV_ACCESS_REMOTE_READ)
		res = pier__soft_reply_new(qp);
	if (!res) {
		pier__soft_refuse(qp, in, SOFT_NAK_INVALID);
		return;
	}
	if (hdr->dma_len &&
	    !pier__soft_memory(qp, hdr->rkey, hdr->va, hdr->dma_len,
			       IBV_ACCESS_REMOTE_READ)) {
		resp->res_count--;	/* the place is not used */
		pier__soft_refuse(qp, in, SOFT_NAK_ACCESS);
		return;
	}
	resp->msn = (resp->msn + 1) & SOFT_PSN_MASK;
	*res = (struct soft_res) {
		.seq = resp->epsn,
		.va = hdr->va,
		.rkey = hdr->rkey,
		.packets = read_packets(qp, hdr->dma_len),
		.len = hdr->dma_len,
		.bytes = hdr->dma_len,
		.msn = resp->msn,
		.fresh = true,
	};
	resp->epsn += res->packets;
	qp->ep->one_sided = true;
	pier__soft_reply_start(qp, res, 0, res->packets);
}

struct atomic {
	uint64_t *word, original;
	const struct soft_hdr *hdr;
};

static void atomic_execute(void *arg)
{
	struct atomic *atomic = arg;
	const struct soft_hdr *hdr = atomic->hdr;

	atomic->original = hdr->compare;
	pier__device_access_begin();
	pier__device_access_probe(atomic->word);
	if (hdr->opcode == SOFT_FETCH_ADD)
		atomic->original = __atomic_fetch_add(
			atomic->word, hdr->swap_add, __ATOMIC_SEQ_CST);
	else	/* on failure this makes original what was found */
		__atomic_compare_exchange_n(atomic->word, &atomic->original,
					    hdr->swap_add, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	pier__device_access_end();
}

/* Errors: -EACCES, -EFAULT. */
static int atomic_try(const struct soft_qp *qp, struct atomic *atomic)
{
	atomic->word = pier__soft_memory(qp, atomic->hdr->rkey,
					 atomic->hdr->va, 8,
					 IBV_ACCESS_REMOTE_ATOMIC);
	if (!atomic->word || (uintptr_t)atomic->word % 8)
		return -EACCES;
	if (qp->ep->verbs)
		return pier__landing_call(atomic_execute, atomic);
	atomic_execute(atomic);
	return 0;
}

static void resp_atomic(struct soft_qp *qp, const struct soft_packet *in)
{
	struct soft_resp *resp = &qp->resp;
	const struct soft_hdr *hdr = &in->hdr;
	struct soft_res *res = NULL;
	struct atomic atomic = { .hdr = hdr };

	if (resp->within == SOFT_IDLE && !in->len && resp->rd_max &&
	    hdr->va % 8 == 0 && qp->access & IBV_ACCESS_REMOTE_ATOMIC)
		res = pier__soft_reply_new(qp);
	if (!res) {
		pier__soft_refuse(qp, in, SOFT_NAK_INVALID);
		return;
	}
	if (atomic_try(qp, &atomic)) {
		resp->res_count--;
		pier__soft_refuse(qp, in, SOFT_NAK_ACCESS);
		return;
	}
	resp->msn = (resp->msn + 1) & SOFT_PSN_MASK;
	*res = (struct soft_res) {
		.seq = resp->epsn,
		.original = atomic.original,
		.packets = 1,
		.msn = resp->msn,
		.atomic = true,
		.fresh = true,
	};
	resp->epsn++;
	qp->ep->one_sided = true;
	pier__soft_reply_start(qp, res, 0, 1);
}

/*
 * Another request than the one that found no receive: the peer has ended that
 * one with all behind it, which is not executed then.
 */
static bool is_in_its_place(const struct soft_resp *resp,
			    const struct soft_packet *in)
{
	return resp->nak_sent && resp->syndrome >> 5 == SOFT_SYN_RNR >> 5 &&
	       in->hdr.opcode != resp->rnr_opcode;
}

/* The peer is connected, before the program has moved the QP on. */
static void established(struct soft_qp *qp)
{
	qp->resp.established = true;
	if (qp->state == IBV_QPS_RTR)
		pier__soft_async(qp->ep, IBV_EVENT_COMM_EST, qp->async);
}

static void resp_expected(struct soft_qp *qp, const struct soft_packet *in)
{
	struct soft_resp *resp = &qp->resp;

	if (!resp->established)
		established(qp);
	if (is_in_its_place(resp, in))
		pier__soft_early_clear(qp);
	resp->filled = resp->nak_sent;
	resp->gaps += resp->filled && resp->gaps < SOFT_GAPS;
	resp->nak_sent = false;
	if (resp->due >= SOFT_DUE_NAK)
		resp->due = SOFT_DUE_ACK;	/* out of date */
	switch (in->hdr.opcode) {
	case SOFT_SEND_FIRST:
	case SOFT_SEND_MIDDLE:
	case SOFT_SEND_LAST:
	case SOFT_SEND_LAST_IMM:
	case SOFT_SEND_ONLY:
	case SOFT_SEND_ONLY_IMM:
		resp_send(qp, in);
		break;
	case SOFT_SEND_LAST_INV:
	case SOFT_SEND_ONLY_INV:
		/* Only programs of verbs have memory windows. */
		if (qp->ep->verbs)
			resp_send(qp, in);
		else
			pier__soft_refuse(qp, in, SOFT_NAK_INVALID);
		break;
	case SOFT_WRITE_FIRST:
	case SOFT_WRITE_MIDDLE:
	case SOFT_WRITE_LAST:
	case SOFT_WRITE_LAST_IMM:
	case SOFT_WRITE_ONLY:
	case SOFT_WRITE_ONLY_IMM:
		resp_write(qp, in);
		break;
	case SOFT_READ_REQUEST:
		resp_read(qp, in);
		break;
	case SOFT_COMPARE_SWAP:
	case SOFT_FETCH_ADD:
		resp_atomic(qp, in);
		break;
	default:
		pier__soft_refuse(qp, in, SOFT_NAK_INVALID);
	}
}

/*
 * A READ that is requested again, in whole or in part, while its result is
 * stored.  A soft peer requests parts for which it lacks, whose responses are
 * independent of each other.
 */
static void read_again(struct soft_qp *qp, const struct soft_packet *in,
		       uint64_t seq)
{
	struct soft_res *res = pier__soft_reply_find(qp, seq);
	uint32_t start, end, off, len = in->hdr.dma_len;

	if (!res || res->atomic)
		return;
	start = seq - res->seq;
	off = start * qp->mtu;
	if (in->hdr.rkey != res->rkey || in->hdr.va != res->va + off ||
	    len > res->len - off)
		return;
	end = start + read_packets(qp, len);
	if (qp->selective && res->at < res->end && start >= res->at)
		return;		/* it will be sent */
	if (qp->selective && end < res->packets) {
		pier__soft_reply_part(qp, res, start, end, off + len);
		return;
	}
	res->bytes = off + len;
	pier__soft_reply_start(qp, res, start, end);
}

static void atomic_again(struct soft_qp *qp, uint64_t seq)
{
	struct soft_res *res = pier__soft_reply_find(qp, seq);

	if (res && res->atomic)
		pier__soft_reply_start(qp, res, 0, 1);
}

static void resp_duplicate(struct soft_qp *qp, const struct soft_packet *in,
			   uint64_t seq)
{
	pier__soft_count(qp, SOFT_COUNTER(duplicates));
	switch (in->hdr.opcode) {
	case SOFT_READ_REQUEST:
		read_again(qp, in, seq);
		break;
	case SOFT_COMPARE_SWAP:
	case SOFT_FETCH_ADD:
		atomic_again(qp, seq);
		break;
	default:
		pier__soft_ack_coalesce_duplicate(qp);
		pier__soft_reply_ack(qp);
	}
}

/* Is the peer to send again from the expected one on? */
static bool sent_again_anyway(const struct soft_resp *resp)
{
	return resp->nak_sent && resp->syndrome != SOFT_NAK_SEQUENCE;
}

static bool has_response(uint8_t opcode)
{
	return opcode == SOFT_READ_REQUEST || opcode == SOFT_COMPARE_SWAP ||
	       opcode == SOFT_FETCH_ADD;
}

/*
 * A peer that goes back may request in parts what was one READ: with those held
 * from before there are more than it has at a time.  It sends them again.
 */
static bool is_too_many(struct soft_qp *qp, const struct soft_held *held)
{
	return has_response(held->hdr.opcode) && qp->resp.rd_max &&
	       pier__soft_reply_is_full(qp);
}

/* The gap is filled: execute what is held behind it. */
static void resp_held(struct soft_qp *qp)
{
	struct soft_held *held;
	struct soft_packet in;

	while ((held = pier__soft_early_take(qp))) {
		if (is_too_many(qp, held)) {
			free(held);
			pier__soft_early_free(qp);
			return;
		}
		in.hdr = held->hdr;
		in.data = held->data;
		in.len = held->len;
		in.pull = NULL;
		in.packets = 1;
		resp_expected(qp, &in);
		free(held);
	}
	/* There is another gap. */
	if (qp->resp.early && !sent_again_anyway(&qp->resp))
		pier__soft_reply_selective(qp);
}

static void resp_ahead(struct soft_qp *qp, const struct soft_packet *in,
		       uint64_t seq)
{
	struct soft_resp *resp = &qp->resp;
	bool held = !pier__soft_is_several(in) && qp->selective &&
		    in->hdr.selective && pier__soft_early_hold(qp, in, seq);

	if (!held)
		pier__soft_count(qp, SOFT_COUNTER(out_of_order));
	if (resp->early && !sent_again_anyway(resp))
		pier__soft_reply_selective(qp);
	else if (!resp->nak_sent)
		pier__soft_reply_nak(qp, SOFT_NAK_SEQUENCE);
}

void pier__soft_resp_receive(struct soft_qp *qp, const struct soft_packet *in)
{
	struct soft_resp *resp = &qp->resp;
	uint64_t seq = pier__soft_seq(resp->epsn, in->hdr.psn);

	if (seq < resp->epsn) {
		resp_duplicate(qp, in, seq);
	} else if (seq == resp->epsn) {
		resp_expected(qp, in);
		if (resp->early)
			resp_held(qp);
	} else {
		resp_ahead(qp, in, seq);
	}
}
