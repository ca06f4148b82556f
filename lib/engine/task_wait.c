/* SPDX-License-Identifier: BSD-2-Clause */
/* Tasks that are waited for, and taken back. */
#include <errno.h>
#include <stdio.h>

#include <pier/pe.h>
#include <pier/task.h>

#include "core/clock.h"
#include "core/fail.h"
#include "engine/task_pool.h"
#include "engine/task_timeout.h"

/* What a wait is for; its task may be freed by its callback. */
struct waiting {
	const struct pier_conn *conn;	/* without which it ends; NULL: any */
	bool met;		/* there was a connection */
	bool ended;
	int status;
	char text[PIER__ERROR_TEXT];	/* of its failure */
	int lost;		/* the error of what it waited for, */
	char reason[PIER__ERROR_TEXT];	/* and its message */
};

static void end_waiting(struct pier_task *task, void *arg)
{
	struct waiting *waiting = task->part;
	bool unseen = !task->done;

	(void)arg;
	pier__task_leave(task);
	waiting->ended = true;
	waiting->status = task->status;
	snprintf(waiting->text, sizeof(waiting->text), "%s",
		 pier_last_error());	/* that of the task, if it failed */
	task->end(task, task->arg);
	if (unseen)		/* who waits has it: none is retrieved */
		pier__list_del(&task->link);
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

/* Has what it waits for ended? */
static bool is_lost(const struct pier_task *task, struct waiting *waiting)
{
	const struct pier__task_ops *ops = pier__task_ops(task);
	int hope = ops->hope ? ops->hope(task, waiting->conn) : 1;

	if (!hope && waiting->met)
		hope = pier__fail(-ENOTCONN, "no connection is left");
	waiting->met = waiting->met || hope;
	if (hope >= 0)
		return false;
	waiting->lost = hope;
	snprintf(waiting->reason, sizeof(waiting->reason), "%s",
		 pier_last_error());
	return true;
}

/* The same as drive(); the end of what it waits for ends it after a round. */
static void drive_hoping(struct pier_task *task, struct waiting *waiting,
			 uint64_t deadline)
{
	struct pier_pe *pe = task->ctx->pe;

	do {
		bool lost = is_lost(task, waiting);
		int ms = pier__ms_left(pier__now(), deadline);

		pier_pe_wait(pe, lost ? 0 : ms);
	} while (!waiting->ended && !waiting->lost && pier__now() < deadline);
}

int pier__task_cancelled(const struct pier_task *task)
{
	return pier__fail(-ECANCELED, "%s: cancelled",
			  pier__task_name(task));
}

void pier__task_force(struct pier_task *task)
{
	const struct pier__task_ops *ops = pier__task_ops(task);

	if (ops->force) {
		ops->force(task);
		return;
	}
	pier__log(PIER_LOG_WARNING, task->ctx->name, "%s: not finished in its "
		  "time and not to be cancelled: its context is stopped",
		  pier__task_name(task));
	pier__ctx_stop(task->ctx);
}

int pier__task_cancel(struct pier_task *task)
{
	const struct pier__task_ops *ops = pier__task_ops(task);

	if (task->ctx->state == PIER_CTX_STOPPING)
		return 0;		/* that ends it */
	if (!ops->cancel) {
		pier__fail(-EOPNOTSUPP, "cannot be cancelled");
		return pier__task_named(task, -EOPNOTSUPP);
	}
	return ops->cancel(task);
}

/* Its time is over, or it is lost: returns when it has ended. */
static void take_back(struct pier_task *task, struct waiting *waiting)
{
	struct pier_pe *pe = task->ctx->pe;
	uint64_t most = pier__deadline(pier__now(), (int)task->ctx->drain_ms);

	if (pier__task_cancel(task) != -EOPNOTSUPP)
		drive(pe, waiting, most);
	if (waiting->ended)
		return;
	pier__task_force(task);
	pier__pe_settle(pe);
	if (!waiting->ended)
		drive(pe, waiting, PIER__NEVER);
}

static int result(int status, const char *text)
{
	return status ? pier__fail_again(status, text) : 0;
}

static int wait_for(struct pier_task *task, const struct pier_conn *conn,
		    int timeout_ms)
{
	uint64_t deadline = pier__deadline(pier__now(), timeout_ms);
	struct waiting waiting = { .conn = conn };
	const char *ctx = task->ctx->name, *name = pier__task_name(task);
	const char *obstacle;

	pier__task_join(task, end_waiting, &waiting);
	drive_hoping(task, &waiting, deadline);
	if (waiting.ended)
		return result(waiting.status, waiting.text);
	obstacle = pier__task_obstacle(task);
	take_back(task, &waiting);
	if (waiting.status != -ECANCELED)
		return result(waiting.status, waiting.text);
	if (waiting.lost) {
		pier__fail(waiting.lost, "no message arrives: %s",
			   waiting.reason);
		return pier__fail_named(waiting.lost, ctx, name);
	}
	pier__fail(-ETIMEDOUT, "not finished after %d ms: %s%s", timeout_ms,
		   obstacle, pier__fail_reason(waiting.text, ctx, name));
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

int pier__task_wait(struct pier_task *task, const struct pier_conn *conn,
		    int timeout_ms)
{
	struct pier__guard *guard;
	int err;

	if (pier__task_is_free(task))
		return pier__fail(-EINVAL, "task: waited for after it was "
				  "freed");
	if (!pier__task_busy(task)) {
		pier__list_del(&task->link);
		return result(task->status, pier_task_error_text(task));
	}
	guard = pier__ctx_guard(task->ctx);
	err = pier__task_enter(task, guard, "a call that waits for a task");
	if (err)
		return err;
	err = check_wait(task);
	if (!err)
		err = wait_for(task, conn, timeout_ms);
	pier__guard_leave(guard);
	return err;
}

int pier_task_wait(struct pier_task *task, int timeout_ms)
{
	if (!task)
		return pier__no_object(__func__);
	return pier__task_wait(task, NULL, timeout_ms);
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
	err = pier__task_enter(task, guard, "pier_task_cancel");
	if (err)
		return err;
	err = pier__task_cancel(task);
	pier__guard_leave(guard);
	return err;
}
