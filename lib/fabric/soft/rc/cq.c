/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion queues. */
#include <errno.h>
#include <stdlib.h>

#include "core/fail.h"
#include "fabric/soft/rc/qp.h"

int pier__soft_cq_create(struct soft_ep *ep, uint32_t cqe, struct soft_cq **ret)
{
	struct soft_cq *cq;
	int err;

	if (!cqe || cqe > SOFT_QUEUE_MAX)
		return pier__fail(-EINVAL, "completion queue of %u: 1 to %u",
				  cqe, SOFT_QUEUE_MAX);
	cq = calloc(1, sizeof(*cq) + cqe * sizeof(*cq->wc));
	if (!cq)
		return pier__fail(-ENOMEM, "no memory for %u completions",
				  cqe);
	ep->cqe_sum += cqe;
	err = pier__soft_wqe_reserve(ep);
	if (err) {
		ep->cqe_sum -= cqe;
		free(cq);
		return err;
	}
	cq->ep = ep;
	cq->size = cqe;
	*ret = cq;
	return 0;
}

void pier__soft_cq_destroy(struct soft_cq *cq)
{
	if (!cq)
		return;
	cq->ep->cqe_sum -= cq->size;
	free(cq);
}

bool pier__soft_cq_empty(const struct soft_cq *cq)
{
	return !cq->count && !cq->dead;
}

int pier__soft_cq_poll(struct soft_cq *cq, struct ibv_wc *wc, int max)
{
	int n = 0;

	while (n < max && cq->count) {
		wc[n++] = cq->wc[cq->head];
		cq->head = cq->head + 1 == cq->size ? 0 : cq->head + 1;
		cq->count--;
	}
	if (!n && cq->dead)
		return pier__fail(-EOVERFLOW, "completion queue of %u is "
				  "overrun: completions are lost", cq->size);
	return n;
}

static struct ibv_wc *cq_at(struct soft_cq *cq, uint32_t i)
{
	i += cq->head;
	return &cq->wc[i >= cq->size ? i - cq->size : i];
}

void pier__soft_cq_push(struct soft_qp *qp, struct ibv_wc *wc)
{
	struct soft_cq *cq = qp->cq;

	if (cq->count == cq->size) {
		cq->dead = true;
		pier__soft_count(qp, SOFT_COUNTER(cq_overflows));
		return;
	}
	wc->qp_num = qp->qpn;
	wc->src_qp = qp->dest_qpn;
	*cq_at(cq, cq->count++) = *wc;
}

void pier__soft_cq_purge(struct soft_cq *cq, uint32_t qpn)
{
	uint32_t i, left = 0;

	for (i = 0; i < cq->count; i++)
		if (cq_at(cq, i)->qp_num != qpn)
			*cq_at(cq, left++) = *cq_at(cq, i);
	cq->count = left;
}
