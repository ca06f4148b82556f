/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_read_responder - offer a text in memory that the peer may read. */
#include <cstdio>
#include <string>

#include <pier/pier.hpp>

static const char *text = PIER_ARGS_TEXT;
static const pier_option options[] = {
	{ "r", "read-string", "TEXT", "the text to offer", PIER_OPTION_STRING,
	  0, 1, 255, &text },
	{},
};

/* Without exceptions: each step has a result, the first failure is returned. */
static pier::error offer(const pier_args &args)
{
	/* The peer can read the text and its NUL, and nothing else. */
	std::string memory(text, std::string(text).size() + 1);
	auto dev = pier::device::open(args.device);
	auto pe = pier::engine::create();

	if (!dev || !pe)
		return dev ? pe.error() : dev.error();
	auto rdma = pier::rdma::create(*dev);
	if (!rdma)
		return rdma.error();
	if (auto started = rdma->start(*pe); !started)
		return started.error();
	auto mmap = pier::mmap::map(*dev, memory, PIER_REMOTE_READ);
	if (!mmap)
		return mmap.error();

	std::printf("offering \"%s\"\n", memory.c_str());
	std::fflush(stdout);
	auto peer = pier::rendezvous(*rdma, args, *mmap, false);
	if (!peer)
		return peer.error();
	if (auto served = pier::serve(peer->conn); !served)
		return served.error();
	std::puts(peer->conn.connected() ? "done: ended by Enter" :
		  "done: the peer has disconnected");
	return {};
}

int main(int argc, char *argv[])
{
	auto args = pier::rendezvous_args("Offer a text to read.");

	args.options = options;
	int err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	pier::error error = offer(args);
	if (error.code)
		std::fprintf(stderr, "rdma_read_responder: %s\n",
			     error.text.c_str());
	return error.code ? 1 : 0;
}
