/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_receive - receive a text from rdma_send, and print it. */
#include <array>
#include <cerrno>
#include <cstdio>
#include <string>

#include <pier/pier.hpp>

static std::string receive_text(const pier_args &args)
{
	std::array<char, 256> text{};
	auto dev = pier::device::open(args.device).or_throw();
	auto pe = pier::engine::create().or_throw();
	auto rdma = pier::rdma::create(dev).or_throw();
	rdma.start(pe).or_throw();

	auto mmap = pier::mmap::map(dev, text, PIER_LOCAL_WRITE).or_throw();
	auto inv = pier::inventory::create(1).or_throw();
	auto dst = inv.empty(mmap).or_throw();
	std::uint32_t len = 0;
	auto received = [&](pier::task_ref task) {
		len = task.ok() ? task.recv_len() : 0;
	};

	rdma.receive(dst, received).or_throw();	/* before a peer can send */
	auto peer = pier::rendezvous(rdma, args, nullptr, false).or_throw();
	pier::serve(peer.conn).or_throw();
	peer.conn.disconnect();
	if (len < 2 || !text[0] || text[len - 1])
		throw pier::exception({ -EBADMSG,
					"the peer has sent no text" });
	return text.data();
}

int main(int argc, char *argv[])
{
	auto args = pier::rendezvous_args("Receive a text from rdma_send.");
	int err = pier_args_parse(&args, argc, argv);

	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	try {
		std::printf("received \"%s\"\n", receive_text(args).c_str());
	} catch (const pier::exception &e) {
		std::fprintf(stderr, "rdma_receive: %s\n", e.what());
		return 1;
	}
	return 0;
}
