/* SPDX-License-Identifier: BSD-2-Clause */
/* comch_data_path_server - greet a client, and receive by a consumer. */
#include <cstdio>

#include <pier/pier.hpp>

static const char *text = PIER_ARGS_TEXT, *device, *rep_name;
static const pier_option options[] = {
	{ "p", "pci-addr", "DEV", "the device, by PCI address or name",
	  PIER_OPTION_STRING, 0, 0, 0, &device },
	{ "r", "rep-pci", "REP", "the representor, by PCI address or name",
	  PIER_OPTION_STRING, 0, 0, 0, &rep_name },
	{ "t", "text", "TEXT", "the text to greet the client with",
	  PIER_OPTION_STRING, 0, 1, 4080, &text },
	{},
};

/* One client at a time. */
class clients final : public pier::comch_events {
public:
	pier::comch_conn client;

	void connected(pier::comch_conn peer) noexcept override
	{
		client = client ? client : peer;
	}
};

static void serve()
{
	clients have;
	pier::rep rep;
	auto dev = pier::device::open(device).or_throw();
	if (rep_name)
		rep = pier::rep::open(dev, rep_name).or_throw();
	auto pe = pier::engine::create().or_throw();
	auto mmap = pier::mmap::alloc(dev, 1 << 20).or_throw();
	auto inv = pier::inventory::create(1).or_throw();
	auto dst = inv.empty(mmap).or_throw();
	auto server = pier::comch::server(dev, "comch_data_path_sample_server",
					  rep).or_throw();

	server.set_events(have);
	server.start(pe).or_throw();
	pe.wait_until([&] { return bool(have.client); }, -1).or_throw();
	auto greeting = have.client.send(text).or_throw();
	greeting.submit().or_throw();
	auto consumer = pier::consumer::create(have.client, mmap).or_throw();
	consumer.start(pe).or_throw();
	pe.wait_until([&] {
		return consumer.ctx().state() != PIER_CTX_STARTING;
	}, -1).or_throw();
	pier::run(consumer.receive(dst), -1).or_throw();
	greeting.wait(-1).or_throw();
	std::printf("sent \"%s\"\nreceived \"%s\"\n", text,
		    pier::escape(dst.data()).c_str());
}

int main(int argc, char *argv[])
{
	auto args = pier::defaults<pier_args>();

	args.options = options;
	int err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	try {
		serve();
	} catch (const pier::exception &e) {
		std::fprintf(stderr, "comch_data_path_server: %s\n", e.what());
		return 1;
	}
	return 0;
}
