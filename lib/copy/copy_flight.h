/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_COPY_COPY_FLIGHT_H
#define PIER_COPY_COPY_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "copy/copy_io.h"

/*
 * Reads and writes of files between a file and slots, several at a time: by
 * io_uring, or by threads if the kernel does not permit it.  They complete in
 * the order of their beginning.  One thread begins and ends them.
 */
#define PIER__COPY_FLIGHT 3	/* at a time, at most */

struct pier__copy_op {
	bool writes;
	int fd;			/* open until it has completed */
	uint8_t *at;
	size_t len;
	uint64_t offset;	/* in the file */
	struct pier__copy_slot slot;	/* where @at is; the caller's */
	bool gives_slot;	/* when it has completed; the caller's */
	bool complete;		/* io_uring's, or without a thread */
	int64_t result;		/* bytes, or a negative error */
};

struct pier__copy_flight;

/* Errors: -ENOMEM. */
int pier__copy_flight_create(struct pier__copy_flight **ret);

/* Waits for what is in flight.  NULL is allowed. */
void pier__copy_flight_destroy(struct pier__copy_flight *flight);

/* Is it io_uring? */
bool pier__copy_flight_is_async(const struct pier__copy_flight *flight);

/* Operations that were begun and not ended. */
uint32_t pier__copy_flight_count(const struct pier__copy_flight *flight);

/* Begin a copy of @op; fewer than PIER__COPY_FLIGHT are in flight. */
void pier__copy_flight_begin(struct pier__copy_flight *flight,
			     const struct pier__copy_op *op);

/* The one that was begun last, while it is in flight; NULL: none. */
struct pier__copy_op *pier__copy_flight_last(struct pier__copy_flight *flight);

/*
 * Wait for the first one, which has then all of its bytes, those up to the end
 * of the file, or an error.
 */
void pier__copy_flight_end(struct pier__copy_flight *flight,
			   struct pier__copy_op *ret);

#endif
