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
 * Check @chan at once: its program makes calls again, or it has one more
 * socket.  Between begin and end.
 */
void pier__soft_helper_check(struct soft_chan *chan);

#endif
