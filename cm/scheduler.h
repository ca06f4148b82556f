/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CM_SCHEDULER_H
#define PIER_CM_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/list.h"
#include "engine/source.h"

/*
 * The scheduler of the queues' connections: it calls pier__conn_step() of each
 * connection when that is due.  Connections whose next step is due within 5 ms,
 * and those that pier__conn_schedule() names, are in the list hot, which is
 * stepped in each round.  The others are found by a scan of all slots, a part
 * in each round, which begins when the first of them is due.  A change of the
 * device or its failure concerns every connection: a recheck is a scan that
 * checks and steps them all.
 */
struct pier__scheduler {
	struct pier__source source;	/* its fd reports the device's events */
	struct pier__list hot;		/* connections to be stepped soon */
	uint64_t scan_due;		/* when the next scan begins */
	uint32_t scan_at;		/* slot; 0: no scan is under way */
	bool recheck_wanted;		/* begin a recheck in the next round */
	bool rechecking;		/* the scan under way is one */
	uint64_t device_due;		/* when to read the device's events */
	unsigned int changes;		/* of the device, that were checked */
};

struct pier__queues;

void pier__scheduler_init(struct pier__scheduler *scheduler);

/*
 * Run on the engine of @queues, or no longer.
 * Errors: no file descriptor; the engine's.
 */
int pier__scheduler_start(struct pier__queues *queues);
void pier__scheduler_stop(struct pier__queues *queues);

/* Run in the next round. */
void pier__scheduler_wake(struct pier__queues *queues);

/* Check every connection, beginning in the next round. */
void pier__scheduler_recheck(struct pier__queues *queues);

#endif
