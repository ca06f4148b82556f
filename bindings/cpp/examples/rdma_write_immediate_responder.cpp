/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_write_immediate_responder - print a text that comes with a number. */
#include <arpa/inet.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include <pier/pier.hpp>

static void await_text(const pier_args &args)
{
	std::array<char, 4096> text{};
	auto dev = pier::device::open(args.device).or_throw();
	auto pe = pier::engine::create().or_throw();
	auto rdma = pier::rdma::create(dev).or_throw();
	rdma.start(pe).or_throw();

	auto mmap = pier::mmap::map(dev, text, PIER_REMOTE_WRITE).or_throw();
	std::uint32_t len = 0, number = 0;
	auto received = [&](pier::task_ref task) {
		if (task.ok() && task.recv_opcode() == PIER_RECV_WRITE_IMM) {
			len = task.recv_len();
			number = ntohl(task.recv_imm());
		}
	};

	/* Before a peer can write; the text itself arrives in @text. */
	rdma.receive(nullptr, received).or_throw();
	auto peer = pier::rendezvous(rdma, args, mmap, false).or_throw();
	pier::serve(peer.conn).or_throw();
	mmap.stop().or_throw();		/* no peer can write any more */
	peer.conn.disconnect();

	std::string_view got(text.data(), text.size());
	auto end = got.find('\0');
	if (!len || end == 0 || end == got.npos)
		throw pier::exception({ -EBADMSG, "the peer has written no "
					"text with an immediate" });
	std::printf("the peer has written \"%s\" with immediate %u\n",
		    pier::escape(got.substr(0, end)).c_str(), number);
}

int main(int argc, char *argv[])
{
	auto args = pier::rendezvous_args(
		"Let the peer write a text with a number, and print both.");
	int err = pier_args_parse(&args, argc, argv);

	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	try {
		await_text(args);
	} catch (const pier::exception &e) {
		std::fprintf(stderr, "rdma_write_immediate_responder: %s\n",
			     e.what());
		return 1;
	}
	return 0;
}
