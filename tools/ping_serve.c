/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ping.h"
#include "tool.h"

/* Replies that may be in flight to all clients together. */
#define SLOTS 64

/* One message: received, sent back, received again. */
struct slot {
	struct ping *ping;
	struct pier_buf *buf;
};

static struct slot slots[SLOTS];

static void say_error(const char *what)
{
	tool_message("pier ping: %s%s", what, pier_last_error());
}

static void received(struct pier_task *task, void *arg);

static int take_next(struct slot *slot)
{
	pier_buf_set_data(slot->buf, pier_buf_head(slot->buf), 0);
	return pier_rdma_receive(slot->ping->rdma, slot->buf, received, slot);
}

static void sent(struct pier_task *task, void *arg)
{
	(void)task;
	take_next(arg);		/* fails only when the context is stopping */
}

static void received(struct pier_task *task, void *arg)
{
	struct slot *slot = arg;
	struct pier_conn *conn = pier_task_conn(task);

	if (pier_task_status(task) == -ECANCELED)
		return;
	if (pier_task_status(task) || !conn ||
	    pier_rdma_send(conn, slot->buf, sent, slot))
		take_next(slot);
}

static void requested(struct pier_conn *conn, void *user_data,
		      void *ctx_user_data)
{
	struct ping *p = ctx_user_data;
	const void *desc;
	size_t len;
	int err;

	(void)user_data;
	err = pier_mmap_export(p->local, &desc, &len);
	if (!err)
		err = pier_conn_accept(conn, desc, len);
	if (err) {
		say_error("a request was not accepted: ");
		pier_conn_reject(conn, NULL, 0);
	}
}

static void established(struct pier_conn *conn, void *user_data,
			void *ctx_user_data)
{
	struct ping *p = ctx_user_data;

	(void)user_data;
	p->clients++;
	if (p->json)
		return;
	printf("connected: %s\n", pier_conn_peer_address(conn));
	fflush(stdout);
}

static void failed(struct pier_conn *conn, void *user_data,
		   void *ctx_user_data)
{
	(void)user_data;
	(void)ctx_user_data;
	tool_message("pier ping: %s", pier_conn_error_text(conn));
	pier_conn_destroy(conn);
}

static void ended(struct pier_conn *conn, void *user_data, void *ctx_user_data)
{
	struct ping *p = ctx_user_data;

	(void)user_data;
	if (pier_conn_error(conn))
		tool_message("pier ping: %s", pier_conn_error_text(conn));
	else if (!p->json)
		printf("%s disconnected\n", pier_conn_peer_address(conn));
	fflush(stdout);
	pier_conn_destroy(conn);
}

static int listen_there(struct ping *p)
{
	struct pier_listen_config cfg = { .size = sizeof(cfg) };
	struct pier_listener *listener;
	char address[TOOL_ADDRESS_MAX];
	int err;

	if (tool_listen_at(p->listen, address, &cfg.port)) {
		tool_message("pier ping: --listen \"%s\": PORT, ADDR or "
			     "ADDR:PORT, as 10.9.0.1:13579 or [fd00::1]:13579",
			     p->listen);
		return 2;
	}
	cfg.address = address;
	err = pier_rdma_listen(p->rdma, &cfg, &listener);
	if (err) {
		say_error("");
		return err == -EINVAL ? 2 : 1;	/* no address at all */
	}
	p->port = pier_listener_port(listener);
	fprintf(p->json ? stderr : stdout,
		"pier ping listens on port %u, device %s\n", p->port,
		pier_devinfo_name(pier_dev_info(p->dev)));
	fflush(stdout);
	if (!p->json)
		tool_message("pier ping: waiting for clients; Ctrl-C ends it");
	return 0;
}

/* Memory that clients read and write, then the messages' own. */
static int offer(struct ping *p)
{
	static const struct pier_mmap_config cfg = {
		.size = sizeof(cfg),
		.access = PIER_REMOTE_READ | PIER_REMOTE_WRITE |
			  PIER_REMOTE_ATOMIC,
	};
	size_t len = PING_MEMORY + (size_t)SLOTS * PING_SIZE_MAX;
	struct pier_mmap *messages;
	int i, err;

	err = pier_mmap_alloc(p->dev, PING_MEMORY, &cfg, &p->local);
	if (!err)
		err = pier_mmap_alloc(p->dev, len, NULL, &messages);
	if (err)
		return err;
	for (i = 0; !err && i < SLOTS; i++) {
		char *at = (char *)pier_mmap_addr(messages) +
			   (size_t)i * PING_SIZE_MAX;

		slots[i].ping = p;
		err = pier_buf_by_addr(p->inv, messages, at, PING_SIZE_MAX,
				       &slots[i].buf);
		if (!err)
			err = take_next(&slots[i]);
	}
	pier_mmap_destroy(messages);	/* the buffers keep it */
	return err;
}

static void take_back(void)
{
	int i;

	for (i = 0; i < SLOTS; i++) {
		pier_buf_put(slots[i].buf);
		slots[i].buf = NULL;
	}
}

int ping_server(struct ping *p)
{
	struct pier_ctx *ctx = pier_rdma_ctx(p->rdma);
	int err;

	pier_ctx_set_user_data(ctx, p);
	pier_rdma_set_conn_callbacks(p->rdma, requested, established, failed,
				     ended);
	err = pier_ctx_start(ctx, p->pe);
	if (!err)
		err = offer(p);
	if (err) {
		say_error("");
		err = 1;
	} else {
		err = listen_there(p);
	}
	while (!err && !ping_stopped)
		pier_pe_wait(p->pe, -1);
	pier_ctx_stop_wait(ctx, p->args.timeout_ms);
	take_back();
	if (!err && p->json)
		ping_report_server(p);
	return err;
}
