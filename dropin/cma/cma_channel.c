/* SPDX-License-Identifier: BSD-2-Clause */
/* Event channels: queues of events, each with an fd. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "dropin/cma/cma.h"
#include "dropin/cma/cma_real.h"

pthread_mutex_t pier__cma_lock = PTHREAD_MUTEX_INITIALIZER;

static struct cma_channel *channel_of(struct rdma_event_channel *channel)
{
	return (struct cma_channel *)channel;
}

static struct cma_event *event_of(struct pier__list *link)
{
	return pier__container_of(link, struct cma_event, link);
}

/*
 * Channels that were destroyed, without ids.  Their memory is not freed: a
 * program that closes a channel before its ids, or while a thread is about to
 * wait for it, gets EBADF, as from the kernel.
 */
static struct cma_channel *unused;

void pier__cma_channels_forked(void)
{
	pthread_mutex_init(&pier__cma_lock, NULL);
	pthread_cond_init(&pier__cma_acked, NULL);
}

/* With the lock held. */
static void put_away(struct cma_channel *channel)
{
	if (channel->ids || channel->channel.fd >= 0)
		return;
	pier__cma_real_channel_free(channel);
	channel->next = unused;
	unused = channel;
}

static struct cma_channel *unused_or_new(void)
{
	struct cma_channel *channel;

	pthread_mutex_lock(&pier__cma_lock);
	channel = unused;
	if (channel) {
		unused = channel->next;
		channel->life++;
	}
	pthread_mutex_unlock(&pier__cma_lock);
	if (channel)
		return channel;
	channel = calloc(1, sizeof(*channel));
	if (channel)
		pier__list_init(&channel->events);
	return channel;
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct cma_channel *channel = unused_or_new();

	if (!channel)
		return NULL;
	channel->ready = eventfd(0, EFD_CLOEXEC);
	if (channel->ready < 0)
		goto err_put_away;
	channel->channel.fd = pier__cma_real() ?
				      pier__cma_real_fd(channel->ready) :
				      channel->ready;
	if (channel->channel.fd < 0)
		goto err_close;
	return &channel->channel;

err_close:
	close(channel->ready);
err_put_away:
	channel->channel.fd = -1;
	pthread_mutex_lock(&pier__cma_lock);
	channel->life++;
	put_away(channel);
	pthread_mutex_unlock(&pier__cma_lock);
	return NULL;
}

/* What comes for the ids that it still has is queued, and freed with them. */
void rdma_destroy_event_channel(struct rdma_event_channel *ibchannel)
{
	struct cma_channel *channel = channel_of(ibchannel);
	int fd, ready;

	if (!channel || ibchannel->fd < 0)
		return;
	pthread_mutex_lock(&pier__cma_lock);
	fd = ibchannel->fd;
	ready = channel->ready;
	ibchannel->fd = -1;
	channel->ready = -1;
	channel->life++;
	put_away(channel);
	pthread_mutex_unlock(&pier__cma_lock);
	if (fd != ready)
		close(ready);
	close(fd);
}

/* With the lock held. */
static void attach(struct cma_id *id, struct rdma_event_channel *channel)
{
	struct cma_channel *old = channel_of(id->id.channel);

	if (channel)
		channel_of(channel)->ids++;
	id->id.channel = channel;
	if (old && !--old->ids)
		put_away(old);
}

void pier__cma_attach(struct cma_id *id, struct rdma_event_channel *channel)
{
	pthread_mutex_lock(&pier__cma_lock);
	attach(id, channel);
	pthread_mutex_unlock(&pier__cma_lock);
}

/*
 * With the lock held, as below.  Programs that wait for edges, by EPOLLET, have
 * one with each event, as in the kernel.
 */
static void add(struct cma_channel *channel, struct cma_event *event)
{
	pier__list_add(&channel->events, &event->link);
	if (channel->channel.fd < 0)
		return;
	eventfd_write(channel->ready, 1);
	pier__dropin_ring(&channel->bell);
}

/* A child leaves the count to its parent, which has it, too. */
static void take_out(struct cma_channel *channel, struct cma_event *event)
{
	eventfd_t count;

	pier__list_del(&event->link);
	if (pier__list_empty(&channel->events) && channel->channel.fd >= 0 &&
	    !pier__cma_inherited(event->owner))
		eventfd_read(channel->ready, &count);
}

static bool is_request(const struct cma_event *event)
{
	return event->event.event == RDMA_CM_EVENT_CONNECT_REQUEST;
}

/* The id of a request has the channel of its listener. */
void pier__cma_push(struct cma_event *event)
{
	pthread_mutex_lock(&pier__cma_lock);
	if (is_request(event))
		attach(cma_of(event->event.id), event->owner->id.channel);
	add(channel_of(event->owner->id.channel), event);
	pthread_mutex_unlock(&pier__cma_lock);
}

/* A request that was not taken goes with its listener. */
static bool is_closing(const struct cma_id *owner)
{
	return owner->closing || (owner->listener && owner->listener->closing);
}

/* The first event that a program can take. */
static struct cma_event *first_of(struct cma_channel *channel)
{
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &channel->events)
		if (!is_closing(event_of(pos)->owner))
			return event_of(pos);
	return NULL;
}

int pier__cma_pop(struct cma_channel *channel, unsigned int life,
		  struct cma_event **ret)
{
	struct cma_event *event = NULL;
	bool destroyed;

	pthread_mutex_lock(&pier__cma_lock);
	destroyed = life % 2 || channel->life != life;
	if (!destroyed)
		event = first_of(channel);
	if (event) {
		take_out(channel, event);
		event->owner->unacked++;
		if (is_request(event))
			cma_of(event->event.id)->listener = NULL;
	}
	pthread_mutex_unlock(&pier__cma_lock);
	*ret = event;
	return destroyed ? -EBADF : 0;
}

/*
 * All events of @id, and of requests to it that were not taken, moved to @ret,
 * which is empty.
 */
static void collect(struct cma_id *id, struct pier__list *ret)
{
	struct cma_channel *channel = channel_of(id->id.channel);
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &channel->events) {
		if (event_of(pos)->owner != id &&
		    event_of(pos)->owner->listener != id)
			continue;
		take_out(channel, event_of(pos));
		pier__list_add(ret, pos);
	}
}

void pier__cma_move(struct cma_id *id, struct rdma_event_channel *channel)
{
	struct pier__list events, *pos;

	pier__list_init(&events);
	pthread_mutex_lock(&pier__cma_lock);
	collect(id, &events);
	attach(id, channel);
	while ((pos = pier__list_pop(&events))) {
		if (is_request(event_of(pos)))
			attach(cma_of(event_of(pos)->event.id), channel);
		add(channel_of(channel), event_of(pos));
	}
	pthread_mutex_unlock(&pier__cma_lock);
}

static bool is_join(const struct cma_event *event, const union ibv_gid *gid)
{
	const struct rdma_cm_event *of = &event->event;

	return of->event == RDMA_CM_EVENT_MULTICAST_JOIN &&
	       !memcmp(&of->param.ud.ah_attr.grh.dgid, gid, sizeof(*gid));
}

void pier__cma_discard_joins(struct cma_id *id, const union ibv_gid *gid)
{
	struct pier__list *pos, *tmp;
	struct cma_channel *channel;

	pthread_mutex_lock(&pier__cma_lock);
	channel = channel_of(id->id.channel);
	PIER__LIST_EACH(pos, tmp, &channel->events) {
		if (event_of(pos)->owner != id || !is_join(event_of(pos), gid))
			continue;
		take_out(channel, event_of(pos));
		free(event_of(pos));
	}
	pthread_mutex_unlock(&pier__cma_lock);
}

void pier__cma_discard(struct cma_id *id)
{
	struct pier__list events, *pos;
	struct cma_event *event;

	pier__list_init(&events);
	pthread_mutex_lock(&pier__cma_lock);
	collect(id, &events);
	pthread_mutex_unlock(&pier__cma_lock);
	while ((pos = pier__list_pop(&events))) {
		event = event_of(pos);
		if (is_request(event))
			pier__cma_id_free(cma_of(event->event.id));
		free(event);
	}
}
