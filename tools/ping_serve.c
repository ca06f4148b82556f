/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ping.h"
#include "tool.h"

/* Replies that may be in flight to all clients of a device together. */
#define SLOTS 64

/* How often a server on all devices looks for new addresses. */
#define LOOK_MS 5000

/* One message: received, sent back, received again. */
struct slot {
	struct ping_place *place;
	struct pier_buf *buf;
};

/* A device of the server. */
struct ping_place {
	struct pier_rdma *rdma;		/* borrowed */
	struct pier_mmap *local;	/* clients read and write it */
	struct pier_buf_inventory *inv;
	struct slot slots[SLOTS];
	char reason[256];		/* why it serves no client; or "" */
};

static void say_error(const char *what)
{
	tool_message("pier ping: %s%s", what, pier_last_error());
}

static void received(struct pier_task *task, void *arg);

static int take_next(struct slot *slot)
{
	pier_buf_set_data(slot->buf, pier_buf_head(slot->buf), 0);
	return pier_rdma_receive(slot->place->rdma, slot->buf, received, slot);
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

static struct ping_place *place_of(const struct ping *p,
				   const struct pier_conn *conn)
{
	size_t i = 0;

	while (i + 1 < p->place_count &&
	       p->places[i].rdma != pier_conn_rdma(conn))
		i++;
	return &p->places[i];
}

static void requested(struct pier_conn *conn, void *user_data,
		      void *ctx_user_data)
{
	struct ping_place *place = place_of(ctx_user_data, conn);
	const void *desc;
	size_t len;

	(void)user_data;
	if (place->reason[0]) {
		tool_message("pier ping: a request was not accepted: %s",
			     place->reason);
	} else if (!pier_mmap_export(place->local, &desc, &len) &&
		   !pier_conn_accept(conn, desc, len)) {
		return;
	} else {
		say_error("a request was not accepted: ");
	}
	pier_conn_reject(conn, NULL, 0);
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

int ping_where(struct ping *p)
{
	if (tool_listen_at(p->listen, p->address, &p->port)) {
		tool_message("pier ping: --listen \"%s\": PORT, ADDR or "
			     "ADDR:PORT, as 10.9.0.1:13579 or [fd00::1]:13579",
			     p->listen);
		return 2;
	}
	if (!p->args.device && p->address[0] && !tool_is_any(p->address))
		p->args.device = tool_device_of(p->address, p->device);
	return 0;
}

static int listen_on_device(struct ping *p, FILE *file)
{
	struct pier_listen_config cfg = {
		.size = sizeof(cfg), .address = p->address, .port = p->port,
	};
	struct pier_listener *listener;
	int err = pier_rdma_listen(p->rdma, &cfg, &listener);

	if (err)
		return err;
	p->port = pier_listener_port(listener);
	fprintf(file, "pier ping listens on port %u, device %s\n", p->port,
		pier_devinfo_name(pier_dev_info(p->dev)));
	fflush(file);
	return 0;
}

static int listen_on_host(struct ping *p)
{
	struct pier_listen_config cfg = { .size = sizeof(cfg),
					  .port = p->port };

	return pier_host_listen(p->host, &cfg);
}

static int listen_there(struct ping *p)
{
	FILE *file = p->json ? stderr : stdout;
	int err = p->host ? listen_on_host(p) : listen_on_device(p, file);

	if (err) {
		say_error("");
		return err == -EINVAL ? 2 : 1;	/* no address at all */
	}
	if (p->host) {
		p->port = pier_host_port(p->host);
		tool_print_host("pier ping", p->host, file);
	}
	if (!p->json)
		tool_message("pier ping: waiting for clients; Ctrl-C ends it");
	return 0;
}

/* Memory that clients read and write, then the messages' own. */
static int offer(struct ping_place *place, struct pier_dev *dev)
{
	static const struct pier_mmap_config cfg = {
		.size = sizeof(cfg),
		.access = PIER_REMOTE_READ | PIER_REMOTE_WRITE |
			  PIER_REMOTE_ATOMIC,
	};
	size_t len = (size_t)SLOTS * PING_SIZE_MAX;
	struct pier_mmap *messages;
	int i, err;

	err = pier_buf_inventory_create(SLOTS, &place->inv);
	if (!err)
		err = pier_mmap_alloc(dev, PING_MEMORY, &cfg, &place->local);
	if (!err)
		err = pier_mmap_alloc(dev, len, NULL, &messages);
	if (err)
		return err;
	for (i = 0; !err && i < SLOTS; i++) {
		struct slot *slot = &place->slots[i];
		char *at = (char *)pier_mmap_addr(messages) +
			   (size_t)i * PING_SIZE_MAX;

		slot->place = place;
		err = pier_buf_by_addr(place->inv, messages, at, PING_SIZE_MAX,
				       &slot->buf);
		if (!err)
			err = take_next(slot);
	}
	pier_mmap_destroy(messages);	/* the buffers keep it */
	return err;
}

static int add_place(struct ping *p, struct pier_rdma *rdma,
		     struct pier_dev *dev)
{
	struct ping_place *place = &p->places[p->place_count++];
	int err;

	place->rdma = rdma;
	err = offer(place, dev);
	if (err)
		snprintf(place->reason, sizeof(place->reason), "%s: %s",
			 pier_devinfo_name(pier_dev_info(dev)),
			 pier_last_error());
	return err;
}

static int start_device(struct ping *p)
{
	struct pier_ctx *ctx = pier_rdma_ctx(p->rdma);
	int err;

	p->places = calloc(1, sizeof(*p->places));
	if (!p->places)
		return -ENOMEM;
	pier_ctx_set_user_data(ctx, p);
	pier_rdma_set_conn_callbacks(p->rdma, requested, established, failed,
				     ended);
	err = pier_ctx_start(ctx, p->pe);
	return err ? err : add_place(p, p->rdma, p->dev);
}

/* A device that cannot have its memory rejects its clients. */
static int start_host(struct ping *p)
{
	struct pier_rdma_config rdma;
	const struct pier_host_config cfg = {
		.size = sizeof(cfg), .rdma = &rdma, .request = requested,
		.established = established, .failure = failed,
		.disconnected = ended, .user_data = p,
	};
	int err, works = 0;
	size_t count, i;

	ping_config(p, &rdma);
	err = pier_host_create(p->pe, &cfg, &p->host);
	if (err)
		return err;
	count = pier_host_count(p->host);
	p->places = calloc(count, sizeof(*p->places));
	if (!p->places)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		if (!pier_host_rdma(p->host, i))
			continue;
		err = add_place(p, pier_host_rdma(p->host, i),
				pier_host_dev(p->host, i));
		if (err)
			say_error("");
		works += !err;
	}
	return works ? 0 : err;
}

/* Milliseconds until @next, microseconds of ping_now(); or without limit. */
static int wait_ms(const struct ping *p, double next)
{
	double left = (next - ping_now()) / 1e3;

	if (!p->host)
		return -1;
	return left > 0 ? (int)left + 1 : 0;
}

static void serve(struct ping *p)
{
	double next = ping_now() + LOOK_MS * 1e3;

	while (!ping_stopped) {
		pier_pe_wait(p->pe, wait_ms(p, next));
		if (!p->host || ping_now() < next)
			continue;
		listen_on_host(p);
		next = ping_now() + LOOK_MS * 1e3;
	}
}

static void close_places(struct ping *p)
{
	for (size_t i = 0; i < p->place_count; i++) {
		struct ping_place *place = &p->places[i];

		pier_ctx_stop_wait(pier_rdma_ctx(place->rdma),
				   p->args.timeout_ms);
		for (int k = 0; k < SLOTS; k++)
			pier_buf_put(place->slots[k].buf);
		pier_buf_inventory_destroy(place->inv);
		pier_mmap_destroy(place->local);
	}
	p->place_count = 0;
	free(p->places);
	p->places = NULL;
}

int ping_server(struct ping *p)
{
	int err = p->dev ? start_device(p) : start_host(p);

	if (err) {
		say_error("");
		err = 1;
	} else {
		err = listen_there(p);
	}
	if (!err)
		serve(p);
	if (!err && p->json)
		ping_report_server(p);
	close_places(p);
	pier_host_destroy(p->host);
	return err;
}
