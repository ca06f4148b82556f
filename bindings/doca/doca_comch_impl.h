/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_COMCH_IMPL_H
#define DOCA_COMCH_IMPL_H

#include <doca_comch.h>

#include "doca_dev_impl.h"
#include "doca_task_impl.h"

/* What a server and a client have in common. */
struct doca_comch_end {
	struct doca_ctx ctx;		/* first */
	struct doca_dev *dev;
	struct pier_comch *comch;
	struct doca_task_pool sends;
	uint32_t max_msg_size, recv_queue;	/* in use */
	doca_comch_event_msg_recv_cb_t received;
	doca_comch_event_consumer_cb_t joined, expired;	/* NULL: none */
};

struct doca_comch_server {
	struct doca_comch_end end;	/* first */
	struct doca_dev_rep *rep;	/* NULL: none was given */
	doca_comch_event_connection_status_changed_cb_t connected;
	doca_comch_event_connection_status_changed_cb_t disconnected;
};

struct doca_comch_connection {
	struct doca_comch_end *end;
	struct doca_comch_server *server; /* NULL: a part of a client */
	struct pier_comch_conn *conn;	/* NULL: it has ended */
	union doca_data data;
	unsigned int holds;		/* tasks that are not freed, and one */
					/* until it has ended */
	struct pier_comch_counters counters; /* at the last update */
};

struct doca_comch_client {
	struct doca_comch_end end;	/* first */
	struct doca_comch_connection conn;	/* what pier's refers to */
};

struct doca_comch_task_send {
	struct doca_task task;		/* first */
	struct doca_comch_connection *conn;	/* held */
	struct doca_comch_connection *last;	/* that of task.spare */
	const void *msg;		/* the program's */
	uint32_t len;
};

/* What an end may have. */
struct doca_comch_limits {
	uint32_t name, msg_size, recv_queue, clients, send_tasks;
	uint32_t recvs;			/* of the device */
};

/* NOT_SUPPORTED: the device has no channels. */
doca_error_t pier__doca_comch_limits(const struct doca_devinfo *info,
				     struct doca_comch_limits *ret);
/* How many clients a server with @recv_queue takes, 1 at least. */
uint32_t pier__doca_comch_clients(const struct doca_comch_limits *limits,
				  uint32_t recv_queue);

/* doca_comch.c: set up @end for @comch, which becomes its; and back. */
void pier__doca_comch_init(struct doca_comch_end *end,
			   const struct doca_ctx_kind *kind,
			   struct doca_dev *dev, struct pier_comch *comch);
/* IN_USE unless it is idle; its memory is not freed. */
doca_error_t pier__doca_comch_fini(struct doca_comch_end *end);
/* Before a start. */
doca_error_t pier__doca_comch_prepare(struct doca_comch_end *end);

/* What the calls of a server and of a client do; @end may be NULL. */
doca_error_t pier__doca_comch_set_msg_size(struct doca_comch_end *end,
					   uint32_t size);
doca_error_t pier__doca_comch_set_recv_queue(struct doca_comch_end *end,
					     uint32_t size);
doca_error_t pier__doca_comch_set_received(
	struct doca_comch_end *end, doca_comch_event_msg_recv_cb_t received);
doca_error_t pier__doca_comch_get_dev(const struct doca_comch_end *end,
				      struct doca_dev **ret);

/* doca_comch_conn.c: the callbacks of pier. */
void pier__doca_comch_server_callbacks(struct doca_comch_server *server);
void pier__doca_comch_client_callbacks(struct doca_comch_client *client);
/* NULL: not connected. */
struct doca_comch_connection *
pier__doca_comch_client_conn(struct doca_comch_client *client);
void pier__doca_comch_conn_drop(struct doca_comch_connection *conn);

/* doca_comch_event.c: NOT_CONNECTED: it has ended. */
doca_error_t pier__doca_comch_may_use(const struct doca_comch_connection *conn);

/* doca_comch_cap.c: a limit of consumers or producers. */
doca_error_t pier__doca_comch_limit(const struct doca_devinfo *info,
				    enum pier_limit limit, uint32_t *ret);

/* doca_comch_task.c */
doca_error_t pier__doca_comch_conf(struct doca_comch_end *end,
				   doca_comch_task_send_completion_cb_t done,
				   doca_comch_task_send_completion_cb_t failed,
				   uint32_t count);
doca_error_t pier__doca_comch_fill(struct doca_comch_end *end);
doca_error_t pier__doca_comch_take(struct doca_comch_end *end,
				   struct doca_comch_connection *conn,
				   const void *msg, uint32_t len,
				   struct doca_comch_task_send **ret);

#endif
