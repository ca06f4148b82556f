/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_CONN_HPP
#define PIER_CPP_CONN_HPP

#include <sys/socket.h>

#include <cstdint>

#include <pier/cm.h>
#include <pier/counters.h>
#include <pier/cpp/buf.hpp>
#include <pier/cpp/conn_waiter.hpp>
#include <pier/cpp/ctx.hpp>
#include <pier/rdma.h>

namespace pier {

/*
 * A connection.  Each operation is there twice: it takes a task, which the
 * caller submits, runs or awaits; with a callable @fn it submits one shot,
 * allocates nothing, and calls fn(task_ref) when it is complete.  @fn may not
 * throw, is the caller's, and is used until then.
 */
class conn_ref : public handle<pier_conn> {
public:
	using handle::handle;

	static void destroy(pier_conn *conn) noexcept
	{
		pier_conn_destroy(conn);
		detail::conn_waiter::destroyed(conn);
	}

	/* Connect to the peer that made @desc; wait() for the result. */
	status connect(bytes desc) const noexcept
	{
		return pier_rdma_connect(c_, desc.data, desc.size);
	}

	/* Drive the engine until it is connected. */
	status wait(int timeout_ms) const noexcept
	{
		return pier_conn_wait(c_, timeout_ms);
	}
	void disconnect() const noexcept { pier_conn_disconnect(c_); }
	void abort() const noexcept { pier_conn_abort(c_); }

	enum pier_conn_state state() const noexcept
	{
		return pier_conn_state(c_);
	}
	const char *state_name() const noexcept
	{
		return pier_conn_state_name(state());
	}
	bool connected() const noexcept
	{
		return state() == PIER_CONN_CONNECTED;
	}

	/* Its failure; code 0: it has not. */
	pier::error error() const
	{
		return { pier_conn_error(c_), pier_conn_error_text(c_) };
	}

	/*
	 * Call @fn with (conn_ref, previous state, state) after each change.
	 * The user data of the connection is taken by @fn.
	 */
	template <class F> void on_state(F &fn) const noexcept
	{
		pier_conn_set_user_data(c_, detail::arg_of(fn));
		pier_conn_set_state_changed(c_, run_state<F>);
	}

	void no_state_callable() const noexcept
	{
		pier_conn_set_state_changed(c_, nullptr);
		pier_conn_set_user_data(c_, nullptr);
	}

	ctx_ref ctx() const noexcept { return pier_conn_ctx(c_); }
	result<struct pier_conn_path> path() const
	{
		struct pier_conn_path ret;
		int err = pier_conn_path(c_, &ret);

		if (err)
			return status(err);
		return ret;
	}
	result<struct pier_counters> counters() const
	{
		auto ret = defaults<struct pier_counters>();
		int err = pier_conn_counters(c_, &ret);

		if (err)
			return status(err);
		return ret;
	}

	/* Of a request that a listener has reported, now or later. */
	status accept(bytes data = {}) const noexcept
	{
		return pier_conn_accept(c_, data.data, data.size);
	}

	/* After success the connection is no longer valid. */
	status reject(bytes data = {}) const noexcept
	{
		status ret = pier_conn_reject(c_, data.data, data.size);

		if (ret)
			detail::conn_waiter::destroyed(c_);
		return ret;
	}
	unsigned int reject_reason() const noexcept
	{
		return pier_conn_reject_reason(c_);
	}

	/* The peer's; it lives until the next call. */
	result<bytes> private_data() const
	{
		bytes ret;
		int err = pier_conn_private_data(c_, &ret.data, &ret.size);

		if (err)
			return status(err);
		return ret;
	}
	const char *local_address() const noexcept
	{
		return pier_conn_local_address(c_);
	}
	const char *peer_address() const noexcept
	{
		return pier_conn_peer_address(c_);
	}
	result<sockaddr_storage> peer_sockaddr() const
	{
		sockaddr_storage ret{};
		int err = pier_conn_peer_sockaddr(c_, &ret);

		if (err)
			return status(err);
		return ret;
	}
	enum pier_transport transport() const noexcept
	{
		return pier_conn_transport(c_);
	}
	const char *transport_name() const noexcept
	{
		return pier_transport_name(transport());
	}
	bool peer_is_pier() const noexcept
	{
		return pier_conn_peer_is_pier(c_) != 0;
	}

	/* The data of @src; nullptr: an empty message. */
	result<task> send(buf_ref src) const
	{
		return detail::make<task_ref>(pier_rdma_task_send, c_,
					      src.get());
	}
	template <class F>
	status send(buf_ref src, F &fn) const noexcept
	{
		return pier_rdma_send(c_, src.get(), detail::run_task<F>,
				      detail::arg_of(fn));
	}

	/* The same with an immediate, in network order. */
	result<task> send_imm(buf_ref src, std::uint32_t imm) const
	{
		return detail::make<task_ref>(pier_rdma_task_send_imm, c_,
					      src.get(), imm);
	}
	template <class F>
	status send_imm(buf_ref src, std::uint32_t imm, F &fn) const noexcept
	{
		return pier_rdma_send_imm(c_, src.get(), imm,
					  detail::run_task<F>,
					  detail::arg_of(fn));
	}

	/* Append the data of the remote @src to @dst. */
	result<task> read(buf_ref src, buf_ref dst) const
	{
		return detail::make<task_ref>(pier_rdma_task_read, c_,
					      src.get(), dst.get());
	}
	template <class F>
	status read(buf_ref src, buf_ref dst, F &fn) const noexcept
	{
		return pier_rdma_read(c_, src.get(), dst.get(),
				      detail::run_task<F>, detail::arg_of(fn));
	}

	/* Append the data of @src to the remote @dst. */
	result<task> write(buf_ref src, buf_ref dst) const
	{
		return detail::make<task_ref>(pier_rdma_task_write, c_,
					      src.get(), dst.get());
	}
	template <class F>
	status write(buf_ref src, buf_ref dst, F &fn) const noexcept
	{
		return pier_rdma_write(c_, src.get(), dst.get(),
				       detail::run_task<F>, detail::arg_of(fn));
	}

	result<task> write_imm(buf_ref src, buf_ref dst,
			       std::uint32_t imm) const
	{
		return detail::make<task_ref>(pier_rdma_task_write_imm, c_,
					      src.get(), dst.get(), imm);
	}
	template <class F>
	status write_imm(buf_ref src, buf_ref dst, std::uint32_t imm,
			 F &fn) const noexcept
	{
		return pier_rdma_write_imm(c_, src.get(), dst.get(), imm,
					   detail::run_task<F>,
					   detail::arg_of(fn));
	}

	/* The remote @dst is 8 bytes, the value before is appended to @old. */
	result<task> compare_swap(buf_ref dst, buf_ref old,
				  std::uint64_t compare,
				  std::uint64_t swap) const
	{
		return detail::make<task_ref>(pier_rdma_task_compare_swap, c_,
					      dst.get(), old.get(), compare,
					      swap);
	}
	template <class F>
	status compare_swap(buf_ref dst, buf_ref old, std::uint64_t compare,
			    std::uint64_t swap, F &fn) const noexcept
	{
		return pier_rdma_compare_swap(c_, dst.get(), old.get(), compare,
					      swap, detail::run_task<F>,
					      detail::arg_of(fn));
	}

	result<task> fetch_add(buf_ref dst, buf_ref old,
			       std::uint64_t add) const
	{
		return detail::make<task_ref>(pier_rdma_task_fetch_add, c_,
					      dst.get(), old.get(), add);
	}
	template <class F>
	status fetch_add(buf_ref dst, buf_ref old, std::uint64_t add,
			 F &fn) const noexcept
	{
		return pier_rdma_fetch_add(c_, dst.get(), old.get(), add,
					   detail::run_task<F>,
					   detail::arg_of(fn));
	}

	/* The value of a sync event of the peer. */
	result<task> remote_get(const pier_sync_event *event, buf_ref dst) const
	{
		return detail::make<task_ref>(pier_rdma_task_remote_get, c_,
					      event, dst.get());
	}
	template <class F>
	status remote_get(const pier_sync_event *event, buf_ref dst,
			  F &fn) const noexcept
	{
		return pier_rdma_remote_get(c_, event, dst.get(),
					    detail::run_task<F>,
					    detail::arg_of(fn));
	}

	result<task> notify_set(const pier_sync_event *event, buf_ref src) const
	{
		return detail::make<task_ref>(pier_rdma_task_notify_set, c_,
					      event, src.get());
	}
	template <class F>
	status notify_set(const pier_sync_event *event, buf_ref src,
			  F &fn) const noexcept
	{
		return pier_rdma_notify_set(c_, event, src.get(),
					    detail::run_task<F>,
					    detail::arg_of(fn));
	}

	result<task> notify_add(const pier_sync_event *event, buf_ref old,
				std::uint64_t add) const
	{
		return detail::make<task_ref>(pier_rdma_task_notify_add, c_,
					      event, old.get(), add);
	}
	template <class F>
	status notify_add(const pier_sync_event *event, buf_ref old,
			  std::uint64_t add, F &fn) const noexcept
	{
		return pier_rdma_notify_add(c_, event, old.get(), add,
					    detail::run_task<F>,
					    detail::arg_of(fn));
	}

private:
	template <class F>
	static void run_state(pier_conn *conn, enum pier_conn_state prev,
			      enum pier_conn_state next, void *arg) noexcept
	{
		(*static_cast<F *>(arg))(conn_ref(conn), prev, next);
	}
};

using conn = owned<conn_ref>;

} /* namespace pier */

#endif
