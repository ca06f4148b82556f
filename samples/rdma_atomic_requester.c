/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_atomic_requester - add to rdma_atomic_responder's number, replace it. */
#include <inttypes.h>
#include <stdio.h>

#include <pier/pier.h>

static uint64_t add = 1, swap = 100;
static const struct pier_option options[] = {
	{ "a", "add", "N", "what to add; default 1", PIER_OPTION_NUMBER, 0, 0,
	  0, &add },
	{ "s", "swap", "N", "what to store then; default 100",
	  PIER_OPTION_NUMBER, 0, 0, 0, &swap },
	{ 0 },
};

int main(int argc, char *argv[])
{
	static uint64_t old[2];		/* before each operation */
	struct pier_task *task;
	int i, err;
	struct pier_args args = PIER_ARGS_RENDEZVOUS;
	struct pier_dev *dev = NULL;
	struct pier_pe *pe = NULL;
	struct pier_rdma *rdma = NULL;
	struct pier_mmap *local = NULL, *remote = NULL;
	struct pier_buf_inventory *inv = NULL;
	struct pier_buf *number = NULL, *result = NULL;
	struct pier_conn *conn = NULL;

	args.about = "Add to the number of rdma_atomic_responder, replace it.";
	args.options = options;
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	err = pier_dev_open(args.device, &dev);
	err = err ? err : pier_pe_create(&pe);
	err = err ? err : pier_rdma_create(dev, &rdma);
	err = err ? err : pier_ctx_start(pier_rdma_ctx(rdma), pe);
	err = err ? err : pier_mmap_map(dev, old, sizeof(old),
					PIER_LOCAL_WRITE, &local);
	err = err ? err : pier_rendezvous(rdma, &args, NULL, &conn, &remote);
	err = err ? err : pier_buf_inventory_create(2, &inv);
	err = err ? err : pier_buf_empty(inv, remote, &number);
	err = err ? err : pier_buf_empty(inv, local, &result);
	for (i = 0; !err && i < 2; i++) {
		err = i ? pier_rdma_task_compare_swap(conn, number, result,
						      old[0] + add, swap,
						      &task) :
			  pier_rdma_task_fetch_add(conn, number, result, add,
						   &task);
		err = err ? err : pier_task_once(task, args.timeout_ms);
	}
	if (err)
		fprintf(stderr, "rdma_atomic_requester: %s\n",
			pier_last_error());
	else
		printf("fetch and add: old %" PRIu64 ", new %" PRIu64 "\n"
		       "compare and swap: old %" PRIu64 ", new %" PRIu64 "\n",
		       old[0], old[0] + add, old[1],
		       old[1] == old[0] + add ? swap : old[1]);
	pier_conn_disconnect(conn);
	pier_rdma_destroy(rdma);
	pier_buf_put(result);
	pier_buf_put(number);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(remote);
	pier_mmap_destroy(local);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
