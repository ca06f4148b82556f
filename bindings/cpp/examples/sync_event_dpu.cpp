/* SPDX-License-Identifier: BSD-2-Clause */
/* sync_event_dpu - wait for sync_event_host and signal it; runs first. */
#include <cinttypes>
#include <cstdio>

#include <pier/pier.hpp>

static const char *device, *path = "/tmp/sync_event_desc.txt";
static int async, add;
static std::uint64_t n = 1;
static const pier_option options[] = {
	{ "d", "dev-pci-addr", "DEV", "the device, by PCI address or name",
	  PIER_OPTION_STRING, 0, 0, 0, &device },
	{ "f", "descriptor-path", "FILE", "where the host writes the event",
	  PIER_OPTION_STRING, 0, 1, 4095, &path },
	{ nullptr, "async", nullptr, "use tasks", PIER_OPTION_FLAG, 0, 0, 0,
	  &async },
	{ nullptr, "atomic", nullptr, "add to the event instead of setting it",
	  PIER_OPTION_FLAG, 0, 0, 0, &add },
	{ "n", "number", "N", "the value to wait for; default 1",
	  PIER_OPTION_NUMBER, 0, 1, INT64_MAX, &n },
	{},
};

static void signal_host()
{
	auto dev = pier::device::open(device).or_throw();
	auto pe = pier::engine::create().or_throw();
	auto desc = pier::await_desc(path, -1).or_throw();
	auto event = pier::sync_event::import_process(dev, desc).or_throw();
	(async ? event.ctx().start(pe) : event.start()).or_throw();

	if (async) {
		pier::run(event.task_wait_eq(n), -1).or_throw();
		pier::run(add ? event.task_add(1) : event.task_set(n + 1),
			  -1).or_throw();
		return;
	}
	event.wait_eq(n, -1).or_throw();
	if (add)
		event.add(1).or_throw();
	else
		event.set(n + 1).or_throw();
}

int main(int argc, char *argv[])
{
	auto args = pier::defaults<pier_args>();

	args.options = options;
	int err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	try {
		signal_host();
		std::printf("seen %" PRIu64 ", signalled %" PRIu64 "\n", n,
			    n + 1);
	} catch (const pier::exception &e) {
		std::fprintf(stderr, "sync_event_dpu: %s\n", e.what());
		return 1;
	}
	return 0;
}
