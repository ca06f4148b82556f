/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "core/fail.h"
#include "ops/sync_event_remote.h"

static struct pier_sync_event *event_of(struct pier__cpu_ctx *cpu)
{
	return pier__container_of(cpu, struct pier_sync_event, cpu);
}

static int add(struct pier_sync_event *event, const struct pier__sync_task *t)
{
	uint64_t before = pier__sync_add(event, t->goal.value);

	if (t->result)
		*t->result = before;
	return 0;
}

static int run(struct pier_task *task)
{
	const struct pier__sync_task *t = pier__sync_task(task);
	struct pier_sync_event *event = event_of(pier__container_of(
		task->ctx, struct pier__cpu_ctx, ctx));

	if (event->remote)
		return pier__sync_remote_run(event->remote, task);
	switch (task->type) {
	case PIER_TASK_SYNC_GET:
		*t->result = pier__sync_load(event);
		return 0;
	case PIER_TASK_SYNC_SET:
		pier__sync_set(event, t->goal.value);
		return 0;
	case PIER_TASK_SYNC_ADD:
		return add(event, t);
	default:
		return pier__sync_reached(event, &t->goal) ? 0 : -EAGAIN;
	}
}

static void recall(struct pier_task *task)
{
	struct pier__cpu_ctx *cpu = pier__cpu_of(task->ctx);

	pier__sync_remote_recall(event_of(cpu)->remote, task);
}

/* Its next run is the first. */
static void cancel(struct pier_task *task)
{
	pier__sync_task(task)->due = 0;
}

static int start(struct pier__cpu_ctx *cpu)
{
	if (event_of(cpu)->inv)
		return pier__fail(-EOPNOTSUPP, "sync event: started as a "
				  "context, but it is imported: use the tasks "
				  "of an RDMA context");
	return pier__sync_start(event_of(cpu), PIER__SYNC_CONTEXT);
}

static void stop(struct pier__cpu_ctx *cpu)
{
	struct pier_sync_event *event = event_of(cpu);

	pier__sync_stop(event);
	if (event->remote)
		pier__sync_remote_stop(event->remote);
}

static bool stopping(struct pier__cpu_ctx *cpu)
{
	const struct pier_sync_event *event = event_of(cpu);

	return event->remote && pier__sync_remote_stopping(event->remote);
}

static void free_event(struct pier__cpu_ctx *cpu)
{
	pier__sync_free(event_of(cpu));
}

const struct pier__cpu_ops pier__sync_cpu_ops = {
	.name = "sync event",
	.task_size = sizeof(struct pier__sync_task),
	.run = run,
	.cancel = cancel,
	.recall = recall,
	.start = start,
	.stop = stop,
	.stopping = stopping,
	.free = free_event,
};

struct pier_ctx *pier_sync_event_ctx(struct pier_sync_event *event)
{
	if (!event)
		return NULL;
	return &event->cpu.ctx;
}

static int check_result(enum pier_task_type type, const uint64_t *result)
{
	if (type == PIER_TASK_SYNC_GET && !result)
		return pier__fail(-EINVAL, "%s: no result",
				  pier_task_type_name(type));
	return 0;
}

static int take(struct pier_sync_event *event, enum pier_task_type type,
		const struct pier__sync_goal *goal, uint64_t *result,
		struct pier_task **ret)
{
	struct pier__sync_task *t;
	int err = check_result(type, result);

	if (!err && pier__sync_life(event) == PIER__SYNC_BLOCKING)
		err = pier__fail(-ENOBUFS, "sync event: there are no tasks: it "
				 "was not started as a context");
	if (!err)
		err = pier__cpu_take(&event->cpu, type, ret);
	if (err)
		return err;
	t = pier__sync_task(*ret);
	t->goal = *goal;
	t->result = result;
	t->due = 0;
	return 0;
}

int pier_sync_event_task_get(struct pier_sync_event *event, uint64_t *result,
			     struct pier_task **ret)
{
	struct pier__sync_goal goal = { .value = 0 };

	if (!event)
		return pier__no_object(__func__);
	return take(event, PIER_TASK_SYNC_GET, &goal, result, ret);
}

int pier_sync_event_task_set(struct pier_sync_event *event, uint64_t value,
			     struct pier_task **ret)
{
	struct pier__sync_goal goal = { .value = value };

	if (!event)
		return pier__no_object(__func__);
	return take(event, PIER_TASK_SYNC_SET, &goal, NULL, ret);
}

int pier_sync_event_task_add(struct pier_sync_event *event, uint64_t value,
			     uint64_t *result, struct pier_task **ret)
{
	struct pier__sync_goal goal = { .value = value };

	if (!event)
		return pier__no_object(__func__);
	return take(event, PIER_TASK_SYNC_ADD, &goal, result, ret);
}

int pier_sync_event_task_wait_gt(struct pier_sync_event *event, uint64_t value,
				 uint64_t mask, struct pier_task **ret)
{
	struct pier__sync_goal goal = { PIER__SYNC_GT, value, mask };

	if (!event)
		return pier__no_object(__func__);
	return take(event, PIER_TASK_SYNC_WAIT_GT, &goal, NULL, ret);
}

int pier_sync_event_task_wait_eq(struct pier_sync_event *event, uint64_t value,
				 uint64_t mask, struct pier_task **ret)
{
	struct pier__sync_goal goal = { PIER__SYNC_EQ, value, mask };

	if (!event)
		return pier__no_object(__func__);
	return take(event, PIER_TASK_SYNC_WAIT_EQ, &goal, NULL, ret);
}

int pier_sync_event_task_wait_neq(struct pier_sync_event *event, uint64_t value,
				  uint64_t mask, struct pier_task **ret)
{
	struct pier__sync_goal goal = { PIER__SYNC_NEQ, value, mask };

	if (!event)
		return pier__no_object(__func__);
	return take(event, PIER_TASK_SYNC_WAIT_NEQ, &goal, NULL, ret);
}

int pier_sync_event_task_set_values(struct pier_task *task, uint64_t value,
				    uint64_t mask, uint64_t *result)
{
	struct pier__sync_task *t = pier__sync_task(task);
	int err;

	if (!task)
		return pier__no_object(__func__);
	if (task->type < PIER_TASK_SYNC_GET ||
	    task->type > PIER_TASK_SYNC_WAIT_NEQ)
		return pier__fail(-EINVAL, "%s: not a task of a sync event",
				  pier_task_type_name(task->type));
	err = pier__task_may_change(task);
	if (!err)
		err = check_result(task->type, result);
	if (err)
		return err;
	t->goal.value = value;
	t->goal.mask = mask;
	t->result = result;
	return 0;
}
