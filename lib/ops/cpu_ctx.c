/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "core/clock.h"
#include "core/fail.h"
#include "ops/cpu_ctx.h"

static struct pier__cpu_ctx *of(struct pier_ctx *ctx)
{
	return pier__container_of(ctx, struct pier__cpu_ctx, ctx);
}

static int cancel(const struct pier__cpu_ctx *cpu, struct pier_task *task)
{
	if (cpu->ops->cancel)
		cpu->ops->cancel(task);
	return pier__fail(-ECANCELED, "%s: cancelled: the context stops",
			  cpu->ops->name);
}

/* The one that is queued first. */
static inline struct pier_task *take_first(struct pier__cpu_ctx *cpu)
{
	struct pier_task *task = cpu->queued;

	cpu->queued = task->next;
	if (!cpu->queued)
		cpu->queue_end = &cpu->queued;
	return task;
}

/* @task did not succeed.  Returns whether it is finished. */
static int __attribute__((noinline))
finish_other(struct pier__cpu_ctx *cpu, struct pier_task *task, int status)
{
	if (status == -EAGAIN) {
		cpu->waiting++;
	} else if (status != -EINPROGRESS) {
		pier__task_finish_failed(task, status);
		return 1;
	}
	task->next = NULL;
	*cpu->queue_end = task;
	cpu->queue_end = &task->next;
	return 0;
}

/*
 * Look once at each task that was queued when the round began, until @budget
 * are finished.  Returns how many are.
 */
static int run_queued(struct pier__cpu_ctx *cpu, int budget)
{
	size_t n = cpu->ctx.inflight;
	int did = 0;

	cpu->waiting = 0;
	for (; n && did < budget; n--) {
		struct pier_task *task = take_first(cpu);
		int status = cpu->ctx.state == PIER_CTX_STOPPING ?
				     cancel(cpu, task) :
				     cpu->ops->run(task);

		if (!status)
			pier__task_finish(task, 0);
		else if (!finish_other(cpu, task, status))
			continue;
		did++;
	}
	if (did)
		cpu->waiting = 0;
	return did;
}

static int poll(struct pier__source *source, int budget)
{
	struct pier__cpu_ctx *cpu =
		pier__container_of(source, struct pier__cpu_ctx, source);
	int did = run_queued(cpu, budget);

	if (cpu->ctx.state == PIER_CTX_STOPPING && !cpu->ctx.inflight) {
		pier__pe_remove(source);
		pier__ctx_stopped(&cpu->ctx);
	}
	return did;
}

static int arm(struct pier__source *source)
{
	struct pier__cpu_ctx *cpu =
		pier__container_of(source, struct pier__cpu_ctx, source);

	if (cpu->ctx.inflight > cpu->waiting ||
	    cpu->ctx.state == PIER_CTX_STOPPING)
		return -EAGAIN;
	if (cpu->waiting)
		pier__pe_due(source, pier__now() + PIER__MS);
	return 0;
}

static void destroy_pool(struct pier__cpu_ctx *cpu)
{
	pier__task_pool_destroy(cpu->pool, cpu->ops->name,
				pier_task_type_name);
	cpu->pool = NULL;
}

static int start(struct pier_ctx *ctx)
{
	struct pier__cpu_ctx *cpu = of(ctx);
	uint32_t held = pier__task_pool_held(cpu->pool);
	int err;

	if (held)
		return pier__fail(-EBUSY, "%s: %u tasks of the last run are "
				  "not freed", cpu->ops->name, held);
	destroy_pool(cpu);
	err = pier__task_pool_create(cpu->tasks, cpu->ops->task_size,
				     &cpu->pool);
	if (err)
		return err;
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

/* What is queued is cancelled in the next rounds. */
static void stop(struct pier_ctx *ctx)
{
	struct pier__cpu_ctx *cpu = of(ctx);

	if (cpu->ops->stop)
		cpu->ops->stop(cpu);
}

static const struct pier__ctx_ops ctx_ops = {
	.start = start,
	.stop = stop,
};

void pier__cpu_init(struct pier__cpu_ctx *cpu, const struct pier__cpu_ops *ops,
		    struct pier_dev *dev)
{
	pier__ctx_init(&cpu->ctx, &ctx_ops);
	cpu->ops = ops;
	cpu->dev = dev;
	if (dev)
		pier__dev_hold(dev);
	cpu->source = (struct pier__source){
		.poll = poll,
		.arm = arm,
		.fd = -1,
	};
	cpu->queue_end = &cpu->queued;
}

static void destroy(struct pier__deferred *deferred)
{
	struct pier__cpu_ctx *cpu =
		pier__container_of(deferred, struct pier__cpu_ctx, deferred);

	if (cpu->ctx.state != PIER_CTX_IDLE && pier__ctx_drain(&cpu->ctx)) {
		pier__log(PIER_LOG_CRITICAL, cpu->ops->name, "a context does "
			  "not stop: its memory is not freed");
		return;
	}
	destroy_pool(cpu);
	if (cpu->dev)
		pier__dev_drop(cpu->dev);
	cpu->ops->free(cpu);
}

void pier__cpu_destroy(struct pier__cpu_ctx *cpu)
{
	cpu->deferred.fn = destroy;
	if (!cpu->ctx.pe || !pier__pe_busy(cpu->ctx.pe))
		destroy(&cpu->deferred);
	else
		pier__pe_defer(cpu->ctx.pe, &cpu->deferred);
}

int pier__cpu_may_configure(const struct pier__cpu_ctx *cpu)
{
	if (cpu->ctx.state != PIER_CTX_IDLE)
		return pier__fail(-EBUSY, "%s: configured while %s",
				  cpu->ops->name,
				  pier_ctx_state_name(cpu->ctx.state));
	return 0;
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
};

int pier__cpu_take(struct pier__cpu_ctx *cpu, enum pier_task_type type,
		   struct pier_task **ret)
{
	struct pier_task *task =
		cpu->pool ? pier__task_pool_take(cpu->pool) : NULL;

	if (!cpu->pool)
		return pier__fail(-ENOBUFS, "%s: there are no tasks before "
				  "the context is started", cpu->ops->name);
	if (!task)
		return pier__fail(-ENOBUFS, "%s: all %u tasks are taken: let "
				  "some finish and free them, or raise tasks",
				  cpu->ops->name, cpu->pool->count);
	task->ops = cpu->ops->task ? cpu->ops->task : &pier__cpu_task_ops;
	task->ctx = &cpu->ctx;
	task->conn = NULL;
	task->type = type;
	*ret = task;
	return 0;
}
