/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_LOG_IMPL_H
#define DOCA_LOG_IMPL_H

#include <stdarg.h>

#include <doca_log.h>

#define LOG_LINE_MAX 2048

/* Where messages go. */
struct doca_log_sink {
	void (*write)(struct doca_log_sink *sink, uint32_t level,
		      const char *line, size_t len);
	FILE *file;
	int fd;
	char *buf;
	size_t capacity;
	log_flush_callback handler;
	const char *ident;		/* in the system's log */
};

/* Set @sink up for each kind of backend. */
void pier__doca_sink_file(struct doca_log_sink *sink, FILE *file);
void pier__doca_sink_fd(struct doca_log_sink *sink, int fd);
void pier__doca_sink_buf(struct doca_log_sink *sink, char *buf,
			 size_t capacity, log_flush_callback handler);
doca_error_t pier__doca_sink_syslog(struct doca_log_sink *sink,
				    const char *name);

/* Create a backend on @sink, of the library or of the program. */
doca_error_t pier__doca_backend_create(const struct doca_log_sink *sink,
				       bool sdk,
				       struct doca_log_backend **ret);

/* Write @line to the backends of one or the other that let @level pass. */
void pier__doca_backends_write(bool sdk, uint32_t level, const char *line,
			       size_t len);

/* Log a message of the library; @area is the part that logs it. */
void pier__doca_log_sdk(uint32_t level, const char *area, const char *message);

/* Is @level one of enum doca_log_level? */
bool pier__doca_level_valid(uint32_t level);

#endif
