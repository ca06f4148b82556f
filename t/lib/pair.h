/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_PAIR_H
#define PIER_T_LIB_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * A peer: a process of its own, forked from the test, and a wire between the
 * two that is none of pier's.  Fork before the test opens a device.
 *
 * A test with peers that hangs, PAIR_LIMIT seconds after its last fork, is
 * printed by its name and ends with all its peers: a little before t/run would
 * end it without a note.  PIER_TEST_SLOWER stretches the limit.  No peer
 * outlives the test's process.
 */
#define PAIR_LIMIT 55

struct pair {
	pid_t pid;	/* the other process */
	int fd;
};

/*
 * What the peer does; its result is its exit status, but 1 if a check in it
 * failed.  Its checks print as the test's do.
 */
typedef int pair_fn(struct pair *pair, void *arg);

/* Run @fn with @arg in a peer.  What the system refuses ends the test. */
void pair_start(struct pair *pair, pair_fn *fn, void *arg);

/* Both sides: send one blob.  False: the other side is gone. */
bool pair_send(struct pair *pair, const void *data, size_t len);

/*
 * Receive one blob of at most @size bytes; waits for it.  Returns its length.
 * Errors: -ECONNRESET, the other side is gone; -EMSGSIZE.
 */
int pair_recv(struct pair *pair, void *ret, size_t size);

/* Has it sent something that was not received yet, or ended? */
bool pair_readable(const struct pair *pair);

/* Wait for its end.  Returns its exit status, or 128 + the signal. */
int pair_wait(struct pair *pair);

/*
 * End it at once, as a crash would.  A failed check: it had already ended, and
 * was not where the test wanted it to be.
 */
void pair_kill(struct pair *pair);

/* Is it stopped?  @wait: until it is, or has ended. */
bool pair_is_stopped(const struct pair *pair, bool wait);

/*
 * Let it go on, if it is stopped.  No other is sent the signal: it would take
 * away that by which the leak checker of a process that ends stops its threads.
 */
void pair_go_on(const struct pair *pair);

#endif
