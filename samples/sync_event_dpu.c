/* SPDX-License-Identifier: BSD-2-Clause */
/* sync_event_dpu - wait for sync_event_host and signal it; runs first. */
#include <inttypes.h>
#include <stdio.h>

#include <pier/pier.h>

static const char *device, *rep_name, *path = "/tmp/sync_event_desc.txt";
static int async, add, qdepth = 32;
static uint64_t n = 1;
static const struct pier_option options[] = {
	{ "d", "dev-pci-addr", "DEV", "the device, by PCI address or name",
	  PIER_OPTION_STRING, 0, 0, 0, &device },
	{ "r", "rep-pci-addr", "REP", "the host's representor on it",
	  PIER_OPTION_STRING, 0, 0, 0, &rep_name },
	{ "f", "descriptor-path", "FILE", "where the host writes the event",
	  PIER_OPTION_STRING, 0, 1, 4095, &path },
	{ NULL, "async", NULL, "use tasks", PIER_OPTION_FLAG, 0, 0, 0, &async },
	{ NULL, "qdepth", "N", "tasks to allocate, with --async",
	  PIER_OPTION_INT, 0, 2, 1 << 20, &qdepth },
	{ NULL, "atomic", NULL, "add to the event instead of setting it",
	  PIER_OPTION_FLAG, 0, 0, 0, &add },
	{ "n", "number", "N", "the value to wait for; default 1",
	  PIER_OPTION_NUMBER, 0, 1, INT64_MAX, &n },
	{ 0 },
};

int main(int argc, char *argv[])
{
	struct pier_sync_event_config cfg = { .size = sizeof(cfg) };
	struct pier_args args = { .size = sizeof(args), .options = options };
	unsigned char desc[PIER_DESC_MAX];
	struct pier_dev *dev = NULL;
	struct pier_rep *rep = NULL;
	struct pier_pe *pe = NULL;
	struct pier_sync_event *e = NULL;
	struct pier_task *wait = NULL, *set = NULL;
	int err = pier_args_parse(&args, argc, argv);

	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	cfg.tasks = (uint32_t)qdepth;
	err = pier_dev_open(device, &dev);
	if (!err && rep_name)
		err = pier_rep_open_by_name(dev, rep_name, &rep);
	err = err ? err : pier_pe_create(&pe);
	err = err ? err : pier_desc_await(path, -1, desc);	/* its length */
	err = err < 0 ? err : pier_sync_event_import_process(dev, desc,
							     (size_t)err, &e);
	err = err ? err : pier_sync_event_configure(e, &cfg);
	err = err ? err : async ? pier_ctx_start(pier_sync_event_ctx(e), pe) :
				  pier_sync_event_start(e);
	if (!err && async) {
		err = pier_sync_event_task_wait_eq(e, n, UINT64_MAX, &wait);
		err = err ? err : pier_task_run(wait, -1);
		err = err ? err :
		      add ? pier_sync_event_task_add(e, 1, NULL, &set) :
			    pier_sync_event_task_set(e, n + 1, &set);
		err = err ? err : pier_task_run(set, -1);
	} else if (!err) {
		err = pier_sync_event_wait_eq(e, n, UINT64_MAX,
					      PIER_SYNC_EVENT_YIELD, -1);
		err = err ? err : add ? pier_sync_event_add(e, 1, NULL) :
					pier_sync_event_set(e, n + 1);
	}
	if (err)
		fprintf(stderr, "sync_event_dpu: %s\n", pier_last_error());
	else
		printf("seen %" PRIu64 ", signalled %" PRIu64 "\n", n, n + 1);
	pier_task_free(set);
	pier_task_free(wait);
	pier_sync_event_destroy(e);
	pier_rep_close(rep);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
