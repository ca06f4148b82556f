/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_CTX_2_0_H
#define DOCA_CTX_2_0_H

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Contexts, which carry out jobs; work queues, to which a program submits jobs
 * and from which it retrieves their events.  A context gets a device, is
 * started, and is added to one work queue; it is removed and stopped in the
 * opposite order.  A work queue and its contexts belong to one thread.
 */

struct doca_ctx;
struct doca_dev;
struct doca_workq;

enum doca_job_flags {
	DOCA_JOB_FLAGS_NONE = 0,
};

enum doca_workq_retrieve_flags {
	DOCA_WORKQ_RETRIEVE_FLAGS_NONE = 0,
};

/* The first member of the structs of jobs, which submit copies. */
struct doca_job {
	int type;
	int flags;			/* enum doca_job_flags */
	struct doca_ctx *ctx;
	union doca_data user_data;	/* of the event */
};

/*
 * A job that has ended: what its library says of the result.  Where that is a
 * struct, the program sets result.ptr to its own before it retrieves.
 */
struct doca_event {
	int type;			/* of the job */
	union doca_data user_data;
	union doca_data result;
};

/* One device a context, before the start: a second one is NOT_SUPPORTED. */
doca_error_t doca_ctx_dev_add(struct doca_ctx *ctx, struct doca_dev *dev);
doca_error_t doca_ctx_dev_rm(struct doca_ctx *ctx, struct doca_dev *dev);
doca_error_t doca_ctx_start(struct doca_ctx *ctx);
doca_error_t doca_ctx_stop(struct doca_ctx *ctx);

/*
 * One work queue a context: a second one is NOT_SUPPORTED.  A removal ends the
 * jobs in flight; their events can be retrieved.
 */
doca_error_t doca_ctx_workq_add(struct doca_ctx *ctx, struct doca_workq *workq);
doca_error_t doca_ctx_workq_rm(struct doca_ctx *ctx, struct doca_workq *workq);
doca_error_t doca_ctx_get_event_driven_supported(struct doca_ctx *ctx,
						 uint8_t *supported);

/* At most @depth jobs, in flight or not retrieved. */
doca_error_t doca_workq_create(uint32_t depth, struct doca_workq **workq);
doca_error_t doca_workq_destroy(struct doca_workq *workq);

/*
 * A work queue is polled, or is event-driven and has a handle, which is
 * readable when there is something to retrieve, from arm to clear.
 * NOT_SUPPORTED: one of its contexts cannot be; IN_USE: it has jobs.
 */
doca_error_t doca_workq_set_event_driven_enable(struct doca_workq *workq,
						uint8_t enable);
doca_error_t doca_workq_get_event_driven_enable(const struct doca_workq *workq,
						uint8_t *enable);
doca_error_t doca_workq_get_event_handle(const struct doca_workq *workq,
					 doca_event_handle_t *handle);
doca_error_t doca_workq_event_handle_arm(struct doca_workq *workq);
doca_error_t doca_workq_event_handle_clear(struct doca_workq *workq,
					   doca_event_handle_t handle);

/* NO_MEMORY: the work queue is full. */
doca_error_t doca_workq_submit(struct doca_workq *workq,
			       const struct doca_job *job);

/*
 * SUCCESS, a job has ended; IO_FAILED, a job has failed, and *event is valid;
 * AGAIN, none has ended yet; INVALID_VALUE, the call is wrong.
 */
doca_error_t doca_workq_progress_retrieve(struct doca_workq *workq,
					  struct doca_event *event, int flags);

#ifdef __cplusplus
}
#endif

#endif
