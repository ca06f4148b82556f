/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_RDMA_HPP
#define PIER_CPP_RDMA_HPP

#include <cstdint>

#include <pier/cm.h>
#include <pier/cpp/conn.hpp>
#include <pier/rdma.h>

namespace pier {

/* What an RDMA context reports of its connections; as ctx_events. */
class rdma_events : public ctx_events {
public:
	/* A client requests @one: accept, reject or own it, now or later. */
	virtual void requested(conn_ref one) noexcept
	{
		static_cast<void>(one.reject());
	}
	virtual void established(conn_ref) noexcept { }
	virtual void failed(conn_ref) noexcept { }
	virtual void disconnected(conn_ref) noexcept { }

protected:
	~rdma_events() = default;
};

/* Accepts requests on a port. */
class listener_ref : public handle<pier_listener> {
public:
	using handle::handle;

	static void destroy(pier_listener *listener) noexcept
	{
		pier_listener_destroy(listener);
	}
	std::uint16_t port() const noexcept { return pier_listener_port(c_); }
};

using listener = owned<listener_ref>;

/* One end of a connection, and what describes it for the peer. */
struct exported_conn;

/* An RDMA context: connections, and the tasks on them. */
class rdma_ref : public handle<pier_rdma> {
public:
	using handle::handle;

	static result<owned<rdma_ref>> create(device_ref dev)
	{
		return detail::make<rdma_ref>(pier_rdma_create, dev.get());
	}
	static void destroy(pier_rdma *rdma) noexcept
	{
		pier_rdma_destroy(rdma);
	}

	status configure(const pier_rdma_config &cfg) const noexcept
	{
		return pier_rdma_configure(c_, &cfg);
	}
	pier_rdma_config config() const noexcept
	{
		auto ret = defaults<pier_rdma_config>();

		pier_rdma_get_config(c_, &ret);
		return ret;
	}
	ctx_ref ctx() const noexcept { return pier_rdma_ctx(c_); }
	device_ref device() const noexcept { return pier_rdma_dev(c_); }
	status start(engine_ref pe) const noexcept { return ctx().start(pe); }

	/* The user data of the context is taken by @events. */
	void set_events(rdma_events &events) const noexcept;

	/* Create a connection and describe this end of it. */
	result<exported_conn> export_conn() const;

	/* Connect by address; wait() or the events report the result. */
	result<conn> connect(const pier_connect_config &cfg) const
	{
		return detail::make<conn_ref>(pier_rdma_connect_to, c_, &cfg);
	}
	result<conn> connect(const char *peer, std::uint16_t port) const
	{
		auto cfg = defaults<pier_connect_config>();

		cfg.peer = peer;
		cfg.port = port;
		return connect(cfg);
	}

	/* Accept requests, which the events report. */
	result<listener> listen(const pier_listen_config &cfg) const
	{
		return detail::make<listener_ref>(pier_rdma_listen, c_, &cfg);
	}
	result<listener> listen(std::uint16_t port) const
	{
		auto cfg = defaults<pier_listen_config>();

		cfg.port = port;
		return listen(cfg);
	}

	/* Append a message to @dst; nullptr: empty ones and immediates. */
	result<task> receive(buf_ref dst) const
	{
		return detail::make<task_ref>(pier_rdma_task_receive, c_,
					      dst.get());
	}
	template <class F> status receive(buf_ref dst, F &fn) const noexcept
	{
		return pier_rdma_receive(c_, dst.get(), detail::run_task<F>,
					 detail::arg_of(fn));
	}
};

using rdma = owned<rdma_ref>;

struct exported_conn {
	pier::conn conn;
	bytes descriptor;	/* belongs to conn */
};

inline result<exported_conn> rdma_ref::export_conn() const
{
	pier_conn *c = nullptr;
	bytes desc;
	int err = pier_rdma_export(c_, &desc.data, &desc.size, &c);

	if (err)
		return status(err);
	return exported_conn{ conn(c), desc };
}

namespace detail {

/* A callback of C for the member @Fn of the events. */
template <void (rdma_events::*Fn)(conn_ref) noexcept>
void run_event(pier_conn *conn, void *, void *arg) noexcept
{
	(static_cast<rdma_events *>(static_cast<ctx_events *>(arg))->*Fn)(conn);
}

} /* namespace detail */

inline void rdma_ref::set_events(rdma_events &events) const noexcept
{
	simple_ctx_ref(ctx().get()).set_events(events);
	pier_rdma_set_conn_callbacks(
		c_, detail::run_event<&rdma_events::requested>,
		detail::run_event<&rdma_events::established>,
		detail::run_event<&rdma_events::failed>,
		detail::run_event<&rdma_events::disconnected>);
}

} /* namespace pier */

#endif
