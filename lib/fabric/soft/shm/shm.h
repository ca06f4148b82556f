/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_SHM_SHM_H
#define PIER_FABRIC_SOFT_SHM_SHM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "fabric/soft/rc/qp.h"
#include "fabric/soft/shm/link.h"
#include "fabric/soft/shm/mode.h"

/*
 * Shared memory of an endpoint: its links, and the socket that others of this
 * host connect to.
 *
 * Three threads' calls.  Those of "the driver" are made by the thread that
 * drives the endpoint, holding it.  run() is the helper's alone: it attaches,
 * without the endpoint but for short moments, and never blocks otherwise.
 * create and destroy: no other thread uses it.
 *
 * With PIER_SHM=require no packet of a QP leaves by UDP, unless its peer is a
 * RoCE device: what it sends before it has a link is lost, and sent again.
 * QPs of this endpoint that are connected to each other have a link to itself.
 *
 * Sleeping.  Rings are only polled.  An endpoint whose threads are going to
 * wait has its links say so, and then looks once more; who writes a record
 * after that sends a byte to the link's socket, which is in @bell_fd.
 */
#define SOFT_LINKS 64		/* each is polled in every round */
#define SOFT_SHM_BATCH 32	/* packets of a link at a time */
#define SOFT_SHM_COPY 256	/* bytes of a packet that are copied */

struct soft_shm {
	struct soft_io io;		/* first; receives from all links */
	struct soft_io none;		/* takes what is sent, and drops it */
	struct soft_ep *ep;		/* borrowed */
	enum pier_shm mode;
	int listen_fd;			/* owned; -1: not listening */
	int bell_fd;			/* owned: the links' sockets */
	int control_fd;			/* owned: what run() is for */

	/* The driver's. */
	struct soft_link *link[SOFT_LINKS];	/* up or broken, owned */
	int links, next;		/* next: to be received from first */
	bool asleep;
	uint16_t wanted[SOFT_LINKS];	/* ports to attach to */
	atomic_int wanted_count;

	/* The helper's. */
	struct soft_link *greeting[SOFT_LINKS];	/* owned */
	int greetings;
	bool ended;			/* a link has, in this run() */
};

/*
 * Make that of @ep; NULL if @mode is off.  What fails later is counted, and
 * not reported: packets go by UDP.  Errors: -ENOMEM; those of epoll_create(2).
 */
int pier__soft_shm_create(struct soft_ep *ep, enum pier_shm mode,
			  struct soft_shm **ret);
void pier__soft_shm_destroy(struct soft_shm *shm);

/*
 * The driver: @qp is in RTR, and sends by UDP.  Returns true if run() has to
 * be called.
 */
bool pier__soft_shm_connected(struct soft_shm *shm, struct soft_qp *qp);

/*
 * The driver: threads are going to wait for @bell_fd.  Returns true: they need
 * not, there is something.
 */
bool pier__soft_shm_sleep(struct soft_shm *shm);

/* The driver: they do not wait any more; no effect unless they did. */
void pier__soft_shm_wake(struct soft_shm *shm);

/* In the child of fork(2), which has no rings. */
void pier__soft_shm_forked(struct soft_shm *shm);

/*
 * The helper: attach, and end what has ended.  Returns true if a link has
 * ended, which completes requests.  It takes the endpoint as seldom as it can:
 * the program may have it, and other endpoints wait for the helper meanwhile.
 */
bool pier__soft_shm_run(struct soft_shm *shm);

/* Count @err, for which packets go by UDP.  Any thread that is alone. */
void pier__soft_shm_count(struct soft_shm *shm, int err);

#endif
