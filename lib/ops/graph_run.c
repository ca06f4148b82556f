/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "core/fail.h"
#include "ops/graph_impl.h"

/* Have the next round advance @instance. */
static void queue(struct pier__graph_task *instance)
{
	if (instance->queued)
		return;
	instance->queued = true;
	pier__cpu_queue(pier__cpu_of(instance->task.ctx), &instance->task);
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

/* The nodes that wait for a failed one never begin. */
static void fail(struct pier__graph_task *instance, int status)
{
	if (instance->status)
		return;
	instance->status = status;
	pier__task_keep_text(&instance->task, pier_last_error());
}

static bool stops(const struct pier__graph_task *instance)
{
	return instance->task.ctx->state == PIER_CTX_STOPPING;
}

static void end_step(struct pier_task *task, void *arg);
static void end_claimed(struct pier_task *task, void *arg);

static inline int __attribute__((always_inline))
begin_task(struct pier__graph_step *step)
{
	struct pier_task *task = step->place.task;
	int err = pier__task_submit_quietly(task, task->ops, 0);

	if (err == -EAGAIN)
		return err;
	if (err) {
		fail(step->instance, err);
		return 0;
	}
	pier__task_join(task, end_step, step);
	step->instance->running++;
	return 0;
}

/* Its submit has failed with @err. */
static int __attribute__((noinline))
begin_failed(struct pier__graph_step *step, int err)
{
	if (err == -EAGAIN)
		return err;
	step->begun = true;
	pier__graph_drop_bufs(step);
	fail(step->instance, err);
	return 0;
}

/* The same of a task that is claimed; one that was abandoned is cancelled. */
static inline int __attribute__((always_inline))
begin_claimed(struct pier__graph_step *step)
{
	struct pier_task *task = step->place.task;
	int err = task->one_shot ?
			  pier__task_cancelled(task) :
			  pier__task_submit_quietly(task, task->own, 0);

	if (err)
		return begin_failed(step, err);
	step->begun = true;
	pier__graph_drop_bufs(step);
	pier__task_join(task, end_claimed, step);
	step->instance->running++;
	return 0;
}

/* Can a node that is ready begin before the next round? */
static inline bool may_begin(const struct pier__graph_task *instance)
{
	return !instance->ready && !instance->queued && !instance->task.part &&
	       !stops(instance);
}

/* Begin @step, which follows one that has ended.  Returns whether it has. */
static bool __attribute__((noinline)) follow(struct pier__graph_step *step)
{
	const struct pier_graph_node *node = step->node;

	if (!node->ctx || node->sub || begin_claimed(step))
		return false;
	/* It is not in flight if its context has stopped. */
	if (node->cpu && pier__task_busy(step->place.task))
		pier__cpu_follow(node->cpu);
	return true;
}

/* The nodes that wait for @step can begin, if they wait for no other. */
static void succeed(const struct pier__graph_step *step)
{
	const struct pier_graph_node *node = step->node;
	bool now = may_begin(step->instance);

	for (uint32_t i = 0; i < node->after_count; i++) {
		struct pier__graph_step *after =
			&step->instance->step[node->after[i]->index];

		if (--after->waits)
			continue;
		now = now && follow(after);
		if (!now)
			add_ready(after);
	}
}

static inline void settle(const struct pier__graph_step *step, int status)
{
	if (status)
		fail(step->instance, status);
	else if (step->node->after_count)
		succeed(step);
}

/* It may change the tasks of nodes that have not begun. */
static int call(const struct pier__graph_step *step)
{
	struct pier_pe *pe = step->instance->task.ctx->pe;
	int status;

	pe->adjusts = &step->instance->task;
	status = step->node->fn(step->arg);
	pe->adjusts = NULL;
	if (pe->adjusted)
		pier__graph_hold_again(step->instance);
	pe->adjusted = false;
	return status;
}

/* Returns -EINPROGRESS or -EAGAIN if @step is to be begun again later. */
static int begin_user(const struct pier__graph_step *step)
{
	int status = call(step);

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

/*
 * Begin what can begin; what cannot yet is tried again in the next round.  A
 * function may stop the graph.
 */
static void advance(struct pier__graph_task *instance)
{
	struct pier__graph_step *later = NULL, **later_end = &later;

	while (instance->ready && !stops(instance)) {
		struct pier__graph_step *step = pop_ready(instance);

		if (step->node->ctx ? begin_claimed(step) : begin_user(step)) {
			*later_end = step;
			later_end = &step->next;
		}
	}
	if (!later || later->waits)	/* none, or it was cancelled here */
		return;
	*later_end = instance->ready;
	if (!instance->ready)
		instance->ready_end = later_end;
	instance->ready = later;
}

/* Nothing begins any more: it has failed with @status. */
static void cut(struct pier__graph_task *instance, int status)
{
	instance->ready = NULL;
	instance->ready_end = &instance->ready;
	fail(instance, status);
}

static void __attribute__((noinline))
finish_failed(struct pier__graph_task *instance)
{
	int status = instance->status;

	instance->status = 0;
	pier__fail_again(status, instance->task.text);
	pier__task_finish_failed(&instance->task, status);
}

/* Begin what is ready, if the graph does not stop. */
static void __attribute__((noinline)) begin(struct pier__graph_task *instance)
{
	advance(instance);
	if (instance->ready && stops(instance))
		cut(instance, pier__cpu_cancelled(
				      pier__cpu_of(instance->task.ctx)));
	if (instance->ready)
		queue(instance);
}

/* Returns whether it is finished. */
static inline bool run(struct pier__graph_task *instance)
{
	instance->queued = false;
	if (instance->ready)
		begin(instance);
	if (instance->queued || instance->running)
		return false;
	if (instance->claims)
		pier__graph_give_back(instance);
	if (instance->status)
		finish_failed(instance);
	else
		pier__task_finish(&instance->task, 0);
	return true;
}

/*
 * The task of @step is complete.  What follows is done here, without another
 * round, unless the instance is itself a task of a node: so sub-graphs, however
 * deep, take no stack.
 */
static inline void __attribute__((always_inline))
go_on(const struct pier__graph_step *step, int status)
{
	struct pier__graph_task *instance = step->instance;
	struct pier__cpu_ctx *cpu = pier__cpu_of(instance->task.ctx);

	instance->running--;
	settle(step, status);
	if (instance->queued || (instance->running && !instance->ready))
		return;
	if (instance->task.part)
		queue(instance);
	else if (run(instance))
		pier__cpu_check_ended(cpu);
}

/* The task of a node is complete; only its instance is an event. */
static inline void __attribute__((always_inline)) leave(struct pier_task *task)
{
	task->ctx->pe->events--;
	pier__task_leave_node(task);
}

/*
 * It finishes in the next round, or its task was abandoned: the task of its
 * only node is its own until then.
 */
static void __attribute__((noinline))
keep_only(struct pier__graph_task *instance)
{
	if (!instance->claims)
		pier__graph_claim_only(instance);
}

static void end_step(struct pier_task *task, void *arg)
{
	const struct pier__graph_step *step = task->part;

	(void)arg;
	leave(task);
	if (step->instance->task.part || task->one_shot)
		keep_only(step->instance);
	go_on(step, task->status);
}

static void end_claimed(struct pier_task *task, void *arg)
{
	const struct pier__graph_step *step = task->part;

	(void)arg;
	leave(task);
	go_on(step, task->status);
}

/* Advance what was queued when the round began, within @budget. */
static int __attribute__((noinline))
run_queued(struct pier__cpu_ctx *cpu, int budget)
{
	struct pier__task_queue batch;
	int did = 0;

	pier__task_queue_init(&batch);
	pier__task_queue_move(&batch, &cpu->queued);
	while (batch.first && did < budget)
		did += run(pier__graph_task(pier__task_queue_pop(&batch)));
	pier__task_queue_move(&batch, &cpu->queued);
	pier__task_queue_move(&cpu->queued, &batch);
	return did;
}

static int poll(struct pier__source *source, int budget)
{
	struct pier__cpu_ctx *cpu = pier__cpu_of_source(source);
	int did = cpu->queued.first ? run_queued(cpu, budget) : 0;

	pier__cpu_check_ended(cpu);
	return did;
}

static int arm(struct pier__cpu_ctx *cpu)
{
	return cpu->queued.first ? -EAGAIN : 0;
}

/* It waits for no other node. */
static void __attribute__((noinline))
begin_next_round(struct pier__graph_step *step)
{
	if (step->node->ctx)
		pier__graph_hold_bufs(step);
	add_ready(step);
}

/* Of an instance that claims its tasks, or is claimed. */
static void __attribute__((noinline))
begin_first(struct pier__graph_task *instance)
{
	struct pier__graph_step *step = instance->step;
	const struct pier__graph_step *end = step + instance->count;
	bool now = true;

	for (; step < end; step++) {
		const struct pier_graph_node *node = step->node;

		if (step->waits)
			continue;
		now = now && node->ctx && !node->sub && !begin_claimed(step);
		if (!now)
			begin_next_round(step);
	}
	if (instance->ready || !instance->running)
		queue(instance);
}

/* Its only node cannot begin yet, or has failed to. */
static void __attribute__((noinline))
begin_later(struct pier__graph_task *instance, int err)
{
	instance->step->waits = 0;
	pier__graph_claim_only(instance);
	if (err)
		begin_next_round(instance->step);
	queue(instance);
}

static int __attribute__((noinline))
submit_many(struct pier__graph_task *instance)
{
	int err = instance->claimed ? 0 : pier__graph_claim(instance);

	if (err)
		return err;
	pier__task_submitted(&instance->task);
	begin_first(instance);
	return 0;
}

/* Its only node, which runs a task: this is its own from here on. */
static inline int submit_one(struct pier__graph_task *instance)
{
	int err = pier__graph_check_step(instance->step);

	if (err)
		return err;
	pier__task_submitted(&instance->task);
	err = begin_task(instance->step);
	if (!instance->running)
		begin_later(instance, err);
	return 0;
}

/*
 * The nodes that wait for none: those with a task begin at once, up to one that
 * does not; neither a function nor a sub-graph begins in submit.  What does not
 * begin, and an instance of which nothing runs, is for the next round.
 */
static int submit(struct pier_task *task, unsigned int flags)
{
	struct pier__graph_task *instance = pier__graph_task(task);

	if (!pier__cpu_may_submit(task, flags))
		return pier__task_submit_error(task, flags);
	if (instance->count == 1 && !instance->claimed &&
	    !instance->step[0].node->sub)
		return submit_one(instance);
	return submit_many(instance);
}

static void release(struct pier_task *task)
{
	struct pier__graph_task *instance = pier__graph_task(task);

	for (uint32_t i = 0; i < instance->count; i++)
		pier__task_put_in(NULL, &instance->step[i].place);
	pier__task_pool_give(task);
}

/* The task of @step, if it is in flight as that of this node. */
static struct pier_task *running(const struct pier__graph_step *step)
{
	struct pier_task *task = step->place.task;

	return task && pier__task_busy(task) && task->part == step ? task :
								     NULL;
}

/* Nothing begins any more; it finishes when nothing runs any more. */
static int cancel(struct pier_task *task)
{
	struct pier__graph_task *instance = pier__graph_task(task);
	int err = 0;

	cut(instance, pier__task_cancelled(task));
	for (uint32_t i = 0; i < instance->count; i++) {
		struct pier__graph_step *step = &instance->step[i];
		struct pier_task *part = running(step);
		int ret = part ? pier_task_cancel(part) : 0;

		step->waits = UINT32_MAX;
		err = err ? err : ret;
	}
	if (!instance->running)
		queue(instance);
	return err;
}

static void force(struct pier_task *task)
{
	struct pier__graph_task *instance = pier__graph_task(task);

	for (uint32_t i = 0; i < instance->count; i++) {
		struct pier_task *part = running(&instance->step[i]);

		if (part)
			pier__task_force(part);
	}
}

static const struct pier__task_ops task_ops = {
	.submit = submit,
	.release = release,
	.error = pier__cpu_task_error,
	.cancel = cancel,
	.force = force,
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
	int err;

	if (!graph)
		return pier__no_object(__func__);
	err = pier__cpu_take(&graph->cpu, PIER_TASK_GRAPH, &task);
	if (err)
		return err;
	instance = pier__graph_task(task);
	instance->queued = instance->claims = instance->claimed = false;
	instance->running = instance->count = 0;
	instance->status = 0;
	instance->ready = NULL;
	instance->ready_end = &instance->ready;
	for (struct pier_graph_node *n = graph->nodes; n; n = n->next)
		instance->step[instance->count++] = (struct pier__graph_step){
			.instance = instance,
			.node = n,
			.place.of = task,
			.turns = n->sub || !n->next,
		};
	*ret = task;
	return 0;
}

/* The step of @node.  Errors: -EINVAL, there is none; -EBUSY. */
static int find_step(struct pier_task *task, const struct pier_graph_node *node,
		     struct pier__graph_step **ret)
{
	struct pier__graph_task *instance = pier__graph_task(task);
	int err;

	if (task->type != PIER_TASK_GRAPH)
		return pier__fail(-EINVAL, "graph: the task is a %s, no "
				  "instance", pier_task_type_name(task->type));
	err = pier__task_may_change(task);
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
	int err;

	if (!instance)
		return pier__no_object(__func__);
	err = find_step(instance, node, &step);
	if (err)
		return err;
	if (pier__task_is_claimed(instance))
		return pier__fail(-EBUSY, "graph: the task of node %u is set "
				  "while an instance of a graph has this one",
				  node->index);
	if (!node->ctx)
		return pier__fail(-EINVAL, "graph: node %u calls a function "
				  "and has no task", node->index);
	if (!task || task->ctx != node->ctx)
		return pier__fail(-EINVAL, "graph: the task is not of the "
				  "context of node %u", node->index);
	if (pier__task_is_free(task) || task->one_shot)
		return pier__fail(-EINVAL, "graph: the task of node %u %s",
				  node->index, task->one_shot ?
				  "is freed after its callback" : "was freed");
	pier__task_put_in(task, &step->place);
	return 0;
}

int pier_graph_task_set_arg(struct pier_task *instance,
			    const struct pier_graph_node *node, void *arg)
{
	struct pier__graph_step *step = NULL;
	int err;

	if (!instance)
		return pier__no_object(__func__);
	err = find_step(instance, node, &step);
	if (err)
		return err;
	if (node->ctx)
		return pier__fail(-EINVAL, "graph: node %u runs a task and has "
				  "no argument", node->index);
	step->arg = arg;
	return 0;
}
