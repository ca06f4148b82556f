/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_atomic_requester - add to rdma_atomic_responder's number, replace it. */
#include <array>
#include <cinttypes>
#include <cstdio>

#include <pier/pier.hpp>

static std::uint64_t add = 1, swap = 100;
static const pier_option options[] = {
	{ "a", "add", "N", "what to add; default 1", PIER_OPTION_NUMBER, 0, 0,
	  0, &add },
	{ "s", "swap", "N", "what to store then; default 100",
	  PIER_OPTION_NUMBER, 0, 0, 0, &swap },
	{},
};

/* The number before each operation. */
static std::array<std::uint64_t, 2> change(const pier_args &args)
{
	std::array<std::uint64_t, 2> old{};
	auto dev = pier::device::open(args.device).or_throw();
	auto pe = pier::engine::create().or_throw();
	auto rdma = pier::rdma::create(dev).or_throw();
	rdma.start(pe).or_throw();

	auto local = pier::mmap::map(dev, old, PIER_LOCAL_WRITE).or_throw();
	auto peer = pier::rendezvous(rdma, args, nullptr, true).or_throw();
	auto inv = pier::inventory::create(2).or_throw();
	auto number = inv.empty(peer.remote).or_throw();
	auto result = inv.empty(local).or_throw();	/* one, then both */
	pier::run(peer.conn.fetch_add(number, result, add),
		  args.timeout_ms).or_throw();
	pier::run(peer.conn.compare_swap(number, result, old[0] + add, swap),
		  args.timeout_ms).or_throw();
	peer.conn.disconnect();
	return old;
}

int main(int argc, char *argv[])
{
	auto args = pier::rendezvous_args(
		"Add to the number of rdma_atomic_responder, replace it.");

	args.options = options;
	int err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	try {
		auto [first, second] = change(args);
		auto sum = first + add;

		std::printf("fetch and add: old %" PRIu64 ", new %" PRIu64 "\n"
			    "compare and swap: old %" PRIu64 ", new %" PRIu64
			    "\n", first, sum, second,
			    second == sum ? swap : second);
	} catch (const pier::exception &e) {
		std::fprintf(stderr, "rdma_atomic_requester: %s\n", e.what());
		return 1;
	}
	return 0;
}
