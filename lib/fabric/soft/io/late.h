/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_IO_LATE_H
#define PIER_FABRIC_SOFT_IO_LATE_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/soft/wire/packet.h"

/*
 * Received packets that are held for a time, in order: at most SOFT_DELAYED.
 * Belongs to the thread that drives the endpoint.
 */
#define SOFT_DELAYED 16384

struct soft_late;

/* @ns: how long.  Errors: -ENOMEM. */
int pier__soft_late_create(uint64_t ns, struct soft_late **ret);
void pier__soft_late_destroy(struct soft_late *late);

/* Store a copy of @rx.  Returns false if there is no place for it. */
bool pier__soft_late_put(struct soft_late *late, const struct soft_rx *rx,
			 uint64_t now);

/*
 * Take at most @max packets whose time is over; they are valid until the next
 * call.  Returns how many.
 */
int pier__soft_late_take(struct soft_late *late, struct soft_rx *ret,
			 int max, uint64_t now);

/* When the next one can be taken; 0: there is none. */
uint64_t pier__soft_late_due(const struct soft_late *late);

#endif
