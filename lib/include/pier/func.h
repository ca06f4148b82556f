/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FUNC_H
#define PIER_FUNC_H

#include <stddef.h>
#include <stdint.h>

#include <pier/ctx.h>
#include <pier/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A function context: calls of the program's functions as tasks of an engine,
 * on its thread.  Configure it while idle, start it on a progress engine, stop
 * it, destroy it.  Once idle again it can be configured and started again.
 *
 * Calls return 0 or a negative errno value and do not write *ret on failure.
 * They belong to the engine's thread.
 */
struct pier_func;

/*
 * Returns the status of the task: 0 or a negative error.  -EINPROGRESS: call it
 * again in the next round of the engine, which does not sleep until then.
 * -EAGAIN: the same, but the engine may sleep for a millisecond first.
 */
typedef int pier_func_fn(void *arg);

struct pier_func_config {
	size_t size;		/* sizeof(struct pier_func_config), always */
	uint32_t tasks;		/* to preallocate, 1..1048576; 0 means 256 */
	uint32_t stop_on_task_error;	/* non-zero: a failed task stops the */
				/* context */
};

/*
 * Create an idle context.  The caller destroys it by pier_func_destroy().
 * Errors: -ENOMEM.
 */
int pier_func_create(struct pier_func **ret);

/* Copy @cfg.  Errors: -EBUSY, not idle; -EINVAL, a member is out of range. */
int pier_func_configure(struct pier_func *func,
			const struct pier_func_config *cfg);

/* The values in use. */
void pier_func_get_config(const struct pier_func *func,
			  struct pier_func_config *ret);

/* Stop it if it runs, destroy it.  NULL is allowed. */
void pier_func_destroy(struct pier_func *func);

struct pier_ctx *pier_func_ctx(struct pier_func *func);

/*
 * Take a preallocated task that calls @call with @call_arg in a round of the
 * engine.  Errors: -ENOBUFS, no task is free; -EINVAL, no function.
 */
int pier_func_task_call(struct pier_func *func, pier_func_fn *call,
			void *call_arg, struct pier_task **ret);

/*
 * Change them for the next submit.
 * Errors: -EBUSY, submitted; -EINVAL, another type of task, or no function.
 */
int pier_func_task_set(struct pier_task *task, pier_func_fn *call,
		       void *call_arg);

/*
 * One shot: take a task, submit it, and free it after @fn has run; with @fn
 * NULL the caller frees it after pier_pe_retrieve().
 * Errors: as pier_func_task_call() and pier_task_submit().
 */
int pier_func_call(struct pier_func *func, pier_func_fn *call, void *call_arg,
		   pier_task_fn *fn, void *arg);

#ifdef __cplusplus
}
#endif

#endif
