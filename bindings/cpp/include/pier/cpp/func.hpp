/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_FUNC_HPP
#define PIER_CPP_FUNC_HPP

#include <pier/cpp/ctx.hpp>
#include <pier/func.h>

namespace pier {

namespace detail {

/* A function of a program: @arg is the callable, which returns its status. */
template <class F> int run_call(void *arg) noexcept
{
	return status((*static_cast<F *>(arg))()).code();
}

} /* namespace detail */

/* A function context: functions of the program as tasks. */
class func_ref : public handle<pier_func> {
public:
	using handle::handle;

	static result<owned<func_ref>> create()
	{
		return detail::make<func_ref>(pier_func_create);
	}
	static void destroy(pier_func *func) noexcept
	{
		pier_func_destroy(func);
	}

	status configure(const pier_func_config &cfg) const noexcept
	{
		return pier_func_configure(c_, &cfg);
	}
	pier_func_config config() const noexcept
	{
		auto ret = defaults<pier_func_config>();

		pier_func_get_config(c_, &ret);
		return ret;
	}
	simple_ctx_ref ctx() const noexcept { return pier_func_ctx(c_); }
	status start(engine_ref pe) const noexcept { return ctx().start(pe); }

	/*
	 * Call @call, which returns 0 or a negative error, on the engine's
	 * thread.  It is the caller's and is used until the task is complete.
	 */
	template <class G> result<task> call(G &call) const
	{
		return detail::make<task_ref>(pier_func_task_call, c_,
					      detail::run_call<G>,
					      detail::arg_of(call));
	}

	/* Have the next submit of @taken, of such a call, call @call. */
	template <class G> static status set(task_ref taken, G &call) noexcept
	{
		return pier_func_task_set(taken.get(), detail::run_call<G>,
					  detail::arg_of(call));
	}
	template <class G, class F>
	status call(G &call, F &fn) const noexcept
	{
		return pier_func_call(c_, detail::run_call<G>,
				      detail::arg_of(call),
				      detail::run_task<F>, detail::arg_of(fn));
	}
};

using func = owned<func_ref>;

} /* namespace pier */

#endif
