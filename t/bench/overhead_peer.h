/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_BENCH_OVERHEAD_PEER_H
#define PIER_T_BENCH_OVERHEAD_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include <pier/pier.h>

/*
 * The other end of a Comm Channel, a server with an engine of its own in the
 * same thread: what it spends is not counted.  An end that is measured sends
 * messages to it, which it receives, or requests, to which it replies, or
 * messages to a consumer of it, or receives those of a producer.
 */
enum overhead_peer {
	OVERHEAD_PEER_NONE,	/* a device that does nothing */
	OVERHEAD_PEER_RECEIVES,
	OVERHEAD_PEER_CONSUMES,
	OVERHEAD_PEER_PRODUCES,
};

/* Start it on @dev.  Its name is the server's. */
void overhead_peer_start(struct pier_dev *dev, enum overhead_peer what);
const char *overhead_peer_name(void);

/* Was it started? */
bool overhead_peer_exists(void);

/* Has it what the measured end needs? */
bool overhead_peer_ready(void);

/* The id of its consumer, which is ready. */
uint32_t overhead_peer_consumer(void);

/*
 * Let it begin what @count tasks of the measured end need: to receive as many
 * messages, or to send them.
 */
void overhead_peer_begin(long count);

/* Progress.  Returns whether it has done all that it has begun. */
bool overhead_peer_progress(void);

#endif
