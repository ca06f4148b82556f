/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests that are executed when they are posted, in the peer's memory. */
#include "fabric/soft/rc/post_direct.h"

static bool is_direct(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_READ ||
	       opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/*
 * It must not overtake a request before it, which is executed when its packets
 * are.  Behind it there is none yet.  Memory of programs for libibverbs may be
 * unmapped at any time.
 */
static bool is_next(const struct soft_qp *qp)
{
	return !qp->req.posted && qp->state == IBV_QPS_RTS &&
	       qp->req.drain_end == UINT64_MAX && !qp->ep->verbs;
}

/* The memory here.  Returns false if a key does not cover it. */
static bool map(const struct soft_qp *qp, const struct ibv_send_wr *wr,
		struct soft_direct *op)
{
	int access = op->opcode == IBV_WR_RDMA_WRITE ? 0
						     : IBV_ACCESS_LOCAL_WRITE;
	int i, n = 0;

	if (!(wr->send_flags & IBV_SEND_INLINE)) {
		n = pier__soft_sge_map(qp, wr->sg_list, (uint32_t)wr->num_sge,
				       0, op->length, access, op->iov);
		op->pieces = n > 0 ? (uint8_t)n : 0;
		return n > 0;
	}
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

static enum ibv_wc_opcode wc_opcode(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_READ:
		return IBV_WC_RDMA_READ;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return IBV_WC_COMP_SWAP;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return IBV_WC_FETCH_ADD;
	default:
		return IBV_WC_RDMA_WRITE;
	}
}

bool pier__soft_post_direct(struct soft_qp *qp, const struct ibv_send_wr *wr,
			    uint32_t length)
{
	struct ibv_wc wc = { .wr_id = wr->wr_id, .status = IBV_WC_SUCCESS };
	struct soft_direct op;

	if (!is_direct(wr->opcode) || !length || !is_next(qp))
		return false;
	op.opcode = (uint8_t)wr->opcode;
	op.length = length;
	fill(&op, wr);
	if (!map(qp, wr, &op) || !qp->io->ops->direct(qp->io, qp, &op))
		return false;
	pier__soft_count(qp, SOFT_COUNTER(shm_direct));
	wc.opcode = wc_opcode(wr->opcode);
	wc.byte_len = length;
	if (wr->send_flags & IBV_SEND_SIGNALED)
		pier__soft_cq_push(qp, qp->cq, &wc);
	return true;
}
