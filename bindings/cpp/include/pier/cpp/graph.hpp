/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_GRAPH_HPP
#define PIER_CPP_GRAPH_HPP

#include <pier/cpp/ctx.hpp>
#include <pier/cpp/func.hpp>
#include <pier/graph.h>

namespace pier {

/* A node of a graph, which owns it. */
class graph_node : public handle<pier_graph_node> {
public:
	using handle::handle;
};

/* A graph: tasks and functions with an order among them. */
class graph_ref : public handle<pier_graph> {
public:
	using handle::handle;

	static result<owned<graph_ref>> create()
	{
		return detail::make<graph_ref>(pier_graph_create);
	}
	static void destroy(pier_graph *graph) noexcept
	{
		pier_graph_destroy(graph);
	}

	status configure(const pier_graph_config &cfg) const noexcept
	{
		return pier_graph_configure(c_, &cfg);
	}
	pier_graph_config config() const noexcept
	{
		auto ret = defaults<pier_graph_config>();

		pier_graph_get_config(c_, &ret);
		return ret;
	}
	simple_ctx_ref ctx() const noexcept { return pier_graph_ctx(c_); }
	status start(engine_ref pe) const noexcept { return ctx().start(pe); }

	/* A node that runs a task of @ctx, or an instance of @sub. */
	result<graph_node> add(ctx_ref ctx) const
	{
		return node(pier_graph_add_ctx, ctx.get());
	}
	result<graph_node> add(graph_ref sub) const
	{
		return node(pier_graph_add_graph, sub.get());
	}

	/*
	 * A node that calls a callable of type @F, which set() gives to each
	 * instance; it returns 0 or a negative error.
	 */
	template <class F> result<graph_node> add_call() const
	{
		return node(pier_graph_add_user, detail::run_call<F>);
	}

	/* @after begins when @before has succeeded. */
	status depend(graph_node before, graph_node after) const noexcept
	{
		return pier_graph_add_dependency(c_, before.get(),
						 after.get());
	}

	/* Take an instance; set what its nodes run; submit it. */
	result<task> instance() const
	{
		return detail::make<task_ref>(pier_graph_task, c_);
	}
	static status set(task_ref instance, graph_node node,
			  task_ref taken) noexcept
	{
		return pier_graph_task_set_task(instance.get(), node.get(),
						taken.get());
	}
	template <class F>
	static status set_call(task_ref instance, graph_node node,
			       F &call) noexcept
	{
		return pier_graph_task_set_arg(instance.get(), node.get(),
					       detail::arg_of(call));
	}

private:
	template <class Fn, class A>
	result<graph_node> node(Fn *fn, A arg) const
	{
		pier_graph_node *ret = nullptr;
		int err = fn(c_, arg, &ret);

		if (err)
			return status(err);
		return graph_node(ret);
	}
};

using graph = owned<graph_ref>;

} /* namespace pier */

#endif
