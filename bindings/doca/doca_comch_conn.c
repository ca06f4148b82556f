/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_comch_impl.h"
#include "doca_fail.h"

static void attach(struct doca_comch_connection *conn,
		   struct doca_comch_end *end, struct doca_comch_server *server,
		   struct pier_comch_conn *pier)
{
	*conn = (struct doca_comch_connection){
		.end = end,
		.server = server,
		.conn = pier,
		.holds = 1,
	};
	pier_comch_conn_set_user_data(pier, conn);
}

void pier__doca_comch_conn_drop(struct doca_comch_connection *conn)
{
	if (!--conn->holds && conn->server)
		free(conn);
}

static void ended(struct doca_comch_connection *conn)
{
	pier__doca_pool_drop_spare(&conn->end->sends);
	conn->conn = NULL;
	pier__doca_comch_conn_drop(conn);
}

/* There are no calls on events. */
static void *event_of(struct doca_comch_end *end)
{
	return end;
}

static void received(struct doca_comch_end *end,
		     struct doca_comch_connection *conn, const void *msg,
		     size_t len)
{
	end->received(event_of(end), (uint8_t *)(uintptr_t)msg, (uint32_t)len,
		      conn);
}

/* A client that cannot be reported is disconnected, and never reported. */
static void on_server_connected(struct pier_comch_conn *pier, void *ctx)
{
	struct doca_comch_server *server = ctx;
	struct doca_comch_connection *conn = calloc(1, sizeof(*conn));

	if (!conn) {
		pier_pe_ignore_event(server->end.ctx.pe->pe);
		pier_comch_disconnect(pier);
		return;
	}
	attach(conn, &server->end, server, pier);
	server->connected(event_of(&server->end), conn, 1);
}

static void on_server_disconnected(struct pier_comch_conn *pier, void *ctx)
{
	struct doca_comch_connection *conn = pier_comch_conn_user_data(pier);
	struct doca_comch_server *server = ctx;

	if (!conn) {
		pier_pe_ignore_event(server->end.ctx.pe->pe);
		return;
	}
	server->disconnected(event_of(&server->end), conn, 1);
	ended(conn);
}

static void on_server_received(struct pier_comch_conn *pier, const void *msg,
			       size_t len, void *ctx)
{
	struct doca_comch_connection *conn = pier_comch_conn_user_data(pier);
	struct doca_comch_server *server = ctx;

	if (conn)
		received(&server->end, conn, msg, len);
}

void pier__doca_comch_server_callbacks(struct doca_comch_server *server)
{
	pier_comch_set_callbacks(server->end.comch, on_server_connected,
				 on_server_disconnected, on_server_received,
				 NULL);
}

/* The program may ask for it before pier reports it: when the client runs. */
static void attach_client(struct doca_comch_client *client,
			  struct pier_comch_conn *pier)
{
	if (!pier_comch_conn_user_data(pier))
		attach(&client->conn, &client->end, NULL, pier);
}

struct doca_comch_connection *
pier__doca_comch_client_conn(struct doca_comch_client *client)
{
	struct pier_comch_conn *pier = pier_comch_conn(client->end.comch);

	if (!pier)
		return NULL;
	attach_client(client, pier);
	return &client->conn;
}

/* The states of a client report its connection. */
static void on_client_connected(struct pier_comch_conn *pier, void *ctx)
{
	struct doca_comch_client *client = ctx;

	pier_pe_ignore_event(client->end.ctx.pe->pe);
	attach_client(client, pier);
}

static void on_client_disconnected(struct pier_comch_conn *pier, void *ctx)
{
	struct doca_comch_client *client = ctx;

	pier_pe_ignore_event(client->end.ctx.pe->pe);
	ended(pier_comch_conn_user_data(pier));
}

static void on_client_received(struct pier_comch_conn *pier, const void *msg,
			       size_t len, void *ctx)
{
	struct doca_comch_client *client = ctx;

	received(&client->end, pier_comch_conn_user_data(pier), msg, len);
}

void pier__doca_comch_client_callbacks(struct doca_comch_client *client)
{
	pier_comch_set_callbacks(client->end.comch, on_client_connected,
				 on_client_disconnected, on_client_received,
				 NULL);
}

doca_error_t
doca_comch_connection_set_user_data(struct doca_comch_connection *conn,
				    union doca_data data)
{
	if (!conn)
		return DOCA_ERROR_INVALID_VALUE;
	conn->data = data;
	return DOCA_SUCCESS;
}

union doca_data
doca_comch_connection_get_user_data(const struct doca_comch_connection *conn)
{
	return conn ? conn->data : (union doca_data){ .ptr = NULL };
}

struct doca_comch_server *
doca_comch_server_get_server_ctx(const struct doca_comch_connection *conn)
{
	return conn ? conn->server : NULL;
}

struct doca_comch_client *
doca_comch_client_get_client_ctx(const struct doca_comch_connection *conn)
{
	return conn && !conn->server ? (struct doca_comch_client *)conn->end :
				       NULL;
}

doca_error_t
doca_comch_connection_update_info(struct doca_comch_connection *conn)
{
	if (!conn)
		return DOCA_ERROR_INVALID_VALUE;
	if (!conn->conn)
		return pier__doca_fail(DOCA_ERROR_NOT_CONNECTED,
				       "comch: the connection has ended");
	pier_comch_conn_get_counters(conn->conn, &conn->counters);
	return DOCA_SUCCESS;
}

/* As they were at the last update; all are 0 before the first one. */
doca_error_t
doca_comch_connection_get_counter(const struct doca_comch_connection *conn,
				  enum doca_comch_counter counter_type,
				  uint64_t *counter_value)
{
	if (!conn || !counter_value)
		return DOCA_ERROR_INVALID_VALUE;
	switch (counter_type) {
	case DOCA_COMCH_COUNTER_SENT_MESSAGES:
		*counter_value = conn->counters.sent_messages;
		return DOCA_SUCCESS;
	case DOCA_COMCH_COUNTER_SENT_BYTES:
		*counter_value = conn->counters.sent_bytes;
		return DOCA_SUCCESS;
	case DOCA_COMCH_COUNTER_RECV_MESSAGES:
		*counter_value = conn->counters.received_messages;
		return DOCA_SUCCESS;
	case DOCA_COMCH_COUNTER_RECV_BYTES:
		*counter_value = conn->counters.received_bytes;
		return DOCA_SUCCESS;
	}
	return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "comch: counter %d, 1 "
			       "to 4 are known", (int)counter_type);
}
