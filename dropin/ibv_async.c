/* SPDX-License-Identifier: BSD-2-Clause */
/* Asynchronous events: of the port, and of queues and queue pairs. */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "dropin/cm.h"
#include "dropin/dropin.h"
#include "fabric/soft/io/fdev.h"
#include "fabric/soft/soft.h"

static struct dropin_event *event_of(struct pier__list *link)
{
	return pier__container_of(link, struct dropin_event, link);
}

static struct dropin_async *async_of(const struct dropin_watched *watched)
{
	return &dropin_of(watched->context)->async;
}

static int fd_of(const struct dropin_async *async)
{
	return pier__container_of(async, struct dropin_context,
				  async)->verbs.context.async_fd;
}

/* In the order of their numbers.  With the lock held, as below. */
static void put_in(struct dropin_async *async, struct dropin_event *event)
{
	struct pier__list *head = &async->events, *next = head;

	if (pier__list_empty(head)) {
		eventfd_write(fd_of(async), 1);
		pier__dropin_ring(&async->bell);
	}
	while (next->prev != head &&
	       event_of(next->prev)->numbers[0] > event->numbers[0])
		next = next->prev;
	pier__list_add(next, &event->link);
}

static void take_out(struct dropin_async *async, struct dropin_event *event)
{
	eventfd_t count;

	pier__list_del(&event->link);
	if (pier__list_empty(&async->events))
		eventfd_read(fd_of(async), &count);
}

/* The place of @type, which it has for the life of the object, or NULL. */
static struct dropin_event *place_of(struct dropin_watched *watched, int type)
{
	struct dropin_event *event = watched->events;
	struct dropin_event *end = event + DROPIN_EVENT_TYPES;

	while (event < end && event->of && event->type != type)
		event++;
	if (event == end)
		return NULL;
	if (!event->of) {
		event->numbers = event->few;
		event->max = DROPIN_EVENT_NUMBERS;
	}
	event->of = watched;
	event->type = type;
	return event;
}

static void numbers_free(struct dropin_event *event)
{
	if (event->numbers != event->few)
		free(event->numbers);
	event->numbers = event->few;
	event->max = DROPIN_EVENT_NUMBERS;
}

/* Have place for one more number, if there is memory. */
static void grow(struct dropin_event *event)
{
	uint64_t *more;

	if (event->numbered < event->max)
		return;
	more = malloc(2 * event->max * sizeof(*more));
	if (!more)
		return;
	memcpy(more, event->numbers, event->max * sizeof(*more));
	if (event->numbers != event->few)
		free(event->numbers);
	event->numbers = more;
	event->max *= 2;
}

static void add(struct dropin_async *async, struct dropin_event *event)
{
	uint64_t number = async->number++;

	grow(event);
	if (event->numbered == event->count && event->numbered < event->max)
		event->numbers[event->numbered++] = number;
	if (!event->count++)
		put_in(async, event);
}

/* By the thread that drives. */
static void push(int type, void *arg)
{
	struct dropin_watched *watched = arg;
	struct dropin_async *async = async_of(watched);
	struct dropin_event *event;

	pthread_mutex_lock(&async->lock);
	event = place_of(watched, type);
	if (event)
		add(async, event);
	pthread_mutex_unlock(&async->lock);
}

void pier__dropin_watch(struct dropin_watched *watched, enum dropin_kind kind,
			void *object, struct ibv_context *context)
{
	watched->kind = kind;
	watched->object = object;
	watched->context = context;
}

static void drop(struct dropin_async *async, struct dropin_watched *watched)
{
	struct dropin_event *event = watched->events;
	int i;

	pthread_mutex_lock(&async->lock);
	for (i = 0; i < DROPIN_EVENT_TYPES; i++) {
		if (event[i].count)
			take_out(async, &event[i]);
		numbers_free(&event[i]);
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

int pier__dropin_async_init(struct dropin_context *ctx)
{
	struct dropin_async *async = &ctx->async;
	int fd = eventfd(0, EFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	ctx->verbs.context.async_fd = fd;
	pthread_mutex_init(&async->lock, NULL);
	pier__list_init(&async->events);
	pier__dropin_watch(&ctx->port, DROPIN_PORT, ctx, &ctx->verbs.context);
	chan_of(ctx->chan)->ep->event = push;
	return 0;
}

/* No event comes any more. */
void pier__dropin_async_free(struct dropin_context *ctx)
{
	struct dropin_async *async = &ctx->async;

	drop(async, &ctx->port);
	close(ctx->verbs.context.async_fd);
	pthread_mutex_destroy(&async->lock);
}

static void push_port(struct dropin_context *ctx, int type)
{
	push(type, &ctx->port);
	if (ctx->changed)
		ctx->changed(&ctx->verbs.context);
}

/* The last event of a device. */
static void push_removal(struct dropin_context *ctx, int type)
{
	if (ctx->removed)
		return;
	ctx->removed = true;
	push_port(ctx, type);
}

void pier__dropin_port_event(struct pier__chan *chan)
{
	struct soft_fdev *soft = (struct soft_fdev *)chan->fdev;
	char name[IF_NAMESIZE];
	int type;

	while (!pier__soft_dev.event(&soft->fdev, &type)) {
		pier__soft_dev.query(&soft->fdev);
		pier__dropin_each(chan, push_port, type);
	}
	if (!if_indextoname(soft->ifindex, name) && errno == ENXIO)
		pier__dropin_each(chan, push_removal, IBV_EVENT_DEVICE_FATAL);
}

/* As the kernel has them: all kinds in one place. */
static void fill(struct ibv_async_event *ret,
		 const struct dropin_event *event)
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
	case DROPIN_PORT:
		ret->element.port_num = 1;
		break;
	}
}

static void take_first(struct dropin_async *async, struct dropin_event *event)
{
	take_out(async, event);
	if (event->numbered > 1)
		memmove(event->numbers, event->numbers + 1,
			--event->numbered * sizeof(*event->numbers));
	if (--event->count)
		put_in(async, event);
	else
		event->numbered = 0;
}

/* Returns false: there is none. */
static bool take(struct dropin_async *async, struct ibv_async_event *ret)
{
	struct dropin_event *event;
	bool any;

	pthread_mutex_lock(&async->lock);
	any = !pier__list_empty(&async->events);
	if (any) {
		event = event_of(async->events.next);
		fill(ret, event);
		event->of->taken++;
		take_first(async, event);
	}
	pthread_mutex_unlock(&async->lock);
	return any;
}

int ibv_get_async_event(struct ibv_context *context,
			struct ibv_async_event *event)
{
	struct dropin_async *async = &dropin_of(context)->async;
	unsigned int rings = atomic_load(&async->bell.rings);

	while (!take(async, event)) {
		if (pier__dropin_wait(&async->bell, rings, context->async_fd))
			return -1;
		rings = atomic_load(&async->bell.rings);
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
