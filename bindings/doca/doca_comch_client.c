/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_comch_impl.h"
#include "doca_fail.h"

static struct doca_comch_end *end_of(struct doca_comch_client *client)
{
	return client ? &client->end : NULL;
}

static doca_error_t prepare(struct doca_ctx *ctx)
{
	return pier__doca_comch_prepare((struct doca_comch_end *)ctx);
}

/* No call returns why a client is idle again. */
static void idle(struct doca_ctx *ctx)
{
	const struct doca_comch_end *end = (struct doca_comch_end *)ctx;
	const char *text;
	int err = pier_comch_error(end->comch, &text);

	if (err)
		pier__doca_fail(pier__doca_code(err), "%s", text);
}

static const struct doca_ctx_kind kind = {
	.prepare = prepare,
	.idle = idle,
};

doca_error_t doca_comch_client_create(struct doca_dev *dev, const char *name,
				      struct doca_comch_client **client)
{
	struct doca_comch_client *new;
	struct pier_comch *comch;
	int err;

	if (!dev || !name || !client)
		return DOCA_ERROR_INVALID_VALUE;
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	err = pier_comch_create_client(dev->dev, name, NULL, &comch);
	if (err) {
		free(new);
		return pier__doca_error(err);
	}
	pier__doca_comch_init(&new->end, &kind, dev, comch);
	pier__doca_comch_client_callbacks(new);
	*client = new;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_client_destroy(struct doca_comch_client *client)
{
	doca_error_t error;

	if (!client)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_comch_fini(&client->end);
	if (!error)
		free(client);
	return error;
}

doca_error_t
doca_comch_client_set_max_msg_size(struct doca_comch_client *client,
				   uint32_t size)
{
	return pier__doca_comch_set_msg_size(end_of(client), size);
}

doca_error_t
doca_comch_client_get_max_msg_size(const struct doca_comch_client *client,
				   uint32_t *size)
{
	if (!client || !size)
		return DOCA_ERROR_INVALID_VALUE;
	*size = client->end.max_msg_size;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_client_set_recv_queue_size(struct doca_comch_client *client,
				      uint32_t size)
{
	return pier__doca_comch_set_recv_queue(end_of(client), size);
}

doca_error_t
doca_comch_client_get_recv_queue_size(const struct doca_comch_client *client,
				      uint32_t *size)
{
	if (!client || !size)
		return DOCA_ERROR_INVALID_VALUE;
	*size = client->end.recv_queue;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_client_get_device(const struct doca_comch_client *client,
			     struct doca_dev **dev)
{
	return pier__doca_comch_get_dev(client ? &client->end : NULL, dev);
}

struct doca_ctx *doca_comch_client_as_ctx(struct doca_comch_client *client)
{
	return client ? &client->end.ctx : NULL;
}

doca_error_t
doca_comch_client_get_connection(const struct doca_comch_client *client,
				 struct doca_comch_connection **conn)
{
	struct doca_comch_connection *found;

	if (!client || !conn)
		return DOCA_ERROR_INVALID_VALUE;
	found = pier__doca_comch_client_conn(
		(struct doca_comch_client *)(uintptr_t)client);
	if (!found)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "comch: the client is not connected");
	*conn = found;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_client_task_send_set_conf(
	struct doca_comch_client *client,
	doca_comch_task_send_completion_cb_t done,
	doca_comch_task_send_completion_cb_t failed, uint32_t count)
{
	return pier__doca_comch_conf(end_of(client), done, failed, count);
}

doca_error_t doca_comch_client_task_send_alloc_init(
	struct doca_comch_client *client, struct doca_comch_connection *peer,
	const void *msg, uint32_t len, struct doca_comch_task_send **task)
{
	return pier__doca_comch_take(end_of(client), peer, msg, len, task);
}

doca_error_t doca_comch_client_event_msg_recv_register(
	struct doca_comch_client *client,
	doca_comch_event_msg_recv_cb_t received)
{
	return pier__doca_comch_set_received(end_of(client), received);
}
