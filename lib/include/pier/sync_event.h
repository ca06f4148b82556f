/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_SYNC_EVENT_H
#define PIER_SYNC_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include <pier/ctx.h>
#include <pier/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A sync event: a 64-bit value that one side sets or adds to, and that another
 * side reads and waits for.  Create it, configure it, start it, use it, stop
 * it, destroy it; a stopped one cannot be started again.  It is started in one
 * of two modes: blocking, by pier_sync_event_start(), or as a context with
 * tasks, by pier_ctx_start().
 *
 * Configure, start, stop and destroy it in one thread.  Calls return 0 or a
 * negative errno value and do not write *ret on failure.
 */
struct pier_dev;
struct pier_sync_event;

/*
 * Where the side is that sets the event, or that waits for it.  It is a
 * declaration and grants nothing: either side may set and wait.
 */
enum pier_sync_event_location {
	PIER_SYNC_EVENT_CPU = 1,	/* this process */
	PIER_SYNC_EVENT_REMOTE = 2,	/* a peer, or another process: needs */
					/* a device */
};

struct pier_sync_event_config {
	size_t size;		/* sizeof(struct pier_sync_event_config) */
	uint32_t publisher;	/* one enum pier_sync_event_location: who */
				/* sets it; 0: not known yet */
	uint32_t subscriber;	/* the same: who waits for it */
	uint64_t *word;		/* the caller's 8 aligned bytes, which keep */
				/* their value; NULL: pier's own, 0 */
	struct pier_dev *dev;	/* which peers reach it through; it must */
				/* outlive the event; NULL: none */
	uint32_t tasks;		/* to preallocate for context mode, */
				/* 1..1048576; 0 means 256 */
	uint32_t stop_on_task_error;	/* non-zero: a failed task stops the */
				/* context; none fails but of an imported one */
	uint32_t type_tasks[PIER_TASK_TYPES];	/* tasks by enum */
				/* pier_task_type: a type whose element is 0 */
				/* has none then, and tasks is the sum.  All */
				/* 0: tasks for all types */
};

/*
 * Create an event, not started; the caller destroys it.  Errors: -ENOMEM.
 */
int pier_sync_event_create(struct pier_sync_event **ret);

/*
 * Copy @cfg.
 * Errors: -EBUSY, started or stopped; -EPERM, imported; -EINVAL, an unknown
 * location or more than one, a word that is not aligned to 8 bytes, a number
 * out of range.
 */
int pier_sync_event_configure(struct pier_sync_event *event,
			      const struct pier_sync_event_config *cfg);
void pier_sync_event_get_config(const struct pier_sync_event *event,
				struct pier_sync_event_config *ret);

/*
 * Start it in blocking mode.
 * Errors: -EINVAL, no publisher or no subscriber, or one that is remote without
 * a device; -EBUSY, started already; -ESHUTDOWN, stopped; those of
 * pier_mmap_start().
 */
int pier_sync_event_start(struct pier_sync_event *event);

/*
 * Stop it in blocking mode: calls that wait return -ESHUTDOWN, later ones fail,
 * peers lose access, and all that is left to do is to destroy it.  0 also if
 * it was stopped before.
 * Errors: -EINVAL, it was never started; -EPERM, it runs as a context.
 */
int pier_sync_event_stop(struct pier_sync_event *event);

/*
 * Destroy it; no thread may be in a call with it.  A running context is stopped
 * first.  NULL is allowed.
 */
void pier_sync_event_destroy(struct pier_sync_event *event);

/*
 * Set the value; add to it, modulo 2^64, with the value before in *ret unless
 * @ret is NULL; read it.  They never block, and work in both modes, unless
 * another process owns the event.  What a thread did before it set or added is
 * visible to a thread that sees the value.
 * Errors: -ESHUTDOWN, not started, or stopped; -EOPNOTSUPP, imported for RDMA;
 * -EINVAL, NULL.  Any thread.
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
 * Errors: -ETIMEDOUT; -ESHUTDOWN, not started, or stopped; -EPERM, it runs as a
 * context; -EOPNOTSUPP, imported for RDMA; -EINVAL, unknown @how.  Any thread.
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

/*
 * Describe the running @event, one of whose sides is remote, for RDMA peers.
 * *ret belongs to @event and lives until it is destroyed; every peer that reads
 * it may set the event.
 * Errors: -EACCES, no side is remote; -ESHUTDOWN, not started, or stopped;
 * -EOPNOTSUPP, imported; -ENOMEM.
 */
int pier_sync_event_export(struct pier_sync_event *event, const void **ret,
			   size_t *ret_len);

/*
 * Create the event that @desc describes, for tasks of RDMA contexts, like
 * pier_rdma_task_remote_get(), on @dev; NULL: not known yet.  It is not
 * configured, only started, by pier_sync_event_start(); it belongs to the
 * thread of the contexts.
 * Errors: those of pier_mmap_create_from_export().
 */
int pier_sync_event_create_from_export(struct pier_dev *dev, const void *desc,
				       size_t len,
				       struct pier_sync_event **ret);

/* No descriptor for processes is longer, in bytes. */
#define PIER_SYNC_EVENT_DESC_MAX 1024

/*
 * The same for other processes, of this host or of another, which use @event as
 * if it was theirs: a thread of pier's, one for each open device, accepts their
 * connections until @event stops, while this process does anything else.
 * Errors: as above; those of pier_rdma_listen().
 */
int pier_sync_event_export_process(struct pier_sync_event *event,
				   const void **ret, size_t *ret_len);

/*
 * Wait until a process has connected to it and none is connected any more, at
 * most @timeout_ms milliseconds, below 0: without limit.  Any thread, but
 * @event may not be stopped meanwhile.
 * Errors: -ETIMEDOUT; -ENODEV, the device was removed; -EINVAL, not exported to
 * processes.
 */
int pier_sync_event_export_wait(struct pier_sync_event *event, int timeout_ms);

/*
 * Create the event that @desc, for processes, describes, on @dev.  Of its
 * configuration only tasks is set.  Started in either mode, its calls, which
 * block, and its tasks do what those of its owner do, over a connection that
 * the first one makes; they also fail with the error of that connection.
 * Errors: those of pier_dma_import().
 */
int pier_sync_event_import_process(struct pier_dev *dev, const void *desc,
				   size_t len, struct pier_sync_event **ret);

/*
 * Context mode: start it by pier_ctx_start(), which fails as
 * pier_sync_event_start() does, and with -EOPNOTSUPP if it was imported for
 * RDMA; and take tasks.  The rest belongs to the engine's thread.
 */
struct pier_ctx *pier_sync_event_ctx(struct pier_sync_event *event);

/*
 * Take a preallocated task that does the same as the call above without _task.
 * The value is written to *result when the task is done; of an add @result may
 * be NULL.  A wait finishes in the first round that sees a value it waits for,
 * and does not hold up the tasks behind it.
 * Errors: -ENOBUFS, no task is free, or not started as a context; -EINVAL, a
 * get without a result.
 */
int pier_sync_event_task_get(struct pier_sync_event *event, uint64_t *result,
			     struct pier_task **ret);
int pier_sync_event_task_set(struct pier_sync_event *event, uint64_t value,
			     struct pier_task **ret);
int pier_sync_event_task_add(struct pier_sync_event *event, uint64_t value,
			     uint64_t *result, struct pier_task **ret);
int pier_sync_event_task_wait_gt(struct pier_sync_event *event, uint64_t value,
				 uint64_t mask, struct pier_task **ret);
int pier_sync_event_task_wait_eq(struct pier_sync_event *event, uint64_t value,
				 uint64_t mask, struct pier_task **ret);
int pier_sync_event_task_wait_neq(struct pier_sync_event *event, uint64_t value,
				  uint64_t mask, struct pier_task **ret);

/*
 * Change what such a task does at its next submit; what its type does not use
 * is ignored.
 * Errors: -EBUSY, submitted; -EINVAL, another type of task, or a get without a
 * result.
 */
int pier_sync_event_task_set_values(struct pier_task *task, uint64_t value,
				    uint64_t mask, uint64_t *result);

#ifdef __cplusplus
}
#endif

#endif
