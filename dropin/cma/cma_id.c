/* SPDX-License-Identifier: BSD-2-Clause */
/* Ids: creation, end, event channel, options. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dropin/cma/cma.h"
#include "dropin/cma/cma_real.h"

#define ACK_TIMEOUT_MAX 31	/* code */

struct cma_id *pier__cma_id_new(struct rdma_event_channel *channel,
				void *context, enum rdma_port_space ps,
				enum ibv_qp_type type)
{
	struct cma_id *id = calloc(1, sizeof(*id));

	if (!id)
		return NULL;
	pier__list_init(&id->listeners);
	pier__list_init(&id->groups);
	id->bound.reserved = -1;
	id->creator = getpid();
	pier__cma_attach(id, channel);
	id->id.context = context;
	id->id.ps = ps;
	id->id.qp_type = type;
	return id;
}

bool pier__cma_inherited(const struct cma_id *id)
{
	return id->creator != getpid();
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **ret,
		   void *context, enum rdma_port_space ps)
{
	struct rdma_event_channel *own = NULL;
	struct cma_id *id;

	if (!ret)
		return pier__cma_result(-EINVAL);
	if (ps != RDMA_PS_TCP && ps != RDMA_PS_UDP && ps != RDMA_PS_IB)
		return pier__cma_result(-EOPNOTSUPP);
	if (channel && channel->fd < 0)
		return pier__cma_result(-EBADF);
	if (!channel) {
		own = rdma_create_event_channel();
		if (!own)
			return -1;
		channel = own;
	}
	id = pier__cma_id_new(channel, context, ps, ps == RDMA_PS_UDP ?
			      IBV_QPT_UD : IBV_QPT_RC);
	if (!id) {
		rdma_destroy_event_channel(own);
		return pier__cma_result(-ENOMEM);
	}
	id->own = (struct cma_channel *)own;
	*ret = &id->id;
	return 0;
}

/*
 * Until the program has acknowledged all events of @id: until then another
 * thread may take one, and uses the connection.  Those of a parent do not run
 * in a child.
 */
static void wait_for_acks(struct cma_id *id)
{
	pthread_mutex_lock(&pier__cma_lock);
	id->closing = true;
	while (id->unacked && !pier__cma_inherited(id))
		pthread_cond_wait(&pier__cma_acked, &pier__cma_lock);
	pthread_mutex_unlock(&pier__cma_lock);
}

void pier__cma_id_drop(struct cma_id *id)
{
	int i;

	pier__cma_unwatch(id);
	pier__cma_attach(id, NULL);
	for (i = 0; i < CMA_SPARES; i++)
		free(id->spare[i]);
	free(id);
}

void pier__cma_id_free(struct cma_id *id)
{
	pier__cma_unwatch(id);
	wait_for_acks(id);
	if (id->real)
		pier__cma_real_destroy(id);
	pier__cma_unlisten(id);
	pier__cma_leave_all(id);
	pier__cma_port_free(id);
	pier__dropin_cm_calls()->release(id->conn);
	pier__cma_discard(id);
	if (id->own)
		rdma_destroy_event_channel(&id->own->channel);
	free(id->id.route.path_rec);
	free(id->qp_init);
	free(id->connect);
	rdma_freeaddrinfo(id->found);
	pier__cma_id_drop(id);
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	if (!id)
		return pier__cma_result(-EINVAL);
	if (id->event)
		rdma_ack_cm_event(id->event);
	id->event = NULL;
	pier__cma_id_free(cma_of(id));
	return 0;
}

int rdma_migrate_id(struct rdma_cm_id *ibid, struct rdma_event_channel *channel)
{
	struct rdma_event_channel *own = NULL;
	struct cma_id *id = cma_of(ibid);
	struct cma_channel *old;

	if (!ibid)
		return pier__cma_result(-EINVAL);
	if (id->own && !channel)
		return pier__cma_result(-EINVAL);
	if (channel && channel->fd < 0)
		return pier__cma_result(-EBADF);
	if (!channel) {
		own = rdma_create_event_channel();
		if (!own)
			return -1;
		channel = own;
	}
	old = id->own;
	if (old && ibid->event) {
		rdma_ack_cm_event(ibid->event);
		ibid->event = NULL;
	}
	if (id->real && pier__cma_real_move(id, (struct cma_channel *)channel))
		goto err_own;
	pier__cma_move(id, channel);
	id->own = (struct cma_channel *)own;
	if (old)
		rdma_destroy_event_channel(&old->channel);
	return 0;

err_own:
	rdma_destroy_event_channel(own);
	return -1;
}

static int set_flag(struct cma_id *id, int name, const void *value, size_t len)
{
	int on;

	if (len != sizeof(on))
		return -EINVAL;
	memcpy(&on, value, sizeof(on));
	return name == RDMA_OPTION_ID_AFONLY ? pier__cma_set_afonly(id, on) :
					       pier__cma_set_reuse(id, on);
}

static int option(struct cma_id *id, int name, const void *value, size_t len)
{
	const uint8_t *byte = value;

	switch (name) {
	case RDMA_OPTION_ID_TOS:
		if (len != sizeof(*byte))
			return -EINVAL;
		id->tos = *byte;
		return 0;
	case RDMA_OPTION_ID_REUSEADDR:
	case RDMA_OPTION_ID_AFONLY:
		return set_flag(id, name, value, len);
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		if (len != sizeof(*byte) || *byte > ACK_TIMEOUT_MAX)
			return -EINVAL;
		id->timeout = *byte;
		return 0;
	default:
		return -ENOSYS;
	}
}

/* For an address of a real device, which comes later. */
static void keep_option(struct cma_id *id, int name, const void *value,
			size_t len)
{
	memcpy(&id->options[name].value, value, len);
	id->options[name].len = len;
}

int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval,
		    size_t optlen)
{
	int err;

	if (!id || !optval)
		return pier__cma_result(-EINVAL);
	if (cma_of(id)->real)
		return pier__cma_real_option(cma_of(id), level, optname,
					     optval, optlen);
	if (level != RDMA_OPTION_ID)
		return pier__cma_result(level == RDMA_OPTION_IB &&
					optname == RDMA_OPTION_IB_PATH ?
					-EOPNOTSUPP : -ENOSYS);
	err = option(cma_of(id), optname, optval, optlen);
	if (!err)
		keep_option(cma_of(id), optname, optval, optlen);
	return pier__cma_result(err);
}
