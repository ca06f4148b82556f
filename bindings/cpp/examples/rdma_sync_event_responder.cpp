/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_sync_event_responder - an event that a peer and this program set. */
#include <cinttypes>
#include <cstdio>

#include <pier/pier.hpp>

static void synchronise(const pier_args &args)
{
	auto dev = pier::device::open(args.device).or_throw();
	auto pe = pier::engine::create().or_throw();
	auto rdma = pier::rdma::create(dev).or_throw();
	rdma.start(pe).or_throw();

	auto event = pier::sync_event::create().or_throw();
	event.configure(PIER_SYNC_EVENT_REMOTE, PIER_SYNC_EVENT_CPU,
			dev).or_throw();
	event.start().or_throw();
	auto peer = pier::rendezvous_event(rdma, args, event,
					   false).or_throw();

	/* No engine runs while this waits. */
	event.wait_gt(0, args.timeout_ms).or_throw();
	auto first = event.value().or_throw();
	event.set(first + 1).or_throw();
	event.wait_gt(first + 1, args.timeout_ms).or_throw();
	auto last = event.value().or_throw();
	pier::serve(peer.conn).or_throw();	/* until it ends */
	peer.conn.disconnect();
	std::printf("seen %" PRIu64 ", set %" PRIu64 ", seen %" PRIu64 "\n",
		    first, first + 1, last);
}

int main(int argc, char *argv[])
{
	auto args = pier::rendezvous_args(
		"Synchronise with rdma_sync_event_requester.");
	int err = pier_args_parse(&args, argc, argv);

	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	try {
		synchronise(args);
	} catch (const pier::exception &e) {
		std::fprintf(stderr, "rdma_sync_event_responder: %s\n",
			     e.what());
		return 1;
	}
	return 0;
}
