/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_PE_H
#define PIER_PE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A progress engine runs the contexts started on it, and the callbacks.  All
 * objects on it belong to the one thread that drives it; to use several
 * threads, create an engine in each.  A debug build (--enable-debug) refuses
 * the call of a second thread while one is inside: -EDEADLK; see pier_pe(3).
 */
struct pier_pe;
struct pier_task;

/* A completed task without a callback, from pier_pe_retrieve(). */
struct pier_event {
	struct pier_task *task;	/* completed; valid until freed or submitted */
	int status;		/* pier_task_status() */
};

/* Errors: -ENOMEM; -EMFILE. */
int pier_pe_create(struct pier_pe **ret);

/*
 * Destroy @pe; contexts still on it are stopped and drained first.  Inside one
 * of its callbacks it is deferred until the callbacks have returned.  NULL is
 * allowed.
 */
void pier_pe_destroy(struct pier_pe *pe);

/*
 * Process pending work, at most @max user-visible events (0: 64), without
 * sleeping; a first message and the connection's change to connected count as
 * one, contexts that become idle come on top.  Returns the number of events,
 * 0 for none.
 * Errors: -EBUSY, called from inside a callback.
 */
int pier_pe_progress(struct pier_pe *pe, int max);

/*
 * In a callback of a connection's or a context's state: do not count the event
 * that it reports.  For layers on top of pier that return what
 * pier_pe_progress() returned.
 */
void pier_pe_ignore_event(struct pier_pe *pe);

/*
 * Progress until at least one event, sleeping in between; @timeout_ms below 0:
 * without limit.  Signals do not end it; a handler may call pier_pe_wake().
 * Errors: -ETIMEDOUT, no event; -EBUSY.
 */
int pier_pe_wait(struct pier_pe *pe, int timeout_ms);

/*
 * For event loops: one fd that is readable when there is work to do, from
 * pier_pe_arm() to pier_pe_clear(), for as long as @pe lives.  arm returns
 * -EAGAIN if work is pending already: progress first.
 */
int pier_pe_fd(const struct pier_pe *pe);
int pier_pe_arm(struct pier_pe *pe);
void pier_pe_clear(struct pier_pe *pe);

/* Make a sleeping pier_pe_wait() return 0, or the fd readable.  Any thread. */
void pier_pe_wake(struct pier_pe *pe);

/*
 * The next completed task without a callback; a task that failed is an event
 * whose status is its error.  Makes no progress.  Errors: -EAGAIN, none yet;
 * -EINVAL, @pe or @ret is NULL.
 */
int pier_pe_retrieve(struct pier_pe *pe, struct pier_event *ret);

/* Tasks submitted and not yet completed. */
size_t pier_pe_inflight(const struct pier_pe *pe);

#ifdef __cplusplus
}
#endif

#endif
