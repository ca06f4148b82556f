/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A librdmacm.so.1 for real.sh: FAKE_ADDRESS has a device that is not soft.  A
 * channel whose id resolves an address fails for good; one whose id disconnects
 * has an event, whose status is whether the id has a queue pair when the event
 * is taken.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "t/dropin/fake_rdmacm.h"

struct fake_channel {
	struct rdma_event_channel channel;	/* first */
	int error;			/* of all calls from now on, or 0 */
	struct rdma_cm_id *ended;	/* an event that it has, or NULL */
};

static struct verbs_context verbs;
static struct ibv_device device = { .name = "fake0" };

static struct fake_channel *channel_of(struct rdma_event_channel *channel)
{
	return (struct fake_channel *)channel;
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct fake_channel *channel = calloc(1, sizeof(*channel));

	channel->channel.fd = eventfd(0, EFD_CLOEXEC);
	return &channel->channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	close(channel->fd);
	free(channel);
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **ret,
		   void *context, enum rdma_port_space ps)
{
	struct rdma_cm_id *id = calloc(1, sizeof(*id));

	id->channel = channel;
	id->context = context;
	id->ps = ps;
	*ret = id;
	return 0;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	free(id);
	return 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	const struct sockaddr_in *name = (const struct sockaddr_in *)addr;

	if (ntohl(name->sin_addr.s_addr) != FAKE_ADDRESS) {
		errno = ENODEV;
		return -1;
	}
	verbs.context.device = &device;
	id->verbs = &verbs.context;
	id->route.addr.src_sin = *name;
	return 0;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src,
		      struct sockaddr *dst, int timeout_ms)
{
	(void)src;
	(void)dst;
	(void)timeout_ms;
	channel_of(id->channel)->error = FAKE_ERROR;
	return eventfd_write(id->channel->fd, 1);
}

int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	id->qp = calloc(1, sizeof(*id->qp));
	id->qp->context = id->verbs;
	id->qp->qp_type = attr->qp_type;
	return 0;
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	channel_of(id->channel)->ended = id;
	return eventfd_write(id->channel->fd, 1);
}

int rdma_get_cm_event(struct rdma_event_channel *channel,
		      struct rdma_cm_event **ret)
{
	struct fake_channel *fake = channel_of(channel);
	eventfd_t count;

	if (fake->error) {
		errno = fake->error;
		return -1;
	}
	if (eventfd_read(channel->fd, &count))
		return -1;
	*ret = calloc(1, sizeof(**ret));
	(*ret)->id = fake->ended;
	(*ret)->event = RDMA_CM_EVENT_DISCONNECTED;
	(*ret)->status = fake->ended->qp != NULL;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	free(event);
	return 0;
}

/* Calls that are looked for and not made. */
#define ABSENT(name) \
	int absent_##name(void) __asm__(#name); \
	int absent_##name(void) { abort(); }

ABSENT(rdma_accept)
ABSENT(rdma_connect)
ABSENT(rdma_create_srq)
ABSENT(rdma_destroy_qp)
ABSENT(rdma_destroy_srq)
ABSENT(rdma_establish)
ABSENT(rdma_free_devices)
ABSENT(rdma_get_devices)
ABSENT(rdma_init_qp_attr)
ABSENT(rdma_join_multicast)
ABSENT(rdma_join_multicast_ex)
ABSENT(rdma_leave_multicast)
ABSENT(rdma_listen)
ABSENT(rdma_migrate_id)
ABSENT(rdma_notify)
ABSENT(rdma_reject)
ABSENT(rdma_resolve_route)
ABSENT(rdma_set_option)
