/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of connection management: made, taken, acknowledged. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "dropin/cma/cma.h"
#include "dropin/cma/cma_real.h"

pthread_cond_t pier__cma_acked = PTHREAD_COND_INITIALIZER;

static void init(struct cma_event *event, struct cma_id *id,
		 enum rdma_cm_event_type type, int status)
{
	event->owner = id;
	event->event.id = &id->id;
	event->event.event = type;
	event->event.status = status;
}

struct cma_event *pier__cma_event_new(struct cma_id *id,
				      enum rdma_cm_event_type type, int status)
{
	struct cma_event *event = calloc(1, sizeof(*event));

	if (event)
		init(event, id, type, status);
	return event;
}

int pier__cma_reserve(struct cma_id *id)
{
	int i;

	for (i = 0; i < CMA_SPARES; i++) {
		if (!id->spare[i])
			id->spare[i] = calloc(1, sizeof(*id->spare[i]));
		if (!id->spare[i])
			return -ENOMEM;
	}
	return 0;
}

/* NULL: there is none, which no connection needs. */
static struct cma_event *spare(struct cma_id *id, enum rdma_cm_event_type type,
			       int status)
{
	struct cma_event *event = NULL;
	int i;

	for (i = 0; i < CMA_SPARES && !event; i++) {
		event = id->spare[i];
		id->spare[i] = NULL;
	}
	if (event)
		init(event, id, type, status);
	return event;
}

static enum rdma_cm_event_type type_of(enum pier__cm_kind kind)
{
	static const enum rdma_cm_event_type types[] = {
		[PIER__CM_RESOLVED] = RDMA_CM_EVENT_ADDR_RESOLVED,
		[PIER__CM_REQUEST] = RDMA_CM_EVENT_CONNECT_REQUEST,
		[PIER__CM_RESPONSE] = RDMA_CM_EVENT_CONNECT_RESPONSE,
		[PIER__CM_ESTABLISHED] = RDMA_CM_EVENT_ESTABLISHED,
		[PIER__CM_REJECTED] = RDMA_CM_EVENT_REJECTED,
		[PIER__CM_UNREACHABLE] = RDMA_CM_EVENT_UNREACHABLE,
		[PIER__CM_DISCONNECTED] = RDMA_CM_EVENT_DISCONNECTED,
		[PIER__CM_GONE] = RDMA_CM_EVENT_DEVICE_REMOVAL,
		[PIER__CM_TIMEWAIT_EXIT] = RDMA_CM_EVENT_TIMEWAIT_EXIT,
	};

	return types[kind];
}

/* The private data of @from; the length. */
static uint8_t copy_data(struct cma_event *event,
			 const struct pier__cm_event *from)
{
	size_t len = from->len < sizeof(event->data) ? from->len :
						      sizeof(event->data);

	if (len)
		memcpy(event->data, from->data, len);
	return (uint8_t)len;
}

/* What is not known yet, the way to the peer, is found by handle(). */
static void fill_datagram(struct cma_event *event,
			  const struct pier__cm_event *from)
{
	struct rdma_ud_param *param = &event->event.param.ud;

	param->qp_num = from->qpn;
	param->qkey = from->qkey;
	param->private_data_len = copy_data(event, from);
	if (param->private_data_len)
		param->private_data = event->data;
}

static void fill_param(struct cma_event *event,
		       const struct pier__cm_event *from)
{
	struct rdma_conn_param *param = &event->event.param.conn;

	param->qp_num = from->qpn;
	param->responder_resources = from->responder_resources;
	param->initiator_depth = from->initiator_depth;
	param->retry_count = from->retry_count;
	param->rnr_retry_count = from->rnr_retry;
	param->private_data_len = copy_data(event, from);
	if (param->private_data_len)
		param->private_data = event->data;
}

/* The id of a request that @listener got.  NULL: no memory. */
static struct cma_id *requested(const struct cma_listener *listener,
				const struct pier__cm_event *from)
{
	const struct rdma_cm_id *parent = &listener->id->id;
	struct cma_id *id = pier__cma_id_new(NULL, parent->context, parent->ps,
					     parent->qp_type);

	if (!id)
		return NULL;
	if (pier__cma_reserve(id)) {
		pier__cma_id_drop(id);
		return NULL;
	}
	id->listener = listener->id;
	pier__cma_use(id, listener->device);
	id->conn = from->id;
	id->state = CMA_REQUESTED;
	id->responder_resources = from->responder_resources;
	id->initiator_depth = from->initiator_depth;
	id->ib = listener->id->ib;
	pier__cma_set_local(id, (const union pier__sockaddr *)
				&from->id->local);
	pier__cma_set_peer(id, (const union pier__sockaddr *)&from->id->peer);
	pier__cma_watch(id);
	return id;
}

/* A request counts in the backlog until the program takes it. */
static struct cma_event *request_new(const struct pier__cm_event *from)
{
	struct cma_listener *listener = from->listener->owner;
	struct cma_event *event;
	struct cma_id *id = requested(listener, from);

	if (!id)
		return NULL;
	event = pier__cma_event_new(listener->id,
				    RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	if (!event) {
		pier__cma_id_drop(id);
		return NULL;
	}
	from->id->owner = id;
	event->held = from->listener;
	event->event.id = &id->id;
	event->event.listen_id = &listener->id->id;
	return event;
}

static int status_of(const struct pier__cm_event *from)
{
	return from->kind == PIER__CM_REJECTED ? from->reason : from->error;
}

bool pier__cma_take(struct pier__cm *cm, const struct pier__cm_event *from)
{
	struct cma_id *id = from->id->owner;
	struct cma_event *event = NULL;

	(void)cm;
	if (from->kind == PIER__CM_RESOLVED)
		return true;	/* rdma_resolve_addr() reports it */
	if (from->listener)
		event = request_new(from);
	else if (id)
		event = spare(id, type_of(from->kind), status_of(from));
	if (!event)
		return !from->listener;
	if (pier__cma_is_datagram(event->owner))
		fill_datagram(event, from);
	else
		fill_param(event, from);
	pier__cma_push(event);
	return true;
}

/* The peer has accepted: connect the QP, unless the program has its own. */
static void respond(struct cma_id *id, struct rdma_cm_event *event)
{
	int err;

	if (!id->id.qp)
		return;
	err = pier__cma_qp_move(id, IBV_QPS_RTR);
	if (!err)
		err = pier__cma_qp_move(id, IBV_QPS_RTS);
	if (!err)
		err = pier__dropin_cm_calls()->establish(id->conn);
	if (!err) {
		event->event = RDMA_CM_EVENT_ESTABLISHED;
		return;
	}
	pier__cma_qp_fail(id);
	pier__dropin_cm_calls()->release(id->conn);
	id->conn = NULL;
	event->event = RDMA_CM_EVENT_CONNECT_ERROR;
	event->status = err;
}

/* The peer has reported its QP: the way to it. */
static void respond_datagram(struct cma_id *id, struct rdma_cm_event *event)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	uint16_t udp_port;
	int mask, err;

	err = pier__dropin_cm_calls()->qp_attr(id->conn, IBV_QPS_RTR, &attr,
					       &mask, &udp_port);
	event->event = err ? RDMA_CM_EVENT_CONNECT_ERROR :
			     RDMA_CM_EVENT_ESTABLISHED;
	event->status = err;
	event->param.ud.ah_attr = attr.ah_attr;
}

/* A datagram service that rejects is one that cannot be reached. */
static void reject(struct cma_id *id, struct rdma_cm_event *event)
{
	if (pier__cma_is_datagram(id))
		event->event = RDMA_CM_EVENT_UNREACHABLE;
	else
		pier__cma_qp_fail(id);
}

/* What librdmacm does before the program sees @event. */
static void handle(struct cma_event *event)
{
	struct cma_id *id = event->owner;

	switch (event->event.event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		atomic_fetch_sub(&event->held->held, 1);
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		if (pier__cma_is_datagram(id))
			respond_datagram(id, &event->event);
		else
			respond(id, &event->event);
		break;
	case RDMA_CM_EVENT_REJECTED:
		reject(id, &event->event);
		break;
	case RDMA_CM_EVENT_MULTICAST_JOIN:
		pier__cma_joined(&event->event);
		break;
	default:
		break;
	}
}

/* As pier__cma_real_take() has it. */
static int take_next(struct cma_channel *channel, unsigned int life,
		     struct cma_event **ret)
{
	int err = pier__cma_pop(channel, life, ret);

	if (err)
		return pier__cma_result(err);
	return *ret ? 0 : pier__cma_real_take(channel, ret);
}

/* Until @channel, which had @rings, may have another event. */
static int wait_for_event(struct cma_channel *channel, unsigned int rings)
{
	return channel->real ? pier__cma_real_wait(channel) :
			       pier__dropin_wait(&channel->bell, rings,
						 channel->channel.fd);
}

int rdma_get_cm_event(struct rdma_event_channel *ibchannel,
		      struct rdma_cm_event **ret)
{
	struct cma_channel *channel = (struct cma_channel *)ibchannel;
	struct cma_event *event = NULL;
	unsigned int rings, life;

	if (!channel || !ret)
		return pier__cma_result(-EINVAL);
	life = atomic_load(&channel->life);
	while (!event) {
		rings = atomic_load(&channel->bell.rings);
		if (take_next(channel, life, &event) ||
		    (!event && wait_for_event(channel, rings)))
			return -1;
	}
	if (!event->real)
		handle(event);
	*ret = &event->event;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	struct cma_event *own = (struct cma_event *)event;

	if (!event)
		return pier__cma_result(-EINVAL);
	if (own->real)
		pier__cma_real_ack(own);
	pthread_mutex_lock(&pier__cma_lock);
	own->owner->unacked--;
	pthread_cond_broadcast(&pier__cma_acked);
	pthread_mutex_unlock(&pier__cma_lock);
	free(own);
	return 0;
}

int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type type,
			int status, uint64_t arg)
{
	struct cma_event *event;

	if (!id || (int)type != CMA_EVENT_USER)
		return pier__cma_result(-EINVAL);
	event = pier__cma_event_new(cma_of(id), type, status);
	if (!event)
		return -1;
	memcpy(&event->event.param, &arg, sizeof(arg));
	pier__cma_push(event);
	return 0;
}

/* The next event of @id, into id->event.  Returns -1 with errno. */
static int next_event(struct cma_id *id)
{
	if (id->id.event)
		rdma_ack_cm_event(id->id.event);
	id->id.event = NULL;
	return rdma_get_cm_event(id->id.channel, &id->id.event);
}

int pier__cma_complete(struct cma_id *id)
{
	const struct rdma_cm_event *event;

	if (!id->own)
		return 0;
	do
		if (next_event(id))
			return -1;
	while (id->id.event->event == RDMA_CM_EVENT_ADDR_CHANGE);
	event = id->id.event;
	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL)
		return pier__cma_result(-ENODEV);
	/* Of datagrams it is UNREACHABLE, with the status of the peer. */
	if (event->event == RDMA_CM_EVENT_REJECTED || event->status > 0)
		return pier__cma_result(-ECONNREFUSED);
	return pier__cma_result(event->status);
}
