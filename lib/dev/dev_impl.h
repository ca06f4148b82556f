/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_DEV_DEV_IMPL_H
#define PIER_DEV_DEV_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include <pier/counters.h>
#include <pier/dev.h>

#include "fabric/fabric.h"

struct pier_devinfo {
	struct pier__port port;
};

struct pier_dev {
	struct pier_devinfo info;	/* as opened */
	struct pier__fdev *fdev;	/* owned */
	const struct pier__fabric *fabric;
	uint8_t id[8];		/* random, names this opening of the device: */
				/* keys made on it carry it to importers */
	atomic_uint mmaps, ctxs;	/* on it */
	pthread_mutex_t lock;	/* events, and fdev->port after the open */
	uint64_t queried;	/* ns; when fdev->port was last queried */
	atomic_bool gone;	/* for good */
	atomic_uint changes;	/* of the port, so far */
};

/* Can pier connect on it?  Errors: -EOPNOTSUPP. */
int pier__devinfo_connects(const struct pier_devinfo *info);

/* The identity of an open device, for messages.  Returns @ret. */
#define PIER__DEV_ID_TEXT 17
const char *pier__dev_id_text(const uint8_t id[8], char ret[PIER__DEV_ID_TEXT]);

/* Open @port, on @pd unless that is NULL. */
int pier__dev_open_port(const struct pier__port *port, struct ibv_pd *pd,
			struct pier_dev **ret);

/*
 * Take what events there are.  Any thread; contexts call it when
 * fdev->event_fd is readable.
 */
void pier__dev_events(struct pier_dev *dev);

/*
 * The port as it is now, events that wait included; of a device that reports
 * no events as it was a few ms ago.  Any thread.
 */
void pier__dev_port(struct pier_dev *dev, struct pier__port *ret);

/* Errors: -ENODEV, it was removed.  Any thread. */
int pier__dev_alive(struct pier_dev *dev);

/* Mark the device as removed.  Returns -ENODEV.  Any thread. */
int pier__dev_lost(struct pier_dev *dev);

/*
 * The port as it is now, queried again: to find the reason of a failure, or
 * to begin a connection.  Returns 0; -ENODEV, without a
 * message, it was removed; else *ret is the earlier state.  Any thread.
 */
int pier__dev_now(struct pier_dev *dev, struct pier__port *ret);

/*
 * Give the caller of the API as much of @all as fits.  Errors: -EINVAL,
 * ret->size is too small.
 */
int pier__counters_give(const struct pier_counters *all,
			struct pier_counters *ret);

/*
 * Count a context, or an mmap, of @dev, which must not be closed before it is
 * dropped.
 */
void pier__dev_hold(struct pier_dev *dev);
void pier__dev_drop(struct pier_dev *dev);
void pier__dev_hold_mmap(struct pier_dev *dev);
void pier__dev_drop_mmap(struct pier_dev *dev);

#endif
