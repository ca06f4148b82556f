/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "doca_fail.h"
#include "doca_task_impl.h"

/* The callbacks may free the task, or submit it again. */

static void __attribute__((noinline, cold)) fail(struct doca_task *task,
						 int err)
{
	pier__doca_error(err);
	task->failed(task, task->data, task->ctx_data);
}

static void done(struct pier_task *pier, void *arg)
{
	struct doca_task *task = arg;
	int err = pier_task_status(pier);

	if (err)
		fail(task, err);
	else
		task->done(task, task->data, task->ctx_data);
}

doca_error_t __attribute__((noinline))
pier__doca_task_build(struct doca_task *task)
{
	doca_error_t error = DOCA_SUCCESS;
	int err;

	if (!task->taken)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE,
				       "task: submitted after it was freed");
	if (task->ctx->state != DOCA_CTX_STATE_RUNNING)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "task: its context does not run");
	if (task->kind->check)
		error = task->kind->check(task);
	if (error)
		return error;
	err = task->kind->build(task);
	if (err)
		return pier__doca_error(err);
	pier_task_set_done(task->task, done, task);
	return DOCA_SUCCESS;
}

typedef int submit_fn(struct pier_task *task, unsigned int flags);

/* Submit a task that must be built first. */
static doca_error_t __attribute__((noinline))
submit_new(struct doca_task *task, unsigned int flags, submit_fn *fn)
{
	doca_error_t error = pier__doca_task_build(task);
	int err;

	if (error)
		return error;
	err = fn(task->task, flags);
	return err ? pier__doca_error(err) : DOCA_SUCCESS;
}

static inline doca_error_t __attribute__((always_inline))
submit(struct doca_task *task, unsigned int flags, submit_fn *fn)
{
	int err;

	if (!task->task)
		return submit_new(task, flags, fn);
	err = fn(task->task, flags);
	return err ? pier__doca_error(err) : DOCA_SUCCESS;
}

doca_error_t doca_task_submit(struct doca_task *task)
{
	return submit(task, 0, pier_task_submit);
}

doca_error_t doca_task_submit_ex(struct doca_task *task, uint32_t flags)
{
	const uint32_t known = DOCA_TASK_SUBMIT_FLAG_FLUSH |
			       DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS;

	if (flags & ~known)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "task: flags "
				       "0x%x, known is 0x%x", flags, known);
	return submit(task,
		      flags & DOCA_TASK_SUBMIT_FLAG_FLUSH ? 0 :
							    PIER_SUBMIT_MORE,
		      pier_task_submit);
}

doca_error_t doca_task_try_submit(struct doca_task *task)
{
	return task ? submit(task, 0, pier_task_try_submit) :
		      DOCA_ERROR_INVALID_VALUE;
}

bool pier__doca_task_may(const struct doca_task *task, const char *verb)
{
	if (!task->task || pier_task_may_free(task->task))
		return true;
	pier__doca_fail(DOCA_ERROR_IN_USE, "task: %s while submitted: nothing "
			"was done, its callback comes first", verb);
	return false;
}

void pier__doca_task_unbuild(struct doca_task *task)
{
	task->status = doca_task_get_status(task);
	pier_task_free(task->task);
	task->task = NULL;
	task->ctx->pe->changes++;
}

/* What it was about can still be read. */
void doca_task_free(struct doca_task *task)
{
	if (!task)
		return;
	if (!task->taken) {
		pier__doca_fail(DOCA_ERROR_BAD_STATE, "task: freed twice");
		return;
	}
	if (!pier__doca_task_may(task, "freed"))
		return;
	task->taken = false;
	if (task->kind->freed)
		task->kind->freed(task);
	pier__doca_task_unbuild(task);
	task->next = task->pool->free;
	task->pool->free = task;
	pier__doca_ctx_task_freed(task->ctx);
}

doca_error_t doca_task_get_status(const struct doca_task *task)
{
	if (!task)
		return DOCA_ERROR_INVALID_VALUE;
	return task->task ? pier__doca_code(pier_task_status(task->task)) :
			    task->status;
}

void doca_task_set_user_data(struct doca_task *task, union doca_data data)
{
	task->data = data;
}

union doca_data doca_task_get_user_data(const struct doca_task *task)
{
	return task->data;
}

struct doca_ctx *doca_task_get_ctx(const struct doca_task *task)
{
	return task->ctx;
}
