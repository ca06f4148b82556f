/* SPDX-License-Identifier: BSD-2-Clause */
/* Tasks that are waited for, and taken back. */
#include <errno.h>
#include <stdio.h>

#include <pier/pe.h>
#include <pier/task.h>

#include "core/clock.h"
#include "core/fail.h"
#include "engine/task_pool.h"

/* What a wait is for; its task may be freed by its callback. */
struct waiting {
	bool ended;
	int status;
	char text[PIER__ERROR_TEXT];	/* of its failure */
};

static void end_waiting(struct pier_task *task, void *arg)
{
	struct waiting *waiting = task->part;

	(void)arg;
	waiting->ended = true;
	waiting->status = task->status;
	snprintf(waiting->text, sizeof(waiting->text), "%s",
		 pier_last_error());	/* that of the task, if it failed */
	pier__task_leave(task);
	task->end(task, task->arg);
}

/* Until it has ended or @deadline has passed; at least one round. */
static void drive(struct pier_pe *pe, const struct waiting *waiting,
		  uint64_t deadline)
{
	uint64_t now;

	do {
		pier_pe_wait(pe, pier__ms_left(pier__now(), deadline));
		now = pier__now();
	} while (!waiting->ended && now < deadline);
}

int pier__task_cancelled(const struct pier_task *task)
{
	return pier__fail(-ECANCELED, "%s: cancelled",
			  pier__task_name(task));
}

void pier__task_force(struct pier_task *task)
{
	if (task->ops->force)
		task->ops->force(task);
	else
		pier__ctx_stop(task->ctx);
}

static int cancel(struct pier_task *task)
{
	if (task->ctx->state == PIER_CTX_STOPPING)
		return 0;		/* that ends it */
	if (!task->ops->cancel)
		return pier__fail(-EOPNOTSUPP, "%s: %s: cannot be cancelled",
				  task->ctx->name, pier__task_name(task));
	return task->ops->cancel(task);
}

/* Its time is over: returns when it has ended. */
static void take_back(struct pier_task *task, struct waiting *waiting)
{
	struct pier_pe *pe = task->ctx->pe;
	uint64_t most = pier__deadline(pier__now(), (int)task->ctx->drain_ms);

	if (cancel(task) != -EOPNOTSUPP)
		drive(pe, waiting, most);
	if (waiting->ended)
		return;
	pier__log(PIER_LOG_WARNING, task->ctx->name, "%s: not finished in its "
		  "time and not to be cancelled: its context is stopped",
		  pier__task_name(task));
	pier__task_force(task);
	pier__pe_settle(pe);
	if (!waiting->ended)
		drive(pe, waiting, PIER__NEVER);
}

static int result(int status, const char *text)
{
	return status ? pier__fail_again(status, text) : 0;
}

static int wait_for(struct pier_task *task, int timeout_ms)
{
	uint64_t deadline = pier__deadline(pier__now(), timeout_ms);
	struct waiting waiting = { .ended = false };
	const char *ctx = task->ctx->name, *name = pier__task_name(task);

	pier__task_join(task, end_waiting, &waiting);
	drive(task->ctx->pe, &waiting, deadline);
	if (waiting.ended)
		return result(waiting.status, waiting.text);
	take_back(task, &waiting);
	if (waiting.status != -ECANCELED)
		return result(waiting.status, waiting.text);
	pier__fail(-ETIMEDOUT, "not finished after %d ms: %s", timeout_ms,
		   waiting.text);
	return pier__fail_named(-ETIMEDOUT, ctx, name);
}

static int check_wait(const struct pier_task *task)
{
	const char *reason = NULL;

	if (pier__pe_busy(task->ctx->pe))
		reason = "waited for in a callback";
	else if (task->part)
		reason = "waited for while a graph's instance, or another "
			 "wait, has it";
	if (!reason)
		return 0;
	pier__fail(-EBUSY, "%s", reason);
	return pier__task_named(task, -EBUSY);
}

int pier_task_wait(struct pier_task *task, int timeout_ms)
{
	struct pier__guard *guard;
	int err;

	if (!task)
		return pier__no_object(__func__);
	if (!pier__task_busy(task))
		return result(task->status, pier_task_error_text(task));
	guard = pier__ctx_guard(task->ctx);
	err = pier__guard_enter(guard, "pier_task_wait");
	if (err)
		return err;
	err = check_wait(task);
	if (!err)
		err = wait_for(task, timeout_ms);
	pier__guard_leave(guard);
	return err;
}

int pier_task_run(struct pier_task *task, int timeout_ms)
{
	int err;

	if (!task)
		return pier__no_object(__func__);
	if (task->ctx->pe && pier__pe_busy(task->ctx->pe))
		return check_wait(task);
	err = pier_task_submit(task, 0);
	return err ? err : pier_task_wait(task, timeout_ms);
}

int pier_task_once(struct pier_task *task, int timeout_ms)
{
	int err = pier_task_run(task, timeout_ms);

	pier_task_free(task);
	return err;
}

int pier_task_cancel(struct pier_task *task)
{
	struct pier__guard *guard;
	int err;

	if (!task)
		return pier__no_object(__func__);
	if (!pier__task_busy(task))
		return 0;
	guard = pier__ctx_guard(task->ctx);
	err = pier__guard_enter(guard, "pier_task_cancel");
	if (err)
		return err;
	err = cancel(task);
	pier__guard_leave(guard);
	return err;
}
