/* SPDX-License-Identifier: BSD-2-Clause */
/* comch_ctrl_path_server - answer a client on a Comm Channel. */
#include <cerrno>
#include <cstdio>

#include <pier/pier.hpp>

static const char *text = PIER_ARGS_TEXT, *device, *rep_name;
static const pier_option options[] = {
	{ "p", "pci-addr", "DEV", "the device, by PCI address or name",
	  PIER_OPTION_STRING, 0, 0, 0, &device },
	{ "r", "rep-pci", "REP", "the representor, by PCI address or name",
	  PIER_OPTION_STRING, 0, 0, 0, &rep_name },
	{ "t", "text", "TEXT", "the text to answer with", PIER_OPTION_STRING,
	  0, 1, 4080, &text },
	{},
};

/* Answers until a client disconnects; it is the callable of the answers. */
class answers final : public pier::comch_events {
public:
	pier::error error{ -EBADMSG, "no client has sent a message" };
	bool over = false;

	void operator()(pier::task_ref sent) { error = sent.error(); }

private:
	void received(pier::comch_conn from, pier::bytes msg) noexcept override
	{
		std::printf("received \"%s\"\n", pier::escape(msg).c_str());
		if (auto sent = from.send(text, *this); !sent)
			error = sent.error();
	}
	void disconnected(pier::comch_conn) noexcept override { over = true; }
};

static void serve()
{
	answers given;
	pier::rep rep;
	auto dev = pier::device::open(device).or_throw();
	if (rep_name)
		rep = pier::rep::open(dev, rep_name).or_throw();
	auto pe = pier::engine::create().or_throw();
	auto server = pier::comch::server(dev, "comch_ctrl_path_sample_server",
					  rep).or_throw();

	server.set_events(given);
	server.start(pe).or_throw();
	pe.wait_until([&] { return given.over; }, -1).or_throw();
	if (given.error.code)
		throw pier::exception(given.error);
}

int main(int argc, char *argv[])
{
	auto args = pier::defaults<pier_args>();

	args.about = "Answer a message of comch_ctrl_path_client.";
	args.options = options;
	int err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	try {
		serve();
		std::printf("sent \"%s\"\n", text);
	} catch (const pier::exception &e) {
		std::fprintf(stderr, "comch_ctrl_path_server: %s\n", e.what());
		return 1;
	}
	return 0;
}
