/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>

#include "t/cpp/ends.hpp"

/* RDMA of the C++ binding: operations, callables, connections by address. */

static void a_read_moves_the_bytes_of_the_peer()
{
	ends e;

	e.b.fill("of the peer");
	auto src = e.a.inv.whole(e.a.remote).value();
	auto dst = e.a.inv.by_addr(e.a.mmap, e.a.memory.data(), 100).value();
	auto done = pier::run(e.a.conn.read(src, dst), LIMIT_MS);

	IS(done.code(), 0);
	IS(done->read_len(), 100);
	IS_STR(e.a.memory.data(), "of the peer");
}

static void a_write_moves_bytes_to_the_peer()
{
	ends e;
	auto src = e.a.source("written");
	auto dst = e.a.inv.empty(e.a.remote).value();

	IS(pier::run(e.a.conn.write(src, dst), LIMIT_MS).code(), 0);
	IS_STR(e.b.memory.data(), "written");
}

static void a_callable_is_called_once_with_the_completed_task()
{
	ends e;
	int calls = 0;
	auto count = [&](pier::task_ref task) {
		IS(task.code(), 0);
		IS(task.type(), PIER_TASK_WRITE);
		calls++;
	};
	auto src = e.a.source("by callable");
	auto dst = e.a.inv.empty(e.a.remote).value();

	IS(e.a.conn.write(src, dst, count).code(), 0);
	e.until([&] { return calls > 0; });
	IS(calls, 1);
	IS(e.pe.inflight(), 0);
	IS_STR(e.b.memory.data(), "by callable");
}

static void a_message_arrives_in_a_receive_with_its_immediate()
{
	ends e;
	int received = 0, sent = 0;
	auto on_receive = [&](pier::task_ref task) {
		IS(task.code(), 0);
		IS(task.recv_opcode(), PIER_RECV_SEND_IMM);
		IS(ntohl(task.recv_imm()), 77);
		IS(task.recv_len(), 6);
		OK(pier::conn_ref(task.conn()) == e.b.conn);
		received++;
	};
	auto on_send = [&](pier::task_ref task) { sent += task.ok(); };
	auto dst = e.b.target();
	auto src = e.a.source("hello");

	IS(e.b.rdma.receive(dst, on_receive).code(), 0);
	IS(e.a.conn.send_imm(src, htonl(77), on_send).code(), 0);
	e.until([&] { return received && sent; });
	IS_STR(e.b.received(), "hello");
}

static void an_empty_message_needs_no_buffers()
{
	ends e;
	auto receive = e.b.rdma.receive(nullptr).value();

	IS(receive.submit().code(), 0);
	IS(pier::run(e.a.conn.send(nullptr), LIMIT_MS).code(), 0);
	IS(receive.wait(LIMIT_MS).code(), 0);
	IS(receive.recv_len(), 0);
}

static void atomics_return_the_value_before()
{
	ends e;
	std::uint64_t five = 5, number;

	std::memcpy(e.b.memory.data(), &five, sizeof(five));
	auto word = e.a.inv.by_addr(e.a.remote, e.a.remote.addr(), 8).value();
	auto old = e.a.target();

	IS(pier::run(e.a.conn.fetch_add(word, old, 2), LIMIT_MS).code(), 0);
	std::memcpy(&number, e.a.received(), sizeof(number));
	IS(number, 5);
	old.reset_data();
	IS(old.set_data(e.a.memory.data() + 2048, 0).code(), 0);
	IS(pier::run(e.a.conn.compare_swap(word, old, 7, 9), LIMIT_MS).code(),
	   0);
	std::memcpy(&number, e.a.received(), sizeof(number));
	IS(number, 7);
	std::memcpy(&number, e.b.memory.data(), sizeof(number));
	IS(number, 9);
}

static void a_failed_task_has_its_error()
{
	ends e;
	auto local = pier::mmap::alloc(e.dev, 64).value();
	auto src = e.a.source("x");
	auto dst = e.a.inv.by_addr(e.a.remote, e.a.remote.addr(), 64).value();

	e.b.mmap.reset();	/* the peer's memory is revoked */
	auto task = e.a.conn.write(src, dst).value();
	IS(task.run(LIMIT_MS).code(), -PIER_EREMACCESS);
	IS(task.error().code, -PIER_EREMACCESS);
	LIKE(task.error().text.c_str(), "write");
	IS(task.details().status, -PIER_EREMACCESS);
	e.until([&] { return !e.a.conn.connected(); });
	IS(e.a.conn.state(), PIER_CONN_ERROR);
	IS(e.a.conn.error().code, -PIER_EREMACCESS);
}

static void a_task_is_retrieved_if_it_has_no_callable()
{
	ends e;
	auto src = e.a.source("retrieved");
	auto dst = e.a.inv.empty(e.a.remote).value();
	auto task = e.a.conn.write(src, dst).value();

	for (int i = 0; i < 2; i++) {
		auto again = e.a.inv.empty(e.a.remote).value();

		IS(task.set_bufs(src.get(), again.get()).code(), 0);
		IS(task.submit().code(), 0);
		e.until([&] { return e.pe.retrieve() == task; });
	}
	OK(!e.pe.retrieve());
	/* It is still owned by the program: no other one is at its place. */
	auto other = e.a.conn.write(src, dst).value();

	OK(other != task);
	IS(other.run(LIMIT_MS).code(), 0);
}

static void a_task_that_is_destroyed_in_flight_is_cancelled_and_freed()
{
	ends e;
	auto dst = e.b.target();
	int calls = 0;
	auto count = [&](pier::task_ref) { calls++; };

	{
		auto task = e.b.rdma.receive(dst).value();

		task.on_done(count);
		IS(task.submit().code(), 0);
	}
	e.until([&] { return e.pe.inflight() == 0 && dst.refs() == 1; });
	IS(calls, 0);
}

static void changes_of_state_are_reported()
{
	ends e;
	std::vector<int> states;
	auto on_state = [&](pier::conn_ref conn, auto, auto next) {
		OK(conn == e.b.conn);
		states.push_back(next);
	};

	e.b.conn.on_state(on_state);
	e.a.conn.disconnect();
	e.until([&] { return !states.empty(); });
	IS(states.size(), 1);
	IS(states[0], PIER_CONN_RESET);
}

int main()
{
	TEST(a_read_moves_the_bytes_of_the_peer);
	TEST(a_write_moves_bytes_to_the_peer);
	TEST(a_callable_is_called_once_with_the_completed_task);
	TEST(a_message_arrives_in_a_receive_with_its_immediate);
	TEST(an_empty_message_needs_no_buffers);
	TEST(atomics_return_the_value_before);
	TEST(a_failed_task_has_its_error);
	TEST(a_task_is_retrieved_if_it_has_no_callable);
	TEST(a_task_that_is_destroyed_in_flight_is_cancelled_and_freed);
	TEST(changes_of_state_are_reported);
	return tap_done();
}
