/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "core/fail.h"
#include "ops/graph_impl.h"

static struct pier__graph_task *instance_of(struct pier_task *task)
{
	return pier__container_of(task, struct pier__graph_task, task);
}

/* Have the next round advance @instance. */
static void queue(struct pier__graph_task *instance)
{
	if (instance->queued)
		return;
	instance->queued = true;
	pier__task_queue_add(&pier__cpu_of(instance->task.ctx)->queued,
			     &instance->task);
}

static void add_ready(struct pier__graph_step *step)
{
	struct pier__graph_task *instance = step->instance;

	step->next = NULL;
	*instance->ready_end = step;
	instance->ready_end = &step->next;
}

static struct pier__graph_step *pop_ready(struct pier__graph_task *instance)
{
	struct pier__graph_step *step = instance->ready;

	instance->ready = step->next;
	if (!instance->ready)
		instance->ready_end = &instance->ready;
	return step;
}

/* The nodes that wait for @step can begin, if they wait for no other. */
static void succeed(const struct pier__graph_step *step)
{
	const struct pier_graph_node *node = step->node;

	for (uint32_t i = 0; i < node->after_count; i++) {
		struct pier__graph_step *after =
			&step->instance->step[node->after[i]->index];

		if (!--after->waits)
			add_ready(after);
	}
}

/* The nodes that wait for a failed one never begin. */
static void fail(struct pier__graph_task *instance, int status)
{
	if (instance->status)
		return;
	instance->status = status;
	pier__task_keep_text(&instance->task, pier_last_error());
}

static void settle(const struct pier__graph_step *step, int status)
{
	if (status)
		fail(step->instance, status);
	else
		succeed(step);
}

/* The task of a node is complete; only its instance is an event. */
static void end_step(struct pier_task *task, void *arg)
{
	struct pier__graph_step *step = task->part;
	int status = task->status;

	(void)arg;
	task->ctx->pe->events--;
	pier__task_leave(task);
	step->instance->running--;
	settle(step, status);
	queue(step->instance);
}

/* Returns -EINPROGRESS or -EAGAIN if @step is to be begun again later. */
static int begin_user(const struct pier__graph_step *step)
{
	int status = step->node->fn(step->arg);

	if (status == -EINPROGRESS || status == -EAGAIN)
		return status;
	if (status > 0)
		status = pier__fail(-EINVAL, "graph: the function of node %u "
				    "returned %d, allowed is 0 or a negative "
				    "error", step->node->index, status);
	else if (status)
		pier__fail(status, "graph: the function of node %u failed: %s",
			   step->node->index, pier_strerror(status));
	settle(step, status);
	return 0;
}

static int begin_task(struct pier__graph_step *step)
{
	int err = pier__task_submit_quietly(step->task, 0);

	if (err == -EAGAIN)
		return err;
	if (err) {
		fail(step->instance, err);
		return 0;
	}
	pier__task_join(step->task, end_step, step);
	step->instance->running++;
	return 0;
}

static bool stops(const struct pier__graph_task *instance)
{
	return instance->task.ctx->state == PIER_CTX_STOPPING;
}

/*
 * Begin what can begin; what cannot yet is tried again in the next round.  A
 * function may stop the graph.
 */
static void advance(struct pier__graph_task *instance)
{
	struct pier__graph_step *later = NULL, **later_end = &later;

	while (instance->ready && !stops(instance)) {
		struct pier__graph_step *step = pop_ready(instance);

		if (step->node->ctx ? begin_task(step) : begin_user(step)) {
			*later_end = step;
			later_end = &step->next;
		}
	}
	if (!later)
		return;
	*later_end = instance->ready;
	if (!instance->ready)
		instance->ready_end = later_end;
	instance->ready = later;
}

/* Nothing begins any more. */
static void cut(struct pier__graph_task *instance)
{
	if (!instance->ready)
		return;
	instance->ready = NULL;
	instance->ready_end = &instance->ready;
	fail(instance, pier__cpu_cancelled(pier__cpu_of(instance->task.ctx)));
}

static void finish(struct pier__graph_task *instance)
{
	int status = instance->status;

	if (!status) {
		pier__task_finish(&instance->task, 0);
		return;
	}
	if (instance->task.text)
		pier__fail_again(status, instance->task.text);
	pier__task_finish_failed(&instance->task, status);
}

/* Returns whether it is finished. */
static bool run(struct pier__graph_task *instance)
{
	instance->queued = false;
	advance(instance);
	if (stops(instance))
		cut(instance);
	if (instance->ready)
		queue(instance);
	if (instance->queued || instance->running)
		return false;
	finish(instance);
	return true;
}

/* Advance what was queued when the round began, within @budget. */
static int poll(struct pier__cpu_ctx *cpu, int budget)
{
	struct pier__task_queue batch;
	int did = 0;

	pier__task_queue_init(&batch);
	pier__task_queue_move(&batch, &cpu->queued);
	while (batch.first && did < budget)
		did += run(instance_of(pier__task_queue_pop(&batch)));
	pier__task_queue_move(&batch, &cpu->queued);
	pier__task_queue_move(&cpu->queued, &batch);
	return did;
}

static int arm(struct pier__cpu_ctx *cpu)
{
	return cpu->queued.first ? -EAGAIN : 0;
}

static int check_step(const struct pier__graph_step *step)
{
	if (!step->node->ctx)
		return 0;
	if (!step->task)
		return pier__fail(-EINVAL, "graph: node %u has no task",
				  step->node->index);
	if (pier__task_is_free(step->task))
		return pier__fail(-EINVAL, "graph: the task of node %u was "
				  "freed", step->node->index);
	if (pier__task_busy(step->task))
		return pier__fail(-EBUSY, "graph: the task of node %u is "
				  "submitted", step->node->index);
	return 0;
}

static int check_steps(const struct pier__graph_task *instance)
{
	int err = 0;

	for (uint32_t i = 0; i < instance->count && !err; i++)
		err = check_step(&instance->step[i]);
	return err;
}

static int submit(struct pier_task *task, unsigned int flags)
{
	struct pier__graph_task *instance = instance_of(task);
	int err;

	if (!pier__cpu_may_submit(task, flags))
		return pier__task_submit_error(task, flags);
	err = check_steps(instance);
	if (err)
		return err;

	instance->status = 0;
	instance->running = 0;
	instance->ready = NULL;
	instance->ready_end = &instance->ready;
	for (uint32_t i = 0; i < instance->count; i++) {
		struct pier__graph_step *step = &instance->step[i];

		step->waits = step->node->before;
		if (!step->waits)
			add_ready(step);
	}
	instance->queued = true;
	pier__cpu_submit(task);
	return 0;
}

static const struct pier__task_ops task_ops = {
	.submit = submit,
	.release = pier__task_pool_give,
	.error = pier__cpu_task_error,
};

static int start(struct pier__cpu_ctx *cpu)
{
	return pier__graph_check(pier__graph_of(cpu));
}

const struct pier__cpu_ops pier__graph_ops = {
	.name = "graph",
	.task_size = sizeof(struct pier__graph_task),
	.task = &task_ops,
	.poll = poll,
	.arm = arm,
	.start = start,
	.free = pier__graph_free,
};

int pier_graph_task(struct pier_graph *graph, struct pier_task **ret)
{
	struct pier__graph_task *instance;
	struct pier_task *task;
	int err = pier__cpu_take(&graph->cpu, PIER_TASK_GRAPH, &task);

	if (err)
		return err;
	instance = instance_of(task);
	instance->count = 0;
	for (struct pier_graph_node *n = graph->nodes; n; n = n->next)
		instance->step[instance->count++] = (struct pier__graph_step){
			.instance = instance,
			.node = n,
		};
	*ret = task;
	return 0;
}

/* The step of @node.  Errors: -EINVAL, there is none; -EBUSY. */
static int find_step(struct pier_task *task, const struct pier_graph_node *node,
		     struct pier__graph_step **ret)
{
	struct pier__graph_task *instance = instance_of(task);
	int err;

	if (task->type != PIER_TASK_GRAPH)
		return pier__fail(-EINVAL, "graph: the task is no instance");
	err = pier__task_may_change(task, "graph");
	if (err)
		return err;
	if (!node || node->index >= instance->count ||
	    instance->step[node->index].node != node)
		return pier__fail(-EINVAL, "graph: the node is not one of "
				  "the instance");
	*ret = &instance->step[node->index];
	return 0;
}

int pier_graph_task_set_task(struct pier_task *instance,
			     const struct pier_graph_node *node,
			     struct pier_task *task)
{
	struct pier__graph_step *step = NULL;
	int err = find_step(instance, node, &step);

	if (err)
		return err;
	if (!node->ctx)
		return pier__fail(-EINVAL, "graph: node %u calls a function "
				  "and has no task", node->index);
	if (!task || task->ctx != node->ctx)
		return pier__fail(-EINVAL, "graph: the task is not of the "
				  "context of node %u", node->index);
	step->task = task;
	return 0;
}

int pier_graph_task_set_arg(struct pier_task *instance,
			    const struct pier_graph_node *node, void *arg)
{
	struct pier__graph_step *step = NULL;
	int err = find_step(instance, node, &step);

	if (err)
		return err;
	if (node->ctx)
		return pier__fail(-EINVAL, "graph: node %u runs a task and has "
				  "no argument", node->index);
	step->arg = arg;
	return 0;
}
