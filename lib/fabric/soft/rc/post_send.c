/* SPDX-License-Identifier: BSD-2-Clause */
/* Send requests posted: checks, and the send queue. */
#include <errno.h>
#include <string.h>

#include "core/fail.h"
#include "fabric/soft/rc/post_direct.h"
#include "fabric/soft/rc/short.h"

static bool takes_inline(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM ||
	       opcode == IBV_WR_SEND_WITH_INV || opcode == IBV_WR_RDMA_WRITE ||
	       opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static int inline_check(const struct soft_qp *qp, const struct ibv_send_wr *wr,
			uint64_t length)
{
	if (!takes_inline(wr->opcode))
		return pier__fail(-EINVAL, "opcode %d cannot be inline",
				  wr->opcode);
	if (length > qp->inline_size)
		return pier__fail(-EINVAL, "%llu bytes inline: at most %u",
				  (unsigned long long)length,
				  qp->inline_size);
	return 0;
}

static int opcode_check(const struct soft_qp *qp, const struct ibv_send_wr *wr,
			uint64_t length)
{
	switch (wr->opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return 0;
	case IBV_WR_RDMA_READ:
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		if (length == 8 && wr->wr.atomic.remote_addr % 8 == 0)
			break;
		return pier__fail(-EINVAL, "atomic of %llu bytes at %#llx: "
				  "8 bytes at a multiple of 8",
				  (unsigned long long)length,
				  (unsigned long long)
				  wr->wr.atomic.remote_addr);
	default:
		return pier__fail(-EINVAL, "opcode %d is not supported",
				  wr->opcode);
	}
	if (!qp->req.rd_max)
		return pier__fail(-EINVAL, "read or atomic on QP %u, whose "
				  "max_rd_atomic is 0", qp->qpn);
	return 0;
}

static int wr_check(const struct soft_qp *qp, const struct ibv_send_wr *wr,
		    uint64_t *ret)
{
	bool inlined = wr->send_flags & IBV_SEND_INLINE;
	uint64_t length = 0;
	int i, err;

	if (qp->state != IBV_QPS_RTS && qp->state != IBV_QPS_SQD &&
	    qp->state != IBV_QPS_ERR)
		return pier__fail(-EINVAL, "request on QP %u in state %d",
				  qp->qpn, qp->state);
	if (wr->num_sge < 0 ||
	    (!inlined && (uint32_t)wr->num_sge > qp->send_sge))
		return pier__fail(-EINVAL, "request in %d pieces: at most %u",
				  wr->num_sge, qp->send_sge);
	for (i = 0; i < wr->num_sge; i++)
		length += wr->sg_list[i].length;
	if (length > SOFT_MESSAGE_MAX)
		return pier__fail(-EINVAL, "message of %llu bytes: at most %u",
				  (unsigned long long)length,
				  SOFT_MESSAGE_MAX);
	err = inlined ? inline_check(qp, wr, length) : 0;
	if (!err)
		err = opcode_check(qp, wr, length);
	if (!err)
		*ret = length;
	return err;
}

int pier__soft_qp_post_check(const struct soft_qp *qp,
			     const struct ibv_send_wr *wr)
{
	uint64_t length;

	return qp->ud ? pier__soft_ud_check(qp, wr) : wr_check(qp, wr, &length);
}

/* In ERR a request is flushed at once. */
static void post_flushed(struct soft_qp *qp, const struct ibv_send_wr *wr)
{
	struct ibv_wc wc = {
		.wr_id = wr->wr_id,
		.status = IBV_WC_WR_FLUSH_ERR,
	};

	pier__soft_cq_push(qp, qp->cq, &wc);
}

static void wqe_fill(struct soft_wqe *wqe, const struct ibv_send_wr *wr,
		     uint32_t length)
{
	uint8_t *data = wqe->data;
	int i;

	wqe->next = NULL;
	wqe->local = NULL;
	wqe->wr_id = wr->wr_id;
	wqe->length = length;
	wqe->direct = 0;
	wqe->opcode = wr->opcode;
	wqe->flags = wr->send_flags;
	wqe->status = IBV_WC_SUCCESS;
	wqe->imm = wr->imm_data;	/* or invalidate_rkey, in its place */
	wqe->remote = wr->wr.rdma.remote_addr;
	wqe->rkey = wr->wr.rdma.rkey;
	if (pier__soft_wqe_is_atomic(wqe)) {
		wqe->remote = wr->wr.atomic.remote_addr;
		wqe->rkey = wr->wr.atomic.rkey;
		wqe->swap_add = wr->wr.atomic.compare_add;
		wqe->compare = 0;
	}
	if (wqe->opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
		wqe->swap_add = wr->wr.atomic.swap;
		wqe->compare = wr->wr.atomic.compare_add;
	}
	wqe->sges = wr->send_flags & IBV_SEND_INLINE ? 0 : wr->num_sge;
	for (i = 0; i < wqe->sges; i++)
		wqe->sge[i] = wr->sg_list[i];
	if (!(wr->send_flags & IBV_SEND_INLINE))
		return;
	for (i = 0; i < wr->num_sge; data += wr->sg_list[i++].length)
		if (wr->sg_list[i].length)
			memcpy(data, (void *)(uintptr_t)wr->sg_list[i].addr,
			       wr->sg_list[i].length);
}

void pier__soft_req_queue(struct soft_qp *qp, struct soft_wqe *wqe)
{
	struct soft_req *req = &qp->req;

	wqe->first = req->end;
	wqe->packets = wqe->length ? (wqe->length - 1) / qp->mtu + 1 : 1;
	/* It changes for soft peers only, once a request was sent. */
	wqe->read_packets = pier__soft_read_packets(qp);
	req->end += wqe->packets;
	if (!pier__soft_may_be_direct(wqe->opcode))
		req->others++;
	wqe->next = NULL;
	*req->tail = wqe;
	req->tail = &wqe->next;
	if (!req->cur)
		req->cur = wqe;
	if (pier__soft_req_can_send(qp))
		pier__soft_cwnd_schedule(qp->ep, qp);
}

static int post_one(struct soft_qp *qp, const struct ibv_send_wr *wr)
{
	struct soft_wqe *wqe;
	uint64_t length = 0;
	int err;

	err = wr_check(qp, wr, &length);
	if (err)
		return err;
	if (qp->req.posted + qp->unpolled >= qp->send_wr)
		return pier__fail(-EAGAIN, "QP %u: %u sends are posted, as "
				  "many as it takes", qp->qpn, qp->send_wr);
	if (qp->state == IBV_QPS_ERR) {
		post_flushed(qp, wr);
		return 0;
	}
	if (qp->io->ops->direct && pier__soft_post_direct(qp, wr, length))
		return 0;
	wqe = pier__soft_wqe_get(qp->ep);
	if (!wqe)
		return pier__fail(-EAGAIN, "QP %u: all send requests of the "
				  "endpoint are in use", qp->qpn);
	wqe_fill(wqe, wr, length);
	qp->req.posted++;
	if (!pier__soft_waiting_add(qp, wqe) &&
	    !pier__soft_short_send(qp, wqe))
		pier__soft_req_queue(qp, wqe);
	return 0;
}

int pier__soft_qp_post(struct soft_qp *qp, struct ibv_send_wr *wr,
		       struct ibv_send_wr **bad)
{
	uint64_t max = qp->req.max;
	bool idle = qp->req.una == max;
	int err = 0;

	for (; wr && !err; wr = wr->next) {
		err = post_one(qp, wr);
		if (err)
			*bad = wr;
	}
	if (qp->req.max != max)
		pier__soft_short_sent(qp, idle);
	if (!err)
		pier__soft_ack_coalesce_posted(qp);
	return err;
}
