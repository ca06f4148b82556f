/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive queues. */
#include <errno.h>
#include <stdlib.h>

#include "dropin/dropin.h"

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd,
			       struct ibv_srq_init_attr *init)
{
	struct soft_chan *chan = dropin_chan(pd->context);
	const struct pier__limits *limits = &chan->chan.fdev->port.limits;
	uint32_t wr = init->attr.max_wr, sge = init->attr.max_sge;
	struct dropin_srq *srq;
	int err;

	if (!wr || wr > limits->srq_wr || sge > limits->recv_sge)
		return pier__dropin_null(-EINVAL);
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return pier__dropin_null(-ENOMEM);
	pier__dropin_watch(&srq->watched, DROPIN_SRQ, srq, pd->context);
	pier__soft_chan_begin(chan);
	err = pier__soft_srq_create(chan->ep, wr, sge, &srq->queue);
	if (!err) {
		pier__soft_srq_protect(srq->queue, pier__dropin_pd_of(pd));
		pier__soft_srq_limit(srq->queue, init->attr.srq_limit);
		pier__soft_srq_async(srq->queue, &srq->watched);
	}
	pier__soft_chan_end(chan, 0);
	if (err) {
		free(srq);
		return pier__dropin_null(err);
	}

	srq->srq.context = pd->context;
	srq->srq.srq_context = init->srq_context;
	srq->srq.pd = pd;
	pthread_mutex_init(&srq->srq.mutex, NULL);
	pthread_cond_init(&srq->srq.cond, NULL);
	pier__dropin_pd_count(pd, 1);
	return &srq->srq;
}

int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *ret)
{
	const struct soft_srq *queue = ((struct dropin_srq *)srq)->queue;
	struct soft_chan *chan = dropin_chan(srq->context);

	pier__soft_chan_begin(chan);
	*ret = (struct ibv_srq_attr){
		.max_wr = queue->max_wr,
		.max_sge = queue->max_sge,
		.srq_limit = queue->limit,
	};
	pier__soft_chan_end(chan, 0);
	return 0;
}

/* A limit is armed once: it is 0 when it was reached. */
int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	struct soft_srq *queue = ((struct dropin_srq *)srq)->queue;
	struct soft_chan *chan = dropin_chan(srq->context);
	uint32_t max_wr, limit;
	int err = 0;

	if (mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT))
		return EINVAL;
	pier__soft_chan_begin(chan);
	max_wr = mask & IBV_SRQ_MAX_WR ? attr->max_wr : queue->max_wr;
	limit = mask & IBV_SRQ_LIMIT ? attr->srq_limit : queue->limit;
	if (limit > max_wr || max_wr > chan->chan.fdev->port.limits.srq_wr)
		err = -EINVAL;
	if (!err && mask & IBV_SRQ_MAX_WR)
		err = pier__soft_srq_resize(queue, max_wr);
	if (!err)
		pier__soft_srq_limit(queue, limit);
	pier__soft_chan_end(chan, 0);
	return pier__dropin_errno(err);
}

int ibv_destroy_srq(struct ibv_srq *ibsrq)
{
	struct dropin_srq *srq = (struct dropin_srq *)ibsrq;
	struct soft_chan *chan = dropin_chan(ibsrq->context);

	if (pier__dropin_inherited(ibsrq->context))
		return 0;
	if (atomic_load(&srq->objects))
		return EBUSY;
	pier__soft_chan_begin(chan);
	pier__soft_srq_destroy(srq->queue);
	pier__soft_chan_end(chan, 0);
	pier__dropin_unwatch(&srq->watched, &ibsrq->mutex, &ibsrq->cond,
			     &ibsrq->events_completed);
	pier__dropin_pd_count(ibsrq->pd, -1);
	pthread_cond_destroy(&ibsrq->cond);
	pthread_mutex_destroy(&ibsrq->mutex);
	free(srq);
	return 0;
}
