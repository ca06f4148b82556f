/* SPDX-License-Identifier: BSD-2-Clause */
/* sync_event_host - signal sync_event_dpu, which runs already, and wait. */
#include <cinttypes>
#include <cstdio>

#include <pier/pier.hpp>

enum { TIMEOUT_MS = 60000 };
static const char *device, *path = "/tmp/sync_event_desc.txt";
static int async, add;
static std::uint64_t n = 1;
static const pier_option options[] = {
	{ "d", "dev-pci-addr", "DEV", "the device, by PCI address or name",
	  PIER_OPTION_STRING, 0, 0, 0, &device },
	{ "f", "descriptor-path", "FILE", "where to write the event",
	  PIER_OPTION_STRING, 0, 1, 4095, &path },
	{ nullptr, "async", nullptr, "use tasks", PIER_OPTION_FLAG, 0, 0, 0,
	  &async },
	{ nullptr, "atomic", nullptr, "add to the event instead of setting it",
	  PIER_OPTION_FLAG, 0, 0, 0, &add },
	{ "n", "number", "N", "the value to signal; default 1",
	  PIER_OPTION_NUMBER, 0, 1, INT64_MAX, &n },
	{},
};

static void signal_dpu()
{
	auto dev = pier::device::open(device).or_throw();
	auto pe = pier::engine::create().or_throw();
	auto event = pier::sync_event::create().or_throw();
	event.configure(PIER_SYNC_EVENT_REMOTE, PIER_SYNC_EVENT_CPU,
			dev).or_throw();
	(async ? event.ctx().start(pe) : event.start()).or_throw();
	auto desc = event.process_descriptor().or_throw();
	pier::write_desc(path, desc).or_throw();

	if (async) {
		pier::run(add ? event.task_add(n) : event.task_set(n),
			  TIMEOUT_MS).or_throw();
		pier::run(event.task_wait_eq(n + 1), TIMEOUT_MS).or_throw();
	} else {
		if (add)
			event.add(n).or_throw();
		else
			event.set(n).or_throw();
		event.wait_eq(n + 1, TIMEOUT_MS).or_throw();
	}
	/* The event ends with this process: let the DPU end first. */
	event.wait_export(TIMEOUT_MS).or_throw();
}

int main(int argc, char *argv[])
{
	auto args = pier::defaults<pier_args>();

	args.options = options;
	int err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	try {
		signal_dpu();
		std::printf("signalled %" PRIu64 ", seen %" PRIu64 "\n", n,
			    n + 1);
	} catch (const pier::exception &e) {
		std::fprintf(stderr, "sync_event_host: %s\n", e.what());
		return 1;
	}
	return 0;
}
