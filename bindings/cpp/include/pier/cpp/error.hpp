/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_ERROR_HPP
#define PIER_CPP_ERROR_HPP

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include <pier/error.h>

/*
 * 1: value() and or_throw() throw pier::exception after a failure.  0: they
 * print the error to stderr and abort.  The default is what the compiler has.
 */
#ifndef PIER_CPP_EXCEPTIONS
#ifdef __cpp_exceptions
#define PIER_CPP_EXCEPTIONS 1
#else
#define PIER_CPP_EXCEPTIONS 0
#endif
#endif

namespace pier {

/* A failure: the negative code of the C call, and its error message. */
struct error {
	int code = 0;
	std::string text;

	/* "EINVAL" or "PIER_ERNR". */
	const char *name() const noexcept { return pier_error_name(code); }

	/* What it means in general. */
	const char *meaning() const noexcept { return pier_strerror(code); }
	pier_scope scope() const noexcept { return pier_error_scope(code); }
};

#if PIER_CPP_EXCEPTIONS
class exception : public std::exception {
public:
	explicit exception(pier::error what) : error_(std::move(what)) { }

	int code() const noexcept { return error_.code; }
	const pier::error &error() const noexcept { return error_; }
	const char *what() const noexcept override
	{
		return error_.text.c_str();
	}

private:
	pier::error error_;
};
#endif

namespace detail {

[[noreturn]] inline void fail(const pier::error &error)
{
#if PIER_CPP_EXCEPTIONS
	throw pier::exception(error);
#else
	std::fprintf(stderr, "pier: %s: %s\n", error.name(),
		     error.text.c_str());
	std::abort();
#endif
}

} /* namespace detail */

/*
 * What a call without a result returns: an int, so that it costs nothing.  Its
 * message is that of the last failure in this thread: take error() before
 * another call fails.
 */
class [[nodiscard]] status {
public:
	constexpr status(int code = 0) noexcept : code_(code) { }

	constexpr bool ok() const noexcept { return code_ >= 0; }
	constexpr explicit operator bool() const noexcept { return ok(); }

	/* 0, or a negative error. */
	constexpr int code() const noexcept { return code_; }

	const char *text() const noexcept
	{
		return ok() ? "" : pier_last_error();
	}
	pier::error error() const { return { code_, text() }; }

	void or_throw() const
	{
		if (!ok())
			detail::fail(error());
	}

private:
	int code_;
};

/* A value, or the error by which there is none. */
template <class T> class [[nodiscard]] result {
public:
	static_assert(!std::is_same_v<T, pier::error> &&
		      !std::is_same_v<T, status>, "return it alone");
	using value_type = T;

	result(T value) : value_(std::in_place_index<0>, std::move(value)) { }
	result(pier::error error) : value_(std::in_place_index<1>,
					   std::move(error)) { }

	/* @failed: the status of the call that has just failed. */
	result(status failed) : result(failed.error()) { }

	bool ok() const noexcept { return value_.index() == 0; }
	explicit operator bool() const noexcept { return ok(); }

	/* 0, or a negative error. */
	int code() const noexcept { return ok() ? 0 : error().code; }

	/* Empty if there is a value. */
	const pier::error &error() const noexcept
	{
		static const pier::error none;
		const pier::error *failure = std::get_if<1>(&value_);

		return failure ? *failure : none;
	}

	/* The value; without one this throws, or aborts. */
	T &value() &
	{
		if (!ok())
			detail::fail(error());
		return *std::get_if<0>(&value_);
	}
	const T &value() const &
	{
		return const_cast<result *>(this)->value();
	}
	T value() && { return std::move(value()); }
	T or_throw() && { return std::move(value()); }

	T &operator*() & { return value(); }
	const T &operator*() const & { return value(); }
	T operator*() && { return std::move(value()); }
	T *operator->() { return &value(); }
	const T *operator->() const { return &value(); }

private:
	std::variant<T, pier::error> value_;
};

} /* namespace pier */

#endif
