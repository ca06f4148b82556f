/* SPDX-License-Identifier: BSD-2-Clause */
/* Receive queues: shared by QPs, or of one. */
#include <errno.h>
#include <stdlib.h>

#include "core/fail.h"
#include "fabric/soft/rc/qp.h"

/* Memory for @more receives. */
static int grow(struct soft_srq *srq, uint32_t more)
{
	size_t stride = sizeof(struct soft_rwqe) +
			srq->max_sge * sizeof(struct ibv_sge);
	struct soft_slots *slots = malloc(sizeof(*slots) + more * stride);
	struct soft_rwqe *rwqe;
	uint32_t i;

	if (!slots)
		return pier__fail(-ENOMEM, "no memory for %u receives", more);
	for (i = more; i-- > 0;) {
		rwqe = (void *)(slots->data + i * stride);
		rwqe->next = srq->free;
		srq->free = rwqe;
	}
	slots->next = srq->slots;
	srq->slots = slots;
	srq->total += more;
	return 0;
}

int pier__soft_srq_create(struct soft_ep *ep, uint32_t max_wr,
			  uint32_t max_sge, struct soft_srq **ret)
{
	struct soft_srq *srq;
	int err;

	if (!max_wr || max_wr > SOFT_QUEUE_MAX || max_sge > SOFT_RECV_SGE)
		return pier__fail(-EINVAL, "receive queue of %u, %u pieces "
				  "each: 1 to %u, at most %u", max_wr, max_sge,
				  SOFT_QUEUE_MAX, SOFT_RECV_SGE);
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return pier__fail(-ENOMEM, "no memory for a receive queue");
	srq->ep = ep;
	srq->max_sge = max_sge;
	srq->max_wr = max_wr;
	srq->last = &srq->first;
	err = grow(srq, max_wr);
	if (err) {
		free(srq);
		return err;
	}
	*ret = srq;
	return 0;
}

/* Memory that is not needed any more stays. */
int pier__soft_srq_resize(struct soft_srq *srq, uint32_t max_wr)
{
	int err = 0;

	if (!max_wr || max_wr > SOFT_QUEUE_MAX || max_wr < srq->used)
		return pier__fail(-EINVAL, "receive queue of %u, which has "
				  "%u: 1 to %u", max_wr, srq->used,
				  SOFT_QUEUE_MAX);
	if (max_wr > srq->total)
		err = grow(srq, max_wr - srq->total);
	if (!err)
		srq->max_wr = max_wr;
	return err;
}

void pier__soft_srq_limit(struct soft_srq *srq, uint32_t limit)
{
	srq->limit = limit;
}

void pier__soft_srq_async(struct soft_srq *srq, void *async)
{
	srq->async = async;
}

void pier__soft_srq_destroy(struct soft_srq *srq)
{
	struct soft_slots *slots;

	if (!srq)
		return;
	while ((slots = srq->slots)) {
		srq->slots = slots->next;
		free(slots);
	}
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
	if (!rwqe || srq->used + srq->unpolled >= srq->max_wr)
		return -EAGAIN;
	for (i = 0; i < wr->num_sge; i++)
		length += wr->sg_list[i].length;
	if (length > SOFT_MESSAGE_MAX)
		length = SOFT_MESSAGE_MAX;

	srq->free = rwqe->next;
	srq->used++;
	srq->posted++;
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

static void limit_reached(struct soft_srq *srq)
{
	srq->limit = 0;
	pier__soft_async(srq->ep, IBV_EVENT_SRQ_LIMIT_REACHED, srq->async);
}

struct soft_rwqe *pier__soft_srq_take(struct soft_srq *srq)
{
	struct soft_rwqe *rwqe = srq ? srq->first : NULL;

	if (!rwqe)
		return NULL;
	srq->first = rwqe->next;
	if (!srq->first)
		srq->last = &srq->first;
	if (--srq->posted < srq->limit)
		limit_reached(srq);
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
	srq->posted--;
	pier__soft_srq_give(srq, rwqe);
	return true;
}

void pier__soft_srq_give(struct soft_srq *srq, struct soft_rwqe *rwqe)
{
	rwqe->next = srq->free;
	srq->free = rwqe;
	srq->used--;
}

bool pier__soft_has_own(const struct soft_qp *qp)
{
	return qp->srq && qp->srq->owner == qp;
}

void pier__soft_srq_flush(struct soft_qp *qp)
{
	struct soft_rwqe *rwqe;

	while (pier__soft_has_own(qp) &&
	       (rwqe = pier__soft_srq_take(qp->srq))) {
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

	if (!pier__soft_has_own(qp))
		return;
	while ((rwqe = pier__soft_srq_take(qp->srq)))
		pier__soft_srq_give(qp->srq, rwqe);
	qp->srq->unpolled = 0;
}
