/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca20_graph_impl.h"

static struct doca_graph *of(struct doca_ctx *ctx)
{
	return (struct doca_graph *)ctx;
}

static int add_node(struct pier_graph *graph, struct doca_graph_node *node)
{
	if (node->ctx)
		return pier_graph_add_ctx(graph, node->ctx->ctx, &node->node);
	if (node->cb)
		return pier_graph_add_user(graph, pier__doca20_graph_call,
					   &node->node);
	return pier_graph_add_graph(graph, node->sub->graph, &node->node);
}

/* All nodes, then their order. */
static int fill(const struct doca_graph *graph, struct pier_graph *new)
{
	int err = 0;

	for (struct doca_graph_node *at = graph->nodes; at && !err;
	     at = at->next)
		err = add_node(new, at);
	for (struct edge *at = graph->edges; at && !err; at = at->next)
		err = pier_graph_add_dependency(new, at->from->node,
						at->to->node);
	return err;
}

static int create(struct doca_ctx *ctx)
{
	struct pier_graph *new;
	int err = pier_graph_create(&new);

	if (err)
		return err;
	err = fill(of(ctx), new);
	if (err) {
		pier_graph_destroy(new);
		return err;
	}
	of(ctx)->graph = new;
	ctx->ctx = pier_graph_ctx(new);
	return 0;
}

static void destroy(struct doca_ctx *ctx)
{
	pier_graph_destroy(of(ctx)->graph);
}

static int configure(struct doca_ctx *ctx, uint32_t depth)
{
	struct pier_graph_config cfg = { .size = sizeof(cfg), .tasks = depth };

	return pier_graph_configure(of(ctx)->graph, &cfg);
}

static void free_nodes(struct doca_ctx *ctx)
{
	struct doca_graph *graph = of(ctx);
	struct doca_graph_node *node;
	struct edge *edge;

	while ((node = graph->nodes)) {
		graph->nodes = node->next;
		free(node);
	}
	while ((edge = graph->edges)) {
		graph->edges = edge->next;
		free(edge);
	}
}

static const struct doca_job_kind no_jobs = { 0 };

static const struct doca_ctx_kind kind = {
	.name = "graph",
	.size = sizeof(struct doca_graph),
	.create = create,
	.destroy = destroy,
	.destroyed = free_nodes,
	.configure = configure,
	.jobs = &no_jobs,
};

doca_error_t doca_graph_create(struct doca_graph **graph)
{
	return pier__doca20_create(&kind, graph);
}

static doca_error_t has_instances(const struct doca_graph *graph,
				  const char *what)
{
	if (!graph->instances)
		return DOCA_SUCCESS;
	return pier__doca_fail(DOCA_ERROR_IN_USE, "graph: %s with %u instances",
			       what, graph->instances);
}

doca_error_t doca_graph_destroy(struct doca_graph *graph)
{
	doca_error_t error = DOCA_SUCCESS;

	if (graph && !graph->ctx.ctx)
		error = has_instances(graph, "destroyed");
	return error ? error : pier__doca20_destroy(graph ? &graph->ctx : NULL);
}

/* Instances have as many steps as it has nodes. */
static doca_error_t may_change(const struct doca_graph *graph)
{
	if (!graph)
		return DOCA_ERROR_INVALID_VALUE;
	if (graph->ctx.ctx)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "graph: changed while started");
	return has_instances(graph, "changed");
}

/* Add a copy of @from. */
static doca_error_t create_node(struct doca_graph *graph,
				const struct doca_graph_node *from,
				struct doca_graph_node **ret)
{
	doca_error_t error = may_change(graph);
	struct doca_graph_node *new;

	if (error || !ret)
		return error ? error : DOCA_ERROR_INVALID_VALUE;
	if (!from->ctx && !from->cb && !from->sub)
		return DOCA_ERROR_INVALID_VALUE;
	new = malloc(sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	*new = *from;
	new->graph = graph;
	new->index = graph->count++;
	new->next = graph->nodes;
	graph->nodes = new;
	*ret = new;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_ctx_node_create(struct doca_graph *graph,
					struct doca_ctx *ctx,
					struct doca_graph_node **node)
{
	const struct doca_graph_node from = { .ctx = ctx };

	return create_node(graph, &from, node);
}

doca_error_t doca_graph_user_node_create(struct doca_graph *graph,
					 doca_graph_user_node_cb_t cb,
					 struct doca_graph_node **node)
{
	const struct doca_graph_node from = { .cb = cb };

	return create_node(graph, &from, node);
}

doca_error_t doca_graph_sub_graph_node_create(struct doca_graph *graph,
					      struct doca_graph *sub,
					      struct doca_graph_node **node)
{
	const struct doca_graph_node from = { .sub = sub };

	return create_node(graph, &from, node);
}

doca_error_t doca_graph_add_dependency(struct doca_graph *graph,
				       struct doca_graph_node *from,
				       struct doca_graph_node *to)
{
	doca_error_t error = may_change(graph);
	struct edge *new;

	if (error)
		return error;
	if (!from || !to || from->graph != graph || to->graph != graph)
		return DOCA_ERROR_INVALID_VALUE;
	new = malloc(sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	*new = (struct edge){ .from = from, .to = to, .next = graph->edges };
	graph->edges = new;
	return DOCA_SUCCESS;
}

/* pier's contexts exist from their start on. */
static doca_error_t check_nodes(const struct doca_graph *graph)
{
	for (const struct doca_graph_node *at = graph->nodes; at;
	     at = at->next) {
		if ((at->ctx && !at->ctx->workq) ||
		    (at->sub && !at->sub->graph))
			return pier__doca_fail(DOCA_ERROR_BAD_STATE,
					       "graph: the context of node %u "
					       "is on no work queue, or its "
					       "graph is not started",
					       at->index);
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_start(struct doca_graph *graph)
{
	doca_error_t error;

	if (!graph)
		return DOCA_ERROR_INVALID_VALUE;
	if (graph->ctx.ctx)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "graph: started while started");
	error = check_nodes(graph);
	return error ? error : pier__doca_error(create(&graph->ctx));
}

doca_error_t doca_graph_stop(struct doca_graph *graph)
{
	return doca_ctx_stop(graph ? &graph->ctx : NULL);
}

doca_error_t doca_graph_workq_add(struct doca_graph *graph,
				  struct doca_workq *workq)
{
	return doca_ctx_workq_add(graph ? &graph->ctx : NULL, workq);
}

doca_error_t doca_graph_workq_rm(struct doca_graph *graph,
				 struct doca_workq *workq)
{
	return doca_ctx_workq_rm(graph ? &graph->ctx : NULL, workq);
}
