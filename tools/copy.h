/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_TOOLS_COPY_H
#define PIER_TOOLS_COPY_H

#include <jansson.h>
#include <pier/pier.h>

#define COPY_HOST_MAX 256	/* with its NUL */

/* A command line, and the copy that it requests. */
struct copy_tool {
	struct pier_args args;
	const char *device;
	int listening, recursive, preserve, resume, quiet, json;
	int port;		/* distinguishes servers of a host; 0: none */
	const char *root;
	int ssh, once;
	const char *ssh_command, *program;
	struct copy_ssh *far;	/* the far side that ssh has started */

	char name[64];		/* of the server */
	char host[COPY_HOST_MAX];
	struct pier_dev *dev;
	struct pier_copy *copy;
	json_t *errors;		/* with --json */
	double begun;		/* seconds */
	int shown;		/* a line of progress is on the terminal */
	uint64_t shown_bytes;
	double shown_at;
};

/*
 * copy_ssh.c: start a server on @host, which may begin with "USER@", by ssh and
 * write its name.  Returns NULL with a message printed.
 */
struct copy_ssh *copy_ssh_start(const char *command, const char *program,
				const char *host, char *ret_name, size_t size);

/* Wait for its end.  NULL is allowed. */
void copy_ssh_end(struct copy_ssh *far);

/* A random name; 1: with a message printed. */
int copy_ssh_name(char *ret, size_t size);
#define COPY_SSH_LINE "pier copy listens as "

/* copy_report.c: callbacks of the copy; @arg is the struct copy_tool. */
void copy_failed(const char *path, int error, const char *text, void *arg);
void copy_progress(const char *path, uint64_t size, uint64_t bytes, void *arg);

/* Print the result; @err is the call's, with its message. */
void copy_report(struct copy_tool *t, int err);

/* Seconds of a clock that never goes back. */
double copy_now(void);

#endif
