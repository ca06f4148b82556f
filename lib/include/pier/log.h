/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_LOG_H
#define PIER_LOG_H

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Logging.  Critical messages, misuse of pier, are printed to stderr until a
 * callback or a file is set; others only if one is, or by PIER_LOG in the
 * environment (a level's name or number), which sends messages to stderr.
 * Any thread may make every call.
 */
enum pier_log_level {
	PIER_LOG_DISABLE = 10,
	PIER_LOG_CRITICAL = 20,
	PIER_LOG_ERROR = 30,
	PIER_LOG_WARNING = 40,
	PIER_LOG_INFO = 50,
	PIER_LOG_DEBUG = 60,
	PIER_LOG_TRACE = 70,
};

/*
 * One complete message; @area is the part of pier that logs it.  Called in the
 * thread that logs, one call at a time; must not call pier.
 */
typedef void pier_log_fn(enum pier_log_level level, const char *area,
			 const char *message, void *arg);

/* Log messages up to @level.  Errors: -EINVAL, not a level. */
int pier_log_set_level(enum pier_log_level level);

/* The current level. */
enum pier_log_level pier_log_level(void);

/* The level that @text names ("debug", "60").  Errors: -EINVAL. */
int pier_log_parse_level(const char *text, enum pier_log_level *ret);

/*
 * Send messages to @fn with @arg; NULL: discard them, those that are critical
 * too.  Replaces a file.
 */
void pier_log_set_callback(pier_log_fn *fn, void *arg);

/* The same to @file, which the caller keeps open.  Replaces a callback. */
void pier_log_set_file(FILE *file);

#ifdef __cplusplus
}
#endif

#endif
