/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_BUF_HPP
#define PIER_CPP_BUF_HPP

#include <pier/buf.h>
#include <pier/buf_array.h>
#include <pier/buf_pool.h>
#include <pier/cpp/mmap.hpp>

namespace pier {

/*
 * A buffer: a part of an mmap.  An owner, buf, has one reference, and share()
 * makes another owner; a task in flight has its own.
 */
class buf_ref : public handle<pier_buf> {
public:
	using handle::handle;

	static void destroy(pier_buf *buf) noexcept { pier_buf_put(buf); }

	result<owned<buf_ref>> share() const
	{
		int err = pier_buf_ref(c_);

		if (err)
			return status(err);
		return owned<buf_ref>(c_);
	}
	unsigned int refs() const noexcept { return pier_buf_refs(c_); }

	void *head() const noexcept { return pier_buf_head(c_); }
	std::size_t size() const noexcept { return pier_buf_len(c_); }
	bytes data() const noexcept
	{
		return { pier_buf_data(c_), pier_buf_data_len(c_) };
	}
	mmap_ref mmap() const noexcept { return pier_buf_mmap(c_); }

	status set_data(void *data, std::size_t len) const noexcept
	{
		return pier_buf_set_data(c_, data, len);
	}
	void reset_data() const noexcept { pier_buf_reset(c_); }

	/* Append the chain @tail, which this owns from then on. */
	status chain(owned<buf_ref> &&tail) const noexcept
	{
		status ret = pier_buf_chain(c_, tail.get());

		if (ret)
			tail.release();
		return ret;
	}

	/* Cut the chain before @tail, which is the caller's again. */
	result<owned<buf_ref>> unchain(buf_ref tail) const
	{
		int err = pier_buf_unchain(c_, tail.get());

		if (err)
			return status(err);
		return owned<buf_ref>(tail.get());
	}
	buf_ref next() const noexcept { return pier_buf_next(c_); }
	std::size_t chain_size() const noexcept
	{
		return pier_buf_chain_len(c_);
	}
	std::size_t chain_data_size() const noexcept
	{
		return pier_buf_chain_data_len(c_);
	}
	std::size_t chain_tail_size() const noexcept
	{
		return pier_buf_chain_tail_len(c_);
	}
};

using buf = owned<buf_ref>;

/* Where buffers of any part of any mmap come from. */
class inventory_ref : public handle<pier_buf_inventory> {
public:
	using handle::handle;

	static result<owned<inventory_ref>> create(std::size_t count)
	{
		return detail::make<inventory_ref>(pier_buf_inventory_create,
						   count);
	}
	static void destroy(pier_buf_inventory *inv) noexcept
	{
		pier_buf_inventory_destroy(inv);
	}

	status expand(std::size_t count) const noexcept
	{
		return pier_buf_inventory_expand(c_, count);
	}
	std::size_t size() const noexcept
	{
		return pier_buf_inventory_count(c_);
	}
	std::size_t free_count() const noexcept
	{
		return pier_buf_inventory_free_count(c_);
	}

	/* A source: all of @memory is data. */
	result<buf> whole(mmap_ref memory) const
	{
		return detail::make<buf_ref>(pier_buf_whole, c_, memory.get());
	}

	/* A destination: no data, all of @memory is tail space. */
	result<buf> empty(mmap_ref memory) const
	{
		return detail::make<buf_ref>(pier_buf_empty, c_, memory.get());
	}

	/* The same of @len bytes at @at. */
	result<buf> by_data(mmap_ref memory, void *at, std::size_t len) const
	{
		return detail::make<buf_ref>(pier_buf_by_data, c_, memory.get(),
					     at, len);
	}
	result<buf> by_addr(mmap_ref memory, void *at, std::size_t len) const
	{
		return detail::make<buf_ref>(pier_buf_by_addr, c_, memory.get(),
					     at, len);
	}

	/* What @other and its chain describe, without their bytes. */
	result<buf> dup(buf_ref other) const
	{
		const pier_buf *from = other.get();

		return detail::make<buf_ref>(pier_buf_dup, c_, from);
	}
};

using inventory = owned<inventory_ref>;

/* An mmap cut into elements of one length. */
class buf_pool_ref : public handle<pier_buf_pool> {
public:
	using handle::handle;

	static result<owned<buf_pool_ref>>
	create(mmap_ref memory, std::size_t count, std::size_t len,
	       std::size_t align = 0)
	{
		auto cfg = defaults<pier_buf_pool_config>();

		cfg.count = count;
		cfg.len = len;
		cfg.align = align;
		return detail::make<buf_pool_ref>(pier_buf_pool_create,
						  memory.get(), &cfg);
	}
	static void destroy(pier_buf_pool *pool) noexcept
	{
		pier_buf_pool_destroy(pool);
	}

	std::size_t size() const noexcept { return pier_buf_pool_count(c_); }
	std::size_t free_count() const noexcept
	{
		return pier_buf_pool_free_count(c_);
	}
	result<buf> take() const
	{
		return detail::make<buf_ref>(pier_buf_pool_take, c_);
	}
};

using buf_pool = owned<buf_pool_ref>;

/* Elements of an mmap, taken by index. */
class buf_array_ref : public handle<pier_buf_array> {
public:
	using handle::handle;

	static result<owned<buf_array_ref>>
	create(mmap_ref memory, std::size_t count, std::size_t len,
	       std::size_t offset = 0)
	{
		auto cfg = defaults<pier_buf_array_config>();

		cfg.count = count;
		cfg.len = len;
		cfg.offset = offset;
		return detail::make<buf_array_ref>(pier_buf_array_create,
						   memory.get(), &cfg);
	}
	static void destroy(pier_buf_array *array) noexcept
	{
		pier_buf_array_destroy(array);
	}

	std::size_t size() const noexcept { return pier_buf_array_count(c_); }

	/* As a destination, and as a source. */
	result<buf> take(std::size_t i) const
	{
		return detail::make<buf_ref>(pier_buf_array_take, c_, i);
	}
	result<buf> take_data(std::size_t i) const
	{
		return detail::make<buf_ref>(pier_buf_array_take_data, c_, i);
	}
};

using buf_array = owned<buf_array_ref>;

} /* namespace pier */

#endif
