/* SPDX-License-Identifier: BSD-2-Clause */
#include <endian.h>
#include <string.h>

#include "core/device_access.h"
#include "core/roce.h"
#include "fabric/soft/rc/short.h"

/* The BTH, as it is in memory: three words. */
#define BTH_LEN 12
#define IMM_LEN 4
#define ICRC_LEN 4		/* is counted, though it is not there */
#define QPN_MASK 0xffffffu
#define ACK_REQ (UINT32_C(1) << 31)
#define VERSION_MASK 0x0f	/* of its second byte, as those below */
#define PAD_SHIFT 4
#define SOLICITED 0x80

static bool is_short(const struct soft_wqe *wqe)
{
	return wqe->length <= SOFT_SHORT_MAX &&
	       (wqe->opcode == IBV_WR_SEND ||
		wqe->opcode == IBV_WR_SEND_WITH_IMM);
}

static uint32_t cost_of(const struct soft_wqe *wqe)
{
	return SOFT_PACKET_COST + wqe->length;
}

/* Nothing is before it, or keeps it back. */
static bool is_next(const struct soft_qp *qp, const struct soft_wqe *wqe)
{
	const struct soft_req *req = &qp->req;

	return qp->state == IBV_QPS_RTS && !req->cur && !req->board &&
	       !req->probe && req->drain_end == UINT64_MAX &&
	       req->nxt - req->una < SOFT_AHEAD_MAX && !qp->ep->send_at &&
	       !(wqe->flags & IBV_SEND_FENCE && req->rd_atomic) &&
	       !qp->ep->verbs &&
	       pier__list_empty(&qp->cwnd->qps) &&
	       pier__soft_cwnd_fits(qp->ep, qp->cwnd, cost_of(wqe));
}

/* Most have 8 bytes, for which no call is made. */
static uint8_t *put_bytes(uint8_t *to, const void *from, size_t len)
{
	if (len == sizeof(uint64_t))
		memcpy(to, from, sizeof(uint64_t));
	else
		memcpy(to, from, len);
	return to + len;
}

/* Returns the end, or NULL if a key does not cover the data. */
static uint8_t *put_data(const struct soft_qp *qp, const struct soft_wqe *wqe,
			 uint8_t *to)
{
	struct iovec iov[SOFT_SEND_SGE];
	int i, n;

	if (wqe->flags & IBV_SEND_INLINE)
		return put_bytes(to, wqe->data, wqe->length);
	n = pier__soft_sge_map(qp, wqe->sge, wqe->sges, 0, wqe->length, 0,
			       iov);
	if (n < 0)
		return NULL;
	pier__device_access_begin();
	for (i = 0; i < n; i++)
		to = put_bytes(to, iov[i].iov_base, iov[i].iov_len);
	pier__device_access_end();
	return to;
}

static void put32(uint8_t *to, uint32_t value)
{
	value = htobe32(value);
	memcpy(to, &value, sizeof(value));
}

static void put_bth(const struct soft_qp *qp, const struct soft_wqe *wqe,
		    uint32_t pad, uint8_t *to)
{
	bool imm = wqe->opcode == IBV_WR_SEND_WITH_IMM;
	uint32_t psn = qp->req.nxt & SOFT_PSN_MASK;

	to[0] = imm ? SOFT_SEND_ONLY_IMM : SOFT_SEND_ONLY;
	to[1] = (uint8_t)(pad << PAD_SHIFT);
	if (wqe->flags & IBV_SEND_SOLICITED)
		to[1] |= SOLICITED;
	to[2] = ROCE_PKEY_DEFAULT >> 8;
	to[3] = ROCE_PKEY_DEFAULT & 0xff;
	put32(to + 4, qp->dest_qpn);
	put32(to + 8, ACK_REQ | SOFT_SELECTIVE << 24 | psn |
		      (uint32_t)qp->ep->senders.reported <<
			      (24 + SOFT_SENDERS_SHIFT));
	if (imm)
		memcpy(to + BTH_LEN, &wqe->imm, IMM_LEN);
}

/* Queue it as one that was sent. */
static void queue(struct soft_qp *qp, struct soft_wqe *wqe)
{
	struct soft_req *req = &qp->req;

	wqe->first = req->end;
	wqe->packets = 1;
	wqe->read_packets = 1;
	req->others++;
	*req->tail = wqe;
	req->tail = &wqe->next;
	req->ack_req_seq = req->nxt;
	req->end++;
	req->nxt = req->end;
	req->max = req->end;
	req->inflight += cost_of(wqe);
	pier__soft_cwnd_charge(qp->ep, qp->cwnd, cost_of(wqe));
}

static void count_sent(struct soft_qp *qp, uint32_t len)
{
	pier__soft_count(qp, SOFT_COUNTER(tx_packets));
	pier__soft_count(qp, SOFT_COUNTER(shm_sent));
	pier__soft_add(qp->counters, SOFT_COUNTER(tx_bytes), len);
	pier__soft_add(qp->ep->counters, SOFT_COUNTER(tx_bytes), len);
}

bool pier__soft_short_send(struct soft_qp *qp, struct soft_wqe *wqe)
{
	const struct soft_io_ops *ops = qp->io->ops;
	uint32_t head = BTH_LEN, pad = -wqe->length & 3, len;
	uint8_t *to, *end;

	if (!ops->reserve || !is_short(wqe) || !is_next(qp, wqe))
		return false;
	if (wqe->opcode == IBV_WR_SEND_WITH_IMM)
		head += IMM_LEN;
	len = head + wqe->length + pad;
	to = ops->reserve(qp->io, len);
	if (!to)
		return false;
	end = put_data(qp, wqe, to + head);
	if (!end)
		return false;
	if (pad)
		memset(end, 0, pad);
	put_bth(qp, wqe, pad, to);
	ops->put(qp->io, len);
	queue(qp, wqe);
	count_sent(qp, len + ICRC_LEN);
	return true;
}

void pier__soft_short_sent(struct soft_qp *qp, bool idle)
{
	struct soft_req *req = &qp->req;

	if (!idle && req->rtt_at)
		return;
	qp->ep->now = qp->ep->io->ops->now(qp->ep->io);
	if (!req->rtt_at) {
		req->rtt_seq = req->nxt - 1;
		req->rtt_at = qp->ep->now;
	}
	if (idle)
		pier__soft_req_start_timer(qp);
}

static uint32_t get32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return be32toh(value);
}

/* Is @word, the last of a BTH, of the next request, which asks for an ACK? */
static bool is_expected(const struct soft_qp *qp, uint32_t word)
{
	const struct soft_resp *resp = &qp->resp;
	uint32_t senders = word >> (24 + SOFT_SENDERS_SHIFT) &
			   SOFT_SENDERS_MAX;

	return word & ACK_REQ && senders == qp->cwnd->senders &&
	       (word & SOFT_PSN_MASK) == (resp->epsn & SOFT_PSN_MASK) &&
	       resp->within == SOFT_IDLE && resp->established &&
	       !resp->nak_sent && resp->due <= SOFT_DUE_ACK && !resp->early;
}

/* Does the connection @qp, in its usual state, receive by @via? */
static bool is_up(const struct soft_qp *qp, const struct soft_io *via)
{
	return qp && qp->io == via && qp->state == IBV_QPS_RTS && !qp->ud &&
	       !qp->cm_id && qp->selective;
}

/*
 * The next receive, if @len bytes fit into it.  What was taken for another
 * packet is not the next one.
 */
static bool has_receive(const struct soft_qp *qp, uint32_t len)
{
	return !qp->resp.rwqe && qp->srq && qp->srq->first &&
	       len <= qp->srq->first->length;
}

static void received(struct soft_qp *qp, uint32_t len, bool solicited)
{
	struct soft_resp *resp = &qp->resp;
	struct ibv_wc wc = {
		.status = IBV_WC_SUCCESS,
		.opcode = IBV_WC_RECV,
		.byte_len = len,
	};

	resp->filled = false;
	resp->gaps = 0;
	resp->total = len;
	resp->epsn++;
	resp->msn = (resp->msn + 1) & SOFT_PSN_MASK;
	resp->coalesce.may_coalesce = true;
	pier__soft_reply_ack(qp);
	if (solicited)
		qp->recv_cq->solicited++;
	pier__soft_resp_complete(qp, &wc);
}

static void count_received(struct soft_qp *qp, uint32_t len)
{
	pier__soft_count(qp, SOFT_COUNTER(rx_packets));
	pier__soft_add(qp->counters, SOFT_COUNTER(rx_bytes), len);
	pier__soft_add(qp->ep->counters, SOFT_COUNTER(rx_bytes), len);
}

bool pier__soft_short_receive(struct soft_ep *ep, const struct soft_io *via,
			      const uint8_t *bytes, uint32_t len)
{
	uint32_t pad = bytes[1] >> PAD_SHIFT & 3, data;
	struct soft_qp *qp;

	if (bytes[0] != SOFT_SEND_ONLY || bytes[1] & VERSION_MASK ||
	    len % 4 || len < BTH_LEN + pad ||
	    !pier__roce_pkey_is_default((uint16_t)(bytes[2] << 8 | bytes[3])))
		return false;
	qp = pier__soft_table_find(ep, get32(bytes + 4) & QPN_MASK);
	data = len - BTH_LEN - pad;
	if (!is_up(qp, via) || !is_expected(qp, get32(bytes + 8)) ||
	    data >= qp->mtu || !has_receive(qp, data))
		return false;
	/* If this fails the packet's own way finds the same. */
	qp->resp.rwqe = pier__soft_srq_take(qp->srq);
	if (pier__soft_rwqe_fill(qp, qp->resp.rwqe, 0, bytes + BTH_LEN, data))
		return false;
	count_received(qp, len + ICRC_LEN);
	received(qp, data, bytes[1] & SOLICITED);
	return true;
}
