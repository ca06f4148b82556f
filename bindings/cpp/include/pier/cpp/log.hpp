/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_LOG_HPP
#define PIER_CPP_LOG_HPP

#include <cstdio>

#include <pier/cpp/handle.hpp>
#include <pier/log.h>
#include <pier/version.h>

namespace pier {

/* The version of the library; PIER_VERSION is that of the headers. */
inline const char *version() noexcept { return pier_version(); }

/* Log messages up to @level. */
inline status set_log_level(enum pier_log_level level) noexcept
{
	return pier_log_set_level(level);
}

/* The same of "debug" or "60". */
inline status set_log_level(const char *text) noexcept
{
	enum pier_log_level level;
	int err = pier_log_parse_level(text, &level);

	return err ? err : pier_log_set_level(level);
}
inline enum pier_log_level log_level() noexcept { return pier_log_level(); }

/*
 * Call @fn with the level, the area and the message, in the thread that logs.
 * It is the caller's and must not call pier.  It may not throw: what is thrown
 * ends the process.
 */
template <class F> void log_to(F &fn) noexcept
{
	pier_log_set_callback(
		[](enum pier_log_level level, const char *area,
		   const char *message, void *arg) noexcept {
			(*static_cast<F *>(arg))(level, area, message);
		},
		detail::arg_of(fn));
}
inline void log_to(std::FILE *file) noexcept { pier_log_set_file(file); }

/* Discard all messages. */
inline void log_nothing() noexcept { pier_log_set_callback(nullptr, nullptr); }

} /* namespace pier */

#endif
