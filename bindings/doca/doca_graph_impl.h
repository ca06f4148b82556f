/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_GRAPH_IMPL_H
#define DOCA_GRAPH_IMPL_H

#include <pier/pier.h>

#include <doca_graph.h>

#include "doca_task_impl.h"

/* What a node runs. */
enum node_kind {
	NODE_CTX,
	NODE_USER,
	NODE_GRAPH,
};

struct doca_graph_node {
	struct doca_graph *graph;
	struct doca_graph_node *next;	/* of the graph */
	struct pier_graph_node *node;
	uint32_t index;			/* among the graph's nodes */
	enum node_kind kind;
	const struct doca_ctx *ctx;	/* of NODE_CTX */
	doca_graph_user_node_cb_t cb;	/* of NODE_USER */
};

struct doca_graph {
	struct pier_graph *graph;
	struct pier_ctx *ctx;		/* that of the graph */
	struct doca_pe *pe;
	doca_graph_completion_cb_t done, failed;	/* NULL: not set */
	union doca_data data;
	struct doca_graph_node *nodes, **nodes_end;
	uint32_t count;			/* nodes */
	uint32_t instances;		/* not destroyed */
};

/* A node of an instance, and its data: a member for each kind of node. */
struct graph_step {
	const struct doca_graph_node *node;
	struct doca_task *task;		/* NULL: not set */
	uint32_t builds;		/* its builds, as pier has it; 0: not */
	void *cookie;
	struct doca_graph_instance *sub;	/* NULL: not set */
};

struct doca_graph_instance {
	struct doca_graph *graph;
	struct pier_task *task;
	union doca_data data;
	uint32_t users;			/* nodes whose data it is */
	struct doca_pe *pe;
	uint64_t given;			/* pe->changes when pier got its */
					/* tasks; 0: it has none yet */
	struct graph_step step[];	/* by index of the node */
};

/* Has it been started, and not stopped since? */
static inline bool pier__doca_graph_runs(const struct doca_graph *graph)
{
	return pier_ctx_state(graph->ctx) == PIER_CTX_RUNNING;
}

/* DOCA's code for @err, but for an invalid value @invalid. */
doca_error_t pier__doca_graph_error(int err, doca_error_t invalid);

#endif
