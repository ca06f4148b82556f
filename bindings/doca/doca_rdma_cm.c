/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_fail.h"
#include "doca_rdma_impl.h"

static void on_request(struct pier_conn *pier, void *user_data, void *ctx)
{
	struct doca_rdma *rdma = pier__doca_rdma(ctx);
	struct doca_rdma_connection *conn = NULL;

	(void)user_data;
	if (rdma->request)
		conn = pier__doca_conn_create(rdma, pier, true);
	if (!conn) {
		pier_conn_reject(pier, NULL, 0);
		return;
	}
	pier_conn_set_user_data(pier, conn);
	rdma->request(conn, rdma->ctx.data);
}

static void on_established(struct pier_conn *pier, void *user_data, void *ctx)
{
	struct doca_rdma *rdma = pier__doca_rdma(ctx);
	struct doca_rdma_connection *conn = user_data;

	(void)pier;
	if (conn && conn->by_cm && rdma->established)
		rdma->established(conn, conn->data, rdma->ctx.data);
}

static void on_failure(struct pier_conn *pier, void *user_data, void *ctx)
{
	struct doca_rdma *rdma = pier__doca_rdma(ctx);
	struct doca_rdma_connection *conn = user_data;

	(void)pier;
	if (!conn || !conn->by_cm)
		return;
	if (rdma->failure)
		rdma->failure(conn, conn->data, rdma->ctx.data);
	pier__doca_conn_end(conn);
}

static void on_disconnected(struct pier_conn *pier, void *user_data, void *ctx)
{
	struct doca_rdma *rdma = pier__doca_rdma(ctx);
	struct doca_rdma_connection *conn = user_data;

	(void)pier;
	if (!conn || !conn->by_cm)
		return;
	if (rdma->disconnected)
		rdma->disconnected(conn, conn->data, rdma->ctx.data);
	pier__doca_conn_end(conn);
}

void pier__doca_rdma_cm_init(struct doca_rdma *rdma)
{
	pier_rdma_set_conn_callbacks(rdma->rdma, on_request, on_established,
				     on_failure, on_disconnected);
}

/* Listeners of pier end with its context. */
void pier__doca_rdma_cm_idle(struct doca_rdma *rdma)
{
	struct doca_rdma_listener *listener;

	while ((listener = rdma->listeners)) {
		rdma->listeners = listener->next;
		free(listener);
	}
}

doca_error_t doca_rdma_start_listen_to_port(struct doca_rdma *rdma,
					    uint16_t port)
{
	struct pier_listen_config cfg = { .size = sizeof(cfg), .port = port };
	struct doca_rdma_listener *new;
	int err;

	if (!rdma || !port)
		return DOCA_ERROR_INVALID_VALUE;
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	err = pier_rdma_listen(rdma->rdma, &cfg, &new->listener);
	if (err) {
		free(new);
		return pier__doca_error(err);
	}
	new->port = port;
	new->next = rdma->listeners;
	rdma->listeners = new;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_stop_listen_to_port(struct doca_rdma *rdma,
					   uint16_t port)
{
	struct doca_rdma_listener **at, *found;

	if (!rdma)
		return DOCA_ERROR_INVALID_VALUE;
	for (at = &rdma->listeners; *at; at = &(*at)->next) {
		if ((*at)->port == port)
			break;
	}
	found = *at;
	if (!found)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE,
				       "rdma: nothing listens on port %u",
				       port);
	*at = found->next;
	pier_listener_destroy(found->listener);
	free(found);
	return DOCA_SUCCESS;
}

static enum pier_addr_type pier_type(enum doca_rdma_addr_type type)
{
	static const enum pier_addr_type types[] = {
		[DOCA_RDMA_ADDR_TYPE_IPv4] = PIER_ADDR_IPV4,
		[DOCA_RDMA_ADDR_TYPE_IPv6] = PIER_ADDR_IPV6,
		[DOCA_RDMA_ADDR_TYPE_GID] = PIER_ADDR_GID,
	};

	return types[type];
}

doca_error_t doca_rdma_connect_to_addr(struct doca_rdma *rdma,
				       struct doca_rdma_addr *addr,
				       union doca_data data)
{
	struct pier_connect_config cfg = { .size = sizeof(cfg) };
	struct doca_rdma_connection *new;
	int err;

	if (!rdma || !addr)
		return DOCA_ERROR_INVALID_VALUE;
	new = pier__doca_conn_create(rdma, NULL, true);
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	new->data = data;
	cfg.peer = addr->address;
	cfg.type = pier_type(addr->type);
	cfg.port = addr->port;
	cfg.user_data = new;
	err = pier_rdma_connect_to(rdma->rdma, &cfg, &new->conn);
	return pier__doca_conn_error(err);
}

/* A request that may be accepted or rejected. */
static doca_error_t check_request(const struct doca_rdma_connection *conn)
{
	if (!conn || !conn->by_cm)
		return DOCA_ERROR_INVALID_VALUE;
	return conn->conn ? DOCA_SUCCESS :
			    pier__doca_fail(DOCA_ERROR_CONNECTION_ABORTED,
					    "rdma: the connection has ended");
}

doca_error_t doca_rdma_connection_accept(struct doca_rdma_connection *conn,
					 void *priv, uint8_t priv_len)
{
	doca_error_t error = check_request(conn);

	if (error)
		return error;
	if (priv_len && !priv)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_error(pier_conn_accept(conn->conn, priv, priv_len));
}

doca_error_t doca_rdma_connection_reject(struct doca_rdma_connection *conn)
{
	doca_error_t error = check_request(conn);
	int err;

	if (error)
		return error;
	err = pier_conn_reject(conn->conn, NULL, 0);
	if (!err)
		conn->conn = NULL;
	return pier__doca_error(err);
}
