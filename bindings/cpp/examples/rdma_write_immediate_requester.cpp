/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_write_immediate_requester - write a text, and send a number with it. */
#include <arpa/inet.h>

#include <cinttypes>
#include <cstdio>
#include <string>

#include <pier/pier.hpp>

static const char *option_text = PIER_ARGS_TEXT;
static std::uint64_t immediate = 43981;
static const pier_option options[] = {
	{ "w", "write-string", "TEXT", "the text to write", PIER_OPTION_STRING,
	  0, 1, 255, &option_text },
	{ "i", "immediate", "N", "the number; default 43981",
	  PIER_OPTION_NUMBER, 0, 0, UINT32_MAX, &immediate },
	{},
};

static void write_text(const pier_args &args, std::string text)
{
	auto dev = pier::device::open(args.device).or_throw();
	auto pe = pier::engine::create().or_throw();
	auto rdma = pier::rdma::create(dev).or_throw();
	rdma.start(pe).or_throw();

	text.push_back('\0');		/* goes with it */
	auto local = pier::mmap::map(dev, text, PIER_LOCAL_READ).or_throw();
	auto peer = pier::rendezvous(rdma, args, nullptr, true).or_throw();
	auto inv = pier::inventory::create(2).or_throw();
	auto src = inv.whole(local).or_throw();
	auto dst = inv.empty(peer.remote).or_throw();
	auto number = htonl(static_cast<std::uint32_t>(immediate));
	pier::run(peer.conn.write_imm(src, dst, number),
		  args.timeout_ms).or_throw();
	peer.conn.disconnect();
}

int main(int argc, char *argv[])
{
	auto args = pier::rendezvous_args(
		"Write a text, and send a number with it.");

	args.options = options;
	int err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	try {
		write_text(args, option_text);
		std::printf("wrote \"%s\" with immediate %" PRIu64 "\n",
			    option_text, immediate);
	} catch (const pier::exception &e) {
		std::fprintf(stderr, "rdma_write_immediate_requester: %s\n",
			     e.what());
		return 1;
	}
	return 0;
}
