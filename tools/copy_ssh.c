/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "copy.h"

/* The far side of a copy, started by ssh as scp does. */

#define SECRET 16	/* bytes */
#define LINES 64	/* of a login script, before the name */

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

/* The name in the line that the server prints; 1: there is none. */
static int read_name(FILE *from, char *ret, size_t size)
{
	char line[256];

	for (int i = 0; i < LINES && fgets(line, sizeof(line), from); i++) {
		if (strncmp(line, COPY_SSH_LINE, strlen(COPY_SSH_LINE)))
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(ret, size, "%s", line + strlen(COPY_SSH_LINE));
		return *ret ? 0 : 1;
	}
	return 1;
}

struct copy_ssh *copy_ssh_start(const char *command, const char *program,
				const char *host, char *ret_name, size_t size)
{
	struct copy_ssh *far;
	char *remote;

	if (asprintf(&remote, "%s copy --listen --once", program) < 0)
		return NULL;
	far = spawn(command, host, remote);
	free(remote);
	if (!far)
		return NULL;
	if (!read_name(far->from, ret_name, size))
		return far;
	fprintf(stderr, "pier copy: no server was started on %s by %s\n", host,
		command);
	copy_ssh_end(far);
	return NULL;
}

void copy_ssh_end(struct copy_ssh *far)
{
	if (!far)
		return;
	fclose(far->from);
	while (waitpid(far->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(far);
}
