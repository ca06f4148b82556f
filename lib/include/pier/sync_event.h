/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_SYNC_EVENT_H
#define PIER_SYNC_EVENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A sync event: a 64-bit value that one side sets or adds to, and that another
 * side reads and waits for.  Create it, configure it, start it, use it, stop
 * it, destroy it; a stopped one cannot be started again.
 *
 * Configure, start and destroy it in one thread.  Calls return 0 or a negative
 * errno value and do not write *ret on failure.
 */
struct pier_sync_event;

/*
 * Where the side is that sets the event, or that waits for it.  It is a
 * declaration and grants nothing: either side may set and wait.
 */
enum pier_sync_event_location {
	PIER_SYNC_EVENT_CPU = 1,	/* this process */
	PIER_SYNC_EVENT_REMOTE = 2,	/* a peer, by RDMA */
};

struct pier_sync_event_config {
	size_t size;		/* sizeof(struct pier_sync_event_config) */
	uint32_t publisher;	/* one enum pier_sync_event_location: who */
				/* sets it; 0: not known yet */
	uint32_t subscriber;	/* the same: who waits for it */
	uint64_t *word;		/* the caller's 8 aligned bytes, which keep */
				/* their value; NULL: pier's own, 0 */
};

/*
 * Create an event, not started; the caller destroys it.  Errors: -ENOMEM.
 */
int pier_sync_event_create(struct pier_sync_event **ret);

/*
 * Copy @cfg.
 * Errors: -EBUSY, started or stopped; -EINVAL, an unknown location or more than
 * one, or a word that is not aligned to 8 bytes.
 */
int pier_sync_event_configure(struct pier_sync_event *event,
			      const struct pier_sync_event_config *cfg);
void pier_sync_event_get_config(const struct pier_sync_event *event,
				struct pier_sync_event_config *ret);

/*
 * Start it in blocking mode.
 * Errors: -EINVAL, no publisher or no subscriber; -EBUSY, started already;
 * -ESHUTDOWN, stopped.
 */
int pier_sync_event_start(struct pier_sync_event *event);

/*
 * Stop it: calls that wait return -ESHUTDOWN, later ones fail, and all that is
 * left to do is to destroy it.  0 also if it was stopped before.
 * Errors: -EINVAL, it was never started.  Any thread.
 */
int pier_sync_event_stop(struct pier_sync_event *event);

/* Destroy it; no thread may be in a call with it.  NULL is allowed. */
void pier_sync_event_destroy(struct pier_sync_event *event);

/*
 * Set the value; add to it, modulo 2^64, with the value before in *ret unless
 * @ret is NULL; read it.  Nothing blocks.  What a thread did before it set or
 * added is visible to a thread that sees the value.
 * Errors: -ESHUTDOWN, not started, or stopped.  Any thread.
 */
int pier_sync_event_set(struct pier_sync_event *event, uint64_t value);
int pier_sync_event_add(struct pier_sync_event *event, uint64_t value,
			uint64_t *ret);
int pier_sync_event_get(const struct pier_sync_event *event, uint64_t *ret);

enum pier_sync_event_wait {
	PIER_SYNC_EVENT_BUSY,	/* poll, and use the CPU for nothing else */
	PIER_SYNC_EVENT_YIELD,	/* leave the CPU to others */
};

/*
 * Wait until the value AND @mask is greater than @value, equal to it, not equal
 * to it; at most @timeout_ms milliseconds, below 0: without limit.
 * Errors: -ETIMEDOUT; -ESHUTDOWN, not started, or stopped; -EINVAL, unknown
 * @how.  Any thread.
 */
int pier_sync_event_wait_gt(struct pier_sync_event *event, uint64_t value,
			    uint64_t mask, enum pier_sync_event_wait how,
			    int timeout_ms);
int pier_sync_event_wait_eq(struct pier_sync_event *event, uint64_t value,
			    uint64_t mask, enum pier_sync_event_wait how,
			    int timeout_ms);
int pier_sync_event_wait_neq(struct pier_sync_event *event, uint64_t value,
			     uint64_t mask, enum pier_sync_event_wait how,
			     int timeout_ms);

#ifdef __cplusplus
}
#endif

#endif
