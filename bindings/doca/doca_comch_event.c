/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_comch_impl.h"
#include "doca_fail.h"

/* There are no calls on events. */
static void *event_of(struct doca_comch_end *end)
{
	return end;
}

static void on_joined(struct pier_comch_conn *pier, uint32_t id, void *ctx)
{
	struct doca_comch_connection *conn = pier_comch_conn_user_data(pier);
	struct doca_comch_end *end = ctx;

	if (conn)
		end->joined(event_of(end), conn, id);
}

static void on_expired(struct pier_comch_conn *pier, uint32_t id, void *ctx)
{
	struct doca_comch_connection *conn = pier_comch_conn_user_data(pier);
	struct doca_comch_end *end = ctx;

	if (conn)
		end->expired(event_of(end), conn, id);
}

static doca_error_t set(struct doca_comch_end *end,
			doca_comch_event_consumer_cb_t joined,
			doca_comch_event_consumer_cb_t expired)
{
	doca_error_t error;

	if (!joined || !expired)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_ctx_may_set(&end->ctx);
	if (error)
		return error;
	end->joined = joined;
	end->expired = expired;
	pier_comch_set_consumer_callbacks(end->comch, on_joined, on_expired);
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_server_event_consumer_register(
	struct doca_comch_server *server, doca_comch_event_consumer_cb_t joined,
	doca_comch_event_consumer_cb_t expired)
{
	return server ? set(&server->end, joined, expired) :
			DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_comch_client_event_consumer_register(
	struct doca_comch_client *client, doca_comch_event_consumer_cb_t joined,
	doca_comch_event_consumer_cb_t expired)
{
	return client ? set(&client->end, joined, expired) :
			DOCA_ERROR_INVALID_VALUE;
}

doca_error_t pier__doca_comch_may_use(const struct doca_comch_connection *conn)
{
	if (conn->conn)
		return DOCA_SUCCESS;
	return pier__doca_fail(DOCA_ERROR_NOT_CONNECTED,
			       "comch: the connection has ended");
}
