/* SPDX-License-Identifier: BSD-2-Clause */
/* sync_event_local - two threads signal each other by a sync event. */
#include <pthread.h>
#include <stdio.h>

#include <pier/pier.h>

static int async, atomic, qdepth = 32;
static const struct pier_option options[] = {
	{ NULL, "async", NULL, "use tasks", PIER_OPTION_FLAG, 0, 0, 0, &async },
	{ NULL, "qdepth", "N", "tasks to allocate, with --async",
	  PIER_OPTION_INT, 0, 1, 1 << 20, &qdepth },
	{ NULL, "atomic", NULL, "add to the event instead of setting it",
	  PIER_OPTION_FLAG, 0, 0, 0, &atomic },
	{ 0 },
};

static int signal_event(struct pier_sync_event *event, uint64_t value)
{
	return atomic ? pier_sync_event_add(event, 1, NULL) :
			pier_sync_event_set(event, value);
}

/* The other thread; its calls suit both modes. */
static void *answer(void *event)
{
	for (uint64_t value = 0; value != 1;)
		pier_sync_event_get(event, &value);
	signal_event(event, 2);
	return NULL;
}

static int wait_async(struct pier_sync_event *event, struct pier_pe *pe)
{
	struct pier_task *task = NULL;
	int err = pier_sync_event_task_wait_eq(event, 2, UINT64_MAX, &task);

	if (!err)
		err = pier_task_submit(task, 0);
	while (!err && pier_task_status(task))
		err = pier_pe_wait(pe, 10000);
	pier_task_free(task);
	return err;
}

int main(int argc, char *argv[])
{
	struct pier_sync_event_config cfg = { .size = sizeof(cfg) };
	struct pier_args args = { .size = sizeof(args), .options = options };
	struct pier_sync_event *event = NULL;
	struct pier_pe *pe = NULL;
	pthread_t thread;
	int err = pier_args_parse(&args, argc, argv);

	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	cfg.publisher = cfg.subscriber = PIER_SYNC_EVENT_CPU;
	cfg.tasks = (uint32_t)qdepth;
	err = pier_pe_create(&pe);
	if (!err)
		err = pier_sync_event_create(&event);
	if (!err)
		err = pier_sync_event_configure(event, &cfg);
	if (!err)
		err = async ? pier_ctx_start(pier_sync_event_ctx(event), pe) :
			      pier_sync_event_start(event);
	if (!err)
		err = -pthread_create(&thread, NULL, answer, event);
	if (!err) {
		signal_event(event, 1);
		err = async ? wait_async(event, pe) : pier_sync_event_wait_eq(
			event, 2, UINT64_MAX, PIER_SYNC_EVENT_YIELD, 10000);
		pthread_join(thread, NULL);
	}
	fprintf(err ? stderr : stdout, "%s\n",
		err ? pier_last_error() : "signalled 1, seen 2");
	pier_sync_event_destroy(event);
	pier_pe_destroy(pe);
	return err ? 1 : 0;
}
