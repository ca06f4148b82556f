/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_COPY_HPP
#define PIER_CPP_COPY_HPP

#include <cstdint>

#include <pier/copy.h>
#include <pier/cpp/device.hpp>

namespace pier {

/* What a copy reports; a program keeps it as long as the copy. */
class copy_events {
public:
	virtual void failed(const char * /* path */, int /* error */,
			    const char * /* text */) noexcept { }
	virtual void progress(const char * /* path */, std::uint64_t /* size */,
			      std::uint64_t /* bytes */) noexcept { }
	virtual void listening() noexcept { }

protected:
	~copy_events() = default;
};

/* Copies of files between a server and clients; calls block. */
class copy_ref : public handle<pier_copy> {
public:
	using handle::handle;

	static result<owned<copy_ref>> create(device_ref dev)
	{
		return detail::make<copy_ref>(pier_copy_create, dev.get());
	}
	static void destroy(pier_copy *copy) noexcept
	{
		pier_copy_destroy(copy);
	}

	status configure(const pier_copy_config &cfg) const noexcept
	{
		return pier_copy_configure(c_, &cfg);
	}
	pier_copy_config config() const noexcept
	{
		auto ret = defaults<pier_copy_config>();

		pier_copy_get_config(c_, &ret);
		return ret;
	}
	void set_events(copy_events &events) const noexcept
	{
		pier_copy_set_callbacks(c_, failed, progress, &events);
	}

	/* @sources are texts of C, as std::array or std::vector has them. */
	template <class T>
	status send(const T &sources, const char *target) const noexcept
	{
		return pier_copy_send(c_, std::data(sources),
				      std::size(sources), target);
	}
	template <class T>
	status receive(const T &sources, const char *target) const noexcept
	{
		return pier_copy_receive(c_, std::data(sources),
					 std::size(sources), target);
	}

	/* Until stop(); @events learn when clients can connect. */
	status serve() const noexcept
	{
		return pier_copy_serve(c_, nullptr, nullptr);
	}
	status serve(copy_events &events) const noexcept
	{
		return pier_copy_serve(c_, listening, &events);
	}

	/* One file, which exists at one of both ends. */
	status file(const char *path) const noexcept
	{
		return pier_copy_file(c_, path);
	}
	status serve_file(const char *path) const noexcept
	{
		return pier_copy_serve_file(c_, path);
	}

	/* Any thread; signal handlers. */
	void stop() const noexcept { pier_copy_stop(c_); }

	/* Of the last call. */
	pier_copy_result last() const noexcept
	{
		pier_copy_result ret{};

		pier_copy_get_result(c_, &ret);
		return ret;
	}

private:
	static void failed(const char *path, int error, const char *text,
			   void *arg) noexcept
	{
		static_cast<copy_events *>(arg)->failed(path, error, text);
	}
	static void progress(const char *path, std::uint64_t size,
			     std::uint64_t bytes, void *arg) noexcept
	{
		static_cast<copy_events *>(arg)->progress(path, size, bytes);
	}
	static void listening(void *arg) noexcept
	{
		static_cast<copy_events *>(arg)->listening();
	}
};

using copy = owned<copy_ref>;

} /* namespace pier */

#endif
