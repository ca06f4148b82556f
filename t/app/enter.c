/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pier/rendezvous.h>

#include "t/lib/pair.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * A server that ends when its peer disconnects also ends by Enter, but only if
 * that is meant for it: its terminal's foreground process group is its own.
 */
#define LEN 4096

enum stdin_kind { FOREGROUND, BACKGROUND, A_PIPE };

static struct pier_dev *dev;
static struct peer me;
static int keys = -1;			/* where Enter is pressed */
static const char *terminal;
static int pipe_end;

static bool begin(void)
{
	memset(&me, 0, sizeof(me));
	return IS(pier_dev_open(NULL, &dev), 0) &&
	       peer_open(&me, dev, NULL, NULL, LEN);
}

static void end(void)
{
	peer_close(&me);
	pier_dev_close(dev);
	dev = NULL;
}

static bool open_keys(enum stdin_kind kind)
{
	int fds[2];

	if (kind == A_PIPE) {
		if (!OK(!pipe(fds)))
			return false;
		pipe_end = fds[0];
		keys = fds[1];
		return true;
	}
	keys = posix_openpt(O_RDWR | O_NOCTTY);
	if (!OK(keys >= 0 && !grantpt(keys) && !unlockpt(keys)))
		return false;
	terminal = ptsname(keys);
	return OK(terminal);
}

/* Have @kind as standard input; the far process. */
static bool take_stdin(enum stdin_kind kind)
{
	int fd = pipe_end;

	if (kind != A_PIPE) {
		if (!OK(setsid() > 0))
			return false;
		fd = open(terminal, O_RDWR);	/* it becomes ours */
	}
	return OK(fd >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO);
}

/* Serve; send the state of the connection then, and whether Enter is unread. */
static bool serve(struct pair *pair)
{
	struct pollfd unread = { .fd = STDIN_FILENO, .events = POLLIN };
	char seen[2];

	if (!begin() || !peer_meet(&me, pair) || !pair_send(pair, "ok", 2))
		return false;
	IS(pier_rendezvous_serve(me.conn), 0);
	seen[0] = pier_conn_state(me.conn) == PIER_CONN_CONNECTED ? 'c' : 'd';
	seen[1] = poll(&unread, 1, 0) == 1 ? 'u' : 'r';
	OK(pair_send(pair, seen, 2));
	end();
	return tap_holds();
}

static int far_peer(struct pair *pair, void *arg)
{
	enum stdin_kind kind = *(const enum stdin_kind *)arg;
	int status = 1;
	pid_t pid;

	if (!take_stdin(kind))
		return 1;
	if (kind != BACKGROUND)
		return !serve(pair);
	pid = fork();
	if (!pid)
		_exit(setpgid(0, 0) || !serve(pair));
	OK(pid > 0 && waitpid(pid, &status, 0) == pid);
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

/* Press Enter, and disconnect if it does not end by that; it sends @want. */
static void enter_is(enum stdin_kind kind, const char *want)
{
	struct pair pair;
	char seen[4] = "";

	if (!open_keys(kind))
		return;
	pair_start(&pair, far_peer, &kind);
	if (!begin() || !peer_meet(&me, &pair) ||
	    !OK(pair_recv(&pair, seen, sizeof(seen)) == 2))
		goto out_end;
	OK(write(keys, "\n", 1) == 1);
	if (want[0] == 'd') {
		pier_conn_disconnect(me.conn);
		peer_conn(me.conn, PIER_CONN_RESET);
	}
	OK(pair_recv(&pair, seen, sizeof(seen)) == 2);
	OK(!memcmp(seen, want, 2));
out_end:
	IS(pair_wait(&pair), 0);
	end();
	close(keys);
}

static void enter_ends_who_has_the_terminal(void)
{
	enter_is(FOREGROUND, "cr");
}

static void enter_is_not_read_in_the_background(void)
{
	enter_is(BACKGROUND, "du");
}

static void what_is_no_terminal_is_not_read(void)
{
	enter_is(A_PIPE, "du");
}

int main(void)
{
	TEST(enter_ends_who_has_the_terminal);
	TEST(enter_is_not_read_in_the_background);
	TEST(what_is_no_terminal_is_not_read);
	return tap_done();
}
