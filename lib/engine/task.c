/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include <pier/task.h>

#include "core/fail.h"
#include "engine/pe.h"
#include "engine/task.h"

void pier_task_set_done(struct pier_task *task, pier_task_fn *fn, void *arg)
{
	if (!task->submitted)	/* it may wait to be retrieved */
		pier__list_del(&task->link);
	task->done = fn;
	task->arg = arg;
}

/* Kept out of the way of those that are well. */
static int __attribute__((noinline, cold))
refuse(const struct pier_task *task, unsigned int flags)
{
	if (task->submitted)
		return pier__fail(-EBUSY, "task: submitted twice");
	if (task->ctx->state != PIER_CTX_RUNNING)
		return pier__fail(-ESHUTDOWN, "task: the context is %s",
				  pier_ctx_state_name(task->ctx->state));
	return pier__fail(-EINVAL, "task: unknown flags 0x%x", flags);
}

int pier_task_submit(struct pier_task *task, unsigned int flags)
{
	int err;

	if (task->submitted || task->ctx->state != PIER_CTX_RUNNING ||
	    (flags & ~(unsigned int)PIER_SUBMIT_MORE))
		return refuse(task, flags);

	err = task->ops->submit(task, flags);
	if (err)
		return err;

	if (!task->done)	/* it may wait to be retrieved */
		pier__list_del(&task->link);
	task->submitted = true;
	task->status = -EINPROGRESS;
	task->ctx->inflight++;
	return 0;
}

static void release(struct pier_task *task)
{
	pier__list_del(&task->link);
	task->one_shot = false;
	task->ops->release(task);
}

void pier__task_finish(struct pier_task *task, int status)
{
	struct pier_pe *pe = task->ctx->pe;
	bool one_shot = task->one_shot;

	task->submitted = false;
	task->status = status;
	task->ctx->inflight--;
	pe->events++;
	if (task->done) {
		task->done(task, task->arg);
		if (one_shot && !task->submitted)
			release(task);
	} else if (task->freed) {
		release(task);
	} else {
		pier__list_add(&pe->finished, &task->link);
	}
}

void pier_task_free(struct pier_task *task)
{
	if (!task)
		return;
	if (task->submitted) {	/* pier's until it is finished */
		task->freed = true;
		task->done = NULL;
		return;
	}
	release(task);
}

int pier__task_one_shot(struct pier_task *task, pier_task_fn *fn, void *arg)
{
	int err;

	pier_task_set_done(task, fn, arg);
	task->one_shot = true;
	err = pier_task_submit(task, 0);
	if (err)
		release(task);
	return err;
}

int pier_task_status(const struct pier_task *task)
{
	return task->status;
}

enum pier_task_type pier_task_type(const struct pier_task *task)
{
	return task->type;
}

const char *pier_task_type_name(enum pier_task_type type)
{
	static const char *const names[] = {
		[PIER_TASK_SEND] = "send",
		[PIER_TASK_SEND_IMM] = "send with immediate",
		[PIER_TASK_RECEIVE] = "receive",
		[PIER_TASK_READ] = "read",
		[PIER_TASK_WRITE] = "write",
		[PIER_TASK_WRITE_IMM] = "write with immediate",
		[PIER_TASK_COMPARE_SWAP] = "compare and swap",
		[PIER_TASK_FETCH_ADD] = "fetch and add",
	};

	return (unsigned int)type <= PIER_TASK_FETCH_ADD ? names[type] :
							   "unknown";
}

struct pier_ctx *pier_task_ctx(const struct pier_task *task)
{
	return task->ctx;
}

void *pier_task_arg(const struct pier_task *task)
{
	return task->arg;
}

struct pier_conn *pier_task_conn(const struct pier_task *task)
{
	return task->conn;
}

void pier_task_error(const struct pier_task *task, struct pier_task_error *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (!task->status || task->status == -EINPROGRESS)
		return;
	ret->status = task->status;
	ret->verbs_status = -1;
	task->ops->error(task, ret);
}
