/* SPDX-License-Identifier: BSD-2-Clause */
/* Operations without a connection: copies, functions, digests, graphs. */
#include <ctime>

#include "bench/overhead_cpp.hpp"

#define NAPS 12

static pier::dma dma;
static pier::func func;
static pier::sha sha;
static pier::graph graph;
static pier::graph_node call_node, copy_node;
static pier::task instance, copying;

static int call_nothing(void *)
{
	return 0;
}

static const auto nothing = [] { return 0; };

static void open_dma()
{
	overhead_open(false);
	dma = pier::dma::create(overhead_dev).value();
	dma.start(overhead_pe).or_throw();
}

static void copy_c(long n)
{
	overhead_repeat(n, [d = dma.get()] {
		pier_buf_reset(overhead_dst.get());
		return pier_dma_copy(d, overhead_src.get(), overhead_dst.get(),
				     overhead_task_done, &overhead_done);
	});
}

static void copy_cpp(long n)
{
	overhead_repeat(n, [] {
		overhead_dst.reset_data();
		return dma.copy(overhead_src, overhead_dst,
				overhead_count).code();
	});
}

static void open_func()
{
	overhead_open(false);
	func = pier::func::create().value();
	func.start(overhead_pe).or_throw();
}

static void call_c(long n)
{
	overhead_repeat(n, [f = func.get()] {
		return pier_func_call(f, call_nothing, nullptr,
				      overhead_task_done, &overhead_done);
	});
}

static void call_cpp(long n)
{
	overhead_repeat(n, [] {
		return func.call(nothing, overhead_count).code();
	});
}

/* The worker finishes meanwhile: rounds in vain would be counted. */
static void nap()
{
	const timespec time = { 0, 50000 };

	for (int i = 0; i < NAPS; i++)
		nanosleep(&time, nullptr);
}

static bool is_over()
{
	return true;
}

static void open_sha()
{
	overhead_open(false);
	sha = pier::sha::create().value();
	sha.start(overhead_pe).or_throw();
	overhead_apart = { nap, is_over, true };
}

static void hash_c(long n)
{
	overhead_repeat(n, [s = sha.get()] {
		pier_buf_reset(overhead_dst.get());
		return pier_sha_hash(s, PIER_SHA_1, overhead_src.get(),
				     overhead_dst.get(), overhead_task_done,
				     &overhead_done);
	});
}

static void hash_cpp(long n)
{
	overhead_repeat(n, [] {
		overhead_dst.reset_data();
		return sha.hash(PIER_SHA_1, overhead_src, overhead_dst,
				overhead_count).code();
	});
}

static pier::graph_node add_call_c()
{
	pier_graph_node *ret;

	must(pier_graph_add_user(graph.get(), call_nothing, &ret));
	return ret;
}

static pier::graph_node add_call_cpp()
{
	return graph.add_call<decltype(nothing)>().value();
}

/*
 * A copy that waits for a function; both are set each time.  The function is
 * called as C does it, and as the binding does.
 */
static void open_graph()
{
	open_dma();
	graph = pier::graph::create().value();
	call_node = overhead_is_c ? add_call_c() : add_call_cpp();
	copy_node = graph.add(dma.ctx()).value();
	graph.depend(call_node, copy_node).or_throw();
	graph.start(overhead_pe).or_throw();
	copying = dma.copy(overhead_src, overhead_dst).value();
	instance = graph.instance().value();
}

static int submit_instance_c(pier_task *task)
{
	int err;

	pier_buf_reset(overhead_dst.get());
	err = pier_graph_task_set_arg(task, call_node.get(), overhead_memory);
	if (!err)
		err = pier_graph_task_set_task(task, copy_node.get(),
					       copying.get());
	return err ? err : pier_task_submit(task, 0);
}

static void graph_c(long n)
{
	pier_task *task = instance.get();

	pier_task_set_done(task, overhead_task_done, &overhead_done);
	overhead_repeat(n, [=] { return submit_instance_c(task); });
}

static int submit_instance_cpp()
{
	pier::status ret;

	overhead_dst.reset_data();
	ret = pier::graph::set_call(instance, call_node, nothing);
	if (ret)
		ret = pier::graph::set(instance, copy_node, copying);
	return ret ? instance.submit().code() : ret.code();
}

static void graph_cpp(long n)
{
	instance.on_done(overhead_count);
	overhead_repeat(n, submit_instance_cpp);
}

const overhead_case overhead_local_cases[] = {
	{ "copy", open_dma, copy_c, copy_cpp },
	{ "call", open_func, call_c, call_cpp },
	{ "hash", open_sha, hash_c, hash_cpp },
	{ "graph", open_graph, graph_c, graph_cpp },
	{ nullptr, nullptr, nullptr, nullptr },
};
