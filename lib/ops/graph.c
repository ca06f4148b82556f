/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "ops/graph_impl.h"

int pier_graph_create(struct pier_graph **ret)
{
	struct pier_graph *graph = calloc(1, sizeof(*graph));

	if (!graph)
		return pier__fail(-ENOMEM, "graph: no memory");
	pier__cpu_init(&graph->cpu, &pier__graph_ops, NULL);
	graph->nodes_end = &graph->nodes;
	*ret = graph;
	return 0;
}

int pier_graph_configure(struct pier_graph *graph,
			 const struct pier_graph_config *cfg)
{
	if (!graph)
		return pier__no_object(__func__);
	return pier__cpu_configure(&graph->cpu, cfg, cfg->size);
}

void pier_graph_get_config(const struct pier_graph *graph,
			   struct pier_graph_config *ret)
{
	if (!graph)
		return;
	_Static_assert(sizeof(*ret) == sizeof(graph->cpu.cfg), "the same");
	memcpy(ret, &graph->cpu.cfg, sizeof(*ret));
}

void pier__graph_free(struct pier__cpu_ctx *cpu)
{
	struct pier_graph *graph = pier__graph_of(cpu);
	struct pier_graph_node *node;

	while ((node = graph->nodes)) {
		graph->nodes = node->next;
		free(node->after);
		free(node);
	}
	free(graph);
}

void pier_graph_destroy(struct pier_graph *graph)
{
	if (graph)
		pier__cpu_destroy(&graph->cpu);
}

struct pier_ctx *pier_graph_ctx(struct pier_graph *graph)
{
	if (!graph)
		return NULL;
	return &graph->cpu.ctx;
}

static int check_runs(const struct pier_graph_node *node,
		      const struct pier_pe *pe)
{
	if (!node->ctx)
		return 0;
	if (node->ctx->state != PIER_CTX_RUNNING)
		return pier__fail(-ESHUTDOWN, "graph: the context of node %u "
				  "is %s, not running", node->index,
				  pier_ctx_state_name(node->ctx->state));
	if (node->ctx->pe != pe)
		return pier__fail(-ESHUTDOWN, "graph: the context of node %u "
				  "runs on another engine", node->index);
	return 0;
}

/* A sub-graph that runs has a node with a context. */
int pier__graph_check(const struct pier_graph *graph)
{
	const struct pier_graph_node *node;
	bool some = false;
	int err = 0;

	for (node = graph->nodes; node && !err; node = node->next) {
		some |= node->ctx != NULL;
		err = check_runs(node, graph->cpu.ctx.pe);
	}
	if (!err && !some)
		err = pier__fail(-EINVAL, "graph: none of its %u nodes has a "
				 "context or a graph", graph->count);
	return err;
}

static int add(struct pier_graph *graph, const struct pier_graph_node *like,
	       struct pier_graph_node **ret)
{
	struct pier_graph_node *node;
	int err = pier__ctx_may_configure(&graph->cpu.ctx);

	if (err)
		return err;
	node = calloc(1, sizeof(*node));
	if (!node)
		return pier__fail(-ENOMEM, "graph: no memory");
	*node = *like;
	node->graph = graph;
	node->index = graph->count++;
	*graph->nodes_end = node;
	graph->nodes_end = &node->next;
	graph->cpu.task_size += sizeof(struct pier__graph_step);
	*ret = node;
	return 0;
}

int pier_graph_add_ctx(struct pier_graph *graph, struct pier_ctx *ctx,
		       struct pier_graph_node **ret)
{
	if (!graph)
		return pier__no_object(__func__);
	if (!ctx)
		return pier__fail(-EINVAL, "graph: a node without a context");
	if (ctx->ops == graph->cpu.ctx.ops &&
	    pier__cpu_of(ctx)->ops == &pier__graph_ops)
		return pier_graph_add_graph(
			graph, pier__graph_of(pier__cpu_of(ctx)), ret);
	return add(graph, &(struct pier_graph_node){
			.ctx = ctx,
			.cpu = ctx->ops == graph->cpu.ctx.ops ?
				       pier__cpu_of(ctx) : NULL,
		}, ret);
}

int pier_graph_add_user(struct pier_graph *graph, pier_graph_fn *fn,
			struct pier_graph_node **ret)
{
	if (!graph)
		return pier__no_object(__func__);
	if (!fn)
		return pier__fail(-EINVAL, "graph: a node without a function");
	return add(graph, &(struct pier_graph_node){ .fn = fn }, ret);
}

/* Visit @graph later, once; @end is the end of the list of visits. */
static void visit_graph(struct pier_graph *graph, struct pier_graph ***end)
{
	if (graph->seen)
		return;
	graph->seen = true;
	graph->visit = NULL;
	**end = graph;
	*end = &graph->visit;
}

/* Is @wanted @from, or somewhere in it? */
static bool contains(struct pier_graph *from, const struct pier_graph *wanted)
{
	struct pier_graph *first = NULL, **end = &first, *at;
	bool found = false;

	visit_graph(from, &end);
	for (at = first; at; at = at->visit) {
		found |= at == wanted;
		for (struct pier_graph_node *n = at->nodes; n; n = n->next) {
			if (n->sub)
				visit_graph(n->sub, &end);
		}
	}
	for (at = first; at; at = at->visit)
		at->seen = false;
	return found;
}

int pier_graph_add_graph(struct pier_graph *graph, struct pier_graph *sub,
			 struct pier_graph_node **ret)
{
	if (!graph)
		return pier__no_object(__func__);
	if (!sub)
		return pier__fail(-EINVAL, "graph: a node without a graph");
	if (contains(sub, graph))
		return pier__fail(-ELOOP, "graph: its sub-graph contains it");
	return add(graph, &(struct pier_graph_node){ .ctx = &sub->cpu.ctx,
						     .sub = sub }, ret);
}

static void visit_node(struct pier_graph_node *node,
		       struct pier_graph_node ***end)
{
	if (node->seen)
		return;
	node->seen = true;
	node->visit = NULL;
	**end = node;
	*end = &node->visit;
}

/* Is @wanted @from, or does it wait for it? */
static bool waits_for(const struct pier_graph_node *wanted,
		      struct pier_graph_node *from)
{
	struct pier_graph_node *first = NULL, **end = &first, *at;
	bool found = false;

	visit_node(from, &end);
	for (at = first; at; at = at->visit) {
		found |= at == wanted;
		for (uint32_t i = 0; i < at->after_count; i++)
			visit_node(at->after[i], &end);
	}
	for (at = first; at; at = at->visit)
		at->seen = false;
	return found;
}

static int check_dependency(const struct pier_graph *graph,
			    const struct pier_graph_node *before,
			    struct pier_graph_node *after)
{
	if (!before || !after || before->graph != graph ||
	    after->graph != graph)
		return pier__fail(-EINVAL, "graph: a dependency of nodes that "
				  "are not both its own");
	for (uint32_t i = 0; i < before->after_count; i++) {
		if (before->after[i] == after)
			return pier__fail(-EEXIST, "graph: node %u waits for "
					  "node %u already", after->index,
					  before->index);
	}
	if (waits_for(before, after))
		return pier__fail(-ELOOP, "graph: node %u cannot wait for "
				  "node %u, which waits for it", after->index,
				  before->index);
	return 0;
}

int pier_graph_add_dependency(struct pier_graph *graph,
			      struct pier_graph_node *before,
			      struct pier_graph_node *after)
{
	int err;
	struct pier_graph_node **grown;

	if (!graph)
		return pier__no_object(__func__);
	err = pier__ctx_may_configure(&graph->cpu.ctx);
	if (!err)
		err = check_dependency(graph, before, after);
	if (err)
		return err;
	grown = realloc(before->after,
			(before->after_count + 1) * sizeof(*grown));
	if (!grown)
		return pier__fail(-ENOMEM, "graph: no memory");

	before->after = grown;
	before->after[before->after_count++] = after;
	after->before++;
	return 0;
}
