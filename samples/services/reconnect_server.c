/* SPDX-License-Identifier: BSD-2-Clause */
/* reconnect_server - send each message back to the client that it is from. */
#include <signal.h>
#include <stdio.h>

#include <pier/pier.h>

#define SLOTS 64	/* messages at a time, of all clients together */
#define LEN 256

static const char about[] = "Send messages back; it may be killed at any time.";
static struct pier_pe *pe;
static struct pier_rdma *rdma;
static struct slot {
	char text[LEN];
	struct pier_buf *buf;
} slots[SLOTS];
static volatile sig_atomic_t ended;

static void receive(struct slot *slot);

static void sent(struct pier_task *task, void *arg)
{
	(void)task;	/* of a client that has ended it fails */
	receive(arg);
}

static void received(struct pier_task *task, void *arg)
{
	struct pier_conn *conn = pier_task_conn(task);
	struct slot *slot = arg;

	if (pier_task_status(task) && !conn)
		return;		/* the context stops */
	if (pier_task_status(task) || !conn ||
	    pier_rdma_send(conn, slot->buf, sent, slot))
		receive(slot);
}

static void receive(struct slot *slot)
{
	pier_buf_reset(slot->buf);
	if (!ended && pier_rdma_receive(rdma, slot->buf, received, slot))
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

int main(int argc, char *argv[])
{
	struct pier_args args = PIER_ARGS_RENDEZVOUS;
	struct pier_rdma_config cfg = { sizeof(cfg), .keepalive_ms = 1000,
					.rnr_timeout_ms = 5000 };
	struct pier_listen_config listen = { .size = sizeof(listen) };
	struct pier_dev *dev = NULL;
	struct pier_mmap *mmap = NULL;
	struct pier_buf_inventory *inv = NULL;
	struct pier_listener *listener;
	int i, err;

	args.about = about;
	args.groups = PIER_ARGS_DEVICE | PIER_ARGS_CM;
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	listen.port = (uint32_t)args.listen_port;
	err = pier_dev_open(args.device, &dev);
	err = err ? err : pier_pe_create(&pe);
	err = err ? err : pier_rdma_create(dev, &rdma);
	err = err ? err : pier_rdma_configure(rdma, &cfg);
	err = err ? err : pier_ctx_start(pier_rdma_ctx(rdma), pe);
	err = err ? err : pier_mmap_map(dev, slots, sizeof(slots),
					PIER_LOCAL_WRITE, &mmap);
	err = err ? err : pier_buf_inventory_create(SLOTS, &inv);
	for (i = 0; !err && i < SLOTS; i++) {
		err = pier_buf_by_addr(inv, mmap, slots[i].text, LEN,
				       &slots[i].buf);
		if (!err)
			receive(&slots[i]);
	}
	signal(SIGINT, end);
	signal(SIGTERM, end);
	err = err ? err : pier_rdma_set_conn_callbacks(rdma, requested, NULL,
						       over, over);
	err = err ? err : pier_rdma_listen(rdma, &listen, &listener);
	while (!err && !ended)
		pier_pe_wait(pe, -1);
	if (err)
		fprintf(stderr, "reconnect_server: %s\n", pier_last_error());
	ended = 1;
	signal(SIGINT, SIG_DFL);	/* end() uses the engine */
	signal(SIGTERM, SIG_DFL);
	pier_rdma_destroy(rdma);
	for (i = 0; i < SLOTS; i++)
		pier_buf_put(slots[i].buf);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(mmap);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
