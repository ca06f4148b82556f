/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests that are executed here, in the peer's memory, without a packet. */
#include "fabric/soft/rc/post_direct.h"

/* Memory of programs for libibverbs may be unmapped at any time. */
static bool is_possible(const struct soft_qp *qp, uint8_t opcode,
			uint32_t length)
{
	return pier__soft_may_be_direct(opcode) && length &&
	       qp->state == IBV_QPS_RTS && qp->req.drain_end == UINT64_MAX &&
	       !qp->ep->verbs;
}

/* The memory of a list.  Returns false if a key does not cover it. */
static bool map(const struct soft_qp *qp, const struct ibv_sge *sge,
		uint32_t sges, struct soft_direct *op)
{
	int access = op->opcode == IBV_WR_RDMA_WRITE ? 0
						     : IBV_ACCESS_LOCAL_WRITE;
	int n = pier__soft_sge_map(qp, sge, sges, 0, op->length, access,
				   op->iov);

	op->pieces = n > 0 ? (uint8_t)n : 0;
	return n > 0;
}

static bool map_inline(const struct ibv_send_wr *wr, struct soft_direct *op)
{
	int i, n = 0;

	if (wr->num_sge > SOFT_SEND_SGE)
		return false;
	for (i = 0; i < wr->num_sge; i++)
		if (wr->sg_list[i].length)
			op->iov[n++] = (struct iovec){
				(void *)(uintptr_t)wr->sg_list[i].addr,
				wr->sg_list[i].length,
			};
	op->pieces = (uint8_t)n;
	return true;
}

static void fill(struct soft_direct *op, const struct ibv_send_wr *wr)
{
	op->remote = wr->wr.rdma.remote_addr;
	op->rkey = wr->wr.rdma.rkey;
	if (wr->opcode != IBV_WR_ATOMIC_CMP_AND_SWP &&
	    wr->opcode != IBV_WR_ATOMIC_FETCH_AND_ADD)
		return;
	op->remote = wr->wr.atomic.remote_addr;
	op->rkey = wr->wr.atomic.rkey;
	op->swap_add = wr->wr.atomic.compare_add;
	op->compare = 0;
	if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
		op->swap_add = wr->wr.atomic.swap;
		op->compare = wr->wr.atomic.compare_add;
	}
}

/* Execute @op, and complete the request that it is of. */
static bool execute(struct soft_qp *qp, const struct soft_direct *op,
		    uint64_t wr_id, unsigned int flags)
{
	struct ibv_wc wc = {
		.wr_id = wr_id,
		.status = IBV_WC_SUCCESS,
		.opcode = pier__soft_wc_opcode(op->opcode),
		.byte_len = op->length,
	};

	if (!qp->io->ops->direct(qp->io, qp, op))
		return false;
	pier__soft_count(qp, SOFT_COUNTER(shm_direct));
	if (flags & IBV_SEND_SIGNALED)
		pier__soft_cq_push(qp, qp->cq, &wc);
	return true;
}

/*
 * It must not overtake a request before it, which is executed when its packets
 * are.  Behind it there is none yet.
 */
bool pier__soft_post_direct(struct soft_qp *qp, const struct ibv_send_wr *wr,
			    uint32_t length)
{
	uint8_t opcode = (uint8_t)wr->opcode;
	struct soft_direct op;

	if (qp->req.posted || !is_possible(qp, opcode, length))
		return false;
	op.opcode = opcode;
	op.length = length;
	fill(&op, wr);
	if (!(wr->send_flags & IBV_SEND_INLINE ?
		      map_inline(wr, &op) :
		      map(qp, wr->sg_list, (uint32_t)wr->num_sge, &op)))
		return false;
	return execute(qp, &op, wr->wr_id, wr->send_flags);
}

/* Will @wqe be direct when nothing is before it? */
static bool should_wait(struct soft_qp *qp, const struct soft_wqe *wqe)
{
	return qp->req.head && !qp->req.others && qp->io->ops->granted &&
	       is_possible(qp, wqe->opcode, wqe->length) &&
	       qp->io->ops->granted(qp->io, qp, wqe->rkey);
}

bool pier__soft_waiting_add(struct soft_qp *qp, struct soft_wqe *wqe)
{
	if (!qp->req.waiting && !should_wait(qp, wqe))
		return false;
	*qp->req.waiting_tail = wqe;
	qp->req.waiting_tail = &wqe->next;
	return true;
}

/* Execute @wqe, the first that waits, as if it was posted now. */
static bool execute_waiting(struct soft_qp *qp, struct soft_wqe *wqe)
{
	struct soft_direct op = {
		.opcode = wqe->opcode,
		.pieces = 1,
		.rkey = wqe->rkey,
		.length = wqe->length,
		.remote = wqe->remote,
		.swap_add = wqe->swap_add,
		.compare = wqe->compare,
		.iov[0] = { wqe->data, wqe->length },
	};

	if (!qp->io->ops->direct || !is_possible(qp, wqe->opcode, wqe->length))
		return false;
	if (!(wqe->flags & IBV_SEND_INLINE) &&
	    !map(qp, wqe->sge, wqe->sges, &op))
		return false;
	return execute(qp, &op, wqe->wr_id, wqe->flags);
}

static struct soft_wqe *take(struct soft_req *req)
{
	struct soft_wqe *wqe = req->waiting;

	req->waiting = wqe->next;
	if (!req->waiting)
		req->waiting_tail = &req->waiting;
	return wqe;
}

void pier__soft_waiting_run(struct soft_qp *qp)
{
	struct soft_req *req = &qp->req;

	while (req->waiting) {
		if (!req->head && execute_waiting(qp, req->waiting)) {
			req->posted--;
			pier__soft_wqe_put(qp->ep, take(req));
			continue;
		}
		if (should_wait(qp, req->waiting))
			break;
		pier__soft_req_queue(qp, take(req));
	}
}

void pier__soft_waiting_queue(struct soft_qp *qp)
{
	while (qp->req.waiting)
		pier__soft_req_queue(qp, take(&qp->req));
}
