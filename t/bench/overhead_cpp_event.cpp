/* SPDX-License-Identifier: BSD-2-Clause */
/* Sync events: calls, tasks, and those of an RDMA peer. */
#include "bench/overhead_cpp.hpp"

#define VALUE 5

static pier::sync_event event, far_event;
static pier::task task;
static std::uint64_t before;
static pier_conn *c_conn;
static const pier::conn *cpp_conn;

static pier::sync_event make_event()
{
	auto ret = pier::sync_event::create().value();

	ret.configure(PIER_SYNC_EVENT_REMOTE, PIER_SYNC_EVENT_CPU,
		      overhead_dev).or_throw();
	return ret;
}

static void open_event()
{
	overhead_open(false);
	event = make_event();
	event.start().or_throw();
	event.set(VALUE).or_throw();
}

static void set_c(long n)
{
	overhead_repeat_call(n, [e = event.get()] {
		return pier_sync_event_set(e, VALUE);
	});
}

static void set_cpp(long n)
{
	overhead_repeat_call(n, [] { return event.set(VALUE).code(); });
}

static void add_c(long n)
{
	overhead_repeat_call(n, [e = event.get()] {
		return pier_sync_event_add(e, 1, &before);
	});
}

static void add_cpp(long n)
{
	overhead_repeat_call(n, [] { return event.add(1, before).code(); });
}

static void get_c(long n)
{
	overhead_repeat_call(n, [e = event.get()] {
		return pier_sync_event_get(e, &before);
	});
}

static void get_cpp(long n)
{
	overhead_repeat_call(n, [] { return event.value(before).code(); });
}

/* The same with results, which have the values. */
static void add_result_cpp(long n)
{
	overhead_repeat_call(n, [] {
		before = event.add(1).value();
		return 0;
	});
}

static void get_result_cpp(long n)
{
	overhead_repeat_call(n, [] {
		before = event.value().value();
		return 0;
	});
}

/* For a value that is there. */
static void wait_c(long n)
{
	overhead_repeat_call(n, [e = event.get()] {
		return pier_sync_event_wait_eq(e, VALUE, UINT64_MAX,
					       PIER_SYNC_EVENT_YIELD, -1);
	});
}

static void wait_cpp(long n)
{
	overhead_repeat_call(n, [] { return event.wait_eq(VALUE, -1).code(); });
}

/* A task of it, that adds what is set each time. */
static void open_task()
{
	overhead_open(false);
	event = make_event();
	event.ctx().start(overhead_pe).or_throw();
	task = event.task_add(1, &before).value();
}

static void task_c(long n)
{
	pier_task_set_done(task.get(), overhead_task_done, &overhead_done);
	overhead_repeat(n, [t = task.get()] {
		int err = pier_sync_event_task_set_values(t, 2, UINT64_MAX,
							  &before);

		return err ? err : pier_task_submit(t, 0);
	});
}

static void task_cpp(long n)
{
	task.on_done(overhead_count);
	overhead_repeat(n, [] {
		auto ret = pier::sync_event::set_values(task, 2, UINT64_MAX,
							&before);

		return ret ? task.submit().code() : ret.code();
	});
}

/* One that was exported, for tasks of a connection. */
static void open_far_event()
{
	overhead_open(false);
	cpp_conn = &overhead_conn();
	c_conn = cpp_conn->get();
	event = make_event();
	event.start().or_throw();
	far_event = pier::sync_event::import(
		overhead_dev, event.descriptor().value()).value();
	far_event.start().or_throw();
}

static void remote_get_c(long n)
{
	overhead_repeat(n, [e = far_event.get()] {
		pier_buf_reset(overhead_dst.get());
		return pier_rdma_remote_get(c_conn, e, overhead_dst.get(),
					    overhead_task_done,
					    &overhead_done);
	});
}

static void remote_get_cpp(long n)
{
	overhead_repeat(n, [] {
		overhead_dst.reset_data();
		return cpp_conn->remote_get(far_event.get(), overhead_dst,
					    overhead_count).code();
	});
}

static void notify_set_c(long n)
{
	overhead_repeat(n, [e = far_event.get()] {
		return pier_rdma_notify_set(c_conn, e, overhead_src.get(),
					    overhead_task_done,
					    &overhead_done);
	});
}

static void notify_set_cpp(long n)
{
	overhead_repeat(n, [] {
		return cpp_conn->notify_set(far_event.get(), overhead_src,
					    overhead_count).code();
	});
}

static void notify_add_c(long n)
{
	overhead_repeat(n, [e = far_event.get()] {
		pier_buf_reset(overhead_dst.get());
		return pier_rdma_notify_add(c_conn, e, overhead_dst.get(), 1,
					    overhead_task_done,
					    &overhead_done);
	});
}

static void notify_add_cpp(long n)
{
	overhead_repeat(n, [] {
		overhead_dst.reset_data();
		return cpp_conn->notify_add(far_event.get(), overhead_dst, 1,
					    overhead_count).code();
	});
}

const overhead_case overhead_event_cases[] = {
	{ "sync_event_set", open_event, set_c, set_cpp },
	{ "sync_event_add", open_event, add_c, add_cpp },
	{ "sync_event_get", open_event, get_c, get_cpp },
	{ "sync_event_add_result", open_event, add_c, add_result_cpp },
	{ "sync_event_get_result", open_event, get_c, get_result_cpp },
	{ "sync_event_wait", open_event, wait_c, wait_cpp },
	{ "sync_event_task", open_task, task_c, task_cpp },
	{ "remote_get", open_far_event, remote_get_c, remote_get_cpp },
	{ "notify_set", open_far_event, notify_set_c, notify_set_cpp },
	{ "notify_add", open_far_event, notify_add_c, notify_add_cpp },
	{ nullptr, nullptr, nullptr, nullptr },
};
