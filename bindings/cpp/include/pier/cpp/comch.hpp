/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_COMCH_HPP
#define PIER_CPP_COMCH_HPP

#include <cstdint>

#include <pier/comch.h>
#include <pier/comch_request.h>
#include <pier/cpp/buf.hpp>
#include <pier/cpp/ctx.hpp>
#include <pier/cpp/rep.hpp>

namespace pier {

/* A connection of a Comm Channel, which belongs to its server or client. */
class comch_conn : public handle<struct pier_comch_conn> {
public:
	using handle::handle;

	pier_comch *comch() const noexcept { return pier_comch_conn_comch(c_); }
	void set_user_data(void *user_data) const noexcept
	{
		pier_comch_conn_set_user_data(c_, user_data);
	}
	void *user_data() const noexcept
	{
		return pier_comch_conn_user_data(c_);
	}
	std::uint32_t max_msg_size() const noexcept
	{
		return pier_comch_conn_max_msg_size(c_);
	}
	pier_comch_counters counters() const noexcept
	{
		pier_comch_counters ret;

		pier_comch_conn_get_counters(c_, &ret);
		return ret;
	}
	pier::error error() const
	{
		const char *text = "";
		int code = pier_comch_conn_error(c_, &text);

		return { code, text };
	}
	status disconnect() const noexcept { return pier_comch_disconnect(c_); }

	/* Send @msg, which submit copies. */
	result<task> send(bytes msg) const
	{
		return detail::make<task_ref>(pier_comch_task_send, c_,
					      msg.data, msg.size);
	}
	template <class F> status send(bytes msg, F &fn) const noexcept
	{
		return pier_comch_send(c_, msg.data, msg.size,
				       detail::run_task<F>,
				       detail::arg_of(fn));
	}

	/* Of a client: the reply is copied to the @size bytes at @reply. */
	result<task> request(bytes msg, void *reply, std::size_t size) const
	{
		return detail::make<task_ref>(pier_comch_task_request, c_,
					      msg.data, msg.size, reply, size);
	}

	/* The same: the reply is appended to @reply. */
	result<task> request(bytes msg, buf_ref reply) const
	{
		auto ret = request(msg, nullptr, 0);

		if (ret) {
			int err = pier_comch_task_set_reply_buf(ret->get(),
								reply.get());

			if (err)
				return status(err);
		}
		return ret;
	}
};

/* The bytes of the reply that a request has received. */
inline std::size_t reply_len(task_ref request) noexcept
{
	return pier_comch_reply_len(request.get());
}

/* What the next submit sends; of a request also where its reply goes. */
inline status set_message(task_ref taken, bytes msg) noexcept
{
	return pier_comch_task_set_msg(taken.get(), msg.data, msg.size);
}
inline status set_request(task_ref taken, bytes msg, void *reply = nullptr,
			  std::size_t size = 0) noexcept
{
	return pier_comch_task_set_request(taken.get(), msg.data, msg.size,
					   reply, size);
}

/* What a server or client reports; as ctx_events. */
class comch_events : public ctx_events {
public:
	virtual void connected(comch_conn) noexcept { }
	virtual void disconnected(comch_conn) noexcept { }

	/* @msg is valid until this returns. */
	virtual void received(comch_conn, bytes /* msg */) noexcept { }

	/* A message can be sent again after -EAGAIN. */
	virtual void writable(comch_conn) noexcept { }

	/* Consumers of the peer, by their ids. */
	virtual void consumer_added(comch_conn, std::uint32_t) noexcept { }
	virtual void consumer_expired(comch_conn, std::uint32_t) noexcept { }

protected:
	~comch_events() = default;
};

/* What a server reports that replies to requests. */
class request_events : public comch_events {
public:
	/* @msg is valid until @request is replied to, or has ended. */
	virtual void requested(comch_conn conn, std::uint64_t request,
			       bytes msg) noexcept = 0;

	/* Its reply was sent, or the negative error @status. */
	virtual void request_ended(std::uint64_t /* request */,
				   int /* status */) noexcept { }

protected:
	~request_events() = default;
};

/* A server or a client of a Comm Channel. */
class comch_ref : public handle<pier_comch> {
public:
	using handle::handle;

	static result<owned<comch_ref>>
	server(device_ref dev, const char *name, rep_ref port = nullptr)
	{
		return detail::make<comch_ref>(pier_comch_create_server,
					       dev.get(), port.get(), name);
	}
	static result<owned<comch_ref>>
	client(device_ref dev, const char *name, const char *address = nullptr)
	{
		return detail::make<comch_ref>(pier_comch_create_client,
					       dev.get(), name, address);
	}
	static void destroy(pier_comch *comch) noexcept
	{
		pier_comch_destroy(comch);
	}

	status configure(const pier_comch_config &cfg) const noexcept
	{
		return pier_comch_configure(c_, &cfg);
	}
	pier_comch_config config() const noexcept
	{
		auto ret = defaults<pier_comch_config>();

		pier_comch_get_config(c_, &ret);
		return ret;
	}
	ctx_ref ctx() const noexcept { return pier_comch_ctx(c_); }

	/* A client is STARTING until it is connected. */
	status start(engine_ref pe) const noexcept { return ctx().start(pe); }

	/* Of a client; empty: it is not connected. */
	comch_conn conn() const noexcept { return pier_comch_conn(c_); }

	/* The reason for which a client is idle again. */
	pier::error error() const
	{
		const char *text = "";
		int code = pier_comch_error(c_, &text);

		return { code, text };
	}
	pier_comch_counters counters() const noexcept
	{
		pier_comch_counters ret;

		pier_comch_get_counters(c_, &ret);
		return ret;
	}

	/*
	 * The user data of the context is taken by @events.  A server whose
	 * events are without requests takes none.
	 */
	void set_events(comch_events &events) const noexcept;
	status set_events(request_events &events) const noexcept;

	/* Of a server: the answer to a request, now or later. */
	status reply(std::uint64_t request, bytes msg) const noexcept
	{
		return pier_comch_reply(c_, request, msg.data, msg.size);
	}
	status reply(std::uint64_t request, buf_ref src) const noexcept
	{
		return pier_comch_reply_buf(c_, request, src.get());
	}
	status refuse(std::uint64_t request) const noexcept
	{
		return pier_comch_refuse(c_, request);
	}
	comch_conn request_conn(std::uint64_t request) const noexcept
	{
		return pier_comch_request_conn(c_, request);
	}
	std::size_t reply_max(std::uint64_t request) const noexcept
	{
		return pier_comch_reply_max(c_, request);
	}
	std::size_t reply_buf_max(std::uint64_t request) const noexcept
	{
		return pier_comch_reply_buf_max(c_, request);
	}
	device_ref device() const noexcept { return pier_comch_dev(c_); }
	rep_ref rep() const noexcept { return pier_comch_rep(c_); }
};

using comch = owned<comch_ref>;

namespace detail {

/* Callbacks of C for the members of the events. */
template <class E> E *events_of(void *arg) noexcept
{
	return static_cast<E *>(static_cast<ctx_events *>(arg));
}

template <void (comch_events::*Fn)(comch_conn) noexcept>
void comch_event(struct pier_comch_conn *conn, void *arg) noexcept
{
	(events_of<comch_events>(arg)->*Fn)(conn);
}

template <void (comch_events::*Fn)(comch_conn, std::uint32_t) noexcept>
void comch_consumer_event(struct pier_comch_conn *conn, std::uint32_t id,
			  void *arg) noexcept
{
	(events_of<comch_events>(arg)->*Fn)(conn, id);
}

inline void comch_received(struct pier_comch_conn *conn, const void *msg,
			   std::size_t len, void *arg) noexcept
{
	events_of<comch_events>(arg)->received(conn, { msg, len });
}

inline void comch_requested(struct pier_comch_conn *conn,
			    std::uint64_t request, const void *msg,
			    std::size_t len, void *arg) noexcept
{
	events_of<request_events>(arg)->requested(conn, request, { msg, len });
}

inline void comch_request_ended(pier_comch *, std::uint64_t request,
				int status, void *arg) noexcept
{
	events_of<request_events>(arg)->request_ended(request, status);
}

} /* namespace detail */

inline void comch_ref::set_events(comch_events &events) const noexcept
{
	/* A client has none: that fails, and changes nothing. */
	pier_comch_set_request_callbacks(c_, nullptr, nullptr);
	simple_ctx_ref(ctx().get()).set_events(events);
	pier_comch_set_callbacks(
		c_, detail::comch_event<&comch_events::connected>,
		detail::comch_event<&comch_events::disconnected>,
		detail::comch_received,
		detail::comch_event<&comch_events::writable>);
	pier_comch_set_consumer_callbacks(
		c_, detail::comch_consumer_event<&comch_events::consumer_added>,
		detail::comch_consumer_event<&comch_events::consumer_expired>);
}

inline status comch_ref::set_events(request_events &events) const noexcept
{
	status ret = pier_comch_set_request_callbacks(c_, nullptr, nullptr);

	if (!ret)
		return ret;
	set_events(static_cast<comch_events &>(events));
	return pier_comch_set_request_callbacks(c_, detail::comch_requested,
						detail::comch_request_ended);
}

} /* namespace pier */

#endif
