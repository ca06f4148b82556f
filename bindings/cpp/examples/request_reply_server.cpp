/* SPDX-License-Identifier: BSD-2-Clause */
/* request_reply_server - clients meet in pairs, and get each other's text. */
#include <csignal>
#include <cstdio>
#include <string>
#include <utility>

#include <pier/pier.hpp>

static constexpr std::size_t line_max = 2 * 4080 + 6;	/* of two messages */
static pier::engine_ref engine;
static volatile std::sig_atomic_t stopped;

class meetings final : public pier::request_events {
public:
	pier::comch_ref server;

	explicit meetings(pier::device_ref dev)
		: lines(1 << 20, '\0'), mmap(pier::mmap::map(
			dev, lines, PIER_LOCAL_READ).or_throw()) { }

private:
	std::string lines;	/* @used bytes of it; sent from there */
	std::size_t used = 0;
	pier::mmap mmap;
	pier::inventory inv = pier::inventory::create(1024).or_throw();
	std::uint64_t first = 0;	/* waits for another; 0: none does */
	std::string first_text;

	void requested(pier::comch_conn, std::uint64_t request,
		       pier::bytes msg) noexcept override
	{
		if (!msg.size)
			settle(request, list(request));	/* who has met */
		else if (used > lines.size() - line_max)
			settle(request, -ENOMEM);
		else if (first)
			meet(request, msg);
		else	/* reply later */
			first = request, first_text = msg.text();
	}

	/* Its reply was sent, or its client has given up or died. */
	void request_ended(std::uint64_t request, int err) noexcept override
	{
		if (err)
			std::fprintf(stderr, "a request ended: %s\n",
				     pier_strerror(err));
		first = request == first ? 0 : first;
	}

	/* Without a reply it is refused, else it waits for ever. */
	void settle(std::uint64_t request, pier::status replied)
	{
		if (!replied)
			static_cast<void>(server.refuse(request));
	}
	void meet(std::uint64_t request, pier::bytes msg)
	{
		auto line = first_text + " met " + std::string(msg.text()) +
			'\n';
		auto other = std::exchange(first, 0);

		used += line.copy(&lines[used], line.size());
		settle(other, server.reply(other, msg));
		settle(request, server.reply(request, first_text));
	}

	/* As many of the last lines as the client has memory for. */
	pier::status list(std::uint64_t request)
	{
		auto max = server.reply_buf_max(request);
		auto at = used > max ? lines.find('\n', used - max - 1) + 1 : 0;
		auto src = inv.by_data(mmap, &lines[at], used - at);

		return src ? server.reply(request, *src) : src.code();
	}
};

static void stop(int signal)
{
	stopped = signal;
	engine.wake();
}

static void serve(const pier_args &args)
{
	auto dev = pier::device::open(args.device).or_throw();
	auto pe = pier::engine::create().or_throw();
	meetings met(dev);
	auto server = pier::comch::server(dev, "request_reply").or_throw();

	met.server = server;
	server.set_events(met).or_throw();
	engine = pe;
	std::signal(SIGINT, stop);
	auto driven = server.start(pe);
	while (!stopped && driven)
		driven = pe.wait(-1);
	std::signal(SIGINT, SIG_DFL);	/* stop() uses the engine */
	driven.or_throw();
}

int main(int argc, char *argv[])
{
	auto args = pier::defaults<pier_args>();

	args.groups = PIER_ARGS_NAME;
	args.about = "Clients meet in pairs.";
	int err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	try {
		serve(args);
	} catch (const pier::exception &e) {
		std::fprintf(stderr, "request_reply_server: %s\n", e.what());
		return 1;
	}
	return 0;
}
