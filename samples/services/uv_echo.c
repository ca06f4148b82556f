/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uv_echo - send messages back to clients, in a loop of libuv that does other
 * work, too: each second it prints how many there were, and a signal ends it.
 *
 *	uv_echo -d soft_lo &
 *	reconnect_client -d soft_lo -n 1000
 */
#include <stdio.h>

#include <pier/pier.h>
#include <pier/uv.h>

#define SLOTS 64	/* messages at a time, of all clients together */
#define LEN 256

static struct pier_rdma *rdma;
static struct slot { char text[LEN]; struct pier_buf *buf; } slots[SLOTS];
static int echoes, stopped;

/* Runs in the loop when a message was received, and when it was sent back. */
static void next(struct pier_task *task, void *arg)
{
	struct slot *slot = arg;
	int sent = pier_task_type(task) == PIER_TASK_SEND;

	if (!sent && !pier_task_status(task) &&
	    !pier_rdma_send(pier_task_conn(task), slot->buf, next, slot))
		return;
	echoes += sent && !pier_task_status(task);
	pier_buf_reset(slot->buf);
	if (!stopped && pier_rdma_receive(rdma, slot->buf, next, slot))
		fprintf(stderr, "uv_echo: %s\n", pier_last_error());
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

static void on_timer(uv_timer_t *timer)
{
	static int before;

	(void)timer;
	if (before != echoes && printf("%d messages\n", echoes) > 0)
		fflush(stdout);
	before = echoes;
}

static void on_signal(uv_signal_t *signal, int number)
{
	(void)number;
	uv_stop(signal->loop);
}

int main(int argc, char *argv[])
{
	struct pier_args args = PIER_ARGS_RENDEZVOUS;
	struct pier_listen_config listen = { .size = sizeof(listen) };
	struct pier_dev *dev = NULL;
	struct pier_pe *pe = NULL;
	struct pier_uv *uv = NULL;
	struct pier_mmap *mmap = NULL;
	struct pier_buf_inventory *inv = NULL;
	struct pier_listener *listener;
	uv_loop_t *loop = uv_default_loop();
	uv_signal_t signal;
	uv_timer_t timer;
	int i, err;

	args.about = "Send messages back, in a loop of libuv.";
	args.groups = PIER_ARGS_NAME | PIER_ARGS_PORT;
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	listen.port = (uint32_t)args.listen_port;
	uv_timer_init(loop, &timer);
	uv_signal_init(loop, &signal);
	err = uv_timer_start(&timer, on_timer, 1000, 1000) ?:
	      uv_signal_start(&signal, on_signal, SIGINT) ?:
	      pier_dev_open(args.device, &dev) ?: pier_pe_create(&pe) ?:
	      pier_uv_create(loop, pe, &uv) ?: pier_rdma_create(dev, &rdma) ?:
	      pier_ctx_start(pier_rdma_ctx(rdma), pe) ?:
	      pier_mmap_map(dev, slots, sizeof(slots), 0, &mmap) ?:
	      pier_buf_inventory_create(SLOTS, &inv) ?:
	      pier_rdma_set_conn_callbacks(rdma, requested, NULL, over, over) ?:
	      pier_rdma_listen(rdma, &listen, &listener);
	for (i = 0; !err && i < SLOTS; i++)
		err = pier_buf_by_addr(inv, mmap, slots[i].text, LEN,
				       &slots[i].buf) ?:
		      pier_rdma_receive(rdma, slots[i].buf, next, &slots[i]);
	if (err)
		fprintf(stderr, "uv_echo: %s\n", *pier_last_error() ?
			pier_last_error() : uv_strerror(err));
	stopped = err || uv_run(loop, UV_RUN_DEFAULT);	/* until uv_stop() */
	pier_rdma_destroy(rdma);
	pier_uv_destroy(uv);
	uv_close((uv_handle_t *)&timer, NULL);
	uv_close((uv_handle_t *)&signal, NULL);
	uv_run(loop, UV_RUN_DEFAULT);	/* until all of it is closed */
	uv_loop_close(loop);
	pier_pe_destroy(pe);
	for (i = 0; i < SLOTS; i++)
		pier_buf_put(slots[i].buf);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(mmap);
	pier_dev_close(dev);
	return err || printf("%d messages in all\n", echoes) < 0;
}
