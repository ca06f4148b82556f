/* SPDX-License-Identifier: BSD-2-Clause */
/* Receive queues: shared by QPs, or of one. */
#include <errno.h>
#include <stdlib.h>

#include "core/fail.h"
#include "fabric/soft/rc/qp.h"

int pier__soft_srq_create(struct soft_ep *ep, uint32_t max_wr,
			  uint32_t max_sge, struct soft_srq **ret)
{
	size_t stride = sizeof(struct soft_rwqe) +
			max_sge * sizeof(struct ibv_sge);
	struct soft_srq *srq;
	uint32_t i;

	if (!max_wr || max_wr > SOFT_QUEUE_MAX || max_sge > SOFT_RECV_SGE)
		return pier__fail(-EINVAL, "receive queue of %u, %u pieces "
				  "each: 1 to %u, at most %u", max_wr, max_sge,
				  SOFT_QUEUE_MAX, SOFT_RECV_SGE);
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return pier__fail(-ENOMEM, "no memory for a receive queue");
	srq->slots = malloc(max_wr * stride);
	if (!srq->slots) {
		free(srq);
		return pier__fail(-ENOMEM, "no memory for %u receives",
				  max_wr);
	}
	srq->ep = ep;
	srq->max_sge = max_sge;
	srq->last = &srq->first;
	for (i = max_wr; i-- > 0;)
		pier__soft_srq_give(srq, (void *)(srq->slots + i * stride));
	*ret = srq;
	return 0;
}

void pier__soft_srq_destroy(struct soft_srq *srq)
{
	if (!srq)
		return;
	free(srq->slots);
	free(srq);
}

void pier__soft_srq_protect(struct soft_srq *srq, const void *pd)
{
	srq->pd = pd;
}

static int srq_post_one(struct soft_srq *srq, const struct ibv_recv_wr *wr)
{
	struct soft_rwqe *rwqe = srq->free;
	uint64_t length = 0;
	int i;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > srq->max_sge)
		return pier__fail(-EINVAL, "receive in %d pieces: at most %u",
				  wr->num_sge, srq->max_sge);
	if (!rwqe)
		return -EAGAIN;
	for (i = 0; i < wr->num_sge; i++)
		length += wr->sg_list[i].length;
	if (length > SOFT_MESSAGE_MAX)
		length = SOFT_MESSAGE_MAX;

	srq->free = rwqe->next;
	rwqe->next = NULL;
	rwqe->wr_id = wr->wr_id;
	rwqe->length = length;
	rwqe->sges = wr->num_sge;
	for (i = 0; i < wr->num_sge; i++)
		rwqe->sge[i] = wr->sg_list[i];
	*srq->last = rwqe;
	srq->last = &rwqe->next;
	return 0;
}

int pier__soft_srq_post(struct soft_srq *srq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad)
{
	int err = 0;

	for (; wr; wr = wr->next) {
		err = srq_post_one(srq, wr);
		if (err) {
			*bad = wr;
			break;
		}
	}
	if (srq->owner && srq->owner->state == IBV_QPS_ERR)
		pier__soft_srq_flush(srq->owner);
	return err;
}

struct soft_rwqe *pier__soft_srq_take(struct soft_srq *srq)
{
	struct soft_rwqe *rwqe = srq ? srq->first : NULL;

	if (!rwqe)
		return NULL;
	srq->first = rwqe->next;
	if (!srq->first)
		srq->last = &srq->first;
	return rwqe;
}

bool pier__soft_srq_recall(struct soft_srq *srq, uint64_t wr_id)
{
	struct soft_rwqe **at = &srq->first, *rwqe;

	while (*at && (*at)->wr_id != wr_id)
		at = &(*at)->next;
	rwqe = *at;
	if (!rwqe)
		return false;
	*at = rwqe->next;
	if (!*at)
		srq->last = at;
	pier__soft_srq_give(srq, rwqe);
	return true;
}

void pier__soft_srq_give(struct soft_srq *srq, struct soft_rwqe *rwqe)
{
	rwqe->next = srq->free;
	srq->free = rwqe;
}

static bool has_own(const struct soft_qp *qp)
{
	return qp->srq && qp->srq->owner == qp;
}

void pier__soft_srq_flush(struct soft_qp *qp)
{
	struct soft_rwqe *rwqe;

	while (has_own(qp) && (rwqe = pier__soft_srq_take(qp->srq))) {
		struct ibv_wc wc = {
			.wr_id = rwqe->wr_id,
			.status = IBV_WC_WR_FLUSH_ERR,
			.opcode = IBV_WC_RECV,
		};

		pier__soft_srq_give(qp->srq, rwqe);
		pier__soft_cq_push(qp, qp->recv_cq, &wc);
	}
}

void pier__soft_srq_drop(struct soft_qp *qp)
{
	struct soft_rwqe *rwqe;

	while (has_own(qp) && (rwqe = pier__soft_srq_take(qp->srq)))
		pier__soft_srq_give(qp->srq, rwqe);
}
