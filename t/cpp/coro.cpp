/* SPDX-License-Identifier: BSD-2-Clause */
#include <memory>
#include <stdexcept>

#include "t/cpp/ends.hpp"

/* Coroutines of the C++ binding. */

static pier::coro<std::uint32_t> read_whole(ends &e)
{
	auto src = e.a.inv.whole(e.a.remote).value();
	auto dst = e.a.inv.empty(e.a.mmap).value();
	auto done = co_await e.a.conn.read(src, dst);

	co_return done ? done->read_len() : 0;
}

static void an_awaited_read_returns_its_completed_task()
{
	ends e;

	e.b.fill("read by a coroutine");
	auto len = pier::run(e.pe, read_whole(e), LIMIT_MS);

	IS(len.code(), 0);
	IS(*len, 4096);
	IS_STR(e.a.memory.data(), "read by a coroutine");
	IS(e.a.inv.free_count(), e.a.inv.size());
}

static pier::coro<> receive_and_reply(end &at, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		auto dst = at.target();
		auto got = co_await at.rdma.receive(dst);

		IS(got.code(), 0);
		auto src = at.inv.by_data(at.mmap, at.memory.data() + 2048,
					  got->recv_len()).value();

		IS((co_await at.conn.send(src)).code(), 0);
	}
}

static pier::coro<> answer(end &at, int rounds, int &same)
{
	for (int i = 0; i < rounds; i++) {
		auto dst = at.target();
		auto got = co_await at.rdma.receive(dst);

		same += got && !std::strcmp(at.received(), at.memory.data());
	}
}

static pier::coro<> ask(end &at, int rounds)
{
	auto src = at.source("the same text");

	for (int i = 0; i < rounds; i++)
		IS((co_await at.conn.send(src)).code(), 0);
}

static void coroutines_of_two_ends_run_at_the_same_time()
{
	ends e;
	int same = 0;
	auto echo = receive_and_reply(e.b, 20);
	auto back = answer(e.a, 20, same);
	auto to = ask(e.a, 20);

	echo.start();
	back.start();
	IS(pier::run(e.pe, to, LIMIT_MS).code(), 0);
	IS(pier::run(e.pe, back, LIMIT_MS).code(), 0);
	IS(pier::run(e.pe, echo, LIMIT_MS).code(), 0);
	IS(same, 20);
}

static pier::coro<int> add(ends &e, int n)
{
	if (n == 0)
		co_return 0;
	auto len = co_await read_whole(e);

	co_return (len == 4096) + co_await add(e, n - 1);
}

static void a_coroutine_awaits_others()
{
	ends e;

	IS(*pier::run(e.pe, add(e, 10), LIMIT_MS), 10);
}

static pier::coro<> fail_to_write(ends &e, pier::error &ret)
{
	auto src = e.a.source("refused");
	auto dst = e.a.inv.empty(e.a.remote).value();
	auto done = co_await e.a.conn.write(src, dst);

	ret = done.error();
}

static void a_failed_task_is_an_error()
{
	ends e;

	e.b.mmap.reset();
	pier::error error;
	IS(pier::run(e.pe, fail_to_write(e, error), LIMIT_MS).code(), 0);

	IS(error.code, -PIER_EREMACCESS);
	LIKE(error.text.c_str(), "write");
	/* The connection has ended: now submit fails, without suspension. */
	e.until([&] { return !e.a.conn.connected(); });
	IS(pier::run(e.pe, fail_to_write(e, error), LIMIT_MS).code(), 0);
	OK(error.code < 0);
	OK(!error.text.empty());
}

static pier::coro<int> throw_later(ends &e)
{
	co_await read_whole(e);
	throw std::runtime_error("thrown");
}

static void an_exception_reaches_the_caller_of_run()
{
	ends e;
	std::string text;

	try {
		OK(!pier::run(e.pe, throw_later(e), LIMIT_MS).ok());
	} catch (const std::runtime_error &error) {
		text = error.what();
	}
	OK(text == "thrown");
}

/* Waits for a message in memory of its own. */
static pier::coro<> receive_forever(ends &e, bool &ended)
{
	std::vector<char> memory(64);
	auto mmap = pier::mmap::map(e.dev, memory, PIER_LOCAL_WRITE).value();
	auto dst = e.b.inv.empty(mmap).value();
	auto got = co_await e.b.rdma.receive(dst);

	ended = got.ok();
}

static void a_coroutine_is_destroyed_while_its_task_is_in_flight()
{
	ends e;
	bool ended = false;

	{
		auto work = receive_forever(e, ended);

		IS(pier::run(e.pe, work, 0).code(), -ETIMEDOUT);
		OK(!work.done());
		IS(e.pe.inflight(), 1);
	}
	/* The task has ended: memory of the coroutine is not used any more. */
	IS(e.pe.inflight(), 0);
	IS(e.b.inv.free_count(), e.b.inv.size());
	OK(!ended);
}

static void a_read_is_destroyed_while_it_is_in_flight()
{
	ends e;

	{
		auto work = read_whole(e);

		work.start();
		IS(e.pe.inflight(), 1);
	}
	IS(e.pe.inflight(), 0);
	IS(e.a.inv.free_count(), e.a.inv.size());
}

static void a_coroutine_is_destroyed_in_a_callback()
{
	ends e;
	bool ended = false, destroyed = false;
	auto work = std::make_unique<pier::coro<>>(receive_forever(e, ended));
	auto src = e.a.source("x");
	auto dst = e.a.inv.empty(e.a.remote).value();
	auto destroy = [&](pier::task_ref) {
		work.reset();
		destroyed = true;
	};

	work->start();
	IS(e.a.conn.write(src, dst, destroy).code(), 0);
	e.until([&] { return destroyed && e.pe.inflight() == 0; });
	IS(e.b.inv.free_count(), e.b.inv.size());
	OK(!ended);
}

static void a_coroutine_that_was_not_done_in_time_is_run_again()
{
	ends e;
	bool ended = false;
	auto work = receive_forever(e, ended);

	IS(pier::run(e.pe, work, 0).code(), -ETIMEDOUT);
	auto src = e.a.source("at last");

	IS(pier::run(e.a.conn.send(src), LIMIT_MS).code(), 0);
	IS(pier::run(e.pe, work, LIMIT_MS).code(), 0);
	OK(ended);
}

static pier::coro<pier::status> connect(pier::conn_ref conn)
{
	co_return co_await pier::connected(conn);
}

static void a_connection_is_awaited()
{
	auto dev = pier::device::open().value();
	auto pe = pier::engine::create().value();
	end a(dev, pe), b(dev, pe);

	a.conn.connect(b.desc).or_throw();
	b.conn.connect(a.desc).or_throw();
	{
		auto early = connect(a.conn);	/* destroyed before */

		early.start();
	}
	IS(pier::run(pe, connect(a.conn), LIMIT_MS).code(), 0);
	OK(a.conn.connected());
	IS(pier::run(pe, connect(a.conn), LIMIT_MS).code(), 0);
}

/* Two wait, for one connection each; the first of them is destroyed. */
static void a_wait_ends_when_its_connection_is_destroyed()
{
	auto dev = pier::device::open().value();
	auto pe = pier::engine::create().value();
	end a(dev, pe), b(dev, pe);
	auto of_a = connect(a.conn), of_b = connect(b.conn);

	of_a.start();
	of_b.start();
	a.conn.reset();
	OK(!of_b.done());
	if (OK(of_a.done())) {
		auto result = of_a.get();

		IS(result.code(), -EINVAL);
		LIKE(result.text(), "NULL");
	}
	OK(pe.progress() >= 0);
	b.conn.reset();
	OK(of_b.done());
}

/* Waits for @conn, and then destroys itself and the other one. */
static pier::coro<> connect_and_end(pier::conn_ref conn,
				    std::unique_ptr<pier::coro<>> &other)
{
	OK(!co_await pier::connected(conn));
	other.reset();
}

static void a_coroutine_that_has_lost_its_connection_may_end_others()
{
	auto dev = pier::device::open().value();
	auto pe = pier::engine::create().value();
	end a(dev, pe);
	std::unique_ptr<pier::coro<>> one, two;

	one = std::make_unique<pier::coro<>>(connect_and_end(a.conn, two));
	two = std::make_unique<pier::coro<>>(connect_and_end(a.conn, one));
	one->start();
	two->start();
	a.conn.reset();
	OK(!one != !two);
}

static void a_wait_ends_with_the_context_of_its_connection()
{
	auto dev = pier::device::open().value();
	auto pe = pier::engine::create().value();
	end a(dev, pe);
	auto of_a = connect(a.conn.release());	/* as that of a listener */

	of_a.start();
	a.rdma.reset();
	OK(of_a.done());
}

/* Rejects each client while a coroutine waits for the connection. */
class rejecting : public pier::rdma_events {
public:
	int code = 0;

	void requested(pier::conn_ref from) noexcept override
	{
		auto work = connect(from);

		work.start();
		IS(from.reject().code(), 0);
		if (OK(work.done()))
			code = work.get().code();
	}
};

static void a_wait_ends_when_its_connection_is_rejected()
{
	rejecting events;
	auto dev = pier::device::open("soft_lo").value();
	auto pe = pier::engine::create().value();
	auto rdma = pier::rdma::create(dev).value();

	rdma.set_events(events);
	rdma.start(pe).or_throw();
	auto listener = rdma.listen(0).value();
	auto conn = rdma.connect("127.0.0.1", listener.port()).value();

	OK(!conn.wait(LIMIT_MS).ok());
	IS(events.code, -EINVAL);
}

class silent : public pier::rdma_events {
};

static pier::coro<> error_of(pier::conn_ref conn, pier::error &ret)
{
	ret = (co_await pier::connected(conn)).error();
}

static void a_refused_connection_is_awaited_for_its_error()
{
	silent events;		/* they reject */
	auto dev = pier::device::open("soft_lo").value();
	auto pe = pier::engine::create().value();
	auto rdma = pier::rdma::create(dev).value();

	rdma.set_events(events);
	rdma.start(pe).or_throw();
	auto listener = rdma.listen(0).value();
	auto conn = rdma.connect("127.0.0.1", listener.port()).value();

	/* It fails meanwhile, and has failed before. */
	for (int i = 0; i < 2; i++) {
		pier::error error;

		OK(!pier::device::open("no_such0"));
		IS(pier::run(pe, error_of(conn, error), LIMIT_MS).code(), 0);
		IS(error.code, -ECONNREFUSED);
		IS_STR(error.text.c_str(), conn.error().text.c_str());
	}
}

int main()
{
	TEST(an_awaited_read_returns_its_completed_task);
	TEST(coroutines_of_two_ends_run_at_the_same_time);
	TEST(a_coroutine_awaits_others);
	TEST(a_failed_task_is_an_error);
	TEST(an_exception_reaches_the_caller_of_run);
	TEST(a_coroutine_is_destroyed_while_its_task_is_in_flight);
	TEST(a_read_is_destroyed_while_it_is_in_flight);
	TEST(a_coroutine_is_destroyed_in_a_callback);
	TEST(a_coroutine_that_was_not_done_in_time_is_run_again);
	TEST(a_connection_is_awaited);
	TEST(a_wait_ends_when_its_connection_is_destroyed);
	TEST(a_coroutine_that_has_lost_its_connection_may_end_others);
	TEST(a_wait_ends_with_the_context_of_its_connection);
	TEST(a_wait_ends_when_its_connection_is_rejected);
	TEST(a_refused_connection_is_awaited_for_its_error);
	return tap_done();
}
