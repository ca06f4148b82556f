/* SPDX-License-Identifier: BSD-2-Clause */
/* A task that is awaited, beside one with a callback that frees it. */
#include "bench/overhead_cpp.hpp"

#ifdef __cpp_impl_coroutine

static pier::conn *conn;

static void open_conn()
{
	overhead_open(false);
	conn = &overhead_conn();
}

static void done_free(pier_task *task, void *arg)
{
	overhead_task_done(task, arg);
	pier_task_free(task);
}

static void await_c(long n)
{
	overhead_repeat(n, [c = conn->get()] {
		pier_task *task;

		must(pier_rdma_task_send(c, overhead_src.get(), &task));
		pier_task_set_done(task, done_free, &overhead_done);
		return pier_task_submit(task, 0);
	});
}

static pier::coro<> sends(long n)
{
	for (long i = 0; i < n; i++)
		overhead_done += co_await conn->send(overhead_src) ? 1 : 0;
}

static void await_cpp(long n)
{
	const long end = overhead_done + n;
	pier::coro<> all = sends(n);

	all.start();
	while (overhead_done < end)
		must(overhead_pe.progress());
}

#endif

const overhead_case overhead_coro_cases[] = {
#ifdef __cpp_impl_coroutine
	{ "await", open_conn, await_c, await_cpp },
#endif
	{ nullptr, nullptr, nullptr, nullptr },
};
