/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "doca_fail.h"
#include "doca_graph_impl.h"

/* The callback may destroy the instance, or submit it again. */

static void __attribute__((noinline, cold))
fail(struct doca_graph_instance *instance, int err)
{
	const struct doca_graph *graph = instance->graph;

	pier__doca_error(err);
	graph->failed(instance, instance->data, graph->data);
}

static void ended(struct pier_task *task, void *arg)
{
	struct doca_graph_instance *instance = arg;
	int err = pier_task_status(task);

	if (err)
		fail(instance, err);
	else
		instance->graph->done(instance, instance->data,
				      instance->graph->data);
}

static bool submitted(const struct doca_graph_instance *instance)
{
	return pier_task_status(instance->task) == -EINPROGRESS;
}

/* Each step knows its node, and is the argument of a function. */
static void fill(struct doca_graph_instance *instance)
{
	const struct doca_graph_node *node;

	for (node = instance->graph->nodes; node; node = node->next) {
		struct graph_step *step = &instance->step[node->index];

		step->node = node;
		if (node->kind == NODE_USER)
			pier_graph_task_set_arg(instance->task, node->node,
						step);
	}
}

doca_error_t doca_graph_instance_create(const struct doca_graph *graph,
					struct doca_graph_instance **instance)
{
	struct doca_graph *of = (struct doca_graph *)(uintptr_t)graph;
	struct doca_graph_instance *new;
	int err;

	if (!graph || !instance)
		return DOCA_ERROR_INVALID_VALUE;
	if (!pier__doca_graph_runs(graph))
		return pier__doca_fail(DOCA_ERROR_BAD_STATE, "graph: an "
				       "instance of one that is not started");
	new = calloc(1, sizeof(*new) + of->count * sizeof(new->step[0]));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	err = pier_graph_task(of->graph, &new->task);
	if (err) {
		free(new);
		return pier__doca_error(err);
	}
	new->graph = of;
	new->pe = of->pe;
	of->instances++;
	fill(new);
	pier_task_set_done(new->task, ended, new);
	*instance = new;
	return DOCA_SUCCESS;
}

/* It is the data of one node less. */
static void drop(struct doca_graph_instance *sub)
{
	if (sub)
		sub->users--;
}

doca_error_t doca_graph_instance_destroy(struct doca_graph_instance *instance)
{
	if (!instance)
		return DOCA_ERROR_INVALID_VALUE;
	if (submitted(instance))
		return pier__doca_fail(DOCA_ERROR_IN_USE, "graph: an instance "
				       "is destroyed while submitted");
	if (instance->users)
		return pier__doca_fail(DOCA_ERROR_IN_USE, "graph: an instance "
				       "is destroyed that is the data of %u "
				       "nodes", instance->users);
	for (uint32_t i = 0; i < instance->graph->count; i++)
		drop(instance->step[i].sub);
	pier_task_free(instance->task);
	instance->graph->instances--;
	free(instance);
	return DOCA_SUCCESS;
}

doca_error_t
doca_graph_instance_set_user_data(struct doca_graph_instance *instance,
				  union doca_data data)
{
	if (!instance)
		return DOCA_ERROR_INVALID_VALUE;
	instance->data = data;
	return DOCA_SUCCESS;
}

doca_error_t
doca_graph_instance_get_user_data(const struct doca_graph_instance *instance,
				  union doca_data *data)
{
	if (!instance || !data)
		return DOCA_ERROR_INVALID_VALUE;
	*data = instance->data;
	return DOCA_SUCCESS;
}

/* The step of @node, which is of @kind. */
static doca_error_t find_step(struct doca_graph_instance *instance,
			      const struct doca_graph_node *node,
			      enum node_kind kind, struct graph_step **ret)
{
	if (!instance || !node)
		return DOCA_ERROR_INVALID_VALUE;
	if (!pier_task_may_free(instance->task))
		return pier__doca_fail(DOCA_ERROR_IN_USE, "graph: data set "
				       "while the instance, or one that has "
				       "it, is submitted");
	if (node->graph != instance->graph || node->kind != kind)
		return pier__doca_fail(DOCA_ERROR_NOT_PERMITTED, "graph: data "
				       "of node %u, which is of another %s",
				       node->index, node->kind != kind ?
				       "kind" : "graph");
	*ret = &instance->step[node->index];
	return DOCA_SUCCESS;
}

/* One that pier cannot take now: the submit does it, or has the error. */
static doca_error_t __attribute__((noinline))
set_task_later(struct doca_graph_instance *instance,
	       const struct doca_graph_node *node, struct doca_task *task)
{
	struct graph_step *step = NULL;
	doca_error_t error = find_step(instance, node, NODE_CTX, &step);

	if (error)
		return error;
	if (task->ctx != node->ctx)
		return pier__doca_fail(DOCA_ERROR_NOT_PERMITTED, "graph: the "
				       "task is not of the context of node %u",
				       node->index);
	step->task = task;
	step->builds = 0;
	task->in_graph = true;
	instance->pe->changes++;
	return DOCA_SUCCESS;
}

/* pier checks the instance and the node; a task may be built anew later. */
doca_error_t
doca_graph_instance_set_ctx_node_data(struct doca_graph_instance *instance,
				      struct doca_graph_node *node,
				      struct doca_task *task)
{
	if (!instance || !node)
		return DOCA_ERROR_INVALID_VALUE;
	if (!task)
		return DOCA_ERROR_INVALID_VALUE;
	if (!task->task ||
	    pier_graph_task_set_task(instance->task, node->node, task->task))
		return set_task_later(instance, node, task);
	instance->step[node->index].task = task;
	instance->step[node->index].builds = task->builds;
	task->in_graph = true;
	return DOCA_SUCCESS;
}

doca_error_t
doca_graph_instance_set_user_node_data(struct doca_graph_instance *instance,
				       struct doca_graph_node *node,
				       void *cookie)
{
	struct graph_step *step = NULL;
	doca_error_t error = find_step(instance, node, NODE_USER, &step);

	if (!error)
		step->cookie = cookie;
	return error;
}

doca_error_t doca_graph_instance_set_sub_graph_node_data(
	struct doca_graph_instance *instance, struct doca_graph_node *node,
	struct doca_graph_instance *sub)
{
	struct graph_step *step = NULL;
	doca_error_t error;

	if (!sub)
		return DOCA_ERROR_INVALID_VALUE;
	error = find_step(instance, node, NODE_GRAPH, &step);
	if (error)
		return error;
	error = pier__doca_graph_error(
		pier_graph_task_set_task(instance->task, node->node, sub->task),
		DOCA_ERROR_NOT_PERMITTED);
	if (error)
		return error;
	instance->pe->changes++;
	sub->users++;
	drop(step->sub);
	step->sub = sub;
	return DOCA_SUCCESS;
}

/* Pass the task of @step to pier, which has not got it. */
static doca_error_t __attribute__((noinline))
give_task(const struct doca_graph_instance *instance, struct graph_step *step)
{
	doca_error_t error = DOCA_SUCCESS;

	if (!step->task->task)
		error = pier__doca_task_build(step->task);
	if (!error)
		error = pier__doca_error(pier_graph_task_set_task(
			instance->task, step->node->node, step->task->task));
	if (!error)
		step->builds = step->task->builds;
	return error;
}

static inline bool is_given(const struct graph_step *step)
{
	return step->task->task && step->builds == step->task->builds;
}

/*
 * Pass the tasks of @instance that pier has not got, and those of its
 * sub-graphs.  It calls itself as deep as the program has nested graphs.
 */
static doca_error_t give(struct doca_graph_instance *instance)
{
	doca_error_t error = DOCA_SUCCESS;

	for (uint32_t i = 0; i < instance->graph->count && !error; i++) {
		struct graph_step *step = &instance->step[i];

		if (step->task && !is_given(step))
			error = give_task(instance, step);
		else if (step->sub)
			error = give(step->sub);
	}
	return error;
}

/* A submit of an instance that is submitted is an error of its own. */
static doca_error_t __attribute__((noinline, cold))
refuse(const struct doca_graph_instance *instance, int err)
{
	if (submitted(instance))
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "graph: an instance is submitted twice");
	return pier__doca_error(err);
}

/* Data of nodes or a task of the engine has changed since the last submit. */
static doca_error_t __attribute__((noinline))
submit_new(struct doca_graph_instance *instance)
{
	doca_error_t error;
	int err;

	if (submitted(instance))
		return refuse(instance, -EBUSY);
	error = give(instance);
	if (error)
		return error;
	instance->given = instance->pe->changes;
	err = pier_task_submit(instance->task, 0);
	return err ? refuse(instance, err) : DOCA_SUCCESS;
}

doca_error_t doca_graph_instance_submit(struct doca_graph_instance *instance)
{
	int err;

	if (!instance)
		return DOCA_ERROR_INVALID_VALUE;
	if (instance->given != instance->pe->changes)
		return submit_new(instance);
	err = pier_task_submit(instance->task, 0);
	return err ? refuse(instance, err) : DOCA_SUCCESS;
}
