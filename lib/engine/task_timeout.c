/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include <pier/task.h>

#include "core/clock.h"
#include "core/fail.h"
#include "engine/task_pool.h"
#include "engine/task_timeout.h"

const char *pier__task_obstacle(const struct pier_task *task)
{
	const struct pier__task_ops *ops = pier__task_ops(task);

	return ops->obstacle ? ops->obstacle(task) : "";
}

/* Its time is over: cancel it; after another drain_ms force it. */
static void expire(struct pier_task *task, uint64_t now)
{
	bool again = task->late;

	if (!again)
		task->late = pier__task_obstacle(task);
	task->deadline = pier__deadline(now, (int)task->ctx->drain_ms);
	if (again || pier__task_cancel(task) == -EOPNOTSUPP)
		pier__task_force(task);
}

static struct pier_task *task_of(struct pier__list *link)
{
	return pier__container_of(link, struct pier_task, timed);
}

/* Of a task in flight, whose time begins when it is first seen. */
static uint64_t deadline_of(struct pier_task *task, uint64_t now)
{
	if (!task->deadline)
		task->deadline = pier__deadline(now, task->timeout_ms);
	return task->deadline;
}

/*
 * Returns when the next deadline is; NEVER: nothing is in flight.  For a
 * program that @sleeps, tasks count that it may submit before it does.
 */
static uint64_t next_deadline(struct pier_pe *pe, uint64_t now, bool sleeps)
{
	uint64_t due = PIER__NEVER;
	struct pier__list *link;

	for (link = pe->timed.next; link != &pe->timed; link = link->next) {
		struct pier_task *task = task_of(link);
		uint64_t deadline = PIER__NEVER;

		if (pier__task_busy(task))
			deadline = deadline_of(task, now);
		else if (sleeps)
			deadline = pier__deadline(now, task->timeout_ms);
		if (deadline < due)
			due = deadline;
	}
	return due;
}

/* The first one whose time is over; NULL: none is. */
static struct pier_task *find_late(struct pier_pe *pe, uint64_t now)
{
	struct pier__list *link;

	for (link = pe->timed.next; link != &pe->timed; link = link->next) {
		struct pier_task *task = task_of(link);

		if (pier__task_busy(task) && task->deadline <= now)
			return task;
	}
	return NULL;
}

static struct pier_pe *pe_of(struct pier__source *source)
{
	return pier__container_of(source, struct pier_pe, timeouts);
}

/* What one ends may end others: the search begins anew in the next round. */
static int look(struct pier__source *source, int budget)
{
	struct pier_pe *pe = pe_of(source);
	uint64_t now = pier__pe_now(pe), due = next_deadline(pe, now, false);
	bool late = due <= now;

	(void)budget;
	if (late)
		expire(find_late(pe, now), now);
	source->due = PIER__NEVER;
	pier__pe_due(source, due);
	return late;
}

/*
 * The engine may sleep: those that were submitted since the last look, and
 * those that will be before the program sleeps.
 */
static int arm(struct pier__source *source)
{
	uint64_t due = next_deadline(pe_of(source), pier__now(), true);

	if (due < source->due)
		pier__pe_due(source, due);
	return 0;
}

static void start(struct pier_pe *pe)
{
	pe->timeouts = (struct pier__source){
		.poll = look,
		.arm = arm,
		.fd = -1,
		.slow = true,
		.due = PIER__NEVER,
	};
	pier__pe_add(pe, &pe->timeouts);	/* of no fd: cannot fail */
}

void pier__task_time(struct pier_task *task, int ms)
{
	/* one that is freed late has no context any more */
	struct pier_pe *pe = ms ? task->ctx->pe : NULL;

	pier__list_del(&task->timed);
	task->timeout_ms = pe ? ms : 0;
	task->deadline = 0;
	task->late = NULL;
	if (!task->timeout_ms)
		return;
	if (!pe->timeouts.pe)
		start(pe);
	pier__list_add(&pe->timed, &task->timed);
}

void pier__timeouts_stop(struct pier_pe *pe)
{
	struct pier__list *link;

	while ((link = pier__list_pop(&pe->timed)))
		task_of(link)->timeout_ms = 0;
}

void pier__task_was_timed(struct pier_task *task)
{
	const char *late = task->late;

	task->late = NULL;
	task->deadline = 0;
	if (!late || task->status != -ECANCELED)
		return;
	pier__fail(-ETIMEDOUT, "not finished after %d ms: %s%s",
		   task->timeout_ms, late,
		   pier__fail_reason(pier_last_error(), task->ctx->name,
				     pier__task_name(task)));
	task->status = pier__task_named(task, -ETIMEDOUT);
	pier__task_keep_text(task, pier_last_error());
}

int pier_task_set_timeout_ms(struct pier_task *task, int timeout_ms)
{
	int err;

	if (!task)
		return pier__no_object(__func__);
	if (pier__task_is_free(task))
		return pier__fail(-EINVAL, "task: given a timeout after it was "
				  "freed");
	if (timeout_ms < 0) {
		pier__fail(-EINVAL, "a timeout of %d ms: 0, none, or more",
			   timeout_ms);
		return pier__task_named(task, -EINVAL);
	}
	err = pier__task_may_change(task);
	if (err)
		return err;
	pier__task_time(task, timeout_ms);
	pier__task_set_end(task);
	return 0;
}
