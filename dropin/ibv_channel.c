/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion channels and their events. */
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "dropin/cm.h"
#include "dropin/dropin.h"

static struct dropin_channel *channel_of(struct ibv_comp_channel *channel)
{
	return (struct dropin_channel *)channel;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct dropin_channel *channel = calloc(1, sizeof(*channel));
	int err;

	if (!channel)
		return pier__dropin_null(-ENOMEM);
	channel->channel.context = context;
	channel->channel.fd = eventfd(0, EFD_CLOEXEC);
	if (channel->channel.fd < 0) {
		err = -errno;
		free(channel);
		return pier__dropin_null(err);
	}
	pthread_mutex_init(&channel->lock, NULL);
	pier__list_init(&channel->cqs);
	return &channel->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *ibchannel)
{
	struct dropin_channel *channel = channel_of(ibchannel);
	int users;

	if (pier__dropin_inherited(ibchannel->context))
		return 0;
	pthread_mutex_lock(&channel->lock);
	users = ibchannel->refcnt;
	pthread_mutex_unlock(&channel->lock);
	if (users)
		return EBUSY;
	close(ibchannel->fd);
	pthread_mutex_destroy(&channel->lock);
	free(channel);
	return 0;
}

void pier__dropin_event(struct dropin_cq *cq)
{
	struct dropin_channel *channel = channel_of(cq->cq.channel);

	if (!channel)
		return;
	pthread_mutex_lock(&channel->lock);
	if (!cq->events++)
		pier__list_add(&channel->cqs, &cq->link);
	eventfd_write(channel->channel.fd, 1);	/* each is an edge of epoll */
	pier__dropin_ring(&channel->bell);
	pthread_mutex_unlock(&channel->lock);
}

static void unlink_cq(struct dropin_channel *channel, struct dropin_cq *cq)
{
	eventfd_t count;

	pier__list_del(&cq->link);
	if (pier__list_empty(&channel->cqs))
		eventfd_read(channel->channel.fd, &count);
}

void pier__dropin_no_events(struct dropin_cq *cq)
{
	struct dropin_channel *channel = channel_of(cq->cq.channel);

	if (!channel)
		return;
	pthread_mutex_lock(&channel->lock);
	if (cq->events)
		unlink_cq(channel, cq);
	channel->channel.refcnt--;
	pthread_mutex_unlock(&channel->lock);
}

/* Take one event.  Returns NULL if there is none. */
static struct dropin_cq *take(struct dropin_channel *channel)
{
	struct dropin_cq *cq = NULL;

	pthread_mutex_lock(&channel->lock);
	if (!pier__list_empty(&channel->cqs)) {
		cq = pier__container_of(channel->cqs.next, struct dropin_cq,
					link);
		cq->taken++;
		if (!--cq->events)
			unlink_cq(channel, cq);
	}
	pthread_mutex_unlock(&channel->lock);
	return cq;
}

int ibv_get_cq_event(struct ibv_comp_channel *ibchannel, struct ibv_cq **ret,
		     void **ret_context)
{
	struct dropin_channel *channel = channel_of(ibchannel);
	unsigned int rings = atomic_load(&channel->bell.rings);
	struct dropin_cq *cq;

	while (!(cq = take(channel))) {
		if (pier__dropin_wait(&channel->bell, rings, ibchannel->fd))
			return -1;
		rings = atomic_load(&channel->bell.rings);
	}
	*ret = &cq->cq;
	*ret_context = cq->cq.cq_context;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count)
{
	pthread_mutex_lock(&cq->mutex);
	cq->comp_events_completed += count;
	pthread_cond_signal(&cq->cond);
	pthread_mutex_unlock(&cq->mutex);
}
