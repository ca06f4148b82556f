/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CORE_FAIL_H
#define PIER_CORE_FAIL_H

#include <stdarg.h>

#include <pier/error.h>
#include <pier/log.h>

#define PIER__ERROR_TEXT 512	/* of a message, with its 0 */

/*
 * Report a failure once, where it is first detected: store the message for
 * pier_last_error(), log it at DEBUG, return @err (negative).  Callers pass
 * the code on.  The message starts with what failed, names the value and
 * what is allowed, ends without a full stop.  Any thread.
 */
int pier__fail(int err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), cold));

/* -EINVAL: @call, a public one, was given NULL as its object.  Any thread. */
int pier__no_object(const char *call) __attribute__((cold));

/* Make @text, a stored message, the thread's last error again. */
int pier__fail_again(int err, const char *text);

/*
 * Have the thread's last error begin with "OBJECT: NAME: ", which it may do
 * already, in whole or in part; with "NAME: " if that begins with OBJECT.  Both
 * are short.
 */
int pier__fail_named(int err, const char *object, const char *name)
	__attribute__((cold));

/* What follows such a beginning in @text, or all of it. */
const char *pier__fail_reason(const char *text, const char *object,
			      const char *name);

/* Log; @area is the directory ("soft", "cm").  Any thread. */
void pier__log(enum pier_log_level level, const char *area, const char *fmt,
	       ...) __attribute__((format(printf, 3, 4), cold));

/* Would a message of @level be logged?  Any thread. */
int pier__log_enabled(enum pier_log_level level);

/* Log to stderr unless there is a callback or a file already.  Any thread. */
void pier__log_to_stderr(void);

#endif
