/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_multi_conn_send - send a text on each of several connections. */
#include <stdio.h>

#include <pier/pier.h>

#define CONNS_MAX 64

static const char *text = PIER_ARGS_TEXT;
static int count = 1;
static const struct pier_option options[] = {
	{ "s", "send-string", "TEXT", "the text to send", PIER_OPTION_STRING,
	  0, 1, 255, &text },
	{ "nc", "num-connections", "N", "connections to make; default 1",
	  PIER_OPTION_INT, 0, 1, CONNS_MAX, &count },
	{ 0 },
};
static int sent, status;	/* completed sends; 0 or the last failure */

static void send_done(struct pier_task *task, void *arg)
{
	(void)arg;
	sent++;
	if (pier_task_status(task))
		status = pier_task_status(task);
}

int main(int argc, char *argv[])
{
	static char memory[256];
	struct pier_args args = PIER_ARGS_RENDEZVOUS;
	struct pier_conn *conns[CONNS_MAX] = { NULL };
	struct pier_dev *dev = NULL;
	struct pier_pe *pe = NULL;
	struct pier_rdma *rdma = NULL;
	struct pier_mmap *mmap = NULL;
	struct pier_buf_inventory *inv = NULL;
	struct pier_buf *src = NULL;
	int i, err, len;

	args.about = "Send a text to rdma_multi_conn_receive, several times.";
	args.options = options;
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	len = snprintf(memory, sizeof(memory), "%s", text) + 1;
	err = pier_dev_open(args.device, &dev);
	err = err ? err : pier_pe_create(&pe);
	err = err ? err : pier_rdma_create(dev, &rdma);
	err = err ? err : pier_ctx_start(pier_rdma_ctx(rdma), pe);
	err = err ? err : pier_mmap_map(dev, memory, (size_t)len,
					PIER_LOCAL_READ, &mmap);
	err = err ? err : pier_buf_inventory_create(1, &inv);
	err = err ? err : pier_buf_whole(inv, mmap, &src);
	err = err ? err : pier_rendezvous_many(rdma, &args,
					       (unsigned int)count, conns);
	for (i = 0; !err && i < count; i++)
		err = pier_rdma_send(conns[i], src, send_done, NULL);
	while (!err && sent < count)
		err = pier_pe_wait(pe, args.timeout_ms);
	err = err ? err : status;
	if (err)
		fprintf(stderr, "rdma_multi_conn_send: %s\n",
			pier_last_error());
	else
		printf("sent \"%s\" on %d connections\n", memory, count);
	for (i = 0; i < count; i++)
		pier_conn_disconnect(conns[i]);
	pier_rdma_destroy(rdma);
	pier_buf_put(src);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(mmap);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
