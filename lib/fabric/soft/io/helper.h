/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_IO_HELPER_H
#define PIER_FABRIC_SOFT_IO_HELPER_H

#include "core/clock.h"
#include "fabric/soft/io/chan.h"

/*
 * The one helper thread of a process, "pier-soft": it drives the endpoints
 * whose program makes no calls (chan.h), as a NIC would.  It runs while there
 * are channels, sleeps when nothing arrives, and calls nothing above.
 *
 * A child of fork(2) must not use the channels of its parent; it starts a
 * helper of its own with its first channel.
 */

#define SOFT_CHECK_NS (2 * PIER__MS)	/* checks of a program that drives */

/* @chan is complete.  Errors: of pthread_create(3) and epoll_create(2). */
int pier__soft_helper_add(struct soft_chan *chan);

/* On return the helper does not use @chan any more. */
void pier__soft_helper_remove(struct soft_chan *chan);

/*
 * Check @chan at once: its program makes calls again, or it has one more
 * socket.  Between begin and end.
 */
void pier__soft_helper_check(struct soft_chan *chan);

/*
 * Have the helper watch the sockets and the timer of @chan again, after an
 * event that it has left to the program; not @fd of them, which may be -1, for
 * now; that one again.  Between begin and end.
 */
void pier__soft_helper_watch(struct soft_chan *chan);
void pier__soft_helper_unwatch(struct soft_chan *chan, int fd);
void pier__soft_helper_rewatch(struct soft_chan *chan);

/*
 * Call @fn when @chan's device may have events, until @chan's end.  It takes
 * them all, and is called with the helper's lock, but not the endpoint.
 * Errors: those of epoll_ctl(2).
 */
int pier__soft_helper_watch_port(struct soft_chan *chan,
				 void (*fn)(struct pier__chan *chan));

#endif
