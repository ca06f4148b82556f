/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "copy.h"
#include "tool.h"

/* The far side of a copy, started by ssh as scp does. */

#define END_MS 1000	/* for what ssh still prints when the copy has failed */
#define STEP_MS 20
#define SECRET 16	/* bytes */
#define LINES 64	/* of a login script, before those of the server */

struct copy_ssh {
	pid_t pid;
	FILE *from;		/* what ssh prints */
};

int copy_ssh_name(char *ret, size_t size)
{
	unsigned char secret[SECRET];
	size_t at;

	if (getrandom(secret, sizeof(secret), 0) != sizeof(secret)) {
		perror("pier copy: no random numbers");
		return 1;
	}
	at = (size_t)snprintf(ret, size, "pier copy ");
	for (size_t i = 0; i < sizeof(secret) && at + 3 <= size; i++)
		at += (size_t)snprintf(ret + at, 3, "%02x", secret[i]);
	return 0;
}

/* In the child: options of @command are words of the shell, @host is none. */
static void run_ssh(int out, const char *command, const char *host,
		    const char *remote)
{
	char *script;

	if (asprintf(&script, "exec %s -- \"$@\"", command) < 0 ||
	    dup2(out, STDOUT_FILENO) < 0)
		_exit(127);
	close(out);
	execl("/bin/sh", "sh", "-c", script, "sh", host, remote, (char *)NULL);
	_exit(127);
}

static struct copy_ssh *spawn(const char *command, const char *host,
			      const char *remote)
{
	struct copy_ssh *far = calloc(1, sizeof(*far));
	int fds[2];

	if (!far || pipe(fds)) {
		perror("pier copy: ssh cannot be started");
		free(far);
		return NULL;
	}
	far->pid = fork();
	if (!far->pid) {
		close(fds[0]);
		run_ssh(fds[1], command, host, remote);
	}
	close(fds[1]);
	far->from = fdopen(fds[0], "r");
	if (far->pid < 0 || !far->from) {
		perror("pier copy: ssh cannot be started");
		free(far);
		return NULL;
	}
	return far;
}

/* What follows @begin in @line; NULL: it begins with something else. */
static const char *behind(const char *line, const char *begin)
{
	size_t len = strlen(begin);

	return strncmp(line, begin, len) ? NULL : line + len;
}

/* What only @t's ssh knows by the host's name has this address, too. */
static void take_address(struct copy_tool *t, const char *text)
{
	struct in6_addr addr;

	if (inet_pton(AF_INET, text, &addr) == 1 ||
	    inet_pton(AF_INET6, text, &addr) == 1)
		snprintf(t->host, sizeof(t->host), "%s", text);
}

/* The lines that the server prints; 1: it has no name. */
static int read_lines(struct copy_tool *t, FILE *from)
{
	const char *text;
	char line[256];

	for (int i = 0; i < LINES && fgets(line, sizeof(line), from); i++) {
		line[strcspn(line, "\n")] = '\0';
		text = behind(line, COPY_SSH_ADDRESS);
		if (text)
			take_address(t, text);
		text = behind(line, COPY_SSH_LINE);
		if (!text)
			continue;
		if (!*text || strlen(text) >= sizeof(t->name))
			return 1;
		strcpy(t->name, text);
		return 0;
	}
	return 1;
}

struct copy_ssh *copy_ssh_start(struct copy_tool *t)
{
	struct copy_ssh *far;
	char *remote, *at = strrchr(t->host, '@');

	if (asprintf(&remote, "%s copy --listen --once --timeout %d",
		     t->program, t->args.timeout_ms / 1000) < 0)
		return NULL;
	far = spawn(t->ssh_command, t->host, remote);
	free(remote);
	if (!far)
		return NULL;
	if (at)
		memmove(t->host, at + 1, strlen(at));
	if (!read_lines(t, far->from))
		return far;
	tool_message("pier copy: no server was started on %s by %s", t->host,
		     t->ssh_command);
	copy_ssh_end(far, 0);
	return NULL;
}

/* Nothing has come of it: a peer that refuses is reached, however. */
void copy_ssh_explain(const struct copy_tool *t, int err)
{
	struct pier_copy_result result;

	pier_copy_get_result(t->copy, &result);
	if (result.files || result.failed || result.bytes)
		return;
	switch (err) {
	case -ETIMEDOUT:
	case -EHOSTUNREACH:
	case -ENETUNREACH:
	case -EADDRNOTAVAIL:
		tool_message("pier copy: ssh has started the server, but the "
			     "files do not pass through ssh: they need RDMA "
			     "between the device here and %s, which no address "
			     "translation (NAT) and no jump host passes on",
			     t->host);
	}
}

/* Has it ended within @ms? */
static int ends_within(pid_t pid, int ms)
{
	for (; ms > 0; ms -= STEP_MS) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return 1;
		poll(NULL, 0, STEP_MS);
	}
	return 0;
}

void copy_ssh_end(struct copy_ssh *far, int failed)
{
	if (!far)
		return;
	fclose(far->from);
	if (!failed || !ends_within(far->pid, END_MS)) {
		if (failed)
			kill(far->pid, SIGTERM);
		while (waitpid(far->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	free(far);
}
