/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

#include <pier/pe.h>
#include <pier/rendezvous.h>

#include "cm/conn_impl.h"
#include "core/fail.h"

#define LOOK_MS 200	/* how often to check the terminal */

/* May this process read the terminal without being stopped? */
static bool in_foreground(void)
{
	return isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/*
 * Sleep until the engine has work, Enter was pressed, or the terminal is to be
 * checked.  Returns non-zero for Enter or the end of input.
 */
static bool nap(struct pier_pe *pe)
{
	struct pollfd fds[2] = {
		{ .fd = pier_pe_fd(pe), .events = POLLIN },
		{ .fd = STDIN_FILENO, .events = POLLIN },
	};
	char byte;
	ssize_t n;

	if (!in_foreground())
		fds[1].fd = -1;
	if (poll(fds, 2, LOOK_MS) < 0 || !fds[1].revents)
		return false;
	n = read(STDIN_FILENO, &byte, 1);
	return n == 0 || (n == 1 && byte == '\n') ||
	       (n < 0 && errno != EAGAIN && errno != EINTR);
}

/* One round; sets *enter if Enter was pressed. */
static int serve_once(struct pier_conn *conn, bool *enter)
{
	struct pier_pe *pe = conn->queues->pe;
	int n = pier_pe_progress(pe, 0);

	if (n || pier_conn_state(conn) != PIER_CONN_CONNECTED)
		return n < 0 ? n : 0;
	n = pier_pe_arm(pe);
	if (n == -EAGAIN)
		return 0;
	if (n == 0)
		*enter = nap(pe);
	pier_pe_clear(pe);
	return n;
}

int pier_rendezvous_serve_many(struct pier_conn **conns, unsigned int count)
{
	unsigned int i = 0;
	bool enter = false;
	int err = 0;

	while (!err && i < count && !enter) {
		if (pier_conn_state(conns[i]) != PIER_CONN_CONNECTED)
			i++;		/* others continue meanwhile */
		else
			err = serve_once(conns[i], &enter);
	}
	for (i = 0; i < count; i++)
		pier__conn_at_end(conns[i], NULL, NULL);
	for (i = 0; !err && i < count; i++)
		if (pier_conn_state(conns[i]) == PIER_CONN_ERROR)
			err = pier__fail_again(conns[i]->error,
					       pier_conn_error_text(conns[i]));
	return err;
}

int pier_rendezvous_serve(struct pier_conn *conn)
{
	if (!conn)
		return pier__no_object(__func__);
	return pier_rendezvous_serve_many(&conn, 1);
}
