/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_IO_HELPER_H
#define PIER_FABRIC_SOFT_IO_HELPER_H

#include "fabric/soft/io/chan.h"

/*
 * The one helper thread of a process, "pier-soft": it drives the endpoints
 * whose program makes no calls (chan.h), as a NIC would.  It runs while there
 * are channels, sleeps when nothing arrives, and calls nothing above.
 *
 * A child of fork(2) must not use the channels of its parent; it starts a
 * helper of its own with its first channel.
 */

/* @chan is complete.  Errors: of pthread_create(3) and epoll_create(2). */
int pier__soft_helper_add(struct soft_chan *chan);

/* On return the helper does not use @chan any more. */
void pier__soft_helper_remove(struct soft_chan *chan);

/*
 * Check @chan at once: its program makes calls again, or it has one more
 * socket.  Between begin and end.
 */
void pier__soft_helper_check(struct soft_chan *chan);

#endif
