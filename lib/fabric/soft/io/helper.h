/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_IO_HELPER_H
#define PIER_FABRIC_SOFT_IO_HELPER_H

#include "fabric/soft/io/chan.h"

/*
 * The one helper thread of a process, "pier-soft": it stands for the NIC and
 * drives the endpoints whose program is not there (chan.h).  It runs while
 * there are channels, sleeps when nothing arrives, and calls nothing above.
 *
 * A child of fork(2) has none of its parent's channels, which it must not use,
 * and starts a helper of its own with its first.
 */

/* @chan is complete.  Errors: of pthread_create(3) and epoll_create(2). */
int pier__soft_helper_add(struct soft_chan *chan);

/* The helper is out of @chan, and stays out, on return. */
void pier__soft_helper_remove(struct soft_chan *chan);

/*
 * @chan has one more socket: watch it as well from now on, until it is
 * closed.  Between begin and end.
 */
void pier__soft_helper_look(struct soft_chan *chan);

/*
 * The program is there, and looks itself: take @chan's sockets out of the
 * sets.  Holding the endpoint; the program's thread if it was asked to (@ask).
 */
void pier__soft_helper_keep_off(struct soft_chan *chan);

/* Look for channels with @recall set.  Any thread. */
void pier__soft_helper_wake(void);

#endif
