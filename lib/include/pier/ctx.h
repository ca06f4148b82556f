/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CTX_H
#define PIER_CTX_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A context: an object that is started on a progress engine and runs tasks.  A
 * call like pier_rdma_ctx() returns the context of an object.
 *
 *	idle -> starting -> running -> stopping -> idle
 *
 * Calls belong to the engine's thread.
 */
struct pier_ctx;
struct pier_pe;

enum pier_ctx_state {
	PIER_CTX_IDLE,
	PIER_CTX_STARTING,
	PIER_CTX_RUNNING,
	PIER_CTX_STOPPING,
};

/* The state is already @next when this runs. */
typedef void pier_ctx_state_fn(struct pier_ctx *ctx, enum pier_ctx_state prev,
			       enum pier_ctx_state next, void *user_data);

/*
 * Start the idle @ctx on @pe, which must outlive it. 0: running; -EINPROGRESS:
 * starting, the state callback reports the result.
 * Errors: -EBUSY, not idle; those of the object.
 */
int pier_ctx_start(struct pier_ctx *ctx, struct pier_pe *pe);

/*
 * Refuse new tasks, cancel those in flight, then go idle, which the state
 * callback reports. -EINPROGRESS, also when repeated; 0: it was idle.
 */
int pier_ctx_stop(struct pier_ctx *ctx);

/*
 * Stop and drive the engine until idle.
 * Errors: -ETIMEDOUT, still stopping; -EBUSY, called from inside a callback.
 */
int pier_ctx_stop_wait(struct pier_ctx *ctx, int timeout_ms);

/*
 * The timeout of tasks of @ctx that have none of their own, one-shots included,
 * in milliseconds; 0, the default: none.  See pier_task_set_timeout_ms().
 * Errors: -EINVAL, below 0; -EBUSY, not idle.
 */
int pier_ctx_set_task_timeout_ms(struct pier_ctx *ctx, int timeout_ms);

enum pier_ctx_state pier_ctx_state(const struct pier_ctx *ctx);
const char *pier_ctx_state_name(enum pier_ctx_state state);

/* May be set at any time; NULL: no callback. */
void pier_ctx_set_state_changed(struct pier_ctx *ctx, pier_ctx_state_fn *fn);
void pier_ctx_set_user_data(struct pier_ctx *ctx, void *user_data);
void *pier_ctx_user_data(const struct pier_ctx *ctx);

/* The engine it was started on; NULL while idle. */
struct pier_pe *pier_ctx_pe(const struct pier_ctx *ctx);

/* Tasks submitted and not yet completed. */
size_t pier_ctx_inflight(const struct pier_ctx *ctx);

/*
 * Post what was submitted with PIER_SUBMIT_MORE and is still deferred, on all
 * connections of @ctx.  Does nothing if there is none, or @ctx is idle.
 */
void pier_ctx_flush(struct pier_ctx *ctx);

#ifdef __cplusplus
}
#endif

#endif
