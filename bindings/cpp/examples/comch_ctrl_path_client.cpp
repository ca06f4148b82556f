/* SPDX-License-Identifier: BSD-2-Clause */
/* comch_ctrl_path_client - send a text to a server of a Comm Channel. */
#include <cerrno>
#include <cstdio>
#include <optional>
#include <string>

#include <pier/pier.hpp>

static const char *text = PIER_ARGS_TEXT, *device, *address;
static const pier_option options[] = {
	{ "p", "pci-addr", "DEV", "the device, by PCI address or name",
	  PIER_OPTION_STRING, 0, 0, 0, &device },
	{ "t", "text", "TEXT", "the text to send", PIER_OPTION_STRING, 0, 1,
	  4080, &text },
	{ "sa", "server-addr", "HOST", "the server's host; default this one",
	  PIER_OPTION_STRING, 0, 0, 0, &address },
	{},
};

/* What the server answers. */
class inbox final : public pier::comch_events {
public:
	std::optional<std::string> answer;

	void received(pier::comch_conn from, pier::bytes msg) noexcept override
	{
		answer = pier::escape(msg);
		static_cast<void>(from.disconnect());
	}
};

static std::string exchange()
{
	inbox in;
	auto dev = pier::device::open(device).or_throw();
	auto pe = pier::engine::create().or_throw();
	auto client = pier::comch::client(dev, "comch_ctrl_path_sample_server",
					  address).or_throw();
	auto is = [&](auto state) { return client.ctx().state() == state; };

	client.set_events(in);
	client.start(pe).or_throw();
	pe.wait_until([&] { return !is(PIER_CTX_STARTING); }, -1).or_throw();
	if (!client.conn())
		throw pier::exception(client.error());
	pier::run(client.conn().send(text), -1).or_throw();
	pe.wait_until([&] { return is(PIER_CTX_IDLE); }, -1).or_throw();
	if (!in.answer)
		throw pier::exception({ -EBADMSG,
					"the server sent no answer" });
	return *in.answer;
}

int main(int argc, char *argv[])
{
	auto args = pier::defaults<pier_args>();

	args.about = "Send a message to comch_ctrl_path_server.";
	args.options = options;
	int err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	try {
		std::printf("sent \"%s\", received \"%s\"\n", text,
			    exchange().c_str());
	} catch (const pier::exception &e) {
		std::fprintf(stderr, "comch_ctrl_path_client: %s\n", e.what());
		return 1;
	}
	return 0;
}
