/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "doca_fail.h"
#include "doca_graph_impl.h"

doca_error_t pier__doca_graph_error(int err, doca_error_t invalid)
{
	doca_error_t error = pier__doca_error(err);

	return error == DOCA_ERROR_INVALID_VALUE ? invalid : error;
}

/* DOCA's graphs have no states that a program sees. */
static void state_changed(struct pier_ctx *ctx, enum pier_ctx_state prev,
			  enum pier_ctx_state next, void *user_data)
{
	(void)ctx;
	(void)prev;
	(void)next;
	pier_pe_ignore_event(user_data);
}

doca_error_t doca_graph_create(struct doca_pe *pe, struct doca_graph **graph)
{
	struct doca_graph *new;
	int err;

	if (!pe || !graph)
		return DOCA_ERROR_INVALID_VALUE;
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	err = pier_graph_create(&new->graph);
	if (err) {
		free(new);
		return pier__doca_error(err);
	}
	new->ctx = pier_graph_ctx(new->graph);
	pier_ctx_set_user_data(new->ctx, pe->pe);
	pier_ctx_set_state_changed(new->ctx, state_changed);
	new->nodes_end = &new->nodes;
	new->pe = pe;
	pe->ctxs++;
	*graph = new;
	return DOCA_SUCCESS;
}

static void free_nodes(struct doca_graph *graph)
{
	struct doca_graph_node *node;

	while ((node = graph->nodes)) {
		graph->nodes = node->next;
		free(node);
	}
}

doca_error_t doca_graph_destroy(struct doca_graph *graph)
{
	if (!graph)
		return DOCA_ERROR_INVALID_VALUE;
	if (pier__doca_graph_runs(graph))
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "graph: destroyed while started");
	graph->pe->ctxs--;
	pier_graph_destroy(graph->graph);
	free_nodes(graph);
	free(graph);
	return DOCA_SUCCESS;
}

/* One that was stopped is idle by then, but in the callback that did it. */
static doca_error_t may_change(struct doca_graph *graph)
{
	if (pier__doca_graph_runs(graph))
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "graph: changed while started");
	return pier__doca_error(
		pier_ctx_stop_wait(graph->ctx, 0));
}

doca_error_t doca_graph_set_conf(struct doca_graph *graph,
				 doca_graph_completion_cb_t done,
				 doca_graph_completion_cb_t failed,
				 uint32_t count)
{
	struct pier_graph_config cfg = { .size = sizeof(cfg), .tasks = count };
	doca_error_t error;

	if (!graph || !done || !failed || !count)
		return DOCA_ERROR_INVALID_VALUE;
	error = may_change(graph);
	if (!error)
		error = pier__doca_error(
			pier_graph_configure(graph->graph, &cfg));
	if (error)
		return error;
	graph->done = done;
	graph->failed = failed;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_set_user_data(struct doca_graph *graph,
				      union doca_data data)
{
	if (!graph)
		return DOCA_ERROR_INVALID_VALUE;
	graph->data = data;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_get_user_data(const struct doca_graph *graph,
				      union doca_data *data)
{
	if (!graph || !data)
		return DOCA_ERROR_INVALID_VALUE;
	*data = graph->data;
	return DOCA_SUCCESS;
}

/* The context of a node, the function of one, or its graph. */
struct source {
	enum node_kind kind;
	const struct doca_ctx *ctx;
	doca_graph_user_node_cb_t cb;
	const struct doca_graph *sub;
};

/* Calls the program's function; @arg is the step of an instance. */
static int run_user(void *arg)
{
	const struct graph_step *step = arg;
	doca_error_t error = step->node->cb(step->cookie);

	if (!error)
		return 0;
	pier__doca_fail(error, "graph: the function of node %u returned %s",
			step->node->index, doca_error_get_name(error));
	return -EIO;
}

static int add(struct doca_graph *graph, const struct source *from,
	       struct pier_graph_node **ret)
{
	if (from->kind == NODE_CTX)
		return pier_graph_add_ctx(graph->graph, from->ctx->ctx, ret);
	if (from->kind == NODE_USER)
		return pier_graph_add_user(graph->graph, run_user, ret);
	return pier_graph_add_graph(graph->graph, from->sub->graph, ret);
}

static doca_error_t create_node(struct doca_graph *graph,
				const struct source *from,
				struct doca_graph_node **ret)
{
	doca_error_t error = may_change(graph);
	struct doca_graph_node *new;

	if (error)
		return error;
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	error = pier__doca_graph_error(add(graph, from, &new->node),
				       DOCA_ERROR_NOT_PERMITTED);
	if (error) {
		free(new);
		return error;
	}
	new->graph = graph;
	new->index = graph->count++;
	new->kind = from->kind;
	new->ctx = from->ctx;
	new->cb = from->cb;
	*graph->nodes_end = new;
	graph->nodes_end = &new->next;
	*ret = new;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_node_create_from_ctx(struct doca_graph *graph,
					     const struct doca_ctx *ctx,
					     struct doca_graph_node **node)
{
	const struct source from = { .kind = NODE_CTX, .ctx = ctx };

	if (!graph || !ctx || !node)
		return DOCA_ERROR_INVALID_VALUE;
	return create_node(graph, &from, node);
}

doca_error_t doca_graph_node_create_from_user(struct doca_graph *graph,
					      doca_graph_user_node_cb_t cb,
					      struct doca_graph_node **node)
{
	const struct source from = { .kind = NODE_USER, .cb = cb };

	if (!graph || !cb || !node)
		return DOCA_ERROR_INVALID_VALUE;
	return create_node(graph, &from, node);
}

doca_error_t doca_graph_node_create_from_graph(struct doca_graph *graph,
					       struct doca_graph *sub,
					       struct doca_graph_node **node)
{
	const struct source from = { .kind = NODE_GRAPH, .sub = sub };

	if (!graph || !sub || !node)
		return DOCA_ERROR_INVALID_VALUE;
	return create_node(graph, &from, node);
}

doca_error_t doca_graph_add_dependency(struct doca_graph *graph,
				       struct doca_graph_node *from,
				       struct doca_graph_node *to)
{
	doca_error_t error;

	if (!graph || !from || !to)
		return DOCA_ERROR_INVALID_VALUE;
	error = may_change(graph);
	if (error)
		return error;
	return pier__doca_graph_error(
		pier_graph_add_dependency(graph->graph, from->node, to->node),
		DOCA_ERROR_NOT_PERMITTED);
}

doca_error_t doca_graph_start(struct doca_graph *graph)
{
	doca_error_t error;

	if (!graph)
		return DOCA_ERROR_INVALID_VALUE;
	if (pier__doca_graph_runs(graph))
		return DOCA_SUCCESS;
	if (!graph->done)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE, "graph: started "
				       "without callbacks for its instances");
	error = may_change(graph);
	if (error)
		return error;
	return pier__doca_graph_error(
		pier_ctx_start(graph->ctx, graph->pe->pe),
		DOCA_ERROR_BAD_STATE);
}

doca_error_t doca_graph_stop(struct doca_graph *graph)
{
	if (!graph)
		return DOCA_ERROR_INVALID_VALUE;
	if (graph->instances)
		return pier__doca_fail(DOCA_ERROR_IN_USE, "graph: stopped with "
				       "%u instances", graph->instances);
	pier_ctx_stop(graph->ctx);
	return DOCA_SUCCESS;
}
