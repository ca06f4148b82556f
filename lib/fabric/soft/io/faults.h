/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_IO_FAULTS_H
#define PIER_FABRIC_SOFT_IO_FAULTS_H

#include <stdint.h>

#include "fabric/soft/wire/packet.h"

/*
 * Faults of a network, on request, for tests of programs: of the packets that
 * arrive at a socket some are lost, some have a wrong bit, and all are late.
 * PIER_FAULTS is "loss=PERCENT,corrupt=PERCENT,delay=MS,seed=NUMBER", or some
 * of these.  Belongs to the thread that drives the endpoint.
 */
struct soft_late;

struct soft_faults {
	uint64_t random;		/* state of the generator */
	uint32_t loss, corrupt;		/* millionths of a percent */
	struct soft_late *late;	/* owned; NULL: none */
	uint64_t lost, corrupted;	/* packets, counted */
};

/*
 * As @text demands; *ret is NULL if it is NULL or empty.
 * Errors: -EINVAL, it is no such text; -ENOMEM.
 */
int pier__soft_faults_create(const char *text, struct soft_faults **ret);
void pier__soft_faults_destroy(struct soft_faults *faults);

/*
 * @count packets have arrived, whose bytes may be changed.  Returns how many
 * of them there are left at @rx: none if they are delayed.
 */
int pier__soft_faults_pass(struct soft_faults *faults, struct soft_rx *rx,
			   int count, uint64_t now);

#endif
