/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of connections, found by ID and by the peer's QPN; timewait. */
#include <stdlib.h>

#include "core/clock.h"
#include "core/random.h"
#include "fabric/soft/cm/cm_conn.h"

/* Peers choose the keys of the tables other than the one of our own IDs. */
static uint32_t code(const struct soft_cm *cm, enum soft_cm_key key,
		     uint64_t guid, uint32_t number)
{
	return key == SOFT_CM_BY_LOCAL ? number :
		pier__hash_code(&cm->table[key], guid, number);
}

/* The record of @link, a link of the table @key. */
static struct soft_cm_conn *conn_of(struct pier__hash_link *link,
				    enum soft_cm_key key)
{
	return link ? pier__container_of(link - key, struct soft_cm_conn,
					 link) : NULL;
}

static struct soft_cm_conn *first(const struct soft_cm *cm,
				  enum soft_cm_key key, uint32_t code)
{
	return conn_of(pier__hash_find(&cm->table[key], code), key);
}

static struct soft_cm_conn *next(const struct soft_cm_conn *conn,
				 enum soft_cm_key key)
{
	const struct pier__hash_link *link = &conn->link[key];

	return conn_of(pier__hash_match(link->next, link->code), key);
}

void pier__soft_cm_table_init(struct soft_cm *cm)
{
	int key;

	for (key = 0; key < SOFT_CM_KEYS; key++)
		pier__hash_init(&cm->table[key]);
}

void pier__soft_cm_table_fini(struct soft_cm *cm)
{
	struct pier__hash *all = &cm->table[SOFT_CM_BY_LOCAL];
	uint32_t i;
	int key;

	for (i = 0; i <= all->mask; i++)
		while (all->chains[i])
			pier__soft_cm_conn_free(conn_of(all->chains[i],
							SOFT_CM_BY_LOCAL));
	for (key = 0; key < SOFT_CM_KEYS; key++)
		pier__hash_fini(&cm->table[key]);
}

void pier__soft_cm_each(struct soft_cm *cm,
			void (*call)(struct soft_cm_conn *conn))
{
	struct pier__hash *all = &cm->table[SOFT_CM_BY_LOCAL];
	struct pier__hash_link *link;
	uint32_t i;

	for (i = 0; i <= all->mask; i++)
		for (link = all->chains[i]; link; link = link->next)
			call(conn_of(link, SOFT_CM_BY_LOCAL));
}

struct soft_cm_conn *pier__soft_cm_conn_new(struct soft_cm *cm)
{
	uint32_t count = pier__soft_cm_count(cm);
	struct soft_cm_conn *conn;
	int key;

	for (key = 0; key < SOFT_CM_KEYS; key++)
		if (pier__hash_reserve(&cm->table[key], count + 1))
			return NULL;
	if (pier__soft_heap_fit(&cm->timers, count + 3))
		return NULL;
	conn = calloc(1, sizeof(*conn));
	if (!conn)
		return NULL;
	conn->handshake = calloc(1, sizeof(*conn->handshake));
	if (!conn->handshake) {
		free(conn);
		return NULL;
	}
	conn->cm = cm;
	pier__list_init(&conn->wait);
	do
		conn->local_id = pier__random_id(UINT32_MAX);
	while (pier__soft_cm_by_local(cm, conn->local_id));
	conn->rq_psn = (uint32_t)pier__random64() & 0xffffff;
	pier__soft_cm_index(conn, SOFT_CM_BY_LOCAL);
	return conn;
}

void pier__soft_cm_handshake_free(struct soft_cm_conn *conn)
{
	if (conn->handshake)
		pier__soft_cm_find_end(conn);
	free(conn->handshake);
	conn->handshake = NULL;
}

void pier__soft_cm_conn_free(struct soft_cm_conn *conn)
{
	int key;

	for (key = 0; key < SOFT_CM_KEYS; key++)
		if (conn->keys & 1 << key)
			pier__hash_del(&conn->cm->table[key], &conn->link[key]);
	if (!pier__list_empty(&conn->wait))
		conn->cm->timewait_count--;
	pier__list_del(&conn->wait);
	pier__soft_cm_timer_set(conn, PIER__NEVER);
	pier__soft_cm_handshake_free(conn);
	if (conn->ended) {
		conn->ended->timewait = NULL;
		pier__soft_cm_notify(conn->cm, conn->ended,
				     PIER__CM_TIMEWAIT_EXIT);
	}
	free(conn);
}

void pier__soft_cm_index(struct soft_cm_conn *conn, enum soft_cm_key key)
{
	const uint32_t number[SOFT_CM_KEYS] = {
		conn->local_id, conn->remote_id, conn->dest_qpn,
	};

	pier__hash_add(&conn->cm->table[key], &conn->link[key],
		       code(conn->cm, key, conn->guid, number[key]));
	conn->keys |= 1 << key;
}

struct soft_cm_conn *pier__soft_cm_by_local(const struct soft_cm *cm,
					    uint32_t local_id)
{
	return first(cm, SOFT_CM_BY_LOCAL, local_id);
}

struct soft_cm_conn *pier__soft_cm_by_peer(const struct soft_cm *cm,
					   uint64_t guid, uint32_t remote_id)
{
	const enum soft_cm_key key = SOFT_CM_BY_PEER;
	struct soft_cm_conn *conn;

	conn = first(cm, key, code(cm, key, guid, remote_id));
	while (conn && (conn->guid != guid || conn->remote_id != remote_id))
		conn = next(conn, key);
	return conn;
}

struct soft_cm_conn *pier__soft_cm_by_qpn(const struct soft_cm *cm,
					  uint64_t guid, uint32_t qpn)
{
	const enum soft_cm_key key = SOFT_CM_BY_QPN;
	struct soft_cm_conn *conn;

	conn = first(cm, key, code(cm, key, guid, qpn));
	while (conn && (conn->guid != guid || conn->dest_qpn != qpn ||
			conn->state == SOFT_CM_TIMEWAIT))
		conn = next(conn, key);
	return conn;
}

uint32_t pier__soft_cm_count(const struct soft_cm *cm)
{
	return cm->table[SOFT_CM_BY_LOCAL].count;
}

static struct soft_cm_conn *oldest(struct soft_cm *cm)
{
	return pier__container_of(cm->timewait.next, struct soft_cm_conn, wait);
}

void pier__soft_cm_timewait(struct soft_cm_conn *conn)
{
	if (conn->state == SOFT_CM_TIMEWAIT)
		return;
	conn->state = SOFT_CM_TIMEWAIT;
	pier__list_add(&conn->cm->timewait, &conn->wait);
	pier__soft_cm_timewait_timer(conn);
	if (++conn->cm->timewait_count > SOFT_CM_TIMEWAIT_MAX)
		pier__soft_cm_conn_free(oldest(conn->cm));
}
