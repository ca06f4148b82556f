/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "doca_log_impl.h"

/* At once: a program that reads the log through a pipe waits for lines. */
static void write_file(struct doca_log_sink *sink, uint32_t level,
		       const char *line, size_t len)
{
	(void)level;
	fwrite(line, 1, len, sink->file);
	fflush(sink->file);
}

static void write_fd(struct doca_log_sink *sink, uint32_t level,
		     const char *line, size_t len)
{
	ssize_t put;

	(void)level;
	do {
		put = write(sink->fd, line, len);
		if (put > 0) {
			line += put;
			len -= (size_t)put;
		}
	} while (put > 0 && len);
}

static void write_buf(struct doca_log_sink *sink, uint32_t level,
		      const char *line, size_t len)
{
	(void)level;
	if (len >= sink->capacity)
		len = sink->capacity - 1;
	memcpy(sink->buf, line, len);
	sink->buf[len] = '\0';
	sink->handler(sink->buf);
}

/* The process has one name in the system's log: that of the last message. */
static void name_process(const char *ident)
{
	static const char *current;

	if (ident == current)
		return;
	openlog(ident, LOG_PID, LOG_USER);
	current = ident;
}

static void write_syslog(struct doca_log_sink *sink, uint32_t level,
			 const char *line, size_t len)
{
	static const int priorities[] = { LOG_CRIT, LOG_ERR,  LOG_WARNING,
					  LOG_INFO, LOG_DEBUG, LOG_DEBUG };

	name_process(sink->ident);
	syslog(priorities[level / 10 - 2], "%.*s", (int)len, line);
}

void pier__doca_sink_file(struct doca_log_sink *sink, FILE *file)
{
	*sink = (struct doca_log_sink){ .write = write_file, .file = file };
}

void pier__doca_sink_fd(struct doca_log_sink *sink, int fd)
{
	*sink = (struct doca_log_sink){ .write = write_fd, .fd = fd };
}

void pier__doca_sink_buf(struct doca_log_sink *sink, char *buf,
			 size_t capacity, log_flush_callback handler)
{
	*sink = (struct doca_log_sink){ .write = write_buf, .buf = buf,
					.capacity = capacity,
					.handler = handler };
}

/* A backend is never destroyed, nor is its name. */
doca_error_t pier__doca_sink_syslog(struct doca_log_sink *sink,
				    const char *name)
{
	*sink = (struct doca_log_sink){ .write = write_syslog,
					.ident = strdup(name) };
	return sink->ident ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}
