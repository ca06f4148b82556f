/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_TASK_HPP
#define PIER_CPP_TASK_HPP

#include <cstdint>

#include <pier/cpp/handle.hpp>
#include <pier/dma.h>
#include <pier/rdma.h>
#include <pier/sha.h>
#include <pier/task.h>

namespace pier {

class task_ref;

namespace detail {

/* A task's callback: @arg is the callable, which its owner keeps. */
template <class F> void run_task(pier_task *task, void *arg) noexcept;

} /* namespace detail */

/* A task; pier/task.h has the contracts of its calls. */
class task_ref : public handle<pier_task> {
public:
	using handle::handle;

	/*
	 * Call @fn with a task_ref when it is complete.  @fn, which may not
	 * throw, is the caller's and is used until then.
	 */
	template <class F> void on_done(F &fn) const noexcept
	{
		pier_task_set_done(c_, detail::run_task<F>, detail::arg_of(fn));
	}

	status submit(unsigned int flags = 0) const noexcept
	{
		return pier_task_submit(c_, flags);
	}
	status try_submit(unsigned int flags = 0) const noexcept
	{
		return pier_task_try_submit(c_, flags);
	}

	/* Drive the engine until it is complete; return its status. */
	pier::status wait(int timeout_ms) const noexcept
	{
		return pier_task_wait(c_, timeout_ms);
	}
	/* Of a receive that @conn is to fill. */
	pier::status wait(int timeout_ms, pier_conn *conn) const noexcept
	{
		return pier_task_wait_conn(c_, conn, timeout_ms);
	}
	pier::status run(int timeout_ms) const noexcept
	{
		return pier_task_run(c_, timeout_ms);
	}

	pier::status cancel() const noexcept { return pier_task_cancel(c_); }
	pier::status set_timeout(int timeout_ms) const noexcept
	{
		return pier_task_set_timeout_ms(c_, timeout_ms);
	}

	/* 0, a negative error, or -EINPROGRESS while it is submitted. */
	int code() const noexcept { return pier_task_status(c_); }
	bool ok() const noexcept { return code() == 0; }

	/* Its failure, with the message that it has. */
	pier::error error() const
	{
		return { code(), pier_task_error_text(c_) };
	}
	pier_scope error_scope() const noexcept
	{
		return pier_task_error_scope(c_);
	}
	struct pier_task_error details() const noexcept
	{
		struct pier_task_error ret;

		pier_task_error(c_, &ret);
		return ret;
	}

	enum pier_task_type type() const noexcept { return pier_task_type(c_); }
	const char *type_name() const noexcept
	{
		return pier_task_type_name(type());
	}
	const char *type_key() const noexcept
	{
		return pier_task_type_key(type());
	}
	bool may_free() const noexcept { return pier_task_may_free(c_); }
	bool may_change() const noexcept { return pier_task_may_change(c_); }
	pier_ctx *ctx() const noexcept { return pier_task_ctx(c_); }
	pier_conn *conn() const noexcept { return pier_task_conn(c_); }

	/* The buffers of the next submit, of RDMA, DMA and SHA tasks. */
	status set_bufs(pier_buf *src, pier_buf *dst) const noexcept
	{
		switch (type()) {
		case PIER_TASK_COPY:
			return pier_dma_task_set_bufs(c_, src, dst);
		case PIER_TASK_HASH:
			return pier_sha_task_set_bufs(c_, src, dst);
		default:
			return pier_rdma_task_set_bufs(c_, src, dst);
		}
	}

	/* Of a remote get, a notify set or a notify add. */
	status set_event(const pier_sync_event *event,
			 pier_buf *buf) const noexcept
	{
		return pier_rdma_task_set_event(c_, event, buf);
	}

	/* Of a read that has succeeded. */
	std::uint32_t read_len() const noexcept { return pier_read_len(c_); }

	/* Of a receive that has succeeded; in network order. */
	enum pier_recv_opcode recv_opcode() const noexcept
	{
		return pier_recv_opcode(c_);
	}
	std::uint32_t recv_imm() const noexcept { return pier_recv_imm(c_); }
	std::uint32_t recv_len() const noexcept { return pier_recv_len(c_); }

	/*
	 * Free @task.  One that is in flight is cancelled and freed when it is
	 * complete, that of a node when its instance is; its callable is not
	 * called any more.
	 */
	static void destroy(pier_task *task) noexcept
	{
		pier_task_abandon(task);
	}
};

using task = owned<task_ref>;

namespace detail {

template <class F> void run_task(pier_task *task, void *arg) noexcept
{
	(*static_cast<F *>(arg))(task_ref(task));
}

} /* namespace detail */

/*
 * Submit @taken, drive the engine until it is complete, and free it; after
 * @timeout_ms milliseconds it is cancelled.  An error of @taken is returned.
 */
inline result<task> run(result<task> taken, int timeout_ms)
{
	if (taken) {
		status done = taken->run(timeout_ms);

		if (!done)
			return done;
	}
	return taken;
}

} /* namespace pier */

#endif
