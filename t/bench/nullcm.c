/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bench/nullcm.h"

#define EVENTS 64u
#define LISTENERS 64u
#define FIRST_PORT 40000u
#define DATA PIER__CM_REP_DATA

struct null_event {
	struct pier__cm_event ev;
	uint8_t data[DATA];
};

struct null_cm {
	struct pier__cm cm;		/* first */
	uint32_t head, tail;
	struct null_event events[EVENTS];
};

struct null_id {
	struct pier__cm_id id;		/* first */
	struct null_id *other;		/* NULL: not connected */
	uint32_t peer_qpn;
};

static struct pier__cm_listener *listeners[LISTENERS];

static int null_create(struct pier__chan *chan, enum ibv_mtu mtu,
		       struct pier__cm **ret)
{
	struct null_cm *cm = calloc(1, sizeof(*cm));

	(void)mtu;
	if (!cm)
		return -ENOMEM;
	cm->cm.chan = chan;
	cm->cm.fd = eventfd(0, EFD_CLOEXEC);
	*ret = &cm->cm;
	return 0;
}

static void null_destroy(struct pier__cm *cm)
{
	close(cm->fd);
	free(cm);
}

static int null_next(struct pier__cm *pcm, struct pier__cm_event *ret)
{
	struct null_cm *cm = (struct null_cm *)pcm;

	if (cm->head == cm->tail)
		return -EAGAIN;
	*ret = cm->events[cm->head++ % EVENTS].ev;
	return 0;
}

/* An event of @id, with what the other end has passed, unless NULL. */
static struct pier__cm_event *null_put(struct null_id *id,
				       enum pier__cm_kind kind,
				       const struct pier__cm_param *param,
				       size_t size)
{
	struct null_cm *cm = (struct null_cm *)id->id.cm;
	struct null_event *e = &cm->events[cm->tail++ % EVENTS];

	memset(e, 0, sizeof(*e));
	e->ev.kind = kind;
	e->ev.id = &id->id;
	if (!param)
		return &e->ev;
	id->peer_qpn = e->ev.qpn = param->qpn;
	e->ev.responder_resources = param->initiator_depth;
	e->ev.initiator_depth = param->responder_resources;
	e->ev.retry_count = param->retry_count;
	e->ev.rnr_retry = param->rnr_retry;
	if (param->len)
		memcpy(e->data, param->data, param->len);
	e->ev.data = e->data;
	e->ev.len = size;
	return &e->ev;
}

/* Of IPv4, as the device's one address. */
static uint16_t null_port_of(const struct sockaddr_storage *addr)
{
	return ntohs(((const struct sockaddr_in *)addr)->sin_port);
}

static int null_listen(struct pier__cm *cm, const struct sockaddr *addr,
		       int backlog, void *owner,
		       struct pier__cm_listener **ret)
{
	struct pier__cm_listener *listener = calloc(1, sizeof(*listener));
	struct sockaddr_storage name = { 0 };
	uint32_t i = 0;

	(void)backlog;
	while (i < LISTENERS && listeners[i])
		i++;
	if (!listener || i == LISTENERS)
		return -ENOMEM;
	memcpy(&name, addr, sizeof(struct sockaddr_in));
	listener->cm = cm;
	listener->owner = owner;
	listener->port = null_port_of(&name);
	if (!listener->port)
		listener->port = (uint16_t)(FIRST_PORT + i);
	*ret = listeners[i] = listener;
	return 0;
}

static void null_unlisten(struct pier__cm_listener *listener)
{
	for (uint32_t i = 0; i < LISTENERS; i++)
		if (listeners[i] == listener)
			listeners[i] = NULL;
	free(listener);
}

static int null_id(struct pier__cm *cm, void *owner, struct null_id **ret)
{
	struct null_id *id = calloc(1, sizeof(*id));

	if (!id)
		return -ENOMEM;
	id->id.cm = cm;
	id->id.owner = owner;
	*ret = id;
	return 0;
}

/* @src is given, or the same address: the device has one. */
static int null_resolve(struct pier__cm *cm, const struct sockaddr *src,
			const struct sockaddr *dst, int timeout_ms,
			void *owner, struct pier__cm_id **ret)
{
	struct null_id *id;
	int err = null_id(cm, owner, &id);

	(void)timeout_ms;
	if (err)
		return err;
	memcpy(&id->id.local, src ? src : dst, sizeof(struct sockaddr_in));
	memcpy(&id->id.peer, dst, sizeof(struct sockaddr_in));
	null_put(id, PIER__CM_RESOLVED, NULL, 0);
	*ret = &id->id;
	return 0;
}

static struct pier__cm_listener *null_listener(uint16_t port)
{
	for (uint32_t i = 0; i < LISTENERS; i++)
		if (listeners[i] && listeners[i]->port == port)
			return listeners[i];
	return NULL;
}

static int null_connect(struct pier__cm_id *pid,
			const struct pier__cm_param *param)
{
	struct pier__cm_listener *listener =
		null_listener(null_port_of(&pid->peer));
	struct null_id *id = (struct null_id *)pid, *other;
	int err;

	if (!listener)
		return -ECONNREFUSED;
	err = null_id(listener->cm, NULL, &other);
	if (err)
		return err;
	other->id.local = pid->peer;
	other->id.peer = pid->local;
	other->other = id;
	id->other = other;
	listener->held++;
	null_put(other, PIER__CM_REQUEST, param,
		 PIER__CM_REQ_DATA)->listener = listener;
	return 0;
}

static int null_accept(struct pier__cm_id *id,
		       const struct pier__cm_param *param)
{
	null_put(((struct null_id *)id)->other, PIER__CM_RESPONSE, param,
		 PIER__CM_REP_DATA);
	return 0;
}

static int null_establish(struct pier__cm_id *id)
{
	null_put(((struct null_id *)id)->other, PIER__CM_ESTABLISHED, NULL, 0);
	return 0;
}

static int null_reject(struct pier__cm_id *id, const void *data, size_t len)
{
	(void)id;
	(void)data;
	(void)len;
	return -EOPNOTSUPP;	/* no end rejects another */
}

static int null_disconnect(struct pier__cm_id *id)
{
	struct null_id *other = ((struct null_id *)id)->other;

	if (other)
		null_put(other, PIER__CM_DISCONNECTED, NULL, 0);
	null_put((struct null_id *)id, PIER__CM_DISCONNECTED, NULL, 0);
	return 0;
}

static void null_release(struct pier__cm_id *id)
{
	struct null_id *other = ((struct null_id *)id)->other;

	if (other)
		other->other = NULL;
	free(id);
}

static int null_attr(struct pier__cm_id *id, enum ibv_qp_state state,
		     struct ibv_qp_attr *ret, int *ret_mask,
		     uint16_t *ret_udp_port)
{
	*ret = (struct ibv_qp_attr){
		.qp_state = state,
		.dest_qp_num = ((struct null_id *)id)->peer_qpn,
		.path_mtu = IBV_MTU_4096,
	};
	*ret_mask = IBV_QP_STATE;
	if (state == IBV_QPS_RTR)
		*ret_mask |= IBV_QP_DEST_QPN | IBV_QP_PATH_MTU;
	*ret_udp_port = id->cm->chan->udp_port;
	return 0;
}

const struct pier__fabric_cm nullcm = {
	.create = null_create,
	.destroy = null_destroy,
	.next = null_next,
	.listen = null_listen,
	.unlisten = null_unlisten,
	.resolve = null_resolve,
	.connect = null_connect,
	.accept = null_accept,
	.establish = null_establish,
	.reject = null_reject,
	.disconnect = null_disconnect,
	.release = null_release,
	.qp_attr = null_attr,
};
