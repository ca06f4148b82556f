/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_sync_event_requester - set the responder's event, wait, set it again. */
#include <chrono>
#include <cinttypes>
#include <cstdio>

#include <pier/pier.hpp>

static std::uint64_t value = 1;
static const pier_option options[] = {
	{ "n", "number", "N", "the value to set first; default 1",
	  PIER_OPTION_NUMBER, 0, 1, INT64_MAX, &value },
	{},
};

static void synchronise(const pier_args &args)
{
	using clock = std::chrono::steady_clock;
	using std::chrono::milliseconds;

	std::uint64_t word = value;	/* what tasks set or get */
	auto end = clock::now() + milliseconds(args.timeout_ms);
	auto dev = pier::device::open(args.device).or_throw();
	auto pe = pier::engine::create().or_throw();
	auto rdma = pier::rdma::create(dev).or_throw();
	rdma.start(pe).or_throw();

	auto local = pier::mmap::map(dev, &word, sizeof(word),
				     PIER_LOCAL_WRITE).or_throw();
	auto peer = pier::rendezvous_event(rdma, args, nullptr,
					   true).or_throw();
	auto inv = pier::inventory::create(1).or_throw();
	auto buf = inv.whole(local).or_throw();
	auto event = peer.remote.get();

	pier::run(peer.conn.notify_set(event, buf), args.timeout_ms).or_throw();
	while (word <= value) {
		auto left = std::chrono::duration_cast<milliseconds>(
			end - clock::now()).count();

		buf.reset_data();	/* space for the value */
		pier::run(peer.conn.remote_get(event, buf),
			  left > 0 ? static_cast<int>(left) : 0).or_throw();
	}
	auto seen = word++;
	pier::run(peer.conn.notify_set(event, buf), args.timeout_ms).or_throw();
	std::printf("set %" PRIu64 ", read %" PRIu64 ", set %" PRIu64 "\n",
		    value, seen, word);
}

int main(int argc, char *argv[])
{
	auto args = pier::rendezvous_args(
		"Synchronise with rdma_sync_event_responder.");

	args.options = options;
	int err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	try {
		synchronise(args);
	} catch (const pier::exception &e) {
		std::fprintf(stderr, "rdma_sync_event_requester: %s\n",
			     e.what());
		return 1;
	}
	return 0;
}
