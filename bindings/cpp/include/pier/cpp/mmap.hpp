/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_MMAP_HPP
#define PIER_CPP_MMAP_HPP

#include <cerrno>
#include <cstdint>
#include <type_traits>

#include <pier/cpp/device.hpp>
#include <pier/mmap.h>

namespace pier {

/* Memory that a device may access; pier/mmap.h has the contracts. */
class mmap_ref : public handle<pier_mmap> {
public:
	using handle::handle;

	/* Register @len bytes at @addr, which stay the caller's. */
	static result<owned<mmap_ref>> map(device_ref dev, void *addr,
					   std::size_t len,
					   std::uint32_t access)
	{
		return detail::make<mmap_ref>(pier_mmap_map, dev.get(), addr,
					      len, access);
	}

	/*
	 * The same, to be read only; 0 is PIER_LOCAL_READ here.  Errors:
	 * -EACCES, @access to write.
	 */
	template <class T, class = std::enable_if_t<std::is_const_v<T>>>
	static result<owned<mmap_ref>> map(device_ref dev, T *addr,
					   std::size_t len,
					   std::uint32_t access)
	{
		constexpr std::uint32_t reads = PIER_LOCAL_READ |
			PIER_REMOTE_READ | PIER_PEER_READ;

		if (access & ~reads)
			return pier::error{ -EACCES, "mmap: access to write "
					    "const memory" };
		if (!access)
			access = PIER_LOCAL_READ;
		return map(dev, const_cast<void *>(
				   static_cast<const void *>(addr)),
			   len, access);
	}

	/* All elements of a std::array, std::vector, std::string ... */
	template <class T> static result<owned<mmap_ref>>
	map(device_ref dev, T &all, std::uint32_t access)
	{
		return map(dev, std::data(all),
			   std::size(all) * sizeof(*std::data(all)), access);
	}

	/* @len bytes of pier's own memory. */
	static result<owned<mmap_ref>>
	alloc(device_ref dev, std::size_t len,
	      const pier_mmap_config *cfg = nullptr)
	{
		return detail::make<mmap_ref>(pier_mmap_alloc, dev.get(), len,
					      cfg);
	}

	/* The memory that descriptor() of a peer describes. */
	static result<owned<mmap_ref>> import(device_ref dev, bytes desc)
	{
		return detail::make<mmap_ref>(pier_mmap_create_from_export,
					      dev.get(), desc.data, desc.size);
	}

	/* Without a range, not started. */
	static result<owned<mmap_ref>> create()
	{
		return detail::make<mmap_ref>(pier_mmap_create);
	}
	static void destroy(pier_mmap *mmap) noexcept
	{
		pier_mmap_destroy(mmap);
	}

	status configure(const pier_mmap_config &cfg) const noexcept
	{
		return pier_mmap_configure(c_, &cfg);
	}
	pier_mmap_config config() const noexcept
	{
		auto ret = defaults<pier_mmap_config>();

		pier_mmap_get_config(c_, &ret);
		return ret;
	}
	status add(device_ref dev) const noexcept
	{
		return pier_mmap_add_dev(c_, dev.get());
	}
	status start() const noexcept { return pier_mmap_start(c_); }
	status stop() const noexcept { return pier_mmap_stop(c_); }

	/* For peers; it lives until this is started again or destroyed. */
	result<bytes> descriptor() const
	{
		bytes ret;
		int err = pier_mmap_export(c_, &ret.data, &ret.size);

		if (err)
			return status(err);
		return ret;
	}

	void *addr() const noexcept { return pier_mmap_addr(c_); }
	std::size_t size() const noexcept { return pier_mmap_len(c_); }
	std::size_t page_size() const noexcept
	{
		return pier_mmap_page_size(c_);
	}

	/* The memfd of memory with PIER_MMAP_SHARED. */
	result<int> fd() const
	{
		int ret = pier_mmap_fd(c_);

		if (ret < 0)
			return status(ret);
		return ret;
	}
	std::size_t bufs() const noexcept { return pier_mmap_buf_count(c_); }
	bool remote() const noexcept { return pier_mmap_is_remote(c_) != 0; }
};

using mmap = owned<mmap_ref>;

} /* namespace pier */

#endif
