/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "core/clock.h"
#include "core/random.h"
#include "fabric/soft/cm/cm_conn.h"

#define CHAINS_MIN 16

/* Keyed: whoever chooses ids and GUIDs does not choose the chain. */
static uint64_t mix(const struct soft_cm *cm, uint64_t guid, uint32_t number)
{
	uint64_t h = guid ^ cm->seed;

	h ^= h >> 32;
	h *= 0x9fb21c651e98df25;
	h ^= (h >> 28) ^ number;
	h *= 0xd6e8feb86659fd93;
	h ^= cm->seed >> 7;
	h *= 0x9fb21c651e98df25;
	return h ^ h >> 32;
}

static uint64_t hash(const struct soft_cm *cm,
		     const struct soft_cm_conn *conn, enum soft_cm_key key)
{
	if (key == SOFT_CM_BY_LOCAL)
		return mix(cm, 0, conn->local_id);
	return mix(cm, conn->guid, key == SOFT_CM_BY_PEER ? conn->remote_id :
							   conn->dest_qpn);
}

static struct soft_cm_conn *first(const struct soft_cm *cm,
				  enum soft_cm_key key, uint64_t hash)
{
	return cm->table[key] ? cm->table[key][hash & cm->mask] : NULL;
}

static void chain_in(struct soft_cm *cm, struct soft_cm_conn *conn,
		     enum soft_cm_key key)
{
	uint64_t at = hash(cm, conn, key) & cm->mask;

	conn->chain[key] = cm->table[key][at];
	cm->table[key][at] = conn;
}

static void chain_out(struct soft_cm *cm, struct soft_cm_conn *conn,
		      enum soft_cm_key key)
{
	struct soft_cm_conn **pos =
		&cm->table[key][hash(cm, conn, key) & cm->mask];

	while (*pos != conn)
		pos = &(*pos)->chain[key];
	*pos = conn->chain[key];
}

/* Twice as many chains, or the first ones.  Returns false: no memory. */
static bool table_grow(struct soft_cm *cm)
{
	uint32_t old = cm->table[0] ? cm->mask + 1 : 0, i;
	uint32_t size = old ? 2 * old : CHAINS_MIN;
	struct soft_cm_conn **table[SOFT_CM_KEYS] = { 0 }, *conn, *next;
	struct soft_cm_conn **tmp;
	int key;

	for (key = 0; key < SOFT_CM_KEYS; key++) {
		table[key] = calloc(size, sizeof(struct soft_cm_conn *));
		if (!table[key])
			goto err_free;
	}
	cm->mask = size - 1;
	for (key = 0; key < SOFT_CM_KEYS; key++) {
		tmp = cm->table[key];
		cm->table[key] = table[key];
		for (i = 0; i < old; i++) {
			for (conn = tmp[i]; conn; conn = next) {
				next = conn->chain[key];
				chain_in(cm, conn, key);
			}
		}
		free(tmp);
	}
	return true;

err_free:
	while (key--)
		free(table[key]);
	return false;
}

struct soft_cm_conn *pier__soft_cm_conn_new(struct soft_cm *cm)
{
	struct soft_cm_conn *conn;

	if (cm->count > cm->mask || !cm->table[0])
		if (!table_grow(cm))
			return NULL;
	if (pier__soft_heap_fit(&cm->timers, cm->count + 2))
		return NULL;
	conn = calloc(1, sizeof(*conn));
	if (!conn)
		return NULL;
	conn->handshake = calloc(1, sizeof(*conn->handshake));
	if (!conn->handshake) {
		free(conn);
		return NULL;
	}
	pier__list_init(&conn->wait);
	do
		conn->local_id = pier__random_id(UINT32_MAX);
	while (pier__soft_cm_by_local(cm, conn->local_id));
	conn->rq_psn = (uint32_t)pier__random64() & 0xffffff;
	pier__soft_cm_index(cm, conn, SOFT_CM_BY_LOCAL);
	cm->count++;
	return conn;
}

void pier__soft_cm_handshake_free(struct soft_cm *cm, struct soft_cm_conn *conn)
{
	if (conn->handshake)
		pier__soft_cm_find_end(cm, &conn->handshake->find);
	free(conn->handshake);
	conn->handshake = NULL;
}

void pier__soft_cm_conn_free(struct soft_cm *cm, struct soft_cm_conn *conn)
{
	int key;

	for (key = 0; key < SOFT_CM_KEYS; key++)
		if (conn->keys & 1 << key)
			chain_out(cm, conn, key);
	if (!pier__list_empty(&conn->wait))
		cm->timewait_count--;
	pier__list_del(&conn->wait);
	pier__soft_heap_set(&cm->timers, &conn->timer, PIER__NEVER);
	pier__soft_cm_handshake_free(cm, conn);
	free(conn);
	cm->count--;
}

void pier__soft_cm_index(struct soft_cm *cm, struct soft_cm_conn *conn,
			 enum soft_cm_key key)
{
	chain_in(cm, conn, key);
	conn->keys |= 1 << key;
}

struct soft_cm_conn *pier__soft_cm_by_local(const struct soft_cm *cm,
					    uint32_t local_id)
{
	struct soft_cm_conn *conn;

	conn = first(cm, SOFT_CM_BY_LOCAL, mix(cm, 0, local_id));
	while (conn && conn->local_id != local_id)
		conn = conn->chain[SOFT_CM_BY_LOCAL];
	return conn;
}

struct soft_cm_conn *pier__soft_cm_by_peer(const struct soft_cm *cm,
					   uint64_t guid, uint32_t remote_id)
{
	struct soft_cm_conn *conn;

	conn = first(cm, SOFT_CM_BY_PEER, mix(cm, guid, remote_id));
	while (conn && (conn->guid != guid || conn->remote_id != remote_id))
		conn = conn->chain[SOFT_CM_BY_PEER];
	return conn;
}

struct soft_cm_conn *pier__soft_cm_by_qpn(const struct soft_cm *cm,
					  uint64_t guid, uint32_t qpn)
{
	struct soft_cm_conn *conn;

	conn = first(cm, SOFT_CM_BY_QPN, mix(cm, guid, qpn));
	while (conn && (conn->guid != guid || conn->dest_qpn != qpn ||
			conn->state == SOFT_CM_TIMEWAIT))
		conn = conn->chain[SOFT_CM_BY_QPN];
	return conn;
}

static struct soft_cm_conn *oldest(struct soft_cm *cm)
{
	return pier__container_of(cm->timewait.next, struct soft_cm_conn, wait);
}

void pier__soft_cm_timewait(struct soft_cm *cm, struct soft_cm_conn *conn)
{
	if (conn->state == SOFT_CM_TIMEWAIT)
		return;
	conn->state = SOFT_CM_TIMEWAIT;
	pier__list_add(&cm->timewait, &conn->wait);
	pier__soft_cm_timewait_timer(cm, conn);
	if (++cm->timewait_count > SOFT_CM_TIMEWAIT_MAX)
		pier__soft_cm_conn_free(cm, oldest(cm));
}
