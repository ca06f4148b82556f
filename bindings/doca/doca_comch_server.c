/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_comch_impl.h"
#include "doca_fail.h"

static struct doca_comch_end *end_of(struct doca_comch_server *server)
{
	return server ? &server->end : NULL;
}

static doca_error_t prepare(struct doca_ctx *ctx)
{
	struct doca_comch_server *server = (struct doca_comch_server *)ctx;

	if (!server->connected)
		return pier__doca_fail(DOCA_ERROR_BAD_CONFIG, "comch: started "
				       "without callbacks for connections");
	return pier__doca_comch_prepare(&server->end);
}

static const struct doca_ctx_kind kind = {
	.prepare = prepare,
};

doca_error_t doca_comch_server_create(struct doca_dev *dev,
				      struct doca_dev_rep *rep,
				      const char *name,
				      struct doca_comch_server **server)
{
	struct doca_comch_server *new;
	struct pier_comch *comch;
	int err;

	if (!dev || !name || !server)
		return DOCA_ERROR_INVALID_VALUE;
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	err = pier_comch_create_server(dev->dev, rep ? rep->rep : NULL, name,
				       &comch);
	if (err) {
		free(new);
		return pier__doca_error(err);
	}
	pier__doca_comch_init(&new->end, &kind, dev, comch);
	pier__doca_comch_server_callbacks(new);
	new->rep = rep;
	if (rep)
		atomic_fetch_add(&rep->servers, 1);
	*server = new;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_server_destroy(struct doca_comch_server *server)
{
	doca_error_t error;

	if (!server)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_comch_fini(&server->end);
	if (error)
		return error;
	if (server->rep)
		atomic_fetch_sub(&server->rep->servers, 1);
	free(server);
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_server_set_max_msg_size(struct doca_comch_server *server,
				   uint32_t size)
{
	return pier__doca_comch_set_msg_size(end_of(server), size);
}

doca_error_t
doca_comch_server_get_max_msg_size(const struct doca_comch_server *server,
				   uint32_t *size)
{
	if (!server || !size)
		return DOCA_ERROR_INVALID_VALUE;
	*size = server->end.max_msg_size;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_server_set_recv_queue_size(struct doca_comch_server *server,
				      uint32_t size)
{
	return pier__doca_comch_set_recv_queue(end_of(server), size);
}

doca_error_t
doca_comch_server_get_recv_queue_size(const struct doca_comch_server *server,
				      uint32_t *size)
{
	if (!server || !size)
		return DOCA_ERROR_INVALID_VALUE;
	*size = server->end.recv_queue;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_server_get_device(const struct doca_comch_server *server,
			     struct doca_dev **dev)
{
	return pier__doca_comch_get_dev(server ? &server->end : NULL, dev);
}

doca_error_t
doca_comch_server_get_device_rep(const struct doca_comch_server *server,
				 struct doca_dev_rep **rep)
{
	if (!server || !rep)
		return DOCA_ERROR_INVALID_VALUE;
	if (!server->rep)
		return pier__doca_fail(DOCA_ERROR_NOT_FOUND, "comch: the "
				       "server was created without a "
				       "representor");
	*rep = server->rep;
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_comch_server_as_ctx(struct doca_comch_server *server)
{
	return server ? &server->end.ctx : NULL;
}

/* After the messages that were submitted; it may be repeated. */
doca_error_t doca_comch_server_disconnect(struct doca_comch_server *server,
					  struct doca_comch_connection *conn)
{
	if (!server || !conn || conn->server != server)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "comch: "
				       "disconnected without a connection of "
				       "the server");
	if (!conn->conn)
		return pier__doca_fail(DOCA_ERROR_NOT_CONNECTED,
				       "comch: the connection has ended");
	return pier__doca_error(pier_comch_disconnect(conn->conn));
}

doca_error_t doca_comch_server_task_send_set_conf(
	struct doca_comch_server *server,
	doca_comch_task_send_completion_cb_t done,
	doca_comch_task_send_completion_cb_t failed, uint32_t count)
{
	return pier__doca_comch_conf(end_of(server), done, failed, count);
}

doca_error_t doca_comch_server_task_send_alloc_init(
	struct doca_comch_server *server, struct doca_comch_connection *peer,
	const void *msg, uint32_t len, struct doca_comch_task_send **task)
{
	return pier__doca_comch_take(end_of(server), peer, msg, len, task);
}

doca_error_t doca_comch_server_event_msg_recv_register(
	struct doca_comch_server *server,
	doca_comch_event_msg_recv_cb_t received)
{
	return pier__doca_comch_set_received(end_of(server), received);
}

doca_error_t doca_comch_server_event_connection_status_changed_register(
	struct doca_comch_server *server,
	doca_comch_event_connection_status_changed_cb_t connected,
	doca_comch_event_connection_status_changed_cb_t disconnected)
{
	doca_error_t error;

	if (!server || !connected || !disconnected)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_ctx_may_set(&server->end.ctx);
	if (error)
		return error;
	server->connected = connected;
	server->disconnected = disconnected;
	return DOCA_SUCCESS;
}
