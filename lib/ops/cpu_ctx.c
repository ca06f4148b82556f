/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "core/clock.h"
#include "core/copy.h"
#include "core/fail.h"
#include "ops/cpu_ctx.h"
#include "ops/limit.h"

int pier__cpu_cancelled(const struct pier__cpu_ctx *cpu)
{
	return pier__fail(-ECANCELED, "%s: cancelled: the context stops",
			  cpu->ops->name);
}

/* Is more to be stopped than tasks? */
static bool is_stopping(struct pier__cpu_ctx *cpu)
{
	return cpu->ctx.state == PIER_CTX_STOPPING && cpu->ops->stopping &&
	       cpu->ops->stopping(cpu);
}

/* Tasks come last, so that the context is idle in the round of the last. */
static int stop_task(struct pier__cpu_ctx *cpu, struct pier_task *task)
{
	if (is_stopping(cpu))
		return -EINPROGRESS;
	task->cancelled = false;
	if (cpu->ops->cancel)
		cpu->ops->cancel(task);
	return pier__cpu_cancelled(cpu);
}

/* Some tasks are cancelled: is this one? */
static int __attribute__((noinline))
run_or_cancel(struct pier__cpu_ctx *cpu, struct pier_task *task)
{
	if (cpu->ctx.state == PIER_CTX_STOPPING)
		return stop_task(cpu, task);
	if (!task->cancelled)
		return cpu->ops->run(task);
	task->cancelled = false;
	cpu->cancels--;
	if (cpu->ops->cancel)
		cpu->ops->cancel(task);
	return pier__task_cancelled(task);
}

static bool is_queued(const struct pier__cpu_ctx *cpu,
		      const struct pier_task *task)
{
	return pier__task_queue_has(&cpu->queued, task) ||
	       pier__task_queue_has(&cpu->again, task);
}

int pier__cpu_cancel(struct pier_task *task)
{
	struct pier__cpu_ctx *cpu = pier__cpu_of(task->ctx);
	bool elsewhere = !is_queued(cpu, task);

	if (task->cancelled)
		return 0;
	if (elsewhere && !cpu->elsewhere)
		return pier__fail(-EBUSY, "%s: it runs: its function ends it",
				  pier__task_name(task));
	if (elsewhere) {
		cpu->ops->recall(task);
		if (!is_queued(cpu, task))
			return 0;
	}
	task->cancelled = true;
	cpu->cancels++;
	cpu->waiting = 0;
	if (cpu->source.armed)
		pier__pe_nudge(cpu->ctx.pe);
	return 0;
}

/* @task did not succeed.  Returns whether it is finished. */
static int __attribute__((noinline))
finish_other(struct pier__cpu_ctx *cpu, struct pier_task *task, int status)
{
	if (status == PIER__CPU_ELSEWHERE)
		return 0;
	if (status == -EAGAIN) {
		cpu->waiting++;
	} else if (status != -EINPROGRESS) {
		pier__task_finish_failed(task, status);
		return 1;
	}
	pier__task_queue_add(&cpu->again, task);
	return 0;
}

/*
 * Look once at each task that was queued when the round began, and at those
 * that follow them in graphs, until @budget are finished.  Returns how many
 * are.
 */
static int run_queued(struct pier__cpu_ctx *cpu, int budget)
{
	int did = 0;

	cpu->waiting = 0;
	cpu->round = cpu->ctx.inflight - cpu->elsewhere;
	for (; cpu->round && did < budget; cpu->round--) {
		struct pier_task *task = pier__task_queue_pop(&cpu->queued);
		int status = cpu->cancels ? run_or_cancel(cpu, task) :
					    cpu->ops->run(task);

		if (!status)
			pier__task_finish(task, 0);
		else if (!finish_other(cpu, task, status))
			continue;
		did++;
	}
	cpu->round = 0;
	pier__task_queue_move(&cpu->queued, &cpu->again);
	if (did)
		cpu->waiting = 0;
	return did;
}

void pier__cpu_take_out(struct pier_task *task)
{
	pier__cpu_of(task->ctx)->elsewhere++;
}

void pier__cpu_finish(struct pier_task *task, int status)
{
	pier__cpu_of(task->ctx)->elsewhere--;
	if (status)
		pier__task_finish_failed(task, status);
	else
		pier__task_finish(task, 0);
}

void pier__cpu_requeue(struct pier_task *task)
{
	struct pier__cpu_ctx *cpu = pier__cpu_of(task->ctx);

	cpu->elsewhere--;
	pier__task_queue_add(&cpu->queued, task);
}

/* Is it stopping, with nothing left to wait for? */
static bool has_ended(struct pier__cpu_ctx *cpu)
{
	return cpu->ctx.state == PIER_CTX_STOPPING && !cpu->ctx.inflight &&
	       !is_stopping(cpu);
}

static void finish_stop(struct pier__cpu_ctx *cpu)
{
	pier__pe_remove(&cpu->source);
	if (cpu->ops->stopped)
		cpu->ops->stopped(cpu);
	pier__ctx_stopped(&cpu->ctx);
}

void pier__cpu_end_if_last(struct pier__cpu_ctx *cpu)
{
	if (has_ended(cpu))
		finish_stop(cpu);
}

static int poll(struct pier__source *source, int budget)
{
	struct pier__cpu_ctx *cpu = pier__cpu_of_source(source);
	int did = run_queued(cpu, budget);

	pier__cpu_check_ended(cpu);
	return did;
}

static int arm_queued(struct pier__cpu_ctx *cpu)
{
	if (is_stopping(cpu))
		return 0;
	if (cpu->ctx.inflight - cpu->elsewhere > cpu->waiting ||
	    (cpu->ctx.state == PIER_CTX_STOPPING && cpu->queued.first))
		return -EAGAIN;
	if (cpu->waiting)
		pier__pe_due(&cpu->source, pier__now() + PIER__MS);
	return 0;
}

static int arm(struct pier__source *source)
{
	struct pier__cpu_ctx *cpu = pier__cpu_of_source(source);

	if (has_ended(cpu))
		return -EAGAIN;
	if (cpu->ops->arm)
		return cpu->ops->arm(cpu);
	return arm_queued(cpu);
}

static void destroy_pool(struct pier__cpu_ctx *cpu)
{
	pier__task_pool_destroy(cpu->pool, cpu->ops->name);
	cpu->pool = NULL;
}

static int start(struct pier_ctx *ctx)
{
	struct pier__cpu_ctx *cpu = pier__cpu_of(ctx);
	uint32_t held = pier__task_pool_held(cpu->pool);
	int err;

	if (held)
		return pier__fail(-EBUSY, "%s: %u tasks of the last run are "
				  "not freed", cpu->ops->name, held);
	destroy_pool(cpu);
	err = pier__task_pool_create(ctx, cpu->cfg.tasks, cpu->task_size,
				     pier_task_type_name, &cpu->pool);
	if (err)
		return err;
	cpu->cancels = 0;
	if (cpu->type_tasks)
		pier__task_pool_set_numbers(cpu->pool, cpu->type_tasks);
	err = pier__pe_add(ctx->pe, &cpu->source);
	if (err)
		goto err_pool_destroy;
	err = cpu->ops->start ? cpu->ops->start(cpu) : 0;
	if (err)
		goto err_pe_remove;
	return 0;

err_pe_remove:
	pier__pe_remove(&cpu->source);
err_pool_destroy:
	destroy_pool(cpu);
	return err;
}

/* The tasks are completed in the next rounds; poll() may be running. */
static void stop(struct pier_ctx *ctx)
{
	struct pier__cpu_ctx *cpu = pier__cpu_of(ctx);

	cpu->cancels++;
	if (cpu->ops->stop)
		cpu->ops->stop(cpu);
	if (has_ended(cpu) && !pier__pe_busy(ctx->pe))
		finish_stop(cpu);
}

static const struct pier__ctx_ops ctx_ops = {
	.start = start,
	.stop = stop,
};

static int settle(struct pier__cpu_config *cfg)
{
	int err = pier__config_u32(&cfg->tasks, "tasks", 256, 1,
				   PIER__TASKS_MAX);

	if (!err)
		err = pier__config_u32(&cfg->stop_on_task_error,
				       "stop_on_task_error", 0, 0, UINT32_MAX);
	return err;
}

static void apply(struct pier__cpu_ctx *cpu, const struct pier__cpu_config *cfg)
{
	cpu->cfg = *cfg;
	cpu->ctx.stop_on_task_error = cfg->stop_on_task_error;
}

void pier__cpu_init(struct pier__cpu_ctx *cpu, const struct pier__cpu_ops *ops,
		    struct pier_dev *dev)
{
	struct pier__cpu_config cfg = { .size = sizeof(cfg) };

	pier__ctx_init(&cpu->ctx, &ctx_ops, ops->name);
	cpu->ops = ops;
	cpu->task_size = ops->task_size;
	cpu->dev = dev;
	if (dev)
		pier__dev_hold(dev);
	settle(&cfg);
	apply(cpu, &cfg);
	cpu->source = (struct pier__source){
		.poll = ops->poll ? ops->poll : poll,
		.arm = arm,
		.fd = -1,
	};
	pier__task_queue_init(&cpu->queued);
	pier__task_queue_init(&cpu->again);
}

int pier__cpu_configure(struct pier__cpu_ctx *cpu, const void *cfg, size_t size)
{
	struct pier__cpu_config new = { 0 };
	int err = pier__ctx_may_configure(&cpu->ctx);

	if (!err)
		err = pier__config_copy(&new, sizeof(new), cfg, size);
	if (!err)
		err = settle(&new);
	if (err)
		return err;
	apply(cpu, &new);
	return 0;
}

static void destroy(struct pier__deferred *deferred)
{
	struct pier__cpu_ctx *cpu =
		pier__container_of(deferred, struct pier__cpu_ctx, deferred);

	if (cpu->ctx.state != PIER_CTX_IDLE && pier__ctx_drain(&cpu->ctx)) {
		pier__log(PIER_LOG_CRITICAL, cpu->ops->name, "a context does "
			  "not stop, with %zu tasks in flight: its memory is "
			  "not freed", cpu->ctx.inflight);
		return;
	}
	destroy_pool(cpu);
	if (cpu->dev)
		pier__dev_drop(cpu->dev);
	cpu->ops->free(cpu);
}

void pier__cpu_destroy(struct pier__cpu_ctx *cpu)
{
	pier__ctx_destroy(&cpu->ctx, &cpu->deferred, destroy);
}

static int submit(struct pier_task *task, unsigned int flags)
{
	if (!pier__cpu_may_submit(task, flags))
		return pier__task_submit_error(task, flags);
	pier__cpu_submit(task);
	return 0;
}

void pier__cpu_task_error(const struct pier_task *task,
			  struct pier_task_error *ret)
{
	(void)task;
	(void)ret;	/* there is no device and no peer */
}

const struct pier__task_ops pier__cpu_task_ops = {
	.submit = submit,
	.release = pier__task_pool_give,
	.error = pier__cpu_task_error,
	.cancel = pier__cpu_cancel,
};

static int take(struct pier__cpu_ctx *cpu, enum pier_task_type type,
		struct pier_task **ret)
{
	bool idle = cpu->ctx.state == PIER_CTX_IDLE;
	struct pier_task *task =
		idle ? NULL : pier__task_pool_take(cpu->pool, type);

	if (idle)	/* the next run may have others */
		return pier__fail(-ENOBUFS, "%s: there are no tasks while the "
				  "context is idle", cpu->ops->name);
	if (!task)
		return pier__task_pool_empty(cpu->pool, type, cpu->ops->name,
					     "tasks");
	task->ops = cpu->ops->task ? cpu->ops->task : &pier__cpu_task_ops;
	task->ctx = &cpu->ctx;
	task->conn = NULL;
	*ret = task;
	return 0;
}

int pier__cpu_take(struct pier__cpu_ctx *cpu, enum pier_task_type type,
		   struct pier_task **ret)
{
	struct pier__guard *guard = pier__ctx_guard(&cpu->ctx);
	int err = pier__guard_enter(guard, "a call that takes a task");

	if (err)
		return err;
	err = take(cpu, type, ret);
	pier__guard_leave(guard);
	return err;
}

int pier__cpu_not_of(const struct pier_task *task, enum pier_task_type type)
{
	return pier__fail(-EINVAL, "%s: not a task of this type: %s",
			  pier_task_type_name(type),
			  pier_task_type_name(task->type));
}
