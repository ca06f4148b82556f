/* SPDX-License-Identifier: BSD-2-Clause */
#include "t/cpp/ends.hpp"

/* Connections by address of the C++ binding. */

/* A server that accepts, or rejects, each request. */
class server : public pier::rdma_events {
public:
	bool accepts = true;
	std::string greeting;
	pier::conn conn;
	int established_count = 0, ended = 0;

	void requested(pier::conn_ref from) noexcept override
	{
		auto data = from.private_data();

		if (data)
			greeting = data->text();
		if (!accepts) {
			IS(from.reject("no").code(), 0);
			return;
		}
		IS(from.accept("welcome").code(), 0);
		conn = pier::conn(from.get());
	}
	void established(pier::conn_ref with) noexcept override
	{
		OK(with == conn);
		established_count++;
	}
	void disconnected(pier::conn_ref) noexcept override { ended++; }
};

/* The same without anything of its own: the default rejects. */
class silent : public pier::rdma_events {
};

struct hosts {
	pier::device dev = pier::device::open("soft_lo").value();
	pier::engine pe = pier::engine::create().value();
	pier::rdma passive = pier::rdma::create(dev).value();
	pier::rdma active = pier::rdma::create(dev).value();
	pier::listener listener;

	explicit hosts(pier::rdma_events &events)
	{
		passive.set_events(events);
		passive.start(pe).or_throw();
		active.start(pe).or_throw();
		listener = passive.listen(0).value();
	}
	pier::conn connect(const char *data)
	{
		auto cfg = pier::defaults<pier_connect_config>();

		cfg.peer = "127.0.0.1";
		cfg.port = listener.port();
		cfg.data = data;
		cfg.data_len = std::strlen(data);
		return active.connect(cfg).value();
	}
};

static void a_client_connects_to_the_port_of_a_listener()
{
	server events;
	hosts h(events);
	auto conn = h.connect("hello");

	IS(conn.wait(LIMIT_MS).code(), 0);
	IS(h.pe.wait_until([&] { return events.established_count == 1; },
			   LIMIT_MS).code(), 0);
	OK(events.greeting == "hello");
	OK(conn.private_data()->text() == "welcome");
	OK(conn.peer_is_pier());
	LIKE(conn.peer_address(), "127.0.0.1");
	conn.disconnect();
	IS(h.pe.wait_until([&] { return events.ended == 1; },
			   LIMIT_MS).code(), 0);
	events.conn.reset();
}

static void a_rejected_client_has_the_reason_and_the_data()
{
	server events;

	events.accepts = false;
	hosts h(events);
	auto conn = h.connect("let me in");

	IS(conn.wait(LIMIT_MS).code(), -ECONNREFUSED);
	IS(conn.error().code, -ECONNREFUSED);
	IS(conn.reject_reason(), 28);
	OK(conn.private_data()->text() == "no");
}

static void events_that_are_not_overridden_reject()
{
	silent events;
	hosts h(events);
	auto conn = h.connect("anybody there");

	IS(conn.wait(LIMIT_MS).code(), -ECONNREFUSED);
}

static void a_port_without_a_listener_is_an_error()
{
	server events;
	hosts h(events);
	std::uint16_t port = h.listener.port();

	h.listener.reset();
	auto conn = h.active.connect("127.0.0.1", port).value();

	OK(!conn.wait(LIMIT_MS));
	OK(!conn.error().text.empty());
}

int main()
{
	TEST(a_client_connects_to_the_port_of_a_listener);
	TEST(a_rejected_client_has_the_reason_and_the_data);
	TEST(events_that_are_not_overridden_reject);
	TEST(a_port_without_a_listener_is_an_error);
	return tap_done();
}
