/* SPDX-License-Identifier: BSD-2-Clause */
#include <unistd.h>

#include "t/cpp/ends.hpp"

/* Comm Channels of the C++ binding: messages, requests, long messages. */

/* What a server or client was sent. */
class inbox : public pier::request_events {
public:
	pier::comch_conn conn;
	std::string message, request_text;
	std::uint64_t request = 0;
	std::uint32_t consumer = 0;
	int ended = 0, disconnects = 0;

	void connected(pier::comch_conn with) noexcept override { conn = with; }
	void disconnected(pier::comch_conn) noexcept override
	{
		disconnects++;
		conn = nullptr;
	}
	void received(pier::comch_conn, pier::bytes msg) noexcept override
	{
		message = msg.text();
	}
	void consumer_added(pier::comch_conn, std::uint32_t id)
		noexcept override
	{
		consumer = id;
	}
	void requested(pier::comch_conn, std::uint64_t id,
		       pier::bytes msg) noexcept override
	{
		request = id;
		request_text = msg.text();
	}
	void request_ended(std::uint64_t id, int status) noexcept override
	{
		IS(id, request);
		IS(status, 0);
		ended++;
	}
};

/* A server and its client in one process. */
struct channel {
	std::string name = "cpp-" + std::to_string(getpid());
	pier::device dev = pier::device::open("soft_lo").value();
	pier::engine pe = pier::engine::create().value();
	inbox at_server, at_client;
	pier::comch server = pier::comch::server(dev, name.c_str()).value();
	pier::comch client = pier::comch::client(dev, name.c_str()).value();

	channel()
	{
		server.set_events(at_server).or_throw();
		client.set_events(
			static_cast<pier::comch_events &>(at_client));
		server.start(pe).or_throw();
		client.start(pe).or_throw();
		until([&] { return at_server.conn && at_client.conn; });
	}
	template <class P> bool until(P done)
	{
		return IS(pe.wait_until(done, LIMIT_MS).code(), 0);
	}
};

static void messages_pass_in_both_directions()
{
	channel c;
	int sent = 0;
	auto count = [&](pier::task_ref task) { sent += task.ok(); };

	IS(c.client.conn().send("to the server", count).code(), 0);
	IS(pier::run(c.at_server.conn.send("to the client"),
		     LIMIT_MS).code(), 0);
	c.until([&] { return sent && !c.at_client.message.empty(); });
	OK(c.at_server.message == "to the server");
	OK(c.at_client.message == "to the client");
	IS(c.server.counters().received_messages, 1);
}

static void a_request_is_replied_to_later()
{
	channel c;
	char reply[32] = "";
	auto request = c.client.conn().request("what", reply,
					       sizeof(reply)).value();

	IS(request.submit().code(), 0);
	c.until([&] { return c.at_server.request != 0; });
	OK(c.at_server.request_text == "what");
	OK(c.server.request_conn(c.at_server.request) == c.at_server.conn);
	OK(c.server.reply_max(c.at_server.request) >= 6);
	IS(c.server.reply(c.at_server.request, "answer").code(), 0);
	IS(request.wait(LIMIT_MS).code(), 0);
	IS(pier::reply_len(request), 6);
	IS_STR(reply, "answer");
	c.until([&] { return c.at_server.ended == 1; });
	IS(c.server.reply(c.at_server.request, "again").code(), -ESTALE);
}

static void a_long_reply_is_written_into_the_buffer_of_its_request()
{
	channel c;
	std::string text(100000, 'r');
	auto mine = pier::mmap::alloc(c.dev, text.size()).value();
	auto cfg = pier::defaults<pier_mmap_config>();

	cfg.access = PIER_REMOTE_WRITE;
	auto theirs = pier::mmap::alloc(c.dev, text.size(), &cfg).value();
	auto inv = pier::inventory::create(2).value();
	auto src = inv.whole(mine).value();
	auto dst = inv.empty(theirs).value();

	std::memcpy(mine.addr(), text.data(), text.size());
	auto request = c.client.conn().request("long", dst).value();

	IS(request.submit().code(), 0);
	c.until([&] { return c.at_server.request != 0; });
	IS(c.server.reply(c.at_server.request, src).code(), 0);
	IS(request.wait(LIMIT_MS).code(), 0);
	OK(dst.data().text() == text);
	c.until([&] { return c.at_server.ended == 1; });
}

static void a_refused_request_fails()
{
	channel c;
	auto request = c.client.conn().request("no", nullptr, 0).value();

	IS(request.submit().code(), 0);
	c.until([&] { return c.at_server.request != 0; });
	IS(c.server.refuse(c.at_server.request).code(), 0);
	IS(request.wait(LIMIT_MS).code(), -EREMOTEIO);
}

static void a_message_goes_from_a_producer_to_a_consumer()
{
	channel c;
	std::vector<char> memory(64), text(64, 'p');
	auto to = pier::mmap::map(c.dev, memory, PIER_LOCAL_WRITE).value();
	auto from = pier::mmap::map(c.dev, text, PIER_LOCAL_READ).value();
	auto inv = pier::inventory::create(2).value();
	auto dst = inv.empty(to).value();
	auto src = inv.whole(from).value();
	auto consumer = pier::consumer::create(c.client.conn(), to).value();
	auto producer = pier::producer::create(c.at_server.conn).value();

	IS(consumer.start(c.pe).code(), 0);
	IS(producer.start(c.pe).code(), 0);
	c.until([&] {
		return consumer.ctx().running() && producer.ctx().running() &&
			c.at_server.consumer == consumer.id();
	});
	auto receive = consumer.receive(dst).value();

	IS(receive.submit().code(), 0);
	IS(pier::run(producer.send(src, "imm", consumer.id()),
		     LIMIT_MS).code(), 0);
	IS(receive.wait(LIMIT_MS).code(), 0);
	IS(pier::message_len(receive), 64);
	OK(pier::message_imm(receive).text() == "imm");
	OK(memory == text);
	IS(producer.counters().messages, 1);
}

/* Has no interest in requests. */
class silent final : public pier::comch_events {
public:
	int others = 0;

	virtual void other() { others++; }	/* of the program alone */
};

static void a_server_takes_no_requests_once_its_events_are_without_them()
{
	channel c;
	silent events;
	char reply[16];

	c.server.set_events(events);
	auto task = c.client.conn().request("who", reply,
					    sizeof(reply)).value();

	IS(task.run(LIMIT_MS).code(), -EOPNOTSUPP);
	IS(events.others, 0);
	IS(c.at_server.request, 0);
	c.server.set_events(c.at_server).or_throw();
	IS(task.submit().code(), 0);
	c.until([&] { return c.at_server.request != 0; });
	IS(c.server.reply(c.at_server.request, "I").code(), 0);
	IS(task.wait(LIMIT_MS).code(), 0);
	c.until([&] { return c.at_server.ended == 1; });
}

static void a_client_without_a_server_has_the_reason()
{
	auto dev = pier::device::open("soft_lo").value();
	auto pe = pier::engine::create().value();
	auto client = pier::comch::client(dev, "cpp-no-such-name").value();

	IS(client.start(pe).code(), 0);
	IS(pe.wait_until([&] {
		return client.ctx().state() == PIER_CTX_IDLE;
	}, LIMIT_MS).code(), 0);
	OK(client.error().code < 0);
	LIKE(client.error().text.c_str(), "cpp-no-such-name");
	OK(!client.conn());
}

static void the_end_of_a_connection_is_reported()
{
	channel c;

	IS(c.client.conn().disconnect().code(), 0);
	c.until([&] { return c.at_server.disconnects == 1; });
	OK(!c.at_server.conn);
}

int main()
{
	TEST(messages_pass_in_both_directions);
	TEST(a_request_is_replied_to_later);
	TEST(a_long_reply_is_written_into_the_buffer_of_its_request);
	TEST(a_refused_request_fails);
	TEST(a_message_goes_from_a_producer_to_a_consumer);
	TEST(a_server_takes_no_requests_once_its_events_are_without_them);
	TEST(a_client_without_a_server_has_the_reason);
	TEST(the_end_of_a_connection_is_reported);
	return tap_done();
}
