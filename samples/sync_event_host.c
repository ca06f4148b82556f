/* SPDX-License-Identifier: BSD-2-Clause */
/* sync_event_host - signal sync_event_dpu, which runs already, and wait. */
#include <inttypes.h>
#include <stdio.h>

#include <pier/pier.h>

enum { TIMEOUT_MS = 60000 };
static const char *device, *rep, *path = "/tmp/sync_event_desc.txt";
static int async, add, qdepth = 32;
static uint64_t n = 1;
static const struct pier_option options[] = {
	{ "d", "dev-pci-addr", "DEV", "the device, by PCI address or name",
	  PIER_OPTION_STRING, 0, 0, 0, &device },
	{ "r", "rep-pci-addr", "REP", "ignored: of the DPU",
	  PIER_OPTION_STRING, 0, 0, 0, &rep },
	{ "f", "descriptor-path", "FILE", "where to write the event",
	  PIER_OPTION_STRING, 0, 1, 4095, &path },
	{ NULL, "async", NULL, "use tasks", PIER_OPTION_FLAG, 0, 0, 0, &async },
	{ NULL, "qdepth", "N", "tasks to allocate, with --async",
	  PIER_OPTION_INT, 0, 2, 1 << 20, &qdepth },
	{ NULL, "atomic", NULL, "add to the event instead of setting it",
	  PIER_OPTION_FLAG, 0, 0, 0, &add },
	{ "n", "number", "N", "the value to signal; default 1",
	  PIER_OPTION_NUMBER, 0, 1, INT64_MAX, &n },
	{ 0 },
};

int main(int argc, char *argv[])
{
	struct pier_sync_event_config cfg = { sizeof(cfg),
		PIER_SYNC_EVENT_REMOTE, .subscriber = PIER_SYNC_EVENT_CPU };
	struct pier_args args = { .size = sizeof(args), .options = options };
	const void *desc = NULL;
	size_t len = 0;
	struct pier_dev *dev = NULL;
	struct pier_pe *pe = NULL;
	struct pier_sync_event *e = NULL;
	struct pier_task *wait = NULL, *set = NULL;
	int err = pier_args_parse(&args, argc, argv);

	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	err = pier_dev_open(device, &dev) ?: pier_pe_create(&pe) ?:
	      pier_sync_event_create(&e);
	cfg.dev = dev, cfg.tasks = (uint32_t)qdepth;
	err = err ?: pier_sync_event_configure(e, &cfg);
	err = err ?: async ? pier_ctx_start(pier_sync_event_ctx(e), pe) :
			     pier_sync_event_start(e);
	err = err ?: pier_sync_event_export_process(e, &desc, &len) ?:
		     pier_desc_write(path, desc, len);
	if (!err && async) {
		err = add ? pier_sync_event_task_add(e, n, NULL, &set) :
			    pier_sync_event_task_set(e, n, &set);
		err = err ? err : pier_task_run(set, TIMEOUT_MS);
		err = err ?: pier_sync_event_task_wait_eq(e, n + 1, UINT64_MAX,
							  &wait);
		err = err ? err : pier_task_run(wait, TIMEOUT_MS);
	} else if (!err) {
		err = add ? pier_sync_event_add(e, n, NULL) :
			    pier_sync_event_set(e, n);
		err = err ?: pier_sync_event_wait_eq(e, n + 1, UINT64_MAX,
						     PIER_SYNC_EVENT_YIELD,
						     TIMEOUT_MS);
	}
	/* the event ends with this process: let the DPU end first */
	err = err ?: pier_sync_event_export_wait(e, TIMEOUT_MS);
	if (err)
		fprintf(stderr, "sync_event_host: %s\n", pier_last_error());
	else
		printf("signalled %" PRIu64 ", seen %" PRIu64 "\n", n, n + 1);
	if (wait)	/* it may be in flight */
		pier_ctx_stop_wait(pier_task_ctx(wait), -1);
	pier_task_free(wait);
	pier_task_free(set);
	pier_sync_event_destroy(e);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
