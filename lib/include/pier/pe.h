/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_PE_H
#define PIER_PE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A progress engine: runs the contexts started on it, and the callbacks.
 * Everything on it belongs to the one thread that drives it; to use several
 * threads, make an engine in each.
 */
struct pier_pe;
struct pier_task;

/* What pier_pe_retrieve() takes: a task that was given no callback. */
struct pier_event {
	struct pier_task *task;	/* finished; valid until freed or submitted */
	int status;		/* pier_task_status() */
};

/* Errors: -ENOMEM; -EMFILE. */
int pier_pe_create(struct pier_pe **ret);

/*
 * End @pe; contexts still on it are stopped and drained first.  Inside one of
 * its callbacks it is put off until the engine is left.  NULL is fine.
 */
void pier_pe_destroy(struct pier_pe *pe);

/*
 * Do what there is to do, at most @max user-visible events (0: 64), without
 * sleeping; a first message and that it is connected are one.
 * Returns how many events a user could see, 0 for none.
 * Errors: -EBUSY, called from inside a callback.
 */
int pier_pe_progress(struct pier_pe *pe, int max);

/*
 * Progress until at least one event, sleeping in between; @timeout_ms
 * below 0: for ever.  Signals do not end it; a handler may pier_pe_wake().
 * Errors: -ETIMEDOUT, none came; -EBUSY.
 */
int pier_pe_wait(struct pier_pe *pe, int timeout_ms);

/*
 * For event loops: one fd that is readable when there is something to do,
 * from pier_pe_arm() to pier_pe_clear(), for as long as @pe lives.  arm
 * answers -EAGAIN if something is pending already: progress first.
 */
int pier_pe_fd(const struct pier_pe *pe);
int pier_pe_arm(struct pier_pe *pe);
void pier_pe_clear(struct pier_pe *pe);

/* Make a sleeping pier_pe_wait() return 0, or the fd readable.  Any thread. */
void pier_pe_wake(struct pier_pe *pe);

/* The next finished task without a callback.  Errors: -EAGAIN, none. */
int pier_pe_retrieve(struct pier_pe *pe, struct pier_event *ret);

/* Tasks submitted and not yet finished. */
size_t pier_pe_inflight(const struct pier_pe *pe);

#ifdef __cplusplus
}
#endif

#endif
