/* SPDX-License-Identifier: BSD-2-Clause */
/* sync_event_local - two threads signal each other by a sync event. */
#include <pthread.h>
#include <stdio.h>
#include <pier/pier.h>

static int async, add, q = 32;
static uint64_t n = 1, seen;
static const char *device;
static const struct pier_option options[] = {
	{ "d", "dev-pci-addr", "DEV", "a device that peers reach it through",
	  PIER_OPTION_STRING, 0, 0, 0, &device },
	{ NULL, "async", NULL, "use tasks", PIER_OPTION_FLAG, 0, 0, 0, &async },
	{ NULL, "qdepth", "N", "tasks of the event, at least 2; default 32",
	  PIER_OPTION_INT, 0, 2, 1 << 20, &q },
	{ NULL, "atomic", NULL, "add to it", PIER_OPTION_FLAG, 0, 0, 0, &add },
	{ "n", "number", "N", "the value to signal; default 1",
	  PIER_OPTION_NUMBER, 0, 1, INT64_MAX, &n },
	{ 0 },
};
static struct pier_sync_event *e;

/* The other thread answers with one more, by calls that suit both modes. */
static void *answer(void *arg)
{
	for (uint64_t now = 0; now != n && !pier_sync_event_get(e, &now);)
		;
	(void)(add ? pier_sync_event_add(e, 1, NULL) :
		     pier_sync_event_set(e, n + 1));
	return arg;
}

int main(int argc, char *argv[])
{
	struct pier_sync_event_config cfg = { .size = sizeof(cfg) };
	struct pier_args args = { .size = sizeof(args), .options = options };
	struct pier_pe *pe = NULL;
	struct pier_task *signal = NULL, *wait = NULL;
	pthread_t thread;
	int begun, err = pier_args_parse(&args, argc, argv);

	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	cfg.publisher = device ? PIER_SYNC_EVENT_REMOTE : PIER_SYNC_EVENT_CPU;
	cfg.subscriber = PIER_SYNC_EVENT_CPU, cfg.tasks = (uint32_t)q;
	err = (device ? pier_dev_open(device, &cfg.dev) : 0) ?:
	      pier_pe_create(&pe) ?: pier_sync_event_create(&e) ?:
	      pier_sync_event_configure(e, &cfg) ?:
	      (async ? pier_ctx_start(pier_sync_event_ctx(e), pe) :
		       pier_sync_event_start(e));
	begun = !err && !(err = -pthread_create(&thread, NULL, answer, NULL));
	if (!err && async) {
		err = add ? pier_sync_event_task_add(e, n, NULL, &signal) :
			    pier_sync_event_task_set(e, n, &signal);
		err = err ?: pier_sync_event_task_wait_gt(e, n, UINT64_MAX,
							  &wait) ?:
		      pier_task_run(signal, -1) ?: pier_task_run(wait, -1);
	} else if (!err) {
		err = add ? pier_sync_event_add(e, n, NULL) :
			    pier_sync_event_set(e, n);
		err = err ?: pier_sync_event_wait_gt(e, n, UINT64_MAX,
						     PIER_SYNC_EVENT_YIELD, -1);
	}
	err = err ?: pier_sync_event_get(e, &seen);
	if (begun && err)
		pier_sync_event_set(e, n);	/* what it waits for */
	if (begun)
		pthread_join(thread, NULL);
	if (err)
		fprintf(stderr, "sync_event_local: %s\n", pier_last_error());
	else
		printf("signalled %ju, seen %ju\n", (uintmax_t)n,
		       (uintmax_t)seen);
	pier_task_free(wait);
	pier_task_free(signal);
	pier_sync_event_destroy(e);
	pier_pe_destroy(pe);
	pier_dev_close(cfg.dev);
	return err ? 1 : 0;
}
