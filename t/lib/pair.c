/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t/lib/pair.h"
#include "t/lib/tap.h"

#define PEERS_MAX 16

/* Those alive, for the time limit; 0: free.  Written by the test's thread. */
static volatile pid_t peers[PEERS_MAX];

static void bail_out(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(255);
}

static void print(const char *text)
{
	ssize_t n = write(STDOUT_FILENO, text, strlen(text));

	(void)n;	/* there is no way to report it */
}

/* A signal handler. */
static void time_is_up(int sig)
{
	size_t i;

	(void)sig;
	for (i = 0; i < PEERS_MAX; i++)
		if (peers[i] > 0)
			kill(peers[i], SIGKILL);
	print("Bail out! time is up in ");
	print(tap_current());
	print("\n");
	_exit(255);
}

static void set_limit(void)
{
	struct sigaction action = { .sa_handler = time_is_up };
	const char *slower = getenv("PIER_TEST_SLOWER");
	int times = slower ? atoi(slower) : 1;

	if (sigaction(SIGALRM, &action, NULL))
		bail_out("sigaction");
	alarm(PAIR_LIMIT * (unsigned int)(times > 0 ? times : 1));
}

static bool any_peer(void)
{
	size_t i;

	for (i = 0; i < PEERS_MAX; i++)
		if (peers[i])
			return true;
	return false;
}

static void peers_replace(pid_t from, pid_t to)
{
	size_t i;

	for (i = 0; i < PEERS_MAX; i++) {
		if (peers[i] == from) {
			peers[i] = to;
			return;
		}
	}
	errno = EMFILE;
	bail_out("pair: too many peers");
}

static void be_peer(struct pair *pair, pid_t parent, pair_fn *fn, void *arg)
{
	int status;

	signal(SIGALRM, SIG_DFL);	/* the limit is the test's */
	memset((void *)peers, 0, sizeof(peers));
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(255);
	pair->pid = parent;
	status = fn(pair, arg);
	if (!tap_holds())
		status = 1;
	exit(status);
}

void pair_start(struct pair *pair, pair_fn *fn, void *arg)
{
	pid_t parent = getpid(), pid;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		bail_out("socketpair");
	set_limit();
	fflush(NULL);		/* or both would print it */
	pid = fork();
	if (pid < 0)
		bail_out("fork");
	if (!pid) {
		close(fds[0]);
		pair->fd = fds[1];
		be_peer(pair, parent, fn, arg);
	}
	close(fds[1]);
	pair->pid = pid;
	pair->fd = fds[0];
	peers_replace(0, pid);
}

static bool send_all(int fd, const void *data, size_t len)
{
	const char *at = data;
	ssize_t n;

	while (len) {
		n = send(fd, at, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static bool recv_all(int fd, void *data, size_t len)
{
	char *at = data;
	ssize_t n;

	while (len) {
		n = recv(fd, at, len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

bool pair_send(struct pair *pair, const void *data, size_t len)
{
	uint32_t head = (uint32_t)len;

	return send_all(pair->fd, &head, sizeof(head)) &&
		send_all(pair->fd, data, len);
}

int pair_recv(struct pair *pair, void *ret, size_t size)
{
	uint32_t head;

	if (!recv_all(pair->fd, &head, sizeof(head)))
		return -ECONNRESET;
	if (head > size)
		return -EMSGSIZE;
	if (!recv_all(pair->fd, ret, head))
		return -ECONNRESET;
	return (int)head;
}

bool pair_readable(const struct pair *pair)
{
	struct pollfd fd = { .fd = pair->fd, .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

int pair_wait(struct pair *pair)
{
	int status;

	if (pair->fd >= 0)
		close(pair->fd);	/* no peer waits for us in vain */
	pair->fd = -1;
	while (waitpid(pair->pid, &status, 0) < 0)
		if (errno != EINTR)
			bail_out("waitpid");
	peers_replace(pair->pid, 0);
	if (!any_peer())
		alarm(0);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
		WEXITSTATUS(status);
}

void pair_kill(struct pair *pair)
{
	kill(pair->pid, SIGKILL);
	IS(pair_wait(pair), 128 + SIGKILL);
}

bool pair_is_stopped(const struct pair *pair, bool wait)
{
	int flags = WSTOPPED | WNOWAIT | (wait ? 0 : WNOHANG);
	siginfo_t info = { .si_pid = 0 };

	while (waitid(P_PID, (id_t)pair->pid, &info, flags) && errno == EINTR)
		;
	return info.si_pid == pair->pid;
}

void pair_go_on(const struct pair *pair)
{
	if (pair_is_stopped(pair, false))
		kill(pair->pid, SIGCONT);
}
