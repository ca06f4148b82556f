/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_sync_event_requester - set the responder's event, wait, set it again. */
#include <errno.h>
#include <stdio.h>

#include <pier/pier.h>

static struct pier_args args = PIER_ARGS_RENDEZVOUS;

/* Submit @task and wait until it is done. */
static int run(struct pier_pe *pe, struct pier_task *task)
{
	int err = pier_task_submit(task, 0);

	while (!err && pier_task_status(task) == -EINPROGRESS)
		err = pier_pe_wait(pe, args.timeout_ms);
	return err ? err : pier_task_status(task);
}

int main(int argc, char *argv[])
{
	uint64_t word = 1;
	struct pier_dev *dev = NULL;
	struct pier_pe *pe = NULL;
	struct pier_rdma *rdma = NULL;
	struct pier_mmap *local = NULL;
	struct pier_sync_event *event = NULL;
	struct pier_buf_inventory *inv = NULL;
	struct pier_buf *buf = NULL;
	struct pier_task *set = NULL, *get = NULL;
	struct pier_conn *conn = NULL;
	int err;

	args.about = "Synchronise with rdma_sync_event_responder.";
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	err = pier_dev_open(args.device, &dev);
	if (!err)
		err = pier_pe_create(&pe);
	if (!err)
		err = pier_rdma_create(dev, &rdma);
	if (!err)
		err = pier_ctx_start(pier_rdma_ctx(rdma), pe);
	if (!err)
		err = pier_mmap_map(dev, &word, sizeof(word), 0, &local);
	if (!err)
		err = pier_rendezvous_event(rdma, &args, NULL, &conn, &event);
	if (!err)
		err = pier_buf_inventory_create(1, &inv);
	if (!err)
		err = pier_buf_whole(inv, local, &buf);
	if (!err)
		err = pier_rdma_task_notify_set(conn, event, buf, &set);
	if (!err)
		err = pier_rdma_task_remote_get(conn, event, buf, &get);
	if (!err)
		err = run(pe, set);
	for (; !err && word != 2; err = run(pe, get))
		pier_buf_reset(buf);	/* space for the value */
	word = 3;
	if (!err)
		err = run(pe, set);
	if (err)
		fprintf(stderr, "rdma_sync_event_requester: %s\n",
			pier_last_error());
	else
		puts("set 1, read 2, set 3");
	pier_task_free(get);
	pier_task_free(set);
	pier_conn_disconnect(conn);
	pier_rdma_destroy(rdma);
	pier_sync_event_destroy(event);
	pier_buf_put(buf);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(local);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
