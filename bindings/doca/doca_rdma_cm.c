/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_fail.h"
#include "doca_rdma_impl.h"

static void on_request(struct pier_conn *pier, void *user_data, void *ctx)
{
	struct doca_rdma *rdma = pier__doca_rdma(ctx);
	struct doca_rdma_connection *conn =
		pier__doca_conn_create(rdma, pier, true);

	(void)user_data;
	if (!conn) {
		pier_pe_ignore_event(rdma->ctx.pe->pe);
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
	if (!conn->by_cm) {
		pier_pe_ignore_event(rdma->ctx.pe->pe);
		return;
	}
	pier__doca_conn_tried(conn);
	rdma->established(conn, conn->data, rdma->ctx.data);
}

/* One by descriptors has ended, which no callback reports. */
static void quietly_ended(struct doca_rdma_connection *conn)
{
	pier_pe_ignore_event(conn->rdma->ctx.pe->pe);
	if (conn->disconnected)
		pier__doca_conn_end(conn);
}

static void on_failure(struct pier_conn *pier, void *user_data, void *ctx)
{
	struct doca_rdma *rdma = pier__doca_rdma(ctx);
	struct doca_rdma_connection *conn = user_data;

	(void)pier;
	if (!conn->by_cm) {
		quietly_ended(conn);
		return;
	}
	pier__doca_conn_tried(conn);
	rdma->failure(conn, conn->data, rdma->ctx.data);
	pier__doca_conn_end(conn);
}

static void on_disconnected(struct pier_conn *pier, void *user_data, void *ctx)
{
	struct doca_rdma *rdma = pier__doca_rdma(ctx);
	struct doca_rdma_connection *conn = user_data;

	(void)pier;
	if (!conn->by_cm) {
		quietly_ended(conn);
		return;
	}
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

/* Connections by address are reported to callbacks only. */
static doca_error_t check_callbacks(const struct doca_rdma *rdma, bool listens)
{
	if (!rdma->established)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE, "rdma: no "
				       "callbacks for connections were set");
	if (listens && !rdma->request)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE, "rdma: no "
				       "callback for requests was set");
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_start_listen_to_port(struct doca_rdma *rdma,
					    uint16_t port)
{
	struct pier_listen_config cfg = { .size = sizeof(cfg), .port = port };
	struct doca_rdma_listener *new;
	doca_error_t error;
	int err;

	if (!rdma || !port)
		return DOCA_ERROR_INVALID_VALUE;
	error = check_callbacks(rdma, true);
	if (error)
		return error;
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
	doca_error_t error;

	if (!rdma || !addr)
		return DOCA_ERROR_INVALID_VALUE;
	error = check_callbacks(rdma, false);
	if (error)
		return error;
	new = pier__doca_conn_create(rdma, NULL, true);
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	new->data = data;
	new->addr = addr;
	addr->attempts++;
	cfg.peer = addr->address;
	cfg.type = pier_type(addr->type);
	cfg.port = addr->port;
	cfg.user_data = new;
	error = pier__doca_conn_error(
		pier_rdma_connect_to(rdma->rdma, &cfg, &new->conn));
	if (error)
		pier__doca_conn_free(new);
	return error;
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
	if (err)
		return pier__doca_error(err);
	conn->conn = NULL;
	pier__doca_conn_end(conn);
	return DOCA_SUCCESS;
}
