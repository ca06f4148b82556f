/* SPDX-License-Identifier: BSD-2-Clause */
/* Events that the program takes, and its ids. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/sockaddr.h"
#include "fabric/soft/cm/cm_conn.h"

#define BIT(kind) (1u << (kind))
#define OVER (BIT(PIER__CM_REJECTED) | BIT(PIER__CM_UNREACHABLE) | \
	      BIT(PIER__CM_DISCONNECTED) | BIT(PIER__CM_GONE))

/* IPv4 addresses are reported as IPv4. */
static void name_set(struct sockaddr_storage *ret, const struct in6_addr *ip,
		     uint16_t port)
{
	union pier__sockaddr name;

	pier__sockaddr_from_gid(ip->s6_addr, &name);
	pier__sockaddr_set_port(&name, port);
	memset(ret, 0, sizeof(*ret));
	memcpy(ret, &name, sizeof(name));
}

struct soft_cm_id *pier__soft_cm_id_new(struct soft_cm_conn *conn,
					uint16_t src_port, uint16_t dst_port)
{
	struct soft_cm_id *id = calloc(1, sizeof(*id));

	if (!id)
		return NULL;
	pier__list_init(&id->link);
	pier__list_init(&id->early);
	name_set(&id->id.local, &conn->src, src_port);
	name_set(&id->id.peer, &conn->dst, dst_port);
	id->id.cm = conn->cm->owner;
	id->conn = conn;
	conn->id = id;
	return id;
}

void pier__soft_cm_id_free(struct soft_cm_id *id)
{
	pier__list_del(&id->link);
	pier__list_del(&id->early);
	if (id->timewait)
		id->timewait->ended = NULL;
	free(id->rej);
	free(id);
}

void pier__soft_cm_notify(struct soft_cm *cm, struct soft_cm_id *id,
			  enum pier__cm_kind kind)
{
	bool first = pier__list_empty(&cm->events);

	if (!id)
		return;
	id->events |= BIT(kind);
	if (pier__list_empty(&id->link))
		pier__list_add(&cm->events, &id->link);
	if (first)
		cm->host->ops->notify(cm->host);
}

void pier__soft_cm_finish(struct soft_cm_conn *conn, enum pier__cm_kind kind,
			  int error, uint16_t reason)
{
	struct soft_cm_id *id = conn->id;

	if (!id)
		return;
	conn->id = NULL;
	id->conn = NULL;
	if (id->listener) {		/* it was not reported yet */
		id->listener->waiting--;
		pier__soft_cm_id_free(id);
		return;
	}
	/* Of earlier events only ESTABLISHED is still reported. */
	id->events &= BIT(PIER__CM_ESTABLISHED);
	id->error = error;
	id->reason = reason;
	if (kind == PIER__CM_REJECTED && conn->handshake &&
	    conn->handshake->len) {
		pier__soft_cm_find_end(conn);
		id->rej = conn->handshake;
		conn->handshake = NULL;
	}
	if (kind == PIER__CM_DISCONNECTED)
		pier__soft_cm_disconnected(id, conn->cm, conn->qpn);
	else
		pier__soft_cm_notify(conn->cm, id, kind);
}

static void fill_data(struct soft_cm *cm,
		      const struct soft_cm_handshake *handshake,
		      struct pier__cm_event *event)
{
	if (!handshake || !handshake->len)
		return;
	memcpy(cm->event_data, handshake->data, handshake->len);
	event->data = cm->event_data;
	event->len = handshake->len;
}

/* The peer's QPN and its parameters. */
static void fill_peer(const struct soft_cm_conn *conn,
		      struct pier__cm_event *event)
{
	event->qpn = conn->dest_qpn;
	event->qkey = conn->qkey;
	event->responder_resources = conn->peer_initiator_depth;
	event->initiator_depth = conn->peer_responder_resources;
	event->retry_count = conn->retry_count;
	event->rnr_retry = conn->rnr_retry;
}

static void fill_event(struct soft_cm *cm, struct soft_cm_id *id,
		       struct pier__cm_event *ret)
{
	unsigned int kind = (unsigned int)__builtin_ctz(id->events);

	id->events &= ~BIT(kind);
	ret->kind = kind;
	ret->id = &id->id;
	switch (kind) {
	case PIER__CM_REQUEST:
		ret->listener = &id->listener->listener;
		id->listener->waiting--;
		ret->listener->held++;	/* it still counts in the backlog */
		id->listener = NULL;
		fill_data(cm, id->conn->handshake, ret);
		fill_peer(id->conn, ret);
		break;
	case PIER__CM_RESPONSE:
		fill_data(cm, id->conn->handshake, ret);
		fill_peer(id->conn, ret);
		break;
	case PIER__CM_REJECTED:
		ret->reason = id->reason;
		memcpy(ret->instead, id->instead, sizeof(ret->instead));
		fill_data(cm, id->rej, ret);
		break;
	case PIER__CM_UNREACHABLE:
		ret->error = id->error;
		break;
	default:
		break;
	}
}

int pier__soft_cm_next(struct soft_cm *cm, struct pier__cm_event *ret)
{
	struct pier__cm_event event = { 0 };
	struct pier__list *link = pier__list_pop(&cm->events);
	struct soft_cm_id *id;

	if (!link)
		return -EAGAIN;
	id = pier__container_of(link, struct soft_cm_id, link);
	fill_event(cm, id, &event);
	if (id->events)
		pier__list_add(cm->events.next, &id->link);
	*ret = event;
	return 0;
}

void pier__soft_cm_lose(const struct pier__cm_event *event)
{
	struct soft_cm_id *id = (struct soft_cm_id *)event->id;

	event->listener->held--;
	if (id->conn)
		pier__soft_cm_conn_free(id->conn);
	pier__soft_cm_id_free(id);
}
