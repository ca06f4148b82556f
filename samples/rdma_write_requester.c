/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_write_requester - write a text into rdma_write_responder's memory. */
#include <stdio.h>

#include <pier/pier.h>

static const char *text = PIER_ARGS_TEXT;
static const struct pier_option options[] = {
	{ "w", "write-string", "TEXT", "the text to write", PIER_OPTION_STRING,
	  0, 1, 255, &text },
	{ 0 },
};
static char memory[256];
static struct pier_conn *conn;

int main(int argc, char *argv[])
{
	struct pier_args args = PIER_ARGS_RENDEZVOUS;
	struct pier_dev *dev = NULL;
	struct pier_pe *pe = NULL;
	struct pier_rdma *rdma = NULL;
	struct pier_mmap *local = NULL, *remote = NULL;
	struct pier_buf_inventory *inv = NULL;
	struct pier_buf *src = NULL, *dst = NULL;
	struct pier_task *task;
	int err;
	size_t len;

	args.about = "Write a text into the memory of rdma_write_responder.";
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
		err = pier_mmap_map(dev, memory, len, PIER_LOCAL_READ, &local);
	if (!err)
		err = pier_rendezvous(rdma, &args, NULL, &conn, &remote);
	if (!err)
		err = pier_buf_inventory_create(2, &inv);
	if (!err)
		err = pier_buf_whole(inv, local, &src);	/* text and NUL */
	if (!err)
		err = pier_buf_empty(inv, remote, &dst);
	if (!err)
		err = pier_rdma_task_write(conn, src, dst, &task);
	if (!err)
		err = pier_task_once(task, args.timeout_ms);
	if (err)
		fprintf(stderr, "rdma_write_requester: %s\n",
			pier_last_error());
	else
		printf("wrote \"%s\"\n", memory);

	pier_conn_disconnect(conn);
	pier_rdma_destroy(rdma);
	pier_buf_put(dst);
	pier_buf_put(src);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(remote);
	pier_mmap_destroy(local);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
