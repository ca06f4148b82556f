/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_LOG_H
#define DOCA_LOG_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Logging.  A message goes to every backend of the program, or, if the library
 * logs it, to every backend that was created by a call on _sdk, whose limits it
 * passes: upper limit <= level <= lower limit.  Higher levels say more.  Any
 * thread may make every call.
 */

struct doca_log_backend;

/* One line at a time, in the thread that logs.  What it logs is dropped. */
typedef void (*log_flush_callback)(char *buf);

/* The numbers that --log-level takes. */
enum doca_log_level {
	DOCA_LOG_LEVEL_DISABLE = 10,
	DOCA_LOG_LEVEL_CRIT = 20,
	DOCA_LOG_LEVEL_ERROR = 30,
	DOCA_LOG_LEVEL_WARNING = 40,
	DOCA_LOG_LEVEL_INFO = 50,
	DOCA_LOG_LEVEL_DEBUG = 60,
	DOCA_LOG_LEVEL_TRACE = 70,
};

/*
 * The limits of one backend of the program; strict: the global ones do not
 * change it any more.
 */
doca_error_t
doca_log_backend_set_level_lower_limit(struct doca_log_backend *backend,
				       uint32_t level);
doca_error_t
doca_log_backend_set_level_upper_limit(struct doca_log_backend *backend,
				       uint32_t level);
doca_error_t
doca_log_backend_set_level_lower_limit_strict(struct doca_log_backend *backend);
doca_error_t
doca_log_backend_set_level_upper_limit_strict(struct doca_log_backend *backend);

/* The limits of all backends of the program, present and future. */
doca_error_t doca_log_level_set_global_lower_limit(uint32_t level);
doca_error_t doca_log_level_set_global_upper_limit(uint32_t level);
uint32_t doca_log_level_get_global_lower_limit(void);
uint32_t doca_log_level_get_global_upper_limit(void);

/* A name for the messages of one source file, and its number. */
doca_error_t doca_log_register_source(const char *name, int *source);
doca_error_t doca_log_unregister_source(int source);

/* Backends of the program.  They are never destroyed. */
doca_error_t
doca_log_backend_create_with_file(FILE *file,
				  struct doca_log_backend **backend);
doca_error_t doca_log_backend_create_with_fd(int fd,
					     struct doca_log_backend **backend);
doca_error_t
doca_log_backend_create_with_buf(char *buf, size_t capacity,
				 log_flush_callback handler,
				 struct doca_log_backend **backend);
doca_error_t
doca_log_backend_create_with_syslog(const char *name,
				    struct doca_log_backend **backend);

/* Backends of the library; their one level is INFO unless it is set. */
doca_error_t doca_log_backend_set_sdk_level(struct doca_log_backend *backend,
					    uint32_t level);
doca_error_t
doca_log_backend_create_with_file_sdk(FILE *file,
				      struct doca_log_backend **backend);
doca_error_t
doca_log_backend_create_with_fd_sdk(int fd, struct doca_log_backend **backend);
doca_error_t
doca_log_backend_create_with_buf_sdk(char *buf, size_t capacity,
				     log_flush_callback handler,
				     struct doca_log_backend **backend);
doca_error_t
doca_log_backend_create_with_syslog_sdk(const char *name,
					struct doca_log_backend **backend);
doca_error_t doca_log_level_set_global_sdk_limit(uint32_t level);
uint32_t doca_log_level_get_global_sdk_limit(void);

/* INFO and below to standard output, WARNING and above to standard error. */
doca_error_t doca_log_backend_create_standard(void);
doca_error_t doca_log(uint32_t level, int source, const char *fname, int line,
		      const char *func, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/*
 * Once in a source file, outside functions: messages of this file are those of
 * the source @name, which is written without quotes and may contain "::".
 */
#define DOCA_LOG_REGISTER(name) \
	static int log_source; \
	__attribute__((constructor, used)) static void log_source_init_(void) \
	{ \
		doca_log_register_source(#name, &log_source); \
	} \
	struct doca_log_backend

/* A format and its arguments, as printf(3). */
#define DOCA_LOG(level, ...) \
	doca_log(level, log_source, __FILE__, __LINE__, __func__, __VA_ARGS__)
#define DOCA_LOG_CRIT(...) DOCA_LOG(DOCA_LOG_LEVEL_CRIT, __VA_ARGS__)
#define DOCA_LOG_ERR(...) DOCA_LOG(DOCA_LOG_LEVEL_ERROR, __VA_ARGS__)
#define DOCA_LOG_WARN(...) DOCA_LOG(DOCA_LOG_LEVEL_WARNING, __VA_ARGS__)
#define DOCA_LOG_INFO(...) DOCA_LOG(DOCA_LOG_LEVEL_INFO, __VA_ARGS__)
#define DOCA_LOG_DBG(...) DOCA_LOG(DOCA_LOG_LEVEL_DEBUG, __VA_ARGS__)
#ifdef DOCA_LOGGING_ALLOW_TRACE
#define DOCA_LOG_TRC(...) DOCA_LOG(DOCA_LOG_LEVEL_TRACE, __VA_ARGS__)
#else
#define DOCA_LOG_TRC(...) \
	do { \
	} while (0)
#endif

#ifdef __cplusplus
}
#endif

#endif
