/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "doca20_graph_impl.h"

int pier__doca20_graph_call(void *arg)
{
	const struct step *step = arg;
	doca_error_t error = step->node->cb(step->cookie);

	if (!error)
		return 0;
	pier__doca_fail(error, "graph: the function of node %u returned %s",
			step->node->index, doca_error_get_name(error));
	return -EIO;
}

doca_error_t doca_graph_instance_create(struct doca_graph *graph,
					struct doca_graph_instance **instance)
{
	struct doca_graph_instance *new;

	if (!graph || !instance)
		return DOCA_ERROR_INVALID_VALUE;
	new = calloc(1, sizeof(*new) + graph->count * sizeof(new->steps[0]));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	new->graph = graph;
	for (const struct doca_graph_node *at = graph->nodes; at; at = at->next)
		new->steps[at->index].node = at;
	graph->instances++;
	*instance = new;
	return DOCA_SUCCESS;
}

static doca_error_t submitted(const char *what)
{
	return pier__doca_fail(DOCA_ERROR_IN_USE, "graph: an instance was %s "
			       "while submitted", what);
}

doca_error_t doca_graph_instance_destroy(struct doca_graph_instance *instance)
{
	if (!instance)
		return DOCA_ERROR_INVALID_VALUE;
	if (instance->task)
		return submitted("destroyed");
	instance->graph->instances--;
	free(instance);
	return DOCA_SUCCESS;
}

/* *@ret is what @instance does at @node. */
static doca_error_t get_step(struct doca_graph_instance *instance,
			     const struct doca_graph_node *node,
			     struct step **ret)
{
	if (!instance || !node || node->graph != instance->graph)
		return DOCA_ERROR_INVALID_VALUE;
	if (instance->task)
		return submitted("changed");
	*ret = &instance->steps[node->index];
	return DOCA_SUCCESS;
}

doca_error_t
doca_graph_instance_set_ctx_node_data(struct doca_graph_instance *instance,
				      struct doca_graph_node *node,
				      const struct doca_job *job)
{
	struct step *step = NULL;
	doca_error_t error = get_step(instance, node, &step);

	if (error)
		return error;
	if (!node->ctx || !job || job->ctx != node->ctx)
		return DOCA_ERROR_INVALID_VALUE;
	step->job = job;
	return DOCA_SUCCESS;
}

doca_error_t
doca_graph_instance_set_user_node_data(struct doca_graph_instance *instance,
				       struct doca_graph_node *node,
				       void *cookie)
{
	struct step *step = NULL;
	doca_error_t error = get_step(instance, node, &step);

	if (error)
		return error;
	if (!node->cb)
		return DOCA_ERROR_INVALID_VALUE;
	step->cookie = cookie;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_instance_set_sub_graph_node_data(
	struct doca_graph_instance *instance, struct doca_graph_node *node,
	struct doca_graph_instance *sub)
{
	struct step *step = NULL;
	doca_error_t error = get_step(instance, node, &step);

	if (error)
		return error;
	if (!node->sub || !sub || sub->graph != node->sub)
		return DOCA_ERROR_INVALID_VALUE;
	step->sub = sub;
	return DOCA_SUCCESS;
}

/* Free the tasks of its nodes; its own is not its any more. */
static void unbuild(struct doca_graph_instance *instance)
{
	instance->task = NULL;
	for (uint32_t i = 0; i < instance->graph->count; i++) {
		struct step *step = &instance->steps[i];

		if (step->node->sub && step->task)
			unbuild(step->sub);
		pier_task_free(step->task);
		step->task = NULL;
	}
}

static doca_error_t build(struct doca_graph_instance *instance);

/* The task of a step; NULL: a function has none. */
static doca_error_t build_task(struct step *step)
{
	const struct doca_job_kind *kind = NULL;
	doca_error_t error;

	if (step->node->cb)
		return DOCA_SUCCESS;
	if (!step->job && !step->sub)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE,
				       "graph: node %u of an instance has no "
				       "data", step->node->index);
	if (step->sub) {
		error = build(step->sub);
		step->task = error ? NULL : step->sub->task;
		return error;
	}
	error = pier__doca20_job_kind(step->job, &kind);
	if (error)
		return error;
	step->flight.kind = kind;
	return kind->build(step->node->ctx, step->job, &step->flight,
			   &step->task);
}

static doca_error_t build_step(struct doca_graph_instance *instance,
			       struct step *step)
{
	doca_error_t error = build_task(step);

	if (error)
		return error;
	if (step->node->cb)
		return pier__doca_error(pier_graph_task_set_arg(
			instance->task, step->node->node, step));
	return pier__doca_error(pier_graph_task_set_task(
		instance->task, step->node->node, step->task));
}

/* All tasks of @instance. */
static doca_error_t build(struct doca_graph_instance *instance)
{
	struct pier_task *task = NULL;
	doca_error_t error;

	if (instance->task)
		return submitted("submitted");
	if (!instance->graph->graph)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE, "graph: an "
				       "instance of one that is not started");
	error = pier__doca_error(pier_graph_task(instance->graph->graph,
						 &task));
	if (error)
		return error;
	instance->task = task;
	for (uint32_t i = 0; i < instance->graph->count && !error; i++)
		error = build_step(instance, &instance->steps[i]);
	if (error) {
		unbuild(instance);
		pier_task_free(task);
	}
	return error;
}

static void ended(const struct pier_task *task, struct flight *flight)
{
	(void)task;
	unbuild(flight->instance);
}

static const struct doca_job_kind kind = {
	.type = DOCA_GRAPH_JOB,
	.ended = ended,
};

doca_error_t doca_workq_graph_submit(struct doca_workq *workq,
				     struct doca_graph_instance *instance,
				     union doca_data user_data)
{
	struct flight *flight = NULL;
	doca_error_t error;

	if (!workq || !instance)
		return DOCA_ERROR_INVALID_VALUE;
	if (instance->graph->ctx.workq != workq)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "workq: an "
				       "instance of a graph that was not added "
				       "to it");
	error = pier__doca20_flight(workq, &kind, user_data, &flight);
	if (!error)
		error = build(instance);
	if (error)
		return error;
	flight->instance = instance;
	error = pier__doca20_submit(workq, flight, instance->task);
	if (error)
		unbuild(instance);
	return error;
}
