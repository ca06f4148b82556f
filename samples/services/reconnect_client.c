/* SPDX-License-Identifier: BSD-2-Clause */
/* reconnect_client - connect again to a server that died or was cut off. */
#include <stdio.h>
#include <string.h>

#include <pier/pier.h>

#define LEN 32

static int count = 10;
static const struct pier_option options[] = {
	{ "n", "count", "N", "numbers to send; default 10", PIER_OPTION_INT,
	  0, 1, 1000000, &count },
	{ 0 },
};
static struct pier_args args = PIER_ARGS_RENDEZVOUS;
static struct pier_pe *pe;
static struct pier_rdma *rdma;
static struct pier_buf *out, *in;
static struct pier_conn *conn;
static char memory[2][LEN], shown[4 * LEN + 1];
static int posted, answered;

static int is_connected(void)
{
	return conn && pier_conn_state(conn) == PIER_CONN_CONNECTED;
}

static int reconnect(void)
{
	struct pier_connect_config cfg = {
		.size = sizeof(cfg), .peer = args.server_addr,
		.port = (uint32_t)args.listen_port, .retry_pause_max_ms = 2000,
		.retry_ms = (uint32_t)args.timeout_ms, .timeout_ms = 3000,
	};
	int err, tries = 3;	/* the server may die in the handshake, too */

	do {
		if (conn)
			fprintf(stderr, "%s\n", pier_conn_error_text(conn));
		pier_conn_destroy(conn);	/* the posted receive remains */
		conn = NULL;
		fputs("waiting for the server; Ctrl-C ends it\n", stderr);
		err = pier_rdma_connect_to(rdma, &cfg, &conn);
		err = err ? err : pier_conn_wait(conn, -1);
	} while (err && --tries);
	return err;
}

static void received(struct pier_task *task, void *arg)
{
	*(int *)arg = 0;	/* posted */
	answered = !pier_task_status(task);
}

static void sent(struct pier_task *task, void *arg)
{
	(void)task, (void)arg;	/* a failure ends the connection */
}

/* Send a number and wait until it has come back, or the connection ends. */
static int ask(void)
{
	int err = 0;

	if (!posted) {
		pier_buf_reset(in);
		err = pier_rdma_receive(rdma, in, received, &posted);
		posted = !err;
	}
	err = err ? err : pier_rdma_send(conn, out, sent, NULL);
	while (!err && !answered && is_connected())
		pier_pe_wait(pe, 100);
	return is_connected() ? err : 0;
}

int main(int argc, char *argv[])
{
	struct pier_rdma_config cfg = { sizeof(cfg), .keepalive_ms = 1000 };
	struct pier_dev *dev = NULL;
	struct pier_mmap *mmap = NULL;
	struct pier_buf_inventory *inv = NULL;
	int i, connects = 0, err;

	args.about = "Send numbers; connect again to a server that died.";
	args.groups = PIER_ARGS_NAME | PIER_ARGS_SERVER | PIER_ARGS_TIMEOUT;
	args.options = options;
	args.server_addr = "127.0.0.1";
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	err = pier_dev_open(args.device, &dev) ?: pier_pe_create(&pe) ?:
	      pier_rdma_create(dev, &rdma) ?: pier_rdma_configure(rdma, &cfg) ?:
	      pier_ctx_start(pier_rdma_ctx(rdma), pe) ?:
	      pier_mmap_map(dev, memory, sizeof(memory), PIER_LOCAL_WRITE,
			    &mmap) ?: pier_buf_inventory_create(2, &inv) ?:
	      pier_buf_by_data(inv, mmap, memory, LEN, &out) ?:
	      pier_buf_by_addr(inv, mmap, memory + 1, LEN, &in);
	for (i = 1; !err && i <= count; i += answered, answered = 0) {
		snprintf(memory[0], LEN, "%d", i);
		if (!is_connected() && ++connects)
			err = reconnect();
		err = err ? err : ask();
		if (answered && puts(pier_text_escape(memory[1], strnlen(
		    memory[1], LEN), shown, sizeof(shown))) >= 0)
			fflush(stdout);
	}
	if (err)
		fprintf(stderr, "reconnect_client: %s\n", pier_last_error());
	else
		printf("%d numbers on %d connections\n", count, connects);
	pier_rdma_destroy(rdma);
	pier_buf_put(in);
	pier_buf_put(out);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(mmap);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
