/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion queues. */
#include <errno.h>
#include <stdlib.h>

#include "dropin/cm.h"
#include "dropin/dropin.h"

static struct dropin_cq *cq_of(struct ibv_cq *cq)
{
	return (struct dropin_cq *)cq;
}

/* Has @cq a completion that it was armed for? */
static bool is_new(const struct dropin_cq *cq)
{
	const struct soft_cq *queue = cq->soft.queue;

	if (queue->dead)
		return true;
	return cq->solicited_only ? queue->solicited != cq->old_solicited :
				    queue->count > cq->old;
}

/*
 * Programs count on one event for a completion that is new, and none for those
 * that were there before.  A fault of a QP is no completion here: the QP's next
 * request fails.
 */
static void wake(struct soft_chan_cq *soft)
{
	struct dropin_cq *cq = pier__container_of(soft, struct dropin_cq, soft);

	if (is_new(cq))
		pier__dropin_event(cq);
	else
		soft->armed = true;
}

static int queue_create(struct dropin_cq *cq, struct soft_chan *chan,
			uint32_t cqe)
{
	int err;

	pier__soft_chan_begin(chan);
	err = pier__soft_cq_create(chan->ep, cqe, &cq->soft.queue);
	if (!err) {
		pier__list_add(&chan->cqs, &cq->soft.link);
		pier__soft_cq_async(cq->soft.queue, &cq->watched);
	}
	pier__soft_chan_end(chan, 0);
	return err;
}

static void use_channel(struct ibv_comp_channel *channel)
{
	struct dropin_channel *own = (struct dropin_channel *)channel;

	pthread_mutex_lock(&own->lock);
	channel->refcnt++;
	pthread_mutex_unlock(&own->lock);
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe,
			     void *cq_context, struct ibv_comp_channel *channel,
			     int comp_vector)
{
	struct soft_chan *chan = dropin_chan(context);
	struct dropin_cq *cq;
	int err;

	if (cqe < 1 || (uint32_t)cqe > chan->chan.fdev->port.limits.cqe ||
	    comp_vector < 0 || comp_vector >= context->num_comp_vectors)
		return pier__dropin_null(-EINVAL);
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return pier__dropin_null(-ENOMEM);
	pier__list_init(&cq->link);
	cq->soft.wake = wake;
	cq->cq.context = context;
	cq->cq.channel = channel;
	cq->cq.cq_context = cq_context;
	cq->cq.cqe = cqe;
	pier__dropin_watch(&cq->watched, DROPIN_CQ, cq, context);
	err = queue_create(cq, chan, (uint32_t)cqe);
	if (err) {
		free(cq);
		return pier__dropin_null(err);
	}
	pthread_mutex_init(&cq->cq.mutex, NULL);
	pthread_cond_init(&cq->cq.cond, NULL);
	pthread_mutex_init(&cq->poll_lock, NULL);
	if (channel)
		use_channel(channel);
	return &cq->cq;
}

int ibv_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct soft_chan *chan = dropin_chan(ibcq->context);
	struct dropin_cq *cq = cq_of(ibcq);
	int err;

	if (cqe < 1 || (uint32_t)cqe > chan->chan.fdev->port.limits.cqe)
		return EINVAL;
	pier__soft_chan_begin(chan);
	err = pier__soft_cq_resize(&cq->soft.queue, (uint32_t)cqe);
	if (!err)
		ibcq->cqe = cqe;
	pier__soft_chan_end(chan, 0);
	return pier__dropin_errno(err);
}

/* As verbs has it: until all events that were taken are acknowledged. */
static void wait_for_acks(struct dropin_cq *cq)
{
	pthread_mutex_lock(&cq->cq.mutex);
	while (cq->cq.comp_events_completed != cq->taken)
		pthread_cond_wait(&cq->cq.cond, &cq->cq.mutex);
	pthread_mutex_unlock(&cq->cq.mutex);
}

int ibv_destroy_cq(struct ibv_cq *ibcq)
{
	struct soft_chan *chan = dropin_chan(ibcq->context);
	struct dropin_cq *cq = cq_of(ibcq);

	if (pier__dropin_inherited(ibcq->context))
		return 0;
	if (atomic_load(&cq->objects))
		return EBUSY;
	pier__soft_chan_begin(chan);
	pier__list_del(&cq->soft.link);
	pier__soft_cq_destroy(cq->soft.queue);
	pier__soft_chan_end(chan, 0);
	pier__dropin_no_events(cq);
	wait_for_acks(cq);
	pier__dropin_unwatch(&cq->watched, &ibcq->mutex, &ibcq->cond,
			     &ibcq->async_events_completed);
	pthread_cond_destroy(&ibcq->cond);
	pthread_mutex_destroy(&ibcq->mutex);
	pthread_mutex_destroy(&cq->poll_lock);
	free(cq);
	return 0;
}

static int take(struct dropin_cq *cq, struct ibv_wc *wc, int max)
{
	struct soft_cq *queue = cq->soft.queue;
	int n = queue->count < (uint32_t)max ? (int)queue->count : max;

	if (!n)
		return queue->dead && max ? -EOVERFLOW : 0;
	cq->old -= (uint32_t)n < cq->old ? (uint32_t)n : cq->old;
	return pier__soft_cq_poll(queue, wc, n);
}

int pier__dropin_poll(struct ibv_cq *ibcq, int max, struct ibv_wc *wc)
{
	struct soft_chan *chan = dropin_chan(ibcq->context);
	struct dropin_cq *cq = cq_of(ibcq);
	int n, more;

	if (max <= 0)
		return 0;
	pier__soft_chan_begin(chan);
	n = take(cq, wc, max);
	if (n >= 0 && n < max) {
		pier__soft_ep_receive(chan->ep, false);
		more = take(cq, wc + n, max - n);
		n = more >= 0 ? n + more : n ? n : more;
		pier__soft_chan_send(chan, n);
		pier__soft_chan_polled(chan, n);
	}
	pier__soft_chan_end(chan, 0);
	return n;
}

/* How many of them were old is not known: one event too many does no harm. */
void pier__dropin_dropped(struct ibv_cq *cq)
{
	cq_of(cq)->old = 0;
}

/* A queue that is armed for all completions stays so. */
int pier__dropin_arm(struct ibv_cq *ibcq, int solicited)
{
	struct soft_chan *chan = dropin_chan(ibcq->context);
	struct dropin_cq *cq = cq_of(ibcq);

	pier__soft_chan_begin(chan);
	cq->solicited_only = solicited &&
			     (!cq->soft.armed || cq->solicited_only);
	cq->old_solicited = cq->soft.queue->solicited;
	cq->old = cq->soft.queue->count;
	cq->soft.armed = true;
	pier__soft_chan_events(chan);
	pier__soft_chan_end(chan, 0);
	return 0;
}
