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

static doca_error_t check(const struct doca_task *task)
{
	if (!task->taken)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE,
				       "task: submitted after it was freed");
	if (task->ctx->state != DOCA_CTX_STATE_RUNNING)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "task: its context does not run");
	return DOCA_SUCCESS;
}

/* The one that pier has kept cannot be used. */
static void drop_spare(struct doca_task *task)
{
	pier_task_free(task->spare);
	task->spare = NULL;
}

static doca_error_t __attribute__((noinline, cold))
build_anew(struct doca_task *task)
{
	doca_error_t error = check(task);
	int err;

	if (!error && task->kind->check)
		error = task->kind->check(task);
	if (error)
		return error;
	drop_spare(task);
	err = task->kind->build(task);
	if (err)
		return pier__doca_error(err);
	task->builds++;
	pier_task_set_done(task->task, done, task);
	return DOCA_SUCCESS;
}

/* Does pier's task that is kept serve @task? */
static inline bool reuse(struct doca_task *task)
{
	if (!task->spare || !task->taken ||
	    task->ctx->state != DOCA_CTX_STATE_RUNNING ||
	    task->kind->reuse(task, task->spare))
		return false;
	task->task = task->spare;
	task->spare = NULL;
	return true;
}

doca_error_t pier__doca_task_build(struct doca_task *task)
{
	return reuse(task) ? DOCA_SUCCESS : build_anew(task);
}

typedef int submit_fn(struct pier_task *task, unsigned int flags);

/* Submit a task that must be built first. */
static doca_error_t __attribute__((noinline))
submit_new(struct doca_task *task, unsigned int flags, submit_fn *fn)
{
	bool reused = reuse(task);
	doca_error_t error = reused ? DOCA_SUCCESS : build_anew(task);
	int err;

	if (error)
		return error;
	err = fn(task->task, flags);
	if (!err)
		return DOCA_SUCCESS;
	if (reused) {		/* its status is that of another operation */
		task->spare = task->task;
		task->task = NULL;
	}
	return pier__doca_error(err);
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

/* pier's task is no longer that of @task, whose nodes get another one. */
static inline struct pier_task *take_away(struct doca_task *task, int status)
{
	struct pier_task *pier = task->task;

	task->status = status ? pier__doca_code(status) : DOCA_SUCCESS;
	task->task = NULL;
	if (task->in_graph)
		task->ctx->pe->changes++;
	return pier;
}

void pier__doca_task_unbuild(struct doca_task *task)
{
	if (task->task)
		pier_task_free(take_away(task, pier_task_status(task->task)));
}

/* Returns false if it is in flight. */
static inline bool free_pier(struct doca_task *task)
{
	int status = pier_task_status(task->task);

	if ((status == -EINPROGRESS || task->in_graph) &&
	    !pier__doca_task_may(task, "freed"))
		return false;
	if (task->kind->freed)
		task->kind->freed(task);
	if (task->task && task->kind->reuse)
		task->spare = take_away(task, status);
	else
		pier__doca_task_unbuild(task);
	return true;
}

static inline void give_back(struct doca_task *task)
{
	struct doca_ctx *ctx = task->ctx;

	task->taken = false;
	task->next = task->pool->free;
	task->pool->free = task;
	if (!--ctx->held && ctx->drained)
		pier__doca_ctx_drained(ctx);
}

/* One that was never submitted, or changed since. */
static void __attribute__((noinline, cold)) free_unbuilt(struct doca_task *task)
{
	if (!task->taken) {
		pier__doca_fail(DOCA_ERROR_BAD_STATE, "task: freed twice");
		return;
	}
	if (task->kind->freed)
		task->kind->freed(task);
	give_back(task);
}

/* What it was about can still be read. */
void doca_task_free(struct doca_task *task)
{
	if (!task)
		return;
	if (!task->task)
		free_unbuilt(task);
	else if (free_pier(task))
		give_back(task);
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
