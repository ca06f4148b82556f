/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_COMCH_H
#define DOCA_COMCH_H

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Messages between the two sides of a PCI function. */

struct doca_ctx;
struct doca_dev;
struct doca_dev_rep;
struct doca_devinfo;
struct doca_task;
struct doca_comch_server;
struct doca_comch_client;
struct doca_comch_connection;
struct doca_comch_task_send;
struct doca_comch_event_msg_recv;
struct doca_comch_event_connection_status_changed;
struct doca_comch_event_consumer;

typedef void (*doca_comch_task_send_completion_cb_t)(
	struct doca_comch_task_send *task, union doca_data task_data,
	union doca_data ctx_data);
typedef void (*doca_comch_event_msg_recv_cb_t)(
	struct doca_comch_event_msg_recv *event, uint8_t *recv_buffer,
	uint32_t msg_len, struct doca_comch_connection *conn);
typedef void (*doca_comch_event_connection_status_changed_cb_t)(
	struct doca_comch_event_connection_status_changed *event,
	struct doca_comch_connection *conn, uint8_t change_successful);
typedef void (*doca_comch_event_consumer_cb_t)(
	struct doca_comch_event_consumer *event,
	struct doca_comch_connection *conn, uint32_t id);

enum doca_comch_counter {
	DOCA_COMCH_COUNTER_SENT_MESSAGES = 1,
	DOCA_COMCH_COUNTER_SENT_BYTES = 2,
	DOCA_COMCH_COUNTER_RECV_MESSAGES = 3,
	DOCA_COMCH_COUNTER_RECV_BYTES = 4,
};

doca_error_t
doca_comch_connection_set_user_data(struct doca_comch_connection *conn,
				    union doca_data data);

union doca_data
doca_comch_connection_get_user_data(const struct doca_comch_connection *conn);

struct doca_comch_server *
doca_comch_server_get_server_ctx(const struct doca_comch_connection *conn);
struct doca_comch_client *
doca_comch_client_get_client_ctx(const struct doca_comch_connection *conn);
doca_error_t doca_comch_cap_get_max_name_len(const struct doca_devinfo *info,
					     uint32_t *max_name_len);
doca_error_t doca_comch_cap_get_max_msg_size(const struct doca_devinfo *info,
					     uint32_t *size);
doca_error_t
doca_comch_cap_get_max_recv_queue_size(const struct doca_devinfo *info,
				       uint32_t *size);
doca_error_t doca_comch_cap_get_max_clients(const struct doca_devinfo *info,
					    uint32_t *num_clients);
doca_error_t doca_comch_server_create(struct doca_dev *dev,
				      struct doca_dev_rep *rep,
				      const char *name,
				      struct doca_comch_server **server);
doca_error_t doca_comch_server_destroy(struct doca_comch_server *server);
doca_error_t
doca_comch_cap_server_is_supported(const struct doca_devinfo *info);
doca_error_t
doca_comch_server_set_max_msg_size(struct doca_comch_server *server,
				   uint32_t size);
doca_error_t
doca_comch_server_get_max_msg_size(const struct doca_comch_server *server,
				   uint32_t *size);
doca_error_t
doca_comch_server_set_recv_queue_size(struct doca_comch_server *server,
				      uint32_t size);
doca_error_t
doca_comch_server_get_recv_queue_size(const struct doca_comch_server *server,
				      uint32_t *size);
doca_error_t
doca_comch_server_get_device(const struct doca_comch_server *server,
			     struct doca_dev **dev);
doca_error_t
doca_comch_server_get_device_rep(const struct doca_comch_server *server,
				 struct doca_dev_rep **rep);
struct doca_ctx *doca_comch_server_as_ctx(struct doca_comch_server *server);
doca_error_t doca_comch_server_disconnect(struct doca_comch_server *server,
					  struct doca_comch_connection *conn);
doca_error_t doca_comch_client_create(struct doca_dev *dev, const char *name,
				      struct doca_comch_client **client);
doca_error_t doca_comch_client_destroy(struct doca_comch_client *client);
doca_error_t
doca_comch_cap_client_is_supported(const struct doca_devinfo *info);
doca_error_t
doca_comch_client_set_max_msg_size(struct doca_comch_client *client,
				   uint32_t size);
doca_error_t
doca_comch_client_get_max_msg_size(const struct doca_comch_client *client,
				   uint32_t *size);
doca_error_t
doca_comch_client_set_recv_queue_size(struct doca_comch_client *client,
				      uint32_t size);
doca_error_t
doca_comch_client_get_recv_queue_size(const struct doca_comch_client *client,
				      uint32_t *size);
doca_error_t
doca_comch_client_get_device(const struct doca_comch_client *client,
			     struct doca_dev **dev);
struct doca_ctx *doca_comch_client_as_ctx(struct doca_comch_client *client);
doca_error_t
doca_comch_client_get_connection(const struct doca_comch_client *client,
				 struct doca_comch_connection **conn);
doca_error_t doca_comch_cap_get_max_send_tasks(const struct doca_devinfo *info,
					       uint32_t *max_send_tasks);
doca_error_t doca_comch_server_task_send_set_conf(
	struct doca_comch_server *server,
	doca_comch_task_send_completion_cb_t done,
	doca_comch_task_send_completion_cb_t failed, uint32_t count);
doca_error_t doca_comch_client_task_send_set_conf(
	struct doca_comch_client *client,
	doca_comch_task_send_completion_cb_t done,
	doca_comch_task_send_completion_cb_t failed, uint32_t count);
doca_error_t doca_comch_server_task_send_alloc_init(
	struct doca_comch_server *server, struct doca_comch_connection *peer,
	const void *msg, uint32_t len, struct doca_comch_task_send **task);
doca_error_t doca_comch_client_task_send_alloc_init(
	struct doca_comch_client *client, struct doca_comch_connection *peer,
	const void *msg, uint32_t len, struct doca_comch_task_send **task);
struct doca_task *
doca_comch_task_send_as_task(struct doca_comch_task_send *task);
doca_error_t doca_comch_server_event_msg_recv_register(
	struct doca_comch_server *server,
	doca_comch_event_msg_recv_cb_t received);
doca_error_t doca_comch_client_event_msg_recv_register(
	struct doca_comch_client *client,
	doca_comch_event_msg_recv_cb_t received);
doca_error_t doca_comch_server_event_connection_status_changed_register(
	struct doca_comch_server *server,
	doca_comch_event_connection_status_changed_cb_t connected,
	doca_comch_event_connection_status_changed_cb_t disconnected);
doca_error_t
doca_comch_connection_update_info(struct doca_comch_connection *conn);
doca_error_t
doca_comch_connection_get_counter(const struct doca_comch_connection *conn,
				  enum doca_comch_counter counter_type,
				  uint64_t *counter_value);
doca_error_t doca_comch_server_event_consumer_register(
	struct doca_comch_server *server, doca_comch_event_consumer_cb_t joined,
	doca_comch_event_consumer_cb_t expired);
doca_error_t doca_comch_client_event_consumer_register(
	struct doca_comch_client *client, doca_comch_event_consumer_cb_t joined,
	doca_comch_event_consumer_cb_t expired);

#ifdef __cplusplus
}
#endif

#endif
