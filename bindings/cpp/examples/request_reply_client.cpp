/* SPDX-License-Identifier: BSD-2-Clause */
/* request_reply_client - send requests with deadlines, print the replies. */
#include <cstdio>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <pier/pier.hpp>

enum { MAX = 16, LEN = 1 << 16 };	/* credits of a client; of a reply */

static const char *text = PIER_ARGS_TEXT, *address;
static int count = 1, meetings;
static const pier_option options[] = {
	{ "t", "text", "TEXT", "the text to send", PIER_OPTION_STRING, 0, 1,
	  4080, &text },
	{ "c", "count", "N", "send it N times, 1 to 16; default 1",
	  PIER_OPTION_INT, 0, 1, MAX, &count },
	{ "m", "meetings", nullptr, "print who has met so far",
	  PIER_OPTION_FLAG, 0, 0, 0, &meetings },
	{ "sa", "server-addr", "HOST", "the server's host; default this one",
	  PIER_OPTION_STRING, 0, 1, 255, &address },
	{},
};

/* A text, or lines of who has met. */
static void print(std::string_view reply)
{
	std::istringstream lines{ std::string(reply) };

	if (!meetings)
		std::printf("met %s\n", pier::escape(reply).c_str());
	for (std::string line; meetings && std::getline(lines, line);)
		std::printf("%s\n", pier::escape(line).c_str());
}

static void send_all(const pier_args &args)
{
	std::vector<char> memory(MAX * LEN);	/* servers may write here */
	auto dev = pier::device::open(args.device).or_throw();
	auto pe = pier::engine::create().or_throw();
	auto mmap = pier::mmap::map(dev, memory, PIER_REMOTE_WRITE).or_throw();
	auto pool = pier::buf_pool::create(mmap, MAX, LEN).or_throw();
	auto client = pier::comch::client(dev, "request_reply",
					  address).or_throw();
	std::vector<std::pair<pier::buf, pier::task>> requests;

	client.start(pe).or_throw();
	pe.wait_until([&] {
		return client.ctx().state() != PIER_CTX_STARTING;
	}, -1).or_throw();
	if (!client.conn())
		throw pier::exception(client.error());
	for (int i = 0; i < count; i++) {
		auto reply = pool.take().or_throw();
		auto task = client.conn().request(meetings ? "" : text,
						  reply).or_throw();

		/* The server is informed when its time is over. */
		task.set_timeout(args.timeout_ms).or_throw();
		task.submit().or_throw();
		requests.emplace_back(std::move(reply), std::move(task));
	}
	for (auto &[reply, task] : requests) {
		task.wait(-1).or_throw();
		print(reply.data().text());
	}
}

int main(int argc, char *argv[])
{
	auto args = pier::rendezvous_args(
		"Send a text to request_reply_server; print the reply.");

	args.groups = PIER_ARGS_NAME | PIER_ARGS_TIMEOUT;
	args.options = options;
	int err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	try {
		send_all(args);
	} catch (const pier::exception &e) {
		std::fprintf(stderr, "request_reply_client: %s\n", e.what());
		return 1;
	}
	return 0;
}
