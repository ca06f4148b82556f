/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reconnect_server - send each message back to the client that it is from, on
 * all devices of this host, or on the one that is named.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <pier/pier.h>

#define SLOTS 64	/* messages at a time, of all clients of a device */
#define LEN 256

static struct pier_pe *pe;
static struct pier_host *host;
static struct pier_buf_inventory *inv;
static struct slot { struct pier_rdma *rdma; struct pier_buf *buf; } *slots;
static volatile sig_atomic_t ended;

/* A message was received, or sent back: a client that has ended gets none. */
static void next(struct pier_task *task, void *arg)
{
	int status = pier_task_status(task);
	int is_sent = pier_task_type(task) == PIER_TASK_SEND;
	struct slot *slot = arg;

	if (ended || (!is_sent && status == -ECANCELED))
		return;		/* the context stops */
	if (!is_sent && !status &&
	    !pier_rdma_send(pier_task_conn(task), slot->buf, next, slot))
		return;
	pier_buf_reset(slot->buf);
	if (pier_rdma_receive(slot->rdma, slot->buf, next, slot))
		fprintf(stderr, "reconnect_server: %s\n", pier_last_error());
}

static void requested(struct pier_conn *conn, void *data, void *ctx_data)
{
	(void)data, (void)ctx_data;
	if (pier_conn_accept(conn, NULL, 0))
		pier_conn_destroy(conn);
}

static void over(struct pier_conn *conn, void *data, void *ctx_data)
{
	(void)data, (void)ctx_data;
	pier_conn_destroy(conn);
}

static void end(int signal)
{
	(void)signal;
	ended = 1;
	pier_pe_wake(pe);
}

/* Memory and receives for the clients that come by device @i. */
static int offer(size_t i)
{
	struct pier_mmap *mmap = NULL;
	int err = pier_mmap_alloc(pier_host_dev(host, i), SLOTS * LEN, NULL,
				  &mmap);

	for (size_t n = 0; !err && n < SLOTS; n++) {
		struct slot *slot = &slots[i * SLOTS + n];

		slot->rdma = pier_host_rdma(host, i);
		err = pier_buf_by_addr(inv, mmap, (char *)pier_mmap_addr(mmap) +
				       n * LEN, LEN, &slot->buf) ?:
		      pier_rdma_receive(slot->rdma, slot->buf, next, slot);
	}
	pier_mmap_destroy(mmap);	/* with the last buffer of it */
	return err;
}

int main(int argc, char *argv[])
{
	struct pier_args args = PIER_ARGS_RENDEZVOUS;
	struct pier_rdma_config rdma = { sizeof(rdma), .keepalive_ms = 1000,
					 .rnr_timeout_ms = 5000 };
	struct pier_host_config cfg = { sizeof(cfg), &rdma, requested,
					.failure = over, .disconnected = over };
	struct pier_listen_config listen = { .size = sizeof(listen) };
	size_t i, count;
	int err;

	args.about = "Send messages back; it may be killed at any time.";
	args.groups = PIER_ARGS_NAME | PIER_ARGS_PORT;
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	listen.port = (uint32_t)args.listen_port;
	cfg.device = args.device ? args.device : getenv("PIER_DEVICE");
	err = pier_pe_create(&pe) ?: pier_host_create(pe, &cfg, &host);
	count = pier_host_count(host);
	slots = calloc(count * SLOTS + 1, sizeof(*slots));
	err = err ?: slots ? pier_buf_inventory_create(count * SLOTS, &inv) :
			     -ENOMEM;
	for (i = 0; !err && i < count; i++)
		err = pier_host_dev(host, i) ? offer(i) : 0;
	signal(SIGINT, end);
	signal(SIGTERM, end);
	err = err ?: pier_host_listen(host, &listen);
	while (!err && !ended)
		err = pier_pe_wait(pe, -1);
	if (err)
		fprintf(stderr, "reconnect_server: %s\n", pier_last_error());
	ended = 1;
	signal(SIGINT, SIG_DFL);	/* end() uses the engine */
	signal(SIGTERM, SIG_DFL);
	for (i = 0; i < count * SLOTS; i++)
		pier_buf_put(slots[i].buf);	/* posted ones remain pier's */
	free(slots);
	pier_host_destroy(host);
	pier_buf_inventory_destroy(inv);
	pier_pe_destroy(pe);
	return err ? 1 : 0;
}
