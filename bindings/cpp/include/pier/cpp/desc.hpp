/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_DESC_HPP
#define PIER_CPP_DESC_HPP

#include <string>
#include <vector>

#include <pier/cpp/handle.hpp>
#include <pier/desc.h>
#include <pier/text.h>

namespace pier {

/* The contents of a descriptor, as lines of text: a secret, too. */
inline result<std::string> describe(bytes desc)
{
	std::string ret;
	int len = pier_desc_print(desc.data, desc.size, nullptr, 0);

	if (len < 0)
		return status(len);
	ret.resize(static_cast<std::size_t>(len) + 1);
	pier_desc_print(desc.data, desc.size, &ret[0], ret.size());
	ret.pop_back();
	return ret;
}

namespace detail {

template <class Fn, class... Args>
result<std::vector<unsigned char>> descriptor_of(Fn *fn, Args... args)
{
	std::vector<unsigned char> ret(PIER_DESC_MAX);
	int len = fn(args..., ret.data());

	if (len < 0)
		return status(len);
	ret.resize(static_cast<std::size_t>(len));
	return ret;
}

} /* namespace detail */

/* A descriptor file; the same for the side that runs first. */
inline result<std::vector<unsigned char>> read_desc(const char *path)
{
	return detail::descriptor_of(pier_desc_read, path);
}
inline result<std::vector<unsigned char>> await_desc(const char *path,
						     int timeout_ms)
{
	return detail::descriptor_of(pier_desc_await, path, timeout_ms);
}
inline status write_desc(const char *path, bytes desc) noexcept
{
	return pier_desc_write(path, desc.data, desc.size);
}

/* The bytes of a peer as a text that no terminal obeys. */
inline std::string escape(bytes text)
{
	std::string ret(4 * text.size + 1, '\0');

	pier_text_escape(text.data, text.size, &ret[0], ret.size());
	ret.resize(std::strlen(ret.c_str()));
	return ret;
}

} /* namespace pier */

#endif
