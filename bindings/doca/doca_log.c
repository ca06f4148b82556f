/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "doca_fail.h"
#include "doca_log_impl.h"

#define MESSAGE_MAX 1500

static _Atomic int sources;

/* "[HH:MM:SS:uuuuuu][TID][DOCA][INF]" */
static int print_head(char *line, size_t size, uint32_t level)
{
	static const char *const names[] = { "CRT", "ERR", "WRN",
					     "INF", "DBG", "TRC" };
	struct timespec now;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	return snprintf(line, size, "[%02d:%02d:%02d:%06ld][%d][DOCA][%s]",
			tm.tm_hour, tm.tm_min, tm.tm_sec, now.tv_nsec / 1000,
			(int)gettid(), names[level / 10 - 2]);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The limits of vsnprintf() leave space for the last newline. */
static void put_line(bool sdk, uint32_t level, char *line, int len)
{
	if (len > LOG_LINE_MAX - 2)
		len = LOG_LINE_MAX - 2;
	line[len++] = '\n';
	line[len] = '\0';
	pier__doca_backends_write(sdk, level, line, (size_t)len);
}

doca_error_t doca_log(uint32_t level, int source, const char *fname, int line,
		      const char *func, const char *format, ...)
{
	char text[LOG_LINE_MAX];
	va_list args;
	int len;

	(void)source;
	if (!pier__doca_level_valid(level) || level < DOCA_LOG_LEVEL_CRIT ||
	    !format)
		return DOCA_ERROR_INVALID_VALUE;
	len = print_head(text, sizeof(text), level);
	len += snprintf(text + len, 256, "[%s:%d][%s] ",
			base_name(fname ? fname : ""), line, func ? func : "");
	len = (int)strlen(text);
	va_start(args, format);
	len += vsnprintf(text + len, sizeof(text) - (size_t)len, format, args);
	va_end(args);
	put_line(false, level, text, len);
	return DOCA_SUCCESS;
}

void pier__doca_log_sdk(uint32_t level, const char *area, const char *message)
{
	char text[LOG_LINE_MAX];
	int len;

	if (!pier__doca_level_valid(level) || level < DOCA_LOG_LEVEL_CRIT)
		return;
	len = print_head(text, sizeof(text), level);
	len += snprintf(text + len, sizeof(text) - (size_t)len, "[%s] %s",
			area, message);
	put_line(true, level, text, len);
}

static void log_own(uint32_t level, const char *format, va_list args)
{
	char text[MESSAGE_MAX];

	vsnprintf(text, sizeof(text), format, args);
	pier__doca_log_sdk(level, "doca", text);
}

doca_error_t pier__doca_fail(doca_error_t error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_own(DOCA_LOG_LEVEL_ERROR, format, args);
	va_end(args);
	return error;
}

doca_error_t pier__doca_expected(doca_error_t error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_own(DOCA_LOG_LEVEL_DEBUG, format, args);
	va_end(args);
	return error;
}

doca_error_t pier__doca_unsupported(const char *name, const char *reason)
{
	return pier__doca_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not supported: "
			       "%s", name, reason);
}

/* Lines do not contain the name: numbers are enough. */
doca_error_t doca_log_register_source(const char *name, int *source)
{
	if (!name || !source)
		return DOCA_ERROR_INVALID_VALUE;
	*source = ++sources;
	return DOCA_SUCCESS;
}

doca_error_t doca_log_unregister_source(int source)
{
	return source > 0 && source <= sources ? DOCA_SUCCESS :
						 DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t create_file(FILE *file, bool sdk,
				struct doca_log_backend **ret)
{
	struct doca_log_sink sink;

	if (!file || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	pier__doca_sink_file(&sink, file);
	return pier__doca_backend_create(&sink, sdk, ret);
}

static doca_error_t create_fd(int fd, bool sdk, struct doca_log_backend **ret)
{
	struct doca_log_sink sink;

	if (fd < 0 || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	pier__doca_sink_fd(&sink, fd);
	return pier__doca_backend_create(&sink, sdk, ret);
}

static doca_error_t create_buf(char *buf, size_t capacity,
			       log_flush_callback handler, bool sdk,
			       struct doca_log_backend **ret)
{
	struct doca_log_sink sink;

	if (!buf || !capacity || !handler || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	pier__doca_sink_buf(&sink, buf, capacity, handler);
	return pier__doca_backend_create(&sink, sdk, ret);
}

static doca_error_t create_syslog(const char *name, bool sdk,
				  struct doca_log_backend **ret)
{
	struct doca_log_sink sink;
	doca_error_t error;

	if (!name || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_sink_syslog(&sink, name);
	return error ? error : pier__doca_backend_create(&sink, sdk, ret);
}

doca_error_t
doca_log_backend_create_with_file(FILE *file,
				  struct doca_log_backend **backend)
{
	return create_file(file, false, backend);
}

doca_error_t
doca_log_backend_create_with_file_sdk(FILE *file,
				      struct doca_log_backend **backend)
{
	return create_file(file, true, backend);
}

doca_error_t doca_log_backend_create_with_fd(int fd,
					     struct doca_log_backend **backend)
{
	return create_fd(fd, false, backend);
}

doca_error_t
doca_log_backend_create_with_fd_sdk(int fd, struct doca_log_backend **backend)
{
	return create_fd(fd, true, backend);
}

doca_error_t
doca_log_backend_create_with_buf(char *buf, size_t capacity,
				 log_flush_callback handler,
				 struct doca_log_backend **backend)
{
	return create_buf(buf, capacity, handler, false, backend);
}

doca_error_t
doca_log_backend_create_with_buf_sdk(char *buf, size_t capacity,
				     log_flush_callback handler,
				     struct doca_log_backend **backend)
{
	return create_buf(buf, capacity, handler, true, backend);
}

doca_error_t
doca_log_backend_create_with_syslog(const char *name,
				    struct doca_log_backend **backend)
{
	return create_syslog(name, false, backend);
}

doca_error_t
doca_log_backend_create_with_syslog_sdk(const char *name,
					struct doca_log_backend **backend)
{
	return create_syslog(name, true, backend);
}
