/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_sync_event_requester - set the responder's event, wait, set it again. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include <pier/pier.h>

static struct pier_args args = PIER_ARGS_RENDEZVOUS;
static uint64_t value = 1, word, seen;	/* word: what tasks set or get */
static time_t end;	/* when the time of --timeout is up */
static const struct pier_option options[] = {
	{ "n", "number", "N", "the value to set first; default 1",
	  PIER_OPTION_NUMBER, 0, 1, INT64_MAX, &value },
	{ 0 },
};

/* Submit @t and wait until it is done, or the time is up. */
static int run(struct pier_task *t)
{
	int ms = 1000 * (int)(end - time(NULL));
	int err = pier_task_run(t, ms > 0 ? ms : 0);

	if (err)	/* it may be in flight; then it cannot be freed */
		pier_ctx_stop_wait(pier_task_ctx(t), -1);
	return err;
}

int main(int argc, char *argv[])
{
	struct pier_dev *dev = NULL;
	struct pier_pe *pe = NULL;
	struct pier_rdma *rdma = NULL;
	struct pier_mmap *local = NULL;
	struct pier_sync_event *ev = NULL;
	struct pier_buf_inventory *inv = NULL;
	struct pier_buf *buf = NULL;
	struct pier_task *set = NULL, *get = NULL;
	struct pier_conn *conn = NULL;
	int err;

	args.about = "Synchronise with rdma_sync_event_responder.";
	args.options = options;
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	word = value;
	end = time(NULL) + args.timeout_ms / 1000;
	err = pier_dev_open(args.device, &dev);
	err = err ? err : pier_pe_create(&pe);
	err = err ? err : pier_rdma_create(dev, &rdma);
	err = err ? err : pier_ctx_start(pier_rdma_ctx(rdma), pe);
	err = err ? err : pier_mmap_map(dev, &word, sizeof(word), 0, &local);
	err = err ? err : pier_rendezvous_event(rdma, &args, NULL, &conn, &ev);
	err = err ? err : pier_buf_inventory_create(1, &inv);
	err = err ? err : pier_buf_whole(inv, local, &buf);
	err = err ? err : pier_rdma_task_notify_set(conn, ev, buf, &set);
	err = err ? err : pier_rdma_task_remote_get(conn, ev, buf, &get);
	err = err ? err : run(set);
	for (; !err && word <= value; err = run(get))
		pier_buf_reset(buf);	/* space for the value */
	seen = word++;
	err = err ? err : run(set);
	if (err)
		fprintf(stderr, "rdma_sync_event_requester: %s\n",
			pier_last_error());
	else
		printf("set %" PRIu64 ", read %" PRIu64 ", set %" PRIu64 "\n",
		       value, seen, word);
	pier_task_free(get);
	pier_task_free(set);
	pier_rdma_destroy(rdma);
	pier_sync_event_destroy(ev);
	pier_buf_put(buf);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(local);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
