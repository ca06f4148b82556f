/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_HANDLE_HPP
#define PIER_CPP_HANDLE_HPP

#include <cstddef>
#include <cstring>
#include <iterator>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include <pier/cpp/error.hpp>

namespace pier {

/*
 * The base of handles: a pointer to an object of C that another owner has, as
 * callbacks receive it.  get() leads to all of C.
 */
template <class C> class handle {
public:
	using c_type = C;

	constexpr handle(C *c = nullptr) noexcept : c_(c) { }

	constexpr C *get() const noexcept { return c_; }
	constexpr explicit operator bool() const noexcept { return c_; }
	friend constexpr bool operator==(handle a, handle b) noexcept
	{
		return a.c_ == b.c_;
	}
	friend constexpr bool operator!=(handle a, handle b) noexcept
	{
		return a.c_ != b.c_;
	}

protected:
	C *c_;
};

/*
 * An owner: a handle that destroys its object.  Owners are destroyed in the
 * reverse order of their declaration: declare the device first, then the
 * engine, contexts, memory, buffers, connections.
 */
template <class Ref> class owned : public Ref {
public:
	using c_type = typename Ref::c_type;

	owned() noexcept = default;
	explicit owned(c_type *c) noexcept : Ref(c) { }
	owned(owned &&other) noexcept : Ref(other.release()) { }
	owned(const owned &) = delete;
	~owned() { reset(); }

	owned &operator=(owned &&other) noexcept
	{
		if (this != &other)
			reset(other.release());
		return *this;
	}
	owned &operator=(const owned &) = delete;

	/* The object is the caller's; this has none any more. */
	c_type *release() noexcept { return std::exchange(this->c_, nullptr); }

	/* Destroy the object, and own @c instead. */
	void reset(c_type *c = nullptr) noexcept
	{
		c_type *old = std::exchange(this->c_, c);

		if (old)
			Ref::destroy(old);
	}
};

/* Bytes that the caller keeps: a pointer and a size. */
struct bytes {
	const void *data = nullptr;
	std::size_t size = 0;

	constexpr bytes() noexcept = default;
	constexpr bytes(const void *at, std::size_t len) noexcept
		: data(at), size(len) { }

	/* Of a text, without its NUL. */
	bytes(const char *text) noexcept : data(text),
		size(std::strlen(text)) { }

	/* Of std::string, std::vector, std::array, std::span ... */
	template <class T, class = std::enable_if_t<!std::is_array_v<T>>,
		  class = decltype(std::data(std::declval<const T &>()))>
	bytes(const T &all) noexcept : data(std::data(all)),
		size(std::size(all) * sizeof(*std::data(all))) { }

	std::string_view text() const noexcept
	{
		return { static_cast<const char *>(data), size };
	}
};

/* A configuration of C, @T, all of whose members are defaults. */
template <class T> T defaults() noexcept
{
	T cfg{};

	cfg.size = sizeof(cfg);
	return cfg;
}

namespace detail {

/* Call @fn, which writes its object behind @args. */
template <class Ref, class Fn, class... Args>
result<owned<Ref>> make(Fn *fn, Args... args)
{
	typename Ref::c_type *c = nullptr;
	int err = fn(args..., &c);

	if (err)
		return status(err);
	return owned<Ref>(c);
}

/* The argument by which a callback of C finds the callable @fn. */
template <class F> void *arg_of(F &fn) noexcept
{
	return const_cast<void *>(static_cast<const volatile void *>(
		std::addressof(fn)));
}

} /* namespace detail */

} /* namespace pier */

#endif
