/* SPDX-License-Identifier: BSD-2-Clause */
#include <thread>
#include <type_traits>
#include <utility>

#include "t/cpp/ends.hpp"

/* Contexts of the C++ binding but RDMA: copies, functions, digests, graphs. */

/* An engine, and memory in two halves: a source and a destination. */
struct bench {
	pier::device dev = pier::device::open().value();
	pier::engine pe = pier::engine::create().value();
	std::vector<char> memory = std::vector<char>(256);
	pier::mmap mmap = pier::mmap::map(dev, memory,
					  PIER_LOCAL_WRITE).value();
	pier::inventory inv = pier::inventory::create(2).value();
	pier::buf src, dst;

	explicit bench(const char *text)
	{
		std::strcpy(memory.data(), text);
		src = inv.by_data(mmap, memory.data(),
				  std::strlen(text)).value();
		dst = inv.by_addr(mmap, memory.data() + 128, 128).value();
	}
	const char *result() const { return memory.data() + 128; }
};

static void a_copy_moves_the_data()
{
	bench b("copied");
	auto dma = pier::dma::create(b.dev).value();
	int calls = 0;
	auto count = [&](pier::task_ref task) { calls += task.ok(); };

	IS(dma.start(b.pe).code(), 0);
	IS(pier::run(dma.copy(b.src, b.dst), LIMIT_MS).code(), 0);
	IS_STR(b.result(), "copied");
	IS(dma.copy(b.src, b.dst, count).code(), 0);
	IS(b.pe.wait_until([&] { return calls == 1; }, LIMIT_MS).code(), 0);
	OK(b.dst.data().text() == "copiedcopied");
}

static void memory_that_is_const_is_a_source()
{
	static const unsigned char table[] = { 'a', 'b', 0 };
	const std::string text = "of a const string";
	bench b("");
	auto dma = pier::dma::create(b.dev).value();
	auto inv = pier::inventory::create(2).value();
	auto first = pier::mmap::map(b.dev, table, PIER_LOCAL_READ).value();
	auto second = pier::mmap::map(b.dev, text, PIER_LOCAL_READ |
				      PIER_REMOTE_READ).value();
	auto src = inv.whole(first).value();

	IS(dma.start(b.pe).code(), 0);
	IS(pier::run(dma.copy(src, b.dst), LIMIT_MS).code(), 0);
	IS_STR(b.result(), "ab");
	IS(second.size(), text.size());
	auto refused = pier::mmap::map(b.dev, text, PIER_REMOTE_WRITE);

	IS(refused.code(), -EACCES);
	LIKE(refused.error().text.c_str(), "const");
	auto third = pier::mmap::map(b.dev, text, 0).value();	/* to be read */
	auto into = inv.empty(third).value();

	IS(pier::run(dma.copy(src, into), LIMIT_MS).code(), -EACCES);
	/* nullptr is not const memory: it means pier's own. */
	OK(pier::mmap::map(b.dev, nullptr, 8, PIER_LOCAL_WRITE).ok());
}

static void a_copy_reads_the_export_of_another_thread()
{
	bench b("x");
	std::vector<char> memory(64, 'e');
	auto owner = pier::device::open().value();
	auto mmap = pier::mmap::map(owner, memory, PIER_PEER_READ).value();
	auto exported = pier::dma_export::create(mmap, owner).value();
	auto remote = pier::dma_import(b.dev, exported.descriptor()).value();
	auto inv = pier::inventory::create(1).value();
	auto from = inv.whole(remote).value();
	auto dma = pier::dma::create(b.dev).value();

	IS(dma.start(b.pe).code(), 0);
	IS(pier::run(dma.copy(from, b.dst), LIMIT_MS).code(), 0);
	IS(b.dst.data().size, 64);
	OK(b.dst.data().text() == std::string(64, 'e'));
}

static void a_function_runs_as_a_task_and_its_error_is_the_status()
{
	bench b("");
	auto func = pier::func::create().value();
	int calls = 0;
	auto succeed = [&] {
		calls++;
		return 0;
	};
	auto fail = [] { return -EDOM; };
	int status = 0;
	auto done = [&](pier::task_ref task) { status = task.code(); };

	IS(func.start(b.pe).code(), 0);
	IS(pier::run(func.call(succeed), LIMIT_MS).code(), 0);
	IS(calls, 1);
	IS(func.call(fail, done).code(), 0);
	IS(b.pe.wait_until([&] { return status != 0; }, LIMIT_MS).code(), 0);
	IS(status, -EDOM);
}

static void a_digest_is_appended()
{
	const unsigned char first[] = { 0xba, 0x78, 0x16, 0xbf };
	bench b("abc");
	auto sha = pier::sha::create().value();

	IS(sha.start(b.pe).code(), 0);
	IS(pier::run(sha.hash(PIER_SHA_256, b.src, b.dst), LIMIT_MS).code(),
	   0);
	IS(b.dst.data().size, pier::sha::digest_len(PIER_SHA_256));
	IS(std::memcmp(b.result(), first, sizeof(first)), 0);
}

static void a_graph_runs_its_nodes_in_order()
{
	bench b("by a graph");
	auto dma = pier::dma::create(b.dev).value();
	std::string order;
	auto check = [&] {
		order = b.result();
		return 0;
	};
	auto graph = pier::graph::create().value();
	auto copy = graph.add(dma.ctx()).value();
	auto call = graph.add_call<decltype(check)>().value();

	IS(graph.depend(copy, call).code(), 0);
	IS(graph.depend(call, copy).code(), -ELOOP);
	IS(dma.start(b.pe).code(), 0);
	IS(graph.start(b.pe).code(), 0);
	auto task = dma.copy(b.src, b.dst).value();
	auto instance = graph.instance().value();

	IS(graph.set(instance, copy, task).code(), 0);
	IS(graph.set_call(instance, call, check).code(), 0);
	IS(instance.run(LIMIT_MS).code(), 0);
	OK(order == "by a graph");
}

/* A function that goes on until it has another status. */
struct gate {
	int status = -EINPROGRESS;

	int operator()() const { return status; }
};

/* A graph of a copy, and of a copy after a gate; tasks for one instance. */
struct gated {
	bench b{ "x" };
	gate call;
	pier::dma dma = pier::dma::create(b.dev).value();
	pier::graph graph = pier::graph::create().value();
	pier::graph_node first, wait, second;

	gated()
	{
		auto cfg = pier::defaults<pier_dma_config>();
		auto only_one = pier::defaults<pier_graph_config>();

		cfg.tasks = 2;
		dma.configure(cfg).or_throw();
		only_one.tasks = 1;
		graph.configure(only_one).or_throw();
		first = graph.add(dma.ctx()).value();
		wait = graph.add_call<gate>().value();
		second = graph.add(dma.ctx()).value();
		graph.depend(wait, second).or_throw();
		dma.start(b.pe).or_throw();
		graph.start(b.pe).or_throw();
	}
	pier::task copy() { return dma.copy(b.src, b.dst).value(); }

	/* Have @instance run these, and submit it. */
	void submit(pier::task_ref instance, pier::task_ref one,
		    pier::task_ref two)
	{
		graph.set(instance, first, one).or_throw();
		graph.set(instance, second, two).or_throw();
		graph.set_call(instance, wait, call).or_throw();
		instance.submit().or_throw();
		IS(dma.copy(b.src, b.dst).code(), -ENOBUFS);
	}
	void all_are_free()
	{
		auto ended = [&] { return b.pe.inflight() == 0; };

		IS(b.pe.wait_until(ended, LIMIT_MS).code(), 0);
		auto one = dma.copy(b.src, b.dst), two = dma.copy(b.src, b.dst);

		IS(one.code(), 0);
		IS(two.code(), 0);
	}
};

static void tasks_of_an_instance_are_destroyed_with_it_in_flight()
{
	gated g;

	{
		auto one = g.copy(), two = g.copy();
		auto instance = g.graph.instance().value();

		g.submit(instance, one, two);
	}
	g.all_are_free();
	IS(g.graph.instance().code(), 0);
}

static void tasks_of_an_instance_are_destroyed_before_it()
{
	gated g;
	auto instance = g.graph.instance().value();

	{
		auto one = g.copy(), two = g.copy();

		g.submit(instance, one, two);
	}
	g.call.status = 0;
	IS(instance.wait(LIMIT_MS).code(), -ECANCELED);
	g.all_are_free();
	IS(instance.submit().code(), -EINVAL);
	LIKE(pier_last_error(), "has no task");
}

static void a_sync_event_is_set_by_one_thread_and_waited_for_by_another()
{
	auto event = pier::sync_event::create().value();

	IS(event.configure(PIER_SYNC_EVENT_CPU, PIER_SYNC_EVENT_CPU).code(),
	   0);
	IS(event.start().code(), 0);
	IS(event.wait_eq(7, 0).code(), -ETIMEDOUT);
	std::thread setter([&] { event.set(7).or_throw(); });

	IS(event.wait_eq(7, LIMIT_MS).code(), 0);
	setter.join();
	IS(event.add(3).value(), 7);
	IS(event.value().value(), 10);

	std::uint64_t number = 0;

	IS(event.add(2, number).code(), 0);
	IS(number, 10);
	IS(event.value(number).code(), 0);
	IS(number, 12);
	IS(event.stop().code(), 0);
	IS(event.set(1).code(), -ESHUTDOWN);
	IS(event.add(1, number).code(), -ESHUTDOWN);
	IS(event.value(number).code(), -ESHUTDOWN);
	IS(number, 12);
}

static void a_sync_event_is_a_context_with_tasks()
{
	bench b("");
	auto event = pier::sync_event::create().value();
	std::uint64_t old = 99, now = 0;

	IS(event.configure(PIER_SYNC_EVENT_CPU, PIER_SYNC_EVENT_CPU).code(),
	   0);
	IS(event.ctx().start(b.pe).code(), 0);
	auto wait = event.task_wait_gt(4).value();

	IS(wait.submit().code(), 0);
	IS(pier::run(event.task_add(5, &old), LIMIT_MS).code(), 0);
	IS(old, 0);
	IS(wait.wait(LIMIT_MS).code(), 0);
	IS(pier::run(event.task_get(now), LIMIT_MS).code(), 0);
	IS(now, 5);
}

static void a_sync_event_of_a_peer_is_set_by_rdma()
{
	ends e;
	auto event = pier::sync_event::create().value();
	std::uint64_t three = 3;

	IS(event.configure(PIER_SYNC_EVENT_REMOTE, PIER_SYNC_EVENT_CPU,
			   e.dev).code(), 0);
	IS(event.start().code(), 0);
	auto remote = pier::sync_event::import(
		e.dev, event.descriptor().value()).value();

	IS(remote.start().code(), 0);
	std::memcpy(e.a.memory.data(), &three, sizeof(three));
	auto src = e.a.inv.by_data(e.a.mmap, e.a.memory.data(), 8).value();
	auto old = e.a.target();

	IS(pier::run(e.a.conn.notify_set(remote.get(), src),
		     LIMIT_MS).code(), 0);
	IS(event.value().value(), 3);
	IS(pier::run(e.a.conn.notify_add(remote.get(), old, 4),
		     LIMIT_MS).code(), 0);
	IS(event.value().value(), 7);
	IS(remote.stop().code(), 0);
}

/* Counts the changes of a context's state. */
class counting : public pier::ctx_events {
public:
	int changes = 0;
	pier_ctx *ctx = nullptr;

	void state_changed(pier::ctx_ref of, enum pier_ctx_state,
			   enum pier_ctx_state next) noexcept override
	{
		changes++;
		ctx = of.get();
		IS(of.state(), next);
	}
};

static void events_of_a_context_are_reported()
{
	bench b("");
	counting events;
	auto dma = pier::dma::create(b.dev).value();

	dma.ctx().set_events(events);
	IS(dma.start(b.pe).code(), 0);
	OK(dma.ctx().running());
	IS(dma.start(b.pe).code(), -EBUSY);
	int before = events.changes;

	IS(dma.ctx().stop().code(), 0);
	IS(dma.ctx().stop_wait(LIMIT_MS).code(), 0);
	OK(events.changes > before);
	OK(events.ctx == dma.ctx().get());
	IS(dma.ctx().state(), PIER_CTX_IDLE);
}

/* Can @ctx take the events of any context? */
template <class Ctx, class = void>
constexpr bool takes_ctx_events = false;
template <class Ctx>
constexpr bool takes_ctx_events<Ctx, std::void_t<decltype(
	std::declval<Ctx>().set_events(std::declval<pier::ctx_events &>()))>> =
	true;

static void events_of_another_kind_do_not_replace_those_of_a_context()
{
	OK(takes_ctx_events<decltype(pier::dma_ref().ctx())>);
	OK(takes_ctx_events<decltype(pier::consumer_ref().ctx())>);
	OK(!takes_ctx_events<pier::ctx_ref>);
	OK(!takes_ctx_events<decltype(pier::rdma_ref().ctx())>);
	OK(!takes_ctx_events<decltype(pier::comch_ref().ctx())>);
	OK(!takes_ctx_events<decltype(pier::conn_ref().ctx())>);
}

int main()
{
	TEST(a_copy_moves_the_data);
	TEST(memory_that_is_const_is_a_source);
	TEST(a_copy_reads_the_export_of_another_thread);
	TEST(a_function_runs_as_a_task_and_its_error_is_the_status);
	TEST(a_digest_is_appended);
	TEST(a_graph_runs_its_nodes_in_order);
	TEST(tasks_of_an_instance_are_destroyed_with_it_in_flight);
	TEST(tasks_of_an_instance_are_destroyed_before_it);
	TEST(a_sync_event_is_set_by_one_thread_and_waited_for_by_another);
	TEST(a_sync_event_is_a_context_with_tasks);
	TEST(a_sync_event_of_a_peer_is_set_by_rdma);
	TEST(events_of_a_context_are_reported);
	TEST(events_of_another_kind_do_not_replace_those_of_a_context);
	return tap_done();
}
