/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_read_requester - read the text that rdma_read_responder exports. */
#include <array>
#include <cstdio>
#include <string>

#include <pier/pier.hpp>

static std::string read_text(const pier_args &args)
{
	std::array<char, 4096> text{};
	auto dev = pier::device::open(args.device).or_throw();
	auto pe = pier::engine::create().or_throw();
	auto rdma = pier::rdma::create(dev).or_throw();
	rdma.start(pe).or_throw();

	auto local = pier::mmap::map(dev, text, PIER_LOCAL_WRITE).or_throw();
	auto peer = pier::rendezvous(rdma, args, nullptr, true).or_throw();
	auto inv = pier::inventory::create(2).or_throw();
	auto src = inv.whole(peer.remote).or_throw();	/* data: all of it */
	auto dst = inv.empty(local).or_throw();		/* tail: all of it */
	pier::run(peer.conn.read(src, dst), args.timeout_ms).or_throw();
	peer.conn.disconnect();

	std::string_view got = dst.data().text();
	auto end = got.find('\0');
	if (end == 0 || end == got.npos)
		throw pier::exception({ -EBADMSG,
					"the peer's memory holds no text" });
	return std::string(got.substr(0, end));
}

int main(int argc, char *argv[])
{
	auto args = pier::rendezvous_args("Read what rdma_read_responder has.");
	int err = pier_args_parse(&args, argc, argv);

	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	try {
		std::printf("read \"%s\"\n", read_text(args).c_str());
	} catch (const pier::exception &e) {
		std::fprintf(stderr, "rdma_read_requester: %s\n", e.what());
		return 1;
	}
	return 0;
}
