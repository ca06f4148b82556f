/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_comch.h>

#include "doca_fail.h"

/* There are no message channels yet. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

doca_error_t
doca_comch_connection_set_user_data(struct doca_comch_connection *conn,
				    union doca_data data)
{
	return pier__doca_unsupported(__func__);
}

union doca_data
doca_comch_connection_get_user_data(const struct doca_comch_connection *conn)
{
	return (union doca_data){ .ptr = NULL };
}

struct doca_comch_server *
doca_comch_server_get_server_ctx(const struct doca_comch_connection *conn)
{
	return NULL;
}

struct doca_comch_client *
doca_comch_client_get_client_ctx(const struct doca_comch_connection *conn)
{
	return NULL;
}

doca_error_t doca_comch_cap_get_max_name_len(const struct doca_devinfo *info,
					     uint32_t *max_name_len)
{
	return pier__doca_no_cap(info);
}

doca_error_t doca_comch_cap_get_max_msg_size(const struct doca_devinfo *info,
					     uint32_t *size)
{
	return pier__doca_no_cap(info);
}

doca_error_t
doca_comch_cap_get_max_recv_queue_size(const struct doca_devinfo *info,
				       uint32_t *size)
{
	return pier__doca_no_cap(info);
}

doca_error_t doca_comch_cap_get_max_clients(const struct doca_devinfo *info,
					    uint32_t *num_clients)
{
	return pier__doca_no_cap(info);
}

doca_error_t doca_comch_server_create(struct doca_dev *dev,
				      struct doca_dev_rep *rep,
				      const char *name,
				      struct doca_comch_server **server)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_comch_server_destroy(struct doca_comch_server *server)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_comch_cap_server_is_supported(const struct doca_devinfo *info)
{
	return pier__doca_no_cap(info);
}

doca_error_t
doca_comch_server_set_max_msg_size(struct doca_comch_server *server,
				   uint32_t size)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_comch_server_get_max_msg_size(const struct doca_comch_server *server,
				   uint32_t *size)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_comch_server_set_recv_queue_size(struct doca_comch_server *server,
				      uint32_t size)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_comch_server_get_recv_queue_size(const struct doca_comch_server *server,
				      uint32_t *size)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_comch_server_get_device(const struct doca_comch_server *server,
			     struct doca_dev **dev)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_comch_server_get_device_rep(const struct doca_comch_server *server,
				 struct doca_dev_rep **rep)
{
	return pier__doca_unsupported(__func__);
}

struct doca_ctx *doca_comch_server_as_ctx(struct doca_comch_server *server)
{
	return NULL;
}

doca_error_t doca_comch_server_disconnect(struct doca_comch_server *server,
					  struct doca_comch_connection *conn)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_comch_client_create(struct doca_dev *dev, const char *name,
				      struct doca_comch_client **client)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_comch_client_destroy(struct doca_comch_client *client)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_comch_cap_client_is_supported(const struct doca_devinfo *info)
{
	return pier__doca_no_cap(info);
}

doca_error_t
doca_comch_client_set_max_msg_size(struct doca_comch_client *client,
				   uint32_t size)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_comch_client_get_max_msg_size(const struct doca_comch_client *client,
				   uint32_t *size)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_comch_client_set_recv_queue_size(struct doca_comch_client *client,
				      uint32_t size)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_comch_client_get_recv_queue_size(const struct doca_comch_client *client,
				      uint32_t *size)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_comch_client_get_device(const struct doca_comch_client *client,
			     struct doca_dev **dev)
{
	return pier__doca_unsupported(__func__);
}

struct doca_ctx *doca_comch_client_as_ctx(struct doca_comch_client *client)
{
	return NULL;
}

doca_error_t
doca_comch_client_get_connection(const struct doca_comch_client *client,
				 struct doca_comch_connection **conn)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_comch_cap_get_max_send_tasks(const struct doca_devinfo *info,
					       uint32_t *max_send_tasks)
{
	return pier__doca_no_cap(info);
}

doca_error_t doca_comch_server_task_send_set_conf(
	struct doca_comch_server *server,
	doca_comch_task_send_completion_cb_t done,
	doca_comch_task_send_completion_cb_t failed, uint32_t count)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_comch_client_task_send_set_conf(
	struct doca_comch_client *client,
	doca_comch_task_send_completion_cb_t done,
	doca_comch_task_send_completion_cb_t failed, uint32_t count)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_comch_server_task_send_alloc_init(
	struct doca_comch_server *server, struct doca_comch_connection *peer,
	const void *msg, uint32_t len, struct doca_comch_task_send **task)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_comch_client_task_send_alloc_init(
	struct doca_comch_client *client, struct doca_comch_connection *peer,
	const void *msg, uint32_t len, struct doca_comch_task_send **task)
{
	return pier__doca_unsupported(__func__);
}

struct doca_task *
doca_comch_task_send_as_task(struct doca_comch_task_send *task)
{
	return NULL;
}

doca_error_t doca_comch_server_event_msg_recv_register(
	struct doca_comch_server *server,
	doca_comch_event_msg_recv_cb_t received)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_comch_client_event_msg_recv_register(
	struct doca_comch_client *client,
	doca_comch_event_msg_recv_cb_t received)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_comch_server_event_connection_status_changed_register(
	struct doca_comch_server *server,
	doca_comch_event_connection_status_changed_cb_t connected,
	doca_comch_event_connection_status_changed_cb_t disconnected)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_comch_connection_update_info(struct doca_comch_connection *conn)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_comch_connection_get_counter(const struct doca_comch_connection *conn,
				  enum doca_comch_counter counter_type,
				  uint64_t *counter_value)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_comch_server_event_consumer_register(
	struct doca_comch_server *server, doca_comch_event_consumer_cb_t joined,
	doca_comch_event_consumer_cb_t expired)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_comch_client_event_consumer_register(
	struct doca_comch_client *client, doca_comch_event_consumer_cb_t joined,
	doca_comch_event_consumer_cb_t expired)
{
	return pier__doca_unsupported(__func__);
}
