/* SPDX-License-Identifier: BSD-2-Clause */
/* comch_data_path_client - send a text to the consumer of a server. */
#include <cerrno>
#include <cstdio>
#include <string>

#include <pier/pier.hpp>

static const char *option_text = PIER_ARGS_TEXT, *device, *address;
static const pier_option options[] = {
	{ "p", "pci-addr", "DEV", "the device, by PCI address or name",
	  PIER_OPTION_STRING, 0, 0, 0, &device },
	{ "t", "text", "TEXT", "the text to send", PIER_OPTION_STRING, 0, 1,
	  1 << 20, &option_text },
	{ "sa", "server-addr", "HOST", "the server's host; default this one",
	  PIER_OPTION_STRING, 0, 0, 0, &address },
	{},
};

/* Of the server. */
class peer_events final : public pier::comch_events {
public:
	std::uint32_t consumer = 0;

	void received(pier::comch_conn, pier::bytes msg) noexcept override
	{
		std::printf("received \"%s\"\n", pier::escape(msg).c_str());
	}
	void consumer_added(pier::comch_conn, std::uint32_t id)
		noexcept override
	{
		consumer = id;
	}
};

static void send_text(std::string text)
{
	peer_events of_peer;
	auto dev = pier::device::open(device).or_throw();
	auto pe = pier::engine::create().or_throw();
	auto mmap = pier::mmap::map(dev, text, PIER_LOCAL_READ).or_throw();
	auto inv = pier::inventory::create(1).or_throw();
	auto src = inv.whole(mmap).or_throw();
	auto client = pier::comch::client(dev, "comch_data_path_sample_server",
					  address).or_throw();

	client.set_events(of_peer);
	client.start(pe).or_throw();
	pe.wait_until([&] {
		return of_peer.consumer ||
			client.ctx().state() == PIER_CTX_IDLE;
	}, -1).or_throw();
	if (!client.conn())
		throw pier::exception(client.error());
	auto producer = pier::producer::create(client.conn()).or_throw();
	producer.start(pe).or_throw();
	pier::run(producer.send(src, {}, of_peer.consumer), -1).or_throw();
}

int main(int argc, char *argv[])
{
	auto args = pier::defaults<pier_args>();

	args.options = options;
	int err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	try {
		send_text(option_text);
		std::printf("sent \"%s\"\n", option_text);
	} catch (const pier::exception &e) {
		std::fprintf(stderr, "comch_data_path_client: %s\n", e.what());
		return 1;
	}
	return 0;
}
