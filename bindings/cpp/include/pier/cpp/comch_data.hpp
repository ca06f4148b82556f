/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_COMCH_DATA_HPP
#define PIER_CPP_COMCH_DATA_HPP

#include <cstdint>

#include <pier/comch_data.h>
#include <pier/cpp/comch.hpp>

namespace pier {

/* Receives messages of producers of the peer into buffers. */
class consumer_ref : public handle<pier_comch_consumer> {
public:
	using handle::handle;

	/* Buffers are of @memory; nullptr: immediates only. */
	static result<owned<consumer_ref>> create(comch_conn peer,
						  mmap_ref memory)
	{
		return detail::make<consumer_ref>(pier_comch_consumer_create,
						  peer.get(), memory.get());
	}
	static void destroy(pier_comch_consumer *consumer) noexcept
	{
		pier_comch_consumer_destroy(consumer);
	}

	status configure(const pier_comch_data_config &cfg) const noexcept
	{
		return pier_comch_consumer_configure(c_, &cfg);
	}
	pier_comch_data_config config() const noexcept
	{
		auto ret = defaults<pier_comch_data_config>();

		pier_comch_consumer_get_config(c_, &ret);
		return ret;
	}
	simple_ctx_ref ctx() const noexcept
	{
		return pier_comch_consumer_ctx(c_);
	}

	/* STARTING until the peer has been informed of it. */
	status start(engine_ref pe) const noexcept { return ctx().start(pe); }
	std::uint32_t id() const noexcept { return pier_comch_consumer_id(c_); }
	pier::error error() const
	{
		const char *text = "";
		int code = pier_comch_consumer_error(c_, &text);

		return { code, text };
	}
	pier_comch_data_counters counters() const noexcept
	{
		pier_comch_data_counters ret;

		pier_comch_consumer_get_counters(c_, &ret);
		return ret;
	}

	/* Append a message to @dst; nullptr: immediates only. */
	result<task> receive(buf_ref dst) const
	{
		return detail::make<task_ref>(pier_comch_task_receive, c_,
					      dst.get());
	}
	template <class F> status receive(buf_ref dst, F &fn) const noexcept
	{
		return pier_comch_receive(c_, dst.get(), detail::run_task<F>,
					  detail::arg_of(fn));
	}
};

using consumer = owned<consumer_ref>;

/* Sends messages to consumers of the peer. */
class producer_ref : public handle<pier_comch_producer> {
public:
	using handle::handle;

	static result<owned<producer_ref>> create(comch_conn peer)
	{
		return detail::make<producer_ref>(pier_comch_producer_create,
						  peer.get());
	}
	static void destroy(pier_comch_producer *producer) noexcept
	{
		pier_comch_producer_destroy(producer);
	}

	status configure(const pier_comch_data_config &cfg) const noexcept
	{
		return pier_comch_producer_configure(c_, &cfg);
	}
	pier_comch_data_config config() const noexcept
	{
		auto ret = defaults<pier_comch_data_config>();

		pier_comch_producer_get_config(c_, &ret);
		return ret;
	}
	simple_ctx_ref ctx() const noexcept
	{
		return pier_comch_producer_ctx(c_);
	}
	status start(engine_ref pe) const noexcept { return ctx().start(pe); }
	std::uint32_t id() const noexcept { return pier_comch_producer_id(c_); }
	pier::error error() const
	{
		const char *text = "";
		int code = pier_comch_producer_error(c_, &text);

		return { code, text };
	}
	pier_comch_data_counters counters() const noexcept
	{
		pier_comch_data_counters ret;

		pier_comch_producer_get_counters(c_, &ret);
		return ret;
	}

	/* Send the data of @src, and @imm, which submit copies. */
	result<task> send(buf_ref src, bytes imm, std::uint32_t id) const
	{
		return detail::make<task_ref>(pier_comch_task_produce, c_,
					      src.get(), imm.data, imm.size,
					      id);
	}
	template <class F>
	status send(buf_ref src, bytes imm, std::uint32_t id,
		    F &fn) const noexcept
	{
		return pier_comch_produce(c_, src.get(), imm.data, imm.size,
					  id, detail::run_task<F>,
					  detail::arg_of(fn));
	}
};

using producer = owned<producer_ref>;

/* Of a receive of a consumer that has succeeded. */
inline std::uint32_t message_len(task_ref received) noexcept
{
	return pier_comch_task_len(received.get());
}
inline bytes message_imm(task_ref received) noexcept
{
	bytes ret;

	ret.data = pier_comch_task_imm(received.get(), &ret.size);
	return ret;
}

inline std::uint32_t message_producer(task_ref received) noexcept
{
	return pier_comch_task_producer(received.get());
}

/* What the next submit receives into or sends, and to which consumer. */
inline status set_buf(task_ref taken, buf_ref buffer) noexcept
{
	return pier_comch_task_set_buf(taken.get(), buffer.get());
}
inline status set_imm(task_ref taken, bytes imm) noexcept
{
	return pier_comch_task_set_imm(taken.get(), imm.data, imm.size);
}
inline status set_consumer(task_ref taken, std::uint32_t id) noexcept
{
	return pier_comch_task_set_consumer(taken.get(), id);
}

} /* namespace pier */

#endif
