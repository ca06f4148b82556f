/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_FAIL_H
#define DOCA_FAIL_H

#include <stdbool.h>

#include <doca_error.h>

/*
 * DOCA's code for @err, what a call of pier has just returned, 0 or below.  The
 * message of a failure goes to the library's backends.
 */
doca_error_t pier__doca_error(int err);

/* The code alone. */
doca_error_t pier__doca_code(int err);

/* Log why a call fails, to the library's backends.  Returns @error. */
doca_error_t pier__doca_fail(doca_error_t error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The same of what programs see without a fault of theirs: for debugging. */
doca_error_t pier__doca_expected(doca_error_t error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* No device can do it.  NOT_SUPPORTED, which is no failure to log. */
static inline doca_error_t pier__doca_no_cap(const void *info)
{
	return info ? DOCA_ERROR_NOT_SUPPORTED : DOCA_ERROR_INVALID_VALUE;
}

/* @name, a function or a value, has no meaning here.  Returns NOT_SUPPORTED. */
doca_error_t pier__doca_unsupported(const char *name, const char *reason);

/* @name is for a DPA or a GPU; INVALID_VALUE without what is to be @given. */
static inline doca_error_t pier__doca_no_processor(bool given, const char *name)
{
	return given ? pier__doca_unsupported(name, "there is no DPA and no "
					      "GPU") :
		       DOCA_ERROR_INVALID_VALUE;
}

#endif
