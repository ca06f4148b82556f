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
	int port;		/* of the server; 0: not given */
	const char *root;
	int ssh, once;
	const char *ssh_command, *program;
	struct copy_ssh *far;	/* the far side that ssh has started */
	char reached[80];	/* the device by which ssh reached it */

	char name[64];		/* of the server */
	char host[COPY_HOST_MAX];
	struct pier_dev *dev;
	struct pier_copy *copy;
	json_t *errors;		/* with --json */
	json_int_t unlisted;	/* errors beyond the most that are listed */
	double begun;		/* seconds */
	int shown;		/* a line of progress is on the terminal */
	uint64_t shown_bytes;
	double shown_at;
};

/*
 * copy_ssh.c: start a server on the host of @t, which may begin with "USER@",
 * by ssh and write its name, and the address that it reports as the host.
 * Returns NULL with a message printed.
 */
struct copy_ssh *copy_ssh_start(struct copy_tool *t);

/* Print what else is necessary, if @err can be the lack of it. */
void copy_ssh_explain(const struct copy_tool *t, int err);

/*
 * Wait for its end.  If the copy has @failed the server may still wait for a
 * client, and ssh is ended soon.  NULL is allowed.
 */
void copy_ssh_end(struct copy_ssh *far, int failed);

/* A random name; 1: with a message printed. */
int copy_ssh_name(char *ret, size_t size);
#define COPY_SSH_LINE "pier copy listens as "
#define COPY_SSH_ADDRESS "pier copy listens at "	/* the line before */

/*
 * copy_reach.c: choose the device that has the address to which an ssh client
 * has connected, unless one was chosen.
 */
void copy_reach_device(struct copy_tool *t);

/*
 * The address of the device for that client: the same, or another one if the
 * device does not have it.  0: ssh has not started this process, or there is
 * none.
 */
int copy_reach_address(const struct pier_devinfo *info, char *ret,
		       size_t size);

/*
 * copy_where.c: which of @word, @count sources and behind them a target, are of
 * a host: HOST[:PORT]:PATH.  It sets @t's host and port, makes paths of the
 * words, and *ret_target: NULL, the sources are the host's.  2: with a message
 * printed.
 */
int copy_where(struct copy_tool *t, char *word[], size_t count,
	       const char **ret_target);

/* The port of a server, as typed.  2: with a message printed. */
int copy_listen_at(struct copy_tool *t, const char *text);

/* NULL: the host is this one. */
const char *copy_address(const struct copy_tool *t);

/* copy_report.c: callbacks of the copy; @arg is the struct copy_tool. */
void copy_failed(const char *path, int error, const char *text, void *arg);
void copy_progress(const char *path, uint64_t size, uint64_t bytes, void *arg);

/* Print the result; @err is the call's, with its message. */
void copy_report(struct copy_tool *t, int err);

/* The same as JSON, also of a server. */
void copy_print_json(struct copy_tool *t, int err);

/* pier_last_error(), which need not say "copy" behind the command's name. */
const char *copy_error_text(void);

/* On a terminal, until there is progress: for what it waits. */
void copy_print_waiting(struct copy_tool *t);

/* Seconds of a clock that never goes back. */
double copy_now(void);

#endif
