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

/* The memory of a list from @off on.  Returns false if no key covers it. */
static bool map(const struct soft_qp *qp, const struct ibv_sge *sge,
		uint32_t sges, uint32_t off, struct soft_direct *op)
{
	int access = op->opcode == IBV_WR_RDMA_WRITE ? 0
						     : IBV_ACCESS_LOCAL_WRITE;
	int n = pier__soft_sge_map(qp, sge, sges, off, op->length, access,
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

/* A request of @length bytes was executed. */
static void complete(struct soft_qp *qp, uint8_t opcode, uint32_t length,
		     uint64_t wr_id, unsigned int flags)
{
	struct ibv_wc wc = {
		.wr_id = wr_id,
		.status = IBV_WC_SUCCESS,
		.opcode = pier__soft_wc_opcode(opcode),
		.byte_len = length,
	};

	pier__soft_count(qp, SOFT_COUNTER(shm_direct));
	if (flags & IBV_SEND_SIGNALED)
		pier__soft_cq_push(qp, qp->cq, &wc);
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

	if (qp->req.posted || length > SOFT_DIRECT_ROUND ||
	    !is_possible(qp, opcode, length))
		return false;
	op.opcode = opcode;
	op.length = length;
	op.rest = length;
	fill(&op, wr);
	if (!(wr->send_flags & IBV_SEND_INLINE ?
		      map_inline(wr, &op) :
		      map(qp, wr->sg_list, (uint32_t)wr->num_sge, 0, &op)) ||
	    !qp->io->ops->direct(qp->io, qp, &op))
		return false;
	complete(qp, opcode, length, wr->wr_id, wr->send_flags);
	return true;
}

/* Will @wqe be direct when nothing is before it? */
static bool will_be_direct(struct soft_qp *qp, const struct soft_wqe *wqe)
{
	return qp->io->ops->granted &&
	       is_possible(qp, wqe->opcode, wqe->length) &&
	       qp->io->ops->granted(qp->io, qp, wqe->rkey);
}

static bool should_wait(struct soft_qp *qp, const struct soft_wqe *wqe)
{
	return qp->req.head && !qp->req.others && will_be_direct(qp, wqe);
}

static bool is_long(struct soft_qp *qp, const struct soft_wqe *wqe)
{
	return !qp->req.head && wqe->length > SOFT_DIRECT_ROUND &&
	       will_be_direct(qp, wqe);
}

bool pier__soft_waiting_add(struct soft_qp *qp, struct soft_wqe *wqe)
{
	bool first = !qp->req.waiting;

	if (first && !should_wait(qp, wqe) && !is_long(qp, wqe))
		return false;
	*qp->req.waiting_tail = wqe;
	qp->req.waiting_tail = &wqe->next;
	if (first && !qp->req.head)
		pier__soft_waiting_run(qp);
	return true;
}

/*
 * Execute what is next of @wqe, the first that waits, as if it was posted now;
 * at most *@left bytes, which it takes from there.
 */
static bool execute_waiting(struct soft_qp *qp, struct soft_wqe *wqe,
			    uint32_t *left)
{
	uint32_t rest = wqe->length - wqe->direct;
	struct soft_direct op = {
		.opcode = wqe->opcode,
		.pieces = 1,
		.rkey = wqe->rkey,
		.length = rest < *left ? rest : *left,
		.rest = rest,
		.remote = wqe->remote + wqe->direct,
		.swap_add = wqe->swap_add,
		.compare = wqe->compare,
		.iov[0] = { wqe->data, rest },
	};

	if (!qp->io->ops->direct || !is_possible(qp, wqe->opcode, wqe->length))
		return false;
	if (wqe->flags & IBV_SEND_INLINE ||
	    pier__soft_wqe_is_atomic(wqe))
		op.length = rest;	/* these are short */
	if (!(wqe->flags & IBV_SEND_INLINE) &&
	    !map(qp, wqe->sge, wqe->sges, wqe->direct, &op))
		return false;
	if (!qp->io->ops->direct(qp->io, qp, &op))
		return false;
	wqe->direct += op.length;
	*left -= op.length < *left ? op.length : *left;
	return true;
}

static struct soft_wqe *take(struct soft_req *req)
{
	struct soft_wqe *wqe = req->waiting;

	req->waiting = wqe->next;
	if (!req->waiting)
		req->waiting_tail = &req->waiting;
	return wqe;
}

/* The first that waits was executed, as a whole or in part. */
static void executed(struct soft_qp *qp)
{
	struct soft_wqe *wqe = qp->req.waiting;

	if (wqe->direct < wqe->length)
		return;
	complete(qp, wqe->opcode, wqe->length, wqe->wr_id, wqe->flags);
	qp->req.posted--;
	pier__soft_wqe_put(qp->ep, take(&qp->req));
}

/* What is executed by packets after a part was direct begins anew. */
void pier__soft_waiting_run(struct soft_qp *qp)
{
	struct soft_req *req = &qp->req;
	uint32_t left = SOFT_DIRECT_ROUND;

	while (req->waiting && left) {
		if (!req->head && execute_waiting(qp, req->waiting, &left))
			executed(qp);
		else if (should_wait(qp, req->waiting))
			return;
		else
			pier__soft_req_queue(qp, take(req));
	}
	if (req->waiting)
		pier__soft_req_arm(qp);
}

void pier__soft_waiting_queue(struct soft_qp *qp)
{
	while (qp->req.waiting)
		pier__soft_req_queue(qp, take(&qp->req));
}

void pier__soft_waiting_queue_begun(struct soft_qp *qp)
{
	if (qp->req.waiting && qp->req.waiting->direct)
		pier__soft_req_queue(qp, take(&qp->req));
}
