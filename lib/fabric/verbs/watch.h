/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_VERBS_WATCH_H
#define PIER_FABRIC_VERBS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct ibv_context;

/*
 * Notice that the kernel removes an open device.  Drivers of hardware send a
 * last asynchronous event.  Others, rxe and siw, wait until every program has
 * closed the device and send nothing: its node disappears, which the kernel
 * announces by a uevent shortly before.
 */
struct verbs_watch {
	int fd;			/* owned: readable when there is news */
	int uevents;		/* owned; -1: the kernel is not listened to */
	int timer;		/* owned: to look again */
	bool waiting;		/* for it */
	unsigned int looks;	/* still to come after that */
	int async;		/* the context's; -1: not watched */
	char entry[96];		/* of the node in sysfs */
	uint64_t inode;		/* of it; 0: cannot be seen */
	bool lost;		/* the device is */
};

/*
 * Watch the device of @ctx; with @async its asynchronous events make @ret->fd
 * readable as well.  Errors: -EMFILE and the like.
 */
int pier__verbs_watch_open(struct ibv_context *ctx, bool async,
			   struct verbs_watch *ret);
void pier__verbs_watch_close(struct verbs_watch *watch);

/* Was the device removed, or is it about to be? */
bool pier__verbs_watch_lost(struct verbs_watch *watch);

/* The same, but check only after an event, which is consumed. */
bool pier__verbs_watch_check(struct verbs_watch *watch);

/* The asynchronous events have ended: the device was removed. */
void pier__verbs_watch_ended(struct verbs_watch *watch);

#endif
