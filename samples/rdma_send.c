/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_send - send a text to rdma_receive. */
#include <stdio.h>

#include <pier/pier.h>

static const char *text = PIER_ARGS_TEXT;
static const struct pier_option options[] = {
	{ "s", "send-string", "TEXT", "the text to send", PIER_OPTION_STRING,
	  0, 1, 255, &text },
	{ 0 },
};

int main(int argc, char *argv[])
{
	static char memory[256];
	struct pier_args args = PIER_ARGS_RENDEZVOUS;
	struct pier_dev *dev = NULL;
	struct pier_pe *pe = NULL;
	struct pier_rdma *rdma = NULL;
	struct pier_mmap *mmap = NULL;
	struct pier_buf_inventory *inv = NULL;
	struct pier_buf *src = NULL;
	struct pier_conn *conn = NULL;
	struct pier_task *task;
	int err;
	size_t len;

	args.about = "Send a text to rdma_receive.";
	args.options = options;
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	len = (size_t)snprintf(memory, sizeof(memory), "%s", text) + 1;

	err = pier_dev_open(args.device, &dev);
	if (!err)
		err = pier_pe_create(&pe);
	if (!err)
		err = pier_rdma_create(dev, &rdma);
	if (!err)
		err = pier_ctx_start(pier_rdma_ctx(rdma), pe);
	if (!err)
		err = pier_mmap_map(dev, memory, len, PIER_LOCAL_READ, &mmap);
	if (!err)
		err = pier_rendezvous(rdma, &args, NULL, &conn, NULL);
	if (!err)
		err = pier_buf_inventory_create(1, &inv);
	if (!err)
		err = pier_buf_whole(inv, mmap, &src);	/* text and NUL */
	if (!err)
		err = pier_rdma_task_send(conn, src, &task);
	if (!err)
		err = pier_task_once(task, args.timeout_ms);

	if (err)
		fprintf(stderr, "rdma_send: %s\n", pier_last_error());
	else
		printf("sent \"%s\"\n", memory);

	pier_conn_disconnect(conn);
	pier_rdma_destroy(rdma);
	pier_buf_put(src);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(mmap);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
