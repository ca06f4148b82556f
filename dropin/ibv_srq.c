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
	pier__soft_chan_begin(chan);
	err = pier__soft_srq_create(chan->ep, wr, sge, &srq->queue);
	if (!err)
		pier__soft_srq_protect(srq->queue, pier__dropin_pd_of(pd));
	pier__soft_chan_end(chan, 0);
	if (err) {
		free(srq);
		return pier__dropin_null(err);
	}

	srq->attr.max_wr = wr;
	srq->attr.max_sge = sge;
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
	*ret = ((struct dropin_srq *)srq)->attr;
	return 0;
}

int ibv_destroy_srq(struct ibv_srq *ibsrq)
{
	struct dropin_srq *srq = (struct dropin_srq *)ibsrq;
	struct soft_chan *chan = dropin_chan(ibsrq->context);

	if (atomic_load(&srq->objects))
		return EBUSY;
	pier__soft_chan_begin(chan);
	pier__soft_srq_destroy(srq->queue);
	pier__soft_chan_end(chan, 0);
	pier__dropin_pd_count(ibsrq->pd, -1);
	pthread_cond_destroy(&ibsrq->cond);
	pthread_mutex_destroy(&ibsrq->mutex);
	free(srq);
	return 0;
}
