/* SPDX-License-Identifier: BSD-2-Clause */
/* The responder: READ and atomic responses, ACK and NAK sent. */
#include <stdlib.h>

#include "fabric/soft/rc/qp.h"
#include "fabric/soft/rc/tx.h"

/* Places in struct soft_tx_note. */
#define NO_RES 0xff	/* an acknowledgement */
#define PART 0xfe	/* a part of a READ's result */

/* Is the NAK that is due one that ends the QP? */
static bool reply_fatal(const struct soft_resp *resp)
{
	return resp->due == SOFT_DUE_NAK && resp->syndrome > SOFT_NAK_SEQUENCE;
}

bool pier__soft_reply_pending(const struct soft_qp *qp)
{
	const struct soft_resp *resp = &qp->resp;

	switch (qp->state) {
	case IBV_QPS_RTR:
	case IBV_QPS_RTS:
	case IBV_QPS_SQD:
		return resp->res_todo || resp->part_count || resp->due;
	case IBV_QPS_ERR:
		/* The NAK or ACK that ends it, and the results before. */
		return reply_fatal(resp) || resp->due == SOFT_DUE_ACK;
	default:
		return false;
	}
}

static void reply_schedule(struct soft_qp *qp)
{
	pier__soft_ack_coalesce_cancel(qp);
	if (pier__list_empty(&qp->resp.link))
		pier__list_add(&qp->ep->replying, &qp->resp.link);
}

void pier__soft_reply_ack(struct soft_qp *qp)
{
	/* A NAK acknowledges all before it as well. */
	if (qp->resp.due == SOFT_DUE_NONE)
		qp->resp.due = SOFT_DUE_ACK;
	reply_schedule(qp);
}

void pier__soft_reply_selective(struct soft_qp *qp)
{
	qp->resp.due = SOFT_DUE_SELECTIVE;
	qp->resp.syndrome = SOFT_NAK_SEQUENCE;
	qp->resp.nak_sent = true;
	reply_schedule(qp);
}

void pier__soft_reply_nak(struct soft_qp *qp, uint8_t syndrome)
{
	qp->resp.due = SOFT_DUE_NAK;
	qp->resp.syndrome = syndrome;
	qp->resp.nak_sent = true;
	reply_schedule(qp);
	if (syndrome > SOFT_NAK_SEQUENCE)
		pier__soft_qp_fail(qp, IBV_WC_WR_FLUSH_ERR);
}

static struct soft_res *res_at(struct soft_resp *resp, uint32_t i)
{
	return &resp->res[(resp->res_head + i) % SOFT_RD_ATOMIC];
}

bool pier__soft_reply_is_full(struct soft_qp *qp)
{
	const struct soft_res *res = res_at(&qp->resp, 0);

	return qp->resp.res_count >= qp->resp.rd_max && res->at < res->end &&
	       res->fresh;
}

struct soft_res *pier__soft_reply_new(struct soft_qp *qp)
{
	struct soft_resp *resp = &qp->resp;
	struct soft_res *res = res_at(resp, 0);

	if (resp->res_count < resp->rd_max)
		return res_at(resp, resp->res_count++);
	if (pier__soft_reply_is_full(qp))
		return NULL;
	if (res->at < res->end)
		resp->res_todo--;	/* a duplicate request, dropped */
	resp->res_head = (resp->res_head + 1) % SOFT_RD_ATOMIC;
	return res_at(resp, resp->res_count - 1);
}

void pier__soft_reply_start(struct soft_qp *qp, struct soft_res *res,
			    uint32_t start, uint32_t end)
{
	if (res->at == res->end)
		qp->resp.res_todo++;
	res->start = start;
	res->at = start;
	res->end = end;
	reply_schedule(qp);
}

struct soft_res *pier__soft_reply_find(struct soft_qp *qp, uint64_t seq)
{
	struct soft_res *res;
	uint32_t i;

	for (i = 0; i < qp->resp.res_count; i++) {
		res = res_at(&qp->resp, i);
		if (seq >= res->seq && seq - res->seq < res->packets)
			return res;
	}
	return NULL;
}

static struct soft_part *take_parts(struct soft_ep *ep)
{
	struct soft_part *parts = ep->parts;

	ep->parts = NULL;
	return parts ? parts : malloc(SOFT_PARTS * sizeof(*parts));
}

void pier__soft_reply_put_parts(struct soft_ep *ep, struct soft_part *parts)
{
	if (ep->parts)
		free(parts);
	else
		ep->parts = parts;
}

void pier__soft_reply_part(struct soft_qp *qp, const struct soft_res *res,
			   uint32_t start, uint32_t end, uint32_t bytes)
{
	struct soft_resp *resp = &qp->resp;
	uint32_t i = resp->part_head + resp->part_count;

	if (resp->part_count == SOFT_PARTS || end - start > SOFT_EARLY)
		return;
	if (!resp->part)
		resp->part = take_parts(qp->ep);
	if (!resp->part)
		return;
	resp->part_count++;
	resp->part[i % SOFT_PARTS] = (struct soft_part) {
		.seq = res->seq + start,
		.len = bytes - start * qp->mtu,
		.packets = (uint16_t)(end - start),
	};
	reply_schedule(qp);
}

/* How many packets of @res are one.  Those that are sent again are single. */
static uint32_t packets_of(const struct soft_qp *qp, const struct soft_res *res)
{
	if (!res->fresh)
		return 1;
	return pier__soft_tx_packets(qp, res->end - res->at,
				     res->bytes - res->at * qp->mtu, true);
}

static uint8_t read_opcode(const struct soft_res *res, uint32_t packets)
{
	bool first = res->at == res->start;
	bool last = res->at + packets == res->end;

	if (first)
		return last ? SOFT_READ_ONLY : SOFT_READ_FIRST;
	return last ? SOFT_READ_LAST : SOFT_READ_MIDDLE;
}

/*
 * The peer reads the data of @res.  Returns 0 if the key was removed since it
 * was looked up: that does not wait for the endpoint.
 */
static int offer_read(struct soft_qp *qp, const struct soft_res *res)
{
	struct soft_mr *mr = pier__soft_mr_of(qp->ep->keys, res->rkey);

	if (!mr)
		return 0;
	atomic_store_explicit(&mr->offered, true, memory_order_relaxed);
	return 1;
}

/* The payload of a READ response.  Returns 0 if the key is not valid. */
static int put_read(struct soft_qp *qp, const struct soft_res *res,
		    uint32_t packets, struct soft_tx *tx)
{
	uint32_t off = res->at * qp->mtu, len = res->bytes - off;

	if (len > packets * qp->mtu)
		len = packets * qp->mtu;
	if (!len)
		return 1;
	tx->iov[0].iov_base = pier__soft_memory(qp, res->rkey, res->va + off,
						len, IBV_ACCESS_REMOTE_READ);
	if (!tx->iov[0].iov_base)
		return 0;
	tx->iov[0].iov_len = len;
	if (pier__soft_readable(qp->ep, tx->iov, 1))
		return 0;
	tx->iov_count = 1;
	tx->payload_len = len;
	pier__soft_tx_several(qp, tx, packets);
	return !tx->pull || offer_read(qp, res);
}

/*
 * The key of @res is not valid any more.  A result that was sent as a whole may
 * have arrived since, and then the peer expects no error: its repetition is
 * dropped.
 */
static void lose_result(struct soft_qp *qp, struct soft_res *res)
{
	struct soft_resp *resp = &qp->resp;

	if (!res->fresh) {
		res->at = res->end;
		resp->res_todo--;
		return;
	}
	resp->epsn = res->seq + res->at;
	resp->res_todo = 0;
	pier__soft_refuse_read(qp, res);
}

static int send_result(struct soft_qp *qp)
{
	struct soft_resp *resp = &qp->resp;
	struct soft_res *res = res_at(resp, 0);
	struct soft_tx_note note = { .qp = qp };
	struct soft_hdr hdr = { .syndrome = SOFT_SYN_ACK };
	uint32_t packets = 1, i;
	struct soft_tx *tx;

	for (i = 0; res->at == res->end; )
		res = res_at(resp, ++i);
	note.res = res - resp->res;
	note.fresh = res->fresh;
	note.seq = res->at;
	tx = pier__soft_tx_next(qp, &note);
	hdr.psn = (res->seq + res->at) & SOFT_PSN_MASK;
	hdr.msn = res->fresh ? res->msn : resp->msn;
	if (res->atomic) {
		hdr.opcode = SOFT_ATOMIC_ACK;
		hdr.original = res->original;
	} else {
		packets = packets_of(qp, res);
		hdr.opcode = read_opcode(res, packets);
		if (!put_read(qp, res, packets, tx)) {
			lose_result(qp, res);
			return 0;
		}
	}
	pier__soft_tx_commit(qp, &hdr);
	res->at += packets;
	if (res->at == res->end) {
		resp->res_todo--;
		res->fresh = false;
	}
	return 1;
}

/* The bitmap stays as it is until the batch is sent. */
static void put_bitmap(struct soft_qp *qp, struct soft_tx *tx)
{
	tx->iov[0].iov_base = qp->resp.early->bitmap;
	tx->payload_len = pier__soft_early_bitmap(qp);
	tx->iov[0].iov_len = tx->payload_len;
	tx->iov_count = tx->payload_len ? 1 : 0;
}

/* The length of the receive that was too short, for the error of the peer. */
static void put_short_len(struct soft_qp *qp, struct soft_tx *tx)
{
	tx->iov[0].iov_base = &qp->resp.short_len;
	tx->iov[0].iov_len = sizeof(qp->resp.short_len);
	tx->payload_len = sizeof(qp->resp.short_len);
	tx->iov_count = 1;
}

static int send_ack(struct soft_qp *qp)
{
	struct soft_resp *resp = &qp->resp;
	struct soft_tx_note note = { .qp = qp,
				     .res = NO_RES,
				     .due = resp->due };
	struct soft_hdr hdr = { .opcode = SOFT_ACK, .msn = resp->msn };
	struct soft_tx *tx = pier__soft_tx_next(qp, &note);

	if (resp->due == SOFT_DUE_ACK) {
		hdr.psn = (resp->epsn - 1) & SOFT_PSN_MASK;
		hdr.syndrome = SOFT_SYN_ACK;
	} else {
		hdr.psn = resp->epsn & SOFT_PSN_MASK;
		hdr.syndrome = resp->syndrome;
	}
	if (resp->due == SOFT_DUE_SELECTIVE)
		put_bitmap(qp, tx);
	else if (resp->due == SOFT_DUE_NAK && resp->too_short && qp->selective)
		put_short_len(qp, tx);
	pier__soft_tx_commit(qp, &hdr);
	resp->due = SOFT_DUE_NONE;
	resp->coalesce.unacked = 0;
	resp->coalesce.unanswered = false;
	return 1;
}

/* The packet of @part that is next, which is of @res. */
static bool put_part(struct soft_qp *qp, const struct soft_part *part,
		     const struct soft_res *res)
{
	struct soft_resp *resp = &qp->resp;
	struct soft_tx_note note = { .qp = qp,
				     .res = PART,
				     .part = resp->part_head,
				     .seq = part->sent };
	struct soft_hdr hdr = { .syndrome = SOFT_SYN_ACK, .msn = resp->msn };
	struct soft_res copy = *res;

	copy.start = (uint32_t)(part->seq - res->seq);
	copy.at = copy.start + part->sent;
	copy.end = copy.start + part->packets;
	copy.bytes = copy.start * qp->mtu + part->len;
	hdr.psn = (uint32_t)(part->seq + part->sent) & SOFT_PSN_MASK;
	hdr.opcode = read_opcode(&copy, 1);
	if (!put_read(qp, &copy, 1, pier__soft_tx_next(qp, &note)))
		return false;
	pier__soft_tx_commit(qp, &hdr);
	return true;
}

/*
 * A packet of the oldest part.  One whose result or key has gone is dropped, as
 * the peer has it or gets no result.
 */
static int send_part(struct soft_qp *qp)
{
	struct soft_resp *resp = &qp->resp;
	const struct soft_res *res;
	struct soft_part *part;
	bool sent = false;

	while (resp->part_count && !sent) {
		part = &resp->part[resp->part_head];
		res = pier__soft_reply_find(qp, part->seq);
		sent = res && put_part(qp, part, res);
		if (sent && ++part->sent < part->packets)
			break;
		resp->part_head = (resp->part_head + 1) % SOFT_PARTS;
		resp->part_count--;
	}
	return sent;
}

static void undo_part(struct soft_resp *resp, const struct soft_tx_note *note)
{
	while (resp->part_head != note->part) {
		resp->part_head = (resp->part_head + SOFT_PARTS - 1) %
				  SOFT_PARTS;
		resp->part_count++;
	}
	if (!resp->part_count)
		resp->part_count = 1;
	resp->part[note->part].sent = (uint16_t)note->seq;
}

int pier__soft_reply_send(struct soft_qp *qp)
{
	if (!pier__soft_reply_pending(qp))
		return 0;
	if (qp->resp.part_count && send_part(qp))
		return 1;
	if (qp->resp.res_todo)
		return send_result(qp);
	return qp->resp.due ? send_ack(qp) : 0;
}

void pier__soft_reply_sent(struct soft_qp *qp, const struct soft_tx_note *note)
{
	uint8_t syndrome = qp->resp.syndrome;

	if (note->res == NO_RES && note->due == SOFT_DUE_SELECTIVE)
		pier__soft_count(qp, SOFT_COUNTER(selective_sent));
	if (note->res != NO_RES || note->due != SOFT_DUE_NAK)
		return;
	pier__soft_ep_note(qp->ep, qp->qpn, SOFT_EVENT_NAK_SENT, syndrome,
			   qp->resp.epsn);
	if (syndrome >= SOFT_SYN_NAK)
		pier__soft_count(qp, SOFT_COUNTER(naks_sent[syndrome & 3]));
	else
		pier__soft_count(qp, SOFT_COUNTER(rnr_sent));
}

void pier__soft_reply_undo(struct soft_qp *qp, const struct soft_tx_note *note)
{
	struct soft_resp *resp = &qp->resp;
	struct soft_res *res;

	if (note->res == NO_RES) {
		resp->due = note->due;
	} else if (note->res == PART) {
		undo_part(resp, note);
	} else {
		res = &resp->res[note->res];
		if (res->at == res->end)
			resp->res_todo++;
		res->at = note->seq;
		res->fresh = note->fresh;
	}
	reply_schedule(qp);
}

void pier__soft_qp_acknowledge(struct soft_qp *qp)
{
	if (qp->resp.due != SOFT_DUE_ACK)
		return;
	reply_schedule(qp);
	pier__soft_ep_send_posted(qp->ep, true);
}

void pier__soft_reply_drop_results(struct soft_qp *qp)
{
	struct soft_resp *resp = &qp->resp;
	struct soft_res *res;
	uint32_t i;

	resp->part_count = 0;
	if (resp->due != SOFT_DUE_ACK)
		return;
	if (resp->res_todo) {
		for (i = 0; res_at(resp, i)->at == res_at(resp, i)->end;)
			i++;
		res = res_at(resp, i);
		resp->epsn = res->seq;	/* acknowledge what is before it */
		resp->res_todo = 0;
	}
	reply_schedule(qp);
}

void pier__soft_reply_final_ack(struct soft_qp *qp)
{
	pier__soft_reply_drop_results(qp);
	if (qp->resp.due == SOFT_DUE_ACK) {
		send_ack(qp);
		pier__soft_tx_flush(qp->ep);
	}
}
