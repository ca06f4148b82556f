/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of real devices, beside those of soft ones in one channel. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "dropin/cma/cma_real.h"
#include "dropin/cma/cma_real_calls.h"

#define CALLS pier__cma_real_calls

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int watch(int set, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
}

int pier__cma_real_fd(int ready)
{
	int set = epoll_create1(EPOLL_CLOEXEC);

	if (set >= 0 && watch(set, ready)) {
		close(set);
		return -1;
	}
	return set;
}

/* One whose fd the program's waits for. */
static struct rdma_event_channel *channel_new(int set)
{
	struct rdma_event_channel *real;

	pier__dropin_real_enter();
	real = CALLS.rdma_create_event_channel();
	pier__dropin_real_leave();
	if (!real)
		return NULL;
	if (fcntl(real->fd, F_SETFL, O_NONBLOCK) || watch(set, real->fd)) {
		CALLS.rdma_destroy_event_channel(real);
		return NULL;
	}
	return real;
}

void pier__cma_real_channels_forked(void)
{
	pthread_mutex_init(&lock, NULL);
}

int pier__cma_real_channel(struct cma_channel *channel)
{
	struct rdma_event_channel *real;

	pthread_mutex_lock(&lock);
	real = channel->real;
	if (!real)
		real = channel_new(channel->channel.fd);
	channel->real = real;
	pthread_mutex_unlock(&lock);
	pier__dropin_ring(&channel->bell);	/* to wait for both */
	return real ? 0 : -1;
}

int pier__cma_real_wait(struct cma_channel *channel)
{
	struct pollfd pfd = { .fd = channel->channel.fd, .events = POLLIN };

	if (pier__dropin_blocks(pfd.fd))
		return -1;
	return poll(&pfd, 1, -1) < 0 ? -1 : 0;
}

void pier__cma_real_channel_free(struct cma_channel *channel)
{
	if (channel->real)
		CALLS.rdma_destroy_event_channel(channel->real);
	channel->real = NULL;
}

int pier__cma_real_move(struct cma_id *id, struct cma_channel *channel)
{
	int ret;

	if (pier__cma_real_channel(channel))
		return -1;
	pier__cma_real_before(id);
	ret = CALLS.rdma_migrate_id(id->real, channel->real);
	return pier__cma_real_after(id, ret);
}

/* The id of the request @event to @listener. */
static struct cma_id *requested(struct cma_id *listener,
				struct rdma_cm_event *event)
{
	struct cma_id *id = pier__cma_id_new(listener->id.channel,
					     listener->id.context,
					     listener->id.ps,
					     listener->id.qp_type);

	if (!id)
		return NULL;
	id->real = event->id;
	event->id->context = id;
	pier__cma_real_add(id);
	id->state = CMA_REQUESTED;
	pier__cma_real_show(id);
	return id;
}

/* Does the program get an event of @id?  It is to be acknowledged then. */
static bool count(struct cma_id *id)
{
	bool closing;

	pthread_mutex_lock(&pier__cma_lock);
	closing = id->closing;
	if (!closing)
		id->unacked++;
	pthread_mutex_unlock(&pier__cma_lock);
	return !closing;
}

/*
 * As the program has it: with its ids.  Returns false: it has no memory, and
 * @ret may be NULL.
 */
static bool fill(struct cma_event *ret, struct rdma_cm_event *real)
{
	if (!ret)
		return false;
	ret->event = *real;
	ret->real = real;
	if (real->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		ret->owner = real->listen_id->context;
		ret->event.listen_id = &ret->owner->id;
		ret->event.id = (struct rdma_cm_id *)requested(ret->owner,
							       real);
		return ret->event.id;
	}
	ret->owner = real->id->context;
	ret->event.id = &ret->owner->id;
	pier__cma_real_show_names(ret->owner);
	return true;
}

/* What comes too late, or without memory, is as one that was lost. */
static void drop(struct rdma_cm_event *real, struct cma_event *event)
{
	struct rdma_cm_id *id = real->event == RDMA_CM_EVENT_CONNECT_REQUEST ?
				real->id : NULL;
	struct cma_id *own = id && event ? cma_of(event->event.id) : NULL;

	CALLS.rdma_ack_cm_event(real);
	if (own) {
		pier__cma_real_destroy(own);
		pier__cma_id_drop(own);
	} else if (id) {
		CALLS.rdma_destroy_id(id);
	}
	free(event);
}

/* Its fd is non-blocking: with EAGAIN there is none. */
static int next_of(struct cma_channel *channel, struct rdma_cm_event **ret)
{
	int failed;

	errno = 0;
	pier__dropin_real_enter();
	failed = CALLS.rdma_get_cm_event(channel->real, ret);
	pier__dropin_real_leave();
	return failed ? -1 : 0;
}

int pier__cma_real_take(struct cma_channel *channel, struct cma_event **ret)
{
	struct rdma_cm_event *real;
	struct cma_event *event;

	*ret = NULL;
	while (channel->real && !*ret) {
		if (next_of(channel, &real))
			return errno == EAGAIN ? 0 : -1;
		event = calloc(1, sizeof(*event));
		if (fill(event, real) && count(event->owner))
			*ret = event;
		else
			drop(real, event);
	}
	return 0;
}

void pier__cma_real_ack(struct cma_event *event)
{
	CALLS.rdma_ack_cm_event(event->real);
}
