/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_send - send a text to rdma_receive. */
#include <cstdio>
#include <string>

#include <pier/pier.hpp>

static const char *option_text = PIER_ARGS_TEXT;
static const pier_option options[] = {
	{ "s", "send-string", "TEXT", "the text to send", PIER_OPTION_STRING,
	  0, 1, 255, &option_text },
	{},
};

static void send_text(const pier_args &args, std::string text)
{
	auto dev = pier::device::open(args.device).or_throw();
	auto pe = pier::engine::create().or_throw();
	auto rdma = pier::rdma::create(dev).or_throw();
	rdma.start(pe).or_throw();

	text.push_back('\0');		/* goes with it */
	auto mmap = pier::mmap::map(dev, text, PIER_LOCAL_READ).or_throw();
	auto peer = pier::rendezvous(rdma, args, nullptr, false).or_throw();
	auto inv = pier::inventory::create(1).or_throw();
	auto src = inv.whole(mmap).or_throw();
	pier::run(peer.conn.send(src), args.timeout_ms).or_throw();
	peer.conn.disconnect();
}

int main(int argc, char *argv[])
{
	auto args = pier::rendezvous_args("Send a text to rdma_receive.");

	args.options = options;
	int err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	try {
		send_text(args, option_text);
		std::printf("sent \"%s\"\n", option_text);
	} catch (const pier::exception &e) {
		std::fprintf(stderr, "rdma_send: %s\n", e.what());
		return 1;
	}
	return 0;
}
