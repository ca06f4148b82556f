/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_SYNC_EVENT_HPP
#define PIER_CPP_SYNC_EVENT_HPP

#include <cstdint>

#include <pier/cpp/ctx.hpp>
#include <pier/cpp/device.hpp>
#include <pier/sync_event.h>

namespace pier {

/*
 * A sync event: a 64-bit value that one side sets and another waits for.  It
 * is started by start(), for calls, or by ctx().start(), for tasks.
 */
class sync_event_ref : public handle<pier_sync_event> {
public:
	using handle::handle;

	static result<owned<sync_event_ref>> create()
	{
		return detail::make<sync_event_ref>(pier_sync_event_create);
	}

	/* That of an RDMA peer, for tasks of connections. */
	static result<owned<sync_event_ref>> import(device_ref dev, bytes desc)
	{
		return detail::make<sync_event_ref>(
			pier_sync_event_create_from_export, dev.get(),
			desc.data, desc.size);
	}

	/* That of another process. */
	static result<owned<sync_event_ref>> import_process(device_ref dev,
							    bytes desc)
	{
		return detail::make<sync_event_ref>(
			pier_sync_event_import_process, dev.get(), desc.data,
			desc.size);
	}
	static void destroy(pier_sync_event *event) noexcept
	{
		pier_sync_event_destroy(event);
	}

	status configure(const pier_sync_event_config &cfg) const noexcept
	{
		return pier_sync_event_configure(c_, &cfg);
	}

	/* Who sets it and who waits: enum pier_sync_event_location. */
	status configure(std::uint32_t publisher, std::uint32_t subscriber,
			 device_ref dev = nullptr) const noexcept
	{
		auto cfg = defaults<pier_sync_event_config>();

		cfg.publisher = publisher;
		cfg.subscriber = subscriber;
		cfg.dev = dev.get();
		return configure(cfg);
	}
	status start() const noexcept { return pier_sync_event_start(c_); }
	status stop() const noexcept { return pier_sync_event_stop(c_); }
	pier_sync_event_config config() const noexcept
	{
		auto ret = defaults<pier_sync_event_config>();

		pier_sync_event_get_config(c_, &ret);
		return ret;
	}
	simple_ctx_ref ctx() const noexcept { return pier_sync_event_ctx(c_); }

	status set(std::uint64_t value) const noexcept
	{
		return pier_sync_event_set(c_, value);
	}

	/* The value before. */
	result<std::uint64_t> add(std::uint64_t value) const
	{
		std::uint64_t ret;
		int err = pier_sync_event_add(c_, value, &ret);

		if (err)
			return status(err);
		return ret;
	}
	result<std::uint64_t> value() const
	{
		std::uint64_t ret;
		int err = pier_sync_event_get(c_, &ret);

		if (err)
			return status(err);
		return ret;
	}

	/* The same, where a result, which has an error's text, costs time. */
	status add(std::uint64_t value, std::uint64_t &before) const noexcept
	{
		return pier_sync_event_add(c_, value, &before);
	}
	status value(std::uint64_t &ret) const noexcept
	{
		return pier_sync_event_get(c_, &ret);
	}

	/* Until the value AND @mask is greater, equal, not equal. */
	status wait_gt(std::uint64_t value, int timeout_ms,
		       std::uint64_t mask = UINT64_MAX,
		       pier_sync_event_wait how = PIER_SYNC_EVENT_YIELD)
		       const noexcept
	{
		return pier_sync_event_wait_gt(c_, value, mask, how,
					       timeout_ms);
	}
	status wait_eq(std::uint64_t value, int timeout_ms,
		       std::uint64_t mask = UINT64_MAX,
		       pier_sync_event_wait how = PIER_SYNC_EVENT_YIELD)
		       const noexcept
	{
		return pier_sync_event_wait_eq(c_, value, mask, how,
					       timeout_ms);
	}
	status wait_neq(std::uint64_t value, int timeout_ms,
			std::uint64_t mask = UINT64_MAX,
			pier_sync_event_wait how = PIER_SYNC_EVENT_YIELD)
			const noexcept
	{
		return pier_sync_event_wait_neq(c_, value, mask, how,
						timeout_ms);
	}

	/* For RDMA peers; for other processes.  Both belong to the event. */
	result<bytes> descriptor() const
	{
		return exported(pier_sync_event_export);
	}
	result<bytes> process_descriptor() const
	{
		return exported(pier_sync_event_export_process);
	}

	/* Until a process has connected, and none is connected any more. */
	status wait_export(int timeout_ms) const noexcept
	{
		return pier_sync_event_export_wait(c_, timeout_ms);
	}

	/* What @taken, of those below, does at its next submit. */
	static status set_values(task_ref taken, std::uint64_t value,
				 std::uint64_t mask = UINT64_MAX,
				 std::uint64_t *ret = nullptr) noexcept
	{
		return pier_sync_event_task_set_values(taken.get(), value,
						       mask, ret);
	}

	/* Tasks of context mode; results are written when they are done. */
	result<task> task_get(std::uint64_t &ret) const
	{
		return take(pier_sync_event_task_get, &ret);
	}
	result<task> task_set(std::uint64_t value) const
	{
		return take(pier_sync_event_task_set, value);
	}
	result<task> task_add(std::uint64_t value,
			      std::uint64_t *ret = nullptr) const
	{
		return take(pier_sync_event_task_add, value, ret);
	}
	result<task> task_wait_gt(std::uint64_t value,
				  std::uint64_t mask = UINT64_MAX) const
	{
		return take(pier_sync_event_task_wait_gt, value, mask);
	}
	result<task> task_wait_eq(std::uint64_t value,
				  std::uint64_t mask = UINT64_MAX) const
	{
		return take(pier_sync_event_task_wait_eq, value, mask);
	}
	result<task> task_wait_neq(std::uint64_t value,
				   std::uint64_t mask = UINT64_MAX) const
	{
		return take(pier_sync_event_task_wait_neq, value, mask);
	}

private:
	template <class Fn, class... A> result<task> take(Fn *fn, A... a) const
	{
		return detail::make<task_ref>(fn, c_, a...);
	}
	template <class Fn> result<bytes> exported(Fn *fn) const
	{
		bytes ret;
		int err = fn(c_, &ret.data, &ret.size);

		if (err)
			return status(err);
		return ret;
	}
};

using sync_event = owned<sync_event_ref>;

} /* namespace pier */

#endif
