/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_atomic_responder - offer a number that the peer may change. */
#include <cinttypes>
#include <cstdio>

#include <pier/pier.hpp>

static std::uint64_t initial = 5;
static const pier_option options[] = {
	{ "n", "number", "N", "the number to offer; default 5",
	  PIER_OPTION_NUMBER, 0, 0, 0, &initial },
	{},
};

static std::uint64_t offer(const pier_args &args, std::uint64_t number)
{
	auto dev = pier::device::open(args.device).or_throw();
	auto pe = pier::engine::create().or_throw();
	auto rdma = pier::rdma::create(dev).or_throw();
	rdma.start(pe).or_throw();

	auto mmap = pier::mmap::map(dev, &number, sizeof(number),
				    PIER_REMOTE_ATOMIC).or_throw();
	auto peer = pier::rendezvous(rdma, args, mmap, false).or_throw();
	pier::serve(peer.conn).or_throw();
	mmap.stop().or_throw();		/* no peer can change it any more */
	peer.conn.disconnect();
	return number;
}

int main(int argc, char *argv[])
{
	auto args = pier::rendezvous_args(
		"Offer a number that rdma_atomic_requester changes.");

	args.options = options;
	int err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	try {
		auto number = offer(args, initial);

		std::printf("the number was %" PRIu64 ", is %" PRIu64 "\n",
			    initial, number);
	} catch (const pier::exception &e) {
		std::fprintf(stderr, "rdma_atomic_responder: %s\n", e.what());
		return 1;
	}
	return 0;
}
