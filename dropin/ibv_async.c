/* SPDX-License-Identifier: BSD-2-Clause */
/* Asynchronous events: of the port, and of queues and queue pairs. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "dropin/cm.h"
#include "dropin/dropin.h"
#include "fabric/soft/soft.h"

struct event {
	struct pier__list link;
	int type;			/* enum ibv_event_type */
	struct dropin_watched *of;
};

static struct event *event_of(struct pier__list *link)
{
	return pier__container_of(link, struct event, link);
}

static struct dropin_async *async_of(const struct dropin_watched *watched)
{
	return &dropin_of(watched->context)->async;
}

/* With the lock held, as below. */
static void take_out(struct dropin_async *async, struct event *event)
{
	eventfd_t count;

	pier__list_del(&event->link);
	if (pier__list_empty(&async->events))
		eventfd_read(async->ready, &count);
}

/* By the thread that drives.  Without memory the event is lost. */
static void push(int type, void *arg)
{
	struct dropin_watched *watched = arg;
	struct dropin_async *async = async_of(watched);
	struct event *event = malloc(sizeof(*event));

	if (!event)
		return;
	event->type = type;
	event->of = watched;
	pthread_mutex_lock(&async->lock);
	if (pier__list_empty(&async->events))
		eventfd_write(async->ready, 1);
	pier__list_add(&async->events, &event->link);
	pthread_mutex_unlock(&async->lock);
}

void pier__dropin_watch(struct dropin_watched *watched, enum dropin_kind kind,
			void *object, struct ibv_context *context)
{
	watched->kind = kind;
	watched->object = object;
	watched->context = context;
}

static void drop(struct dropin_async *async,
		 const struct dropin_watched *watched)
{
	struct pier__list *pos, *tmp;

	pthread_mutex_lock(&async->lock);
	PIER__LIST_EACH(pos, tmp, &async->events) {
		if (event_of(pos)->of != watched)
			continue;
		take_out(async, event_of(pos));
		free(event_of(pos));
	}
	pthread_mutex_unlock(&async->lock);
}

void pier__dropin_unwatch(struct dropin_watched *watched,
			  pthread_mutex_t *mutex, pthread_cond_t *cond,
			  const uint32_t *completed)
{
	drop(async_of(watched), watched);
	pthread_mutex_lock(mutex);
	while (*completed != watched->taken)
		pthread_cond_wait(cond, mutex);
	pthread_mutex_unlock(mutex);
}

/* The fd that programs wait for: of the port's events, or of these. */
static int watch_both(struct dropin_context *ctx)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (epoll_ctl(fd, EPOLL_CTL_ADD, ctx->async.ready, &event) ||
	    epoll_ctl(fd, EPOLL_CTL_ADD, ctx->fdev->event_fd, &event)) {
		close(fd);
		return -ENOMEM;
	}
	ctx->verbs.context.async_fd = fd;
	return 0;
}

int pier__dropin_async_init(struct dropin_context *ctx)
{
	struct dropin_async *async = &ctx->async;
	int err;

	async->ready = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (async->ready < 0)
		return -errno;
	err = watch_both(ctx);
	if (err) {
		close(async->ready);
		return err;
	}
	pthread_mutex_init(&async->lock, NULL);
	pier__list_init(&async->events);
	chan_of(ctx->chan)->ep->event = push;
	return 0;
}

/* Nothing drives the endpoint any more. */
void pier__dropin_async_free(struct dropin_context *ctx)
{
	struct dropin_async *async = &ctx->async;
	struct pier__list *pos;

	while ((pos = pier__list_pop(&async->events)))
		free(event_of(pos));
	close(ctx->verbs.context.async_fd);
	close(async->ready);
	pthread_mutex_destroy(&async->lock);
}

/* As the kernel has them: all kinds in one place. */
static void fill(struct ibv_async_event *ret, const struct event *event)
{
	ret->event_type = (enum ibv_event_type)event->type;
	switch (event->of->kind) {
	case DROPIN_CQ:
		ret->element.cq = event->of->object;
		break;
	case DROPIN_SRQ:
		ret->element.srq = event->of->object;
		break;
	case DROPIN_QP:
		ret->element.qp = event->of->object;
		break;
	}
}

/* Returns false: there is none of an object. */
static bool take(struct dropin_async *async, struct ibv_async_event *ret)
{
	struct event *event = NULL;

	pthread_mutex_lock(&async->lock);
	if (!pier__list_empty(&async->events)) {
		event = event_of(async->events.next);
		take_out(async, event);
		event->of->taken++;
		fill(ret, event);
	}
	pthread_mutex_unlock(&async->lock);
	free(event);
	return event;
}

int ibv_get_async_event(struct ibv_context *context,
			struct ibv_async_event *event)
{
	struct dropin_context *ctx = dropin_of(context);
	int type, err;

	while (!take(&ctx->async, event)) {
		err = pier__soft_dev.event(ctx->fdev, &type);
		if (!err) {
			event->event_type = (enum ibv_event_type)type;
			event->element.port_num = 1;
			return 0;
		}
		if (err != -EAGAIN) {
			errno = pier__dropin_errno(err);
			return -1;
		}
		if (pier__dropin_wait(context->async_fd))
			return -1;
	}
	return 0;
}

static void count(pthread_mutex_t *mutex, pthread_cond_t *cond,
		  uint32_t *completed)
{
	pthread_mutex_lock(mutex);
	++*completed;
	pthread_cond_signal(cond);
	pthread_mutex_unlock(mutex);
}

/* An event of a port belongs to no object that waits for this. */
void ibv_ack_async_event(struct ibv_async_event *event)
{
	struct ibv_srq *srq = event->element.srq;
	struct ibv_cq *cq = event->element.cq;
	struct ibv_qp *qp = event->element.qp;

	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		count(&cq->mutex, &cq->cond, &cq->async_events_completed);
		break;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		count(&srq->mutex, &srq->cond, &srq->events_completed);
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		count(&qp->mutex, &qp->cond, &qp->events_completed);
		break;
	default:
		break;
	}
}
