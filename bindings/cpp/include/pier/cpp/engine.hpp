/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_ENGINE_HPP
#define PIER_CPP_ENGINE_HPP

#include <pier/cpp/task.hpp>
#include <pier/pe.h>

namespace pier {

/* A progress engine; it and all that is on it belong to one thread. */
class engine_ref : public handle<pier_pe> {
public:
	using handle::handle;

	static result<owned<engine_ref>> create()
	{
		return detail::make<engine_ref>(pier_pe_create);
	}
	static void destroy(pier_pe *pe) noexcept { pier_pe_destroy(pe); }

	/* The number of events, or a negative error. */
	int progress(int max = 0) const noexcept
	{
		return pier_pe_progress(c_, max);
	}

	/* Sleep until there was an event, or -ETIMEDOUT; below 0: no limit. */
	status wait(int timeout_ms) const noexcept
	{
		return pier_pe_wait(c_, timeout_ms);
	}

	/* Drive it until @done() holds, at most @timeout_ms without events. */
	template <class P> status wait_until(P done, int timeout_ms) const
	{
		while (!done()) {
			status ret = wait(timeout_ms);

			if (!ret)
				return ret;
		}
		return 0;
	}

	/* For event loops: readable from arm() to clear() if there is work. */
	int fd() const noexcept { return pier_pe_fd(c_); }
	status arm() const noexcept { return pier_pe_arm(c_); }
	void clear() const noexcept { pier_pe_clear(c_); }

	/* Any thread. */
	void wake() const noexcept { pier_pe_wake(c_); }

	/*
	 * A completed task without a callable, which its owner still has; of
	 * one that was released begin to own with task(ref.get()).  Empty:
	 * there is none.
	 */
	task_ref retrieve() const noexcept
	{
		pier_event event;

		if (pier_pe_retrieve(c_, &event))
			return task_ref();
		return task_ref(event.task);
	}
	std::size_t inflight() const noexcept { return pier_pe_inflight(c_); }
};

using engine = owned<engine_ref>;

} /* namespace pier */

#endif
