/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_write_immediate_requester - write a text, and send a number with it. */
#include <arpa/inet.h>
#include <stdio.h>

#include <pier/pier.h>

static const char *text = PIER_ARGS_TEXT;
static uint64_t immediate = 43981;
static const struct pier_option options[] = {
	{ "w", "write-string", "TEXT", "the text to write", PIER_OPTION_STRING,
	  0, 1, 255, &text },
	{ "i", "immediate", "N", "the number; default 43981",
	  PIER_OPTION_NUMBER, 0, 0, UINT32_MAX, &immediate },
	{ 0 },
};

int main(int argc, char *argv[])
{
	static char memory[256];
	struct pier_args args = PIER_ARGS_RENDEZVOUS;
	struct pier_dev *dev = NULL;
	struct pier_pe *pe = NULL;
	struct pier_rdma *rdma = NULL;
	struct pier_mmap *local = NULL, *remote = NULL;
	struct pier_buf_inventory *inv = NULL;
	struct pier_buf *src = NULL, *dst = NULL;
	struct pier_conn *conn = NULL;
	struct pier_task *task;
	int err;
	size_t len;

	args.about = "Write a text, and send a number with it.";
	args.options = options;
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	len = (size_t)snprintf(memory, sizeof(memory), "%s", text) + 1;

	err = pier_dev_open(args.device, &dev);
	err = err ? err : pier_pe_create(&pe);
	err = err ? err : pier_rdma_create(dev, &rdma);
	err = err ? err : pier_ctx_start(pier_rdma_ctx(rdma), pe);
	err = err ? err : pier_mmap_map(dev, memory, len, PIER_LOCAL_READ,
					&local);
	err = err ? err : pier_rendezvous(rdma, &args, NULL, &conn, &remote);
	err = err ? err : pier_buf_inventory_create(2, &inv);
	err = err ? err : pier_buf_whole(inv, local, &src);
	err = err ? err : pier_buf_empty(inv, remote, &dst);
	err = err ? err : pier_rdma_task_write_imm(conn, src, dst,
						   htonl((uint32_t)immediate),
						   &task);
	err = err ? err : pier_task_once(task, args.timeout_ms);

	if (err)
		fprintf(stderr, "rdma_write_immediate_requester: %s\n",
			pier_last_error());
	else
		printf("wrote \"%s\" with immediate %u\n", memory,
		       (uint32_t)immediate);

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
