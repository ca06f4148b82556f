/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>

#include "doca_fail.h"
#include "doca_rdma_impl.h"

static void init(struct doca_rdma_conns *conns)
{
	conns->first = NULL;
	conns->end = &conns->first;
}

static void add(struct doca_rdma_conns *conns,
		struct doca_rdma_connection *conn)
{
	conn->next = NULL;
	conn->at = conns->end;
	*conns->end = conn;
	conns->end = &conn->next;
}

static void take_out(struct doca_rdma_conns *conns,
		     struct doca_rdma_connection *conn)
{
	*conn->at = conn->next;
	if (conn->next)
		conn->next->at = conn->at;
	else
		conns->end = conn->at;
}

static void free_conn(struct doca_rdma_connection *conn)
{
	free(conn->peer.address);
	free(conn);
}

/* Out of those that have ended. */
static void free_ended(struct doca_rdma_connection *conn)
{
	take_out(&conn->rdma->ended, conn);
	conn->rdma->ended_count--;
	free_conn(conn);
}

/*
 * Ended connections stay, for programs that disconnect them once more; beyond
 * one for each that may exist, those go that ended first, unless tasks refer to
 * them.
 */
static void prune(struct doca_rdma *rdma)
{
	struct doca_rdma_connection *conn = rdma->ended.first, *next;

	for (; conn && rdma->ended_count > rdma->max_conns; conn = next) {
		next = conn->next;
		if (!conn->tasks && !pier__doca_rdma_received_from(conn))
			free_ended(conn);
	}
}

struct doca_rdma_connection *pier__doca_conn_create(struct doca_rdma *rdma,
						    struct pier_conn *conn,
						    bool by_cm)
{
	struct doca_rdma_connection *new = calloc(1, sizeof(*new));

	if (!new)
		return NULL;
	prune(rdma);
	new->rdma = rdma;
	new->conn = conn;
	new->by_cm = by_cm;
	new->id = ++rdma->ids;
	add(&rdma->conns, new);
	return new;
}

void pier__doca_conn_free(struct doca_rdma_connection *conn)
{
	pier__doca_conn_tried(conn);
	take_out(&conn->rdma->conns, conn);
	free_conn(conn);
}

void pier__doca_conn_tried(struct doca_rdma_connection *conn)
{
	if (conn->addr)
		conn->addr->attempts--;
	conn->addr = NULL;
}

void pier__doca_conn_end(struct doca_rdma_connection *conn)
{
	struct doca_rdma *rdma = conn->rdma;

	if (conn->ended)
		return;
	pier__doca_conn_tried(conn);
	for (int i = 0; i < PIER_TASK_TYPES; i++)
		pier__doca_pool_drop_spare(&rdma->pools[i]);
	pier_conn_destroy(conn->conn);
	conn->conn = NULL;
	conn->ended = true;
	take_out(&rdma->conns, conn);
	add(&rdma->ended, conn);
	rdma->ended_count++;
}

void pier__doca_conns_init(struct doca_rdma *rdma)
{
	init(&rdma->conns);
	init(&rdma->ended);
}

void pier__doca_conns_end(struct doca_rdma *rdma)
{
	struct doca_rdma_connection *conn;

	while ((conn = rdma->conns.first))
		pier__doca_conn_end(conn);
}

void pier__doca_conns_free(struct doca_rdma *rdma)
{
	struct doca_rdma_connection *conn;

	pier__doca_conns_end(rdma);
	while ((conn = rdma->ended.first))
		free_ended(conn);
}

doca_error_t pier__doca_conn_error(int err)
{
	doca_error_t error = pier__doca_error(err);

	return err == -ENOSPC ? DOCA_ERROR_FULL : error;
}

doca_error_t doca_rdma_export(struct doca_rdma *rdma, const void **desc,
			      size_t *len, struct doca_rdma_connection **conn)
{
	struct doca_rdma_connection *new;
	struct pier_conn *pier;
	int err;

	if (!rdma || !desc || !len || !conn)
		return DOCA_ERROR_INVALID_VALUE;
	err = pier_rdma_export(rdma->rdma, desc, len, &pier);
	if (err)
		return pier__doca_conn_error(err);
	new = pier__doca_conn_create(rdma, pier, false);
	if (!new) {
		pier_conn_destroy(pier);
		return DOCA_ERROR_NO_MEMORY;
	}
	pier_conn_set_user_data(pier, new);
	*conn = new;
	return DOCA_SUCCESS;
}

/* A descriptor that is none ends the attempt. */
static doca_error_t connect_error(int err)
{
	doca_error_t error = pier__doca_error(err);

	return err == -PIER_EDESC || err == -PIER_EKIND ?
		       DOCA_ERROR_CONNECTION_ABORTED : error;
}

doca_error_t doca_rdma_connect(struct doca_rdma *rdma, const void *desc,
			       size_t len, struct doca_rdma_connection *conn)
{
	if (!rdma || !desc || !len || !conn || conn->rdma != rdma)
		return DOCA_ERROR_INVALID_VALUE;
	if (!conn->conn)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "rdma: the connection has ended");
	return connect_error(pier_rdma_connect(conn->conn, desc, len));
}

static bool has_ended(const struct pier_conn *conn)
{
	enum pier_conn_state state = pier_conn_state(conn);

	return state == PIER_CONN_RESET || state == PIER_CONN_ERROR;
}

/*
 * As often as one likes, and on one that has ended.  The end of one by
 * descriptors is not reported: until this call the program may use it.
 */
doca_error_t doca_rdma_connection_disconnect(struct doca_rdma_connection *conn)
{
	int err;

	if (!conn)
		return DOCA_ERROR_INVALID_VALUE;
	if (conn->ended)
		return DOCA_SUCCESS;
	conn->disconnected = true;
	err = pier_conn_disconnect(conn->conn);
	if (!conn->by_cm && has_ended(conn->conn))
		pier__doca_conn_end(conn);
	return pier__doca_error(err);
}

doca_error_t
doca_rdma_connection_set_user_data(struct doca_rdma_connection *conn,
				   union doca_data data)
{
	if (!conn)
		return DOCA_ERROR_INVALID_VALUE;
	conn->data = data;
	return DOCA_SUCCESS;
}

doca_error_t
doca_rdma_connection_get_user_data(const struct doca_rdma_connection *conn,
				   union doca_data *data)
{
	if (!conn || !data)
		return DOCA_ERROR_INVALID_VALUE;
	*data = conn->data;
	return DOCA_SUCCESS;
}

doca_error_t
doca_rdma_connection_get_id(const struct doca_rdma_connection *conn,
			    uint32_t *id)
{
	if (!conn || !id)
		return DOCA_ERROR_INVALID_VALUE;
	*id = conn->id;
	return DOCA_SUCCESS;
}

/* As DOCA has addresses: the numbers of the host as a text. */
static doca_error_t keep_peer(const struct sockaddr_storage *peer,
			      struct doca_rdma_addr *ret)
{
	const struct sockaddr_in6 *in6 = (const void *)peer;
	const struct sockaddr_in *in = (const void *)peer;
	bool v6 = peer->ss_family == AF_INET6;
	char text[NI_MAXHOST];

	if (getnameinfo((const void *)peer, v6 ? sizeof(*in6) : sizeof(*in),
			text, sizeof(text), NULL, 0, NI_NUMERICHOST))
		return DOCA_ERROR_OPERATING_SYSTEM;
	ret->address = strdup(text);
	if (!ret->address)
		return DOCA_ERROR_NO_MEMORY;
	ret->type = v6 ? DOCA_RDMA_ADDR_TYPE_IPv6 : DOCA_RDMA_ADDR_TYPE_IPv4;
	ret->port = ntohs(v6 ? in6->sin6_port : in->sin_port);
	return DOCA_SUCCESS;
}

static doca_error_t take_peer(struct doca_rdma_connection *conn)
{
	struct sockaddr_storage peer;

	if (!conn->conn)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "rdma: the connection has ended");
	if (pier_conn_peer_sockaddr(conn->conn, &peer))
		return pier__doca_fail(DOCA_ERROR_BAD_STATE, "rdma: %s",
				       pier_last_error());
	return keep_peer(&peer, &conn->peer);
}

doca_error_t
doca_rdma_connection_get_addr(const struct doca_rdma_connection *conn,
			      struct doca_rdma_addr **addr)
{
	struct doca_rdma_connection *c =
		(struct doca_rdma_connection *)(uintptr_t)conn;
	doca_error_t error = DOCA_SUCCESS;

	if (!conn || !addr)
		return DOCA_ERROR_INVALID_VALUE;
	if (!c->peer.address)
		error = take_peer(c);
	if (!error)
		*addr = &c->peer;
	return error;
}
