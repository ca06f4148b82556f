/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA20_GRAPH_IMPL_H
#define DOCA20_GRAPH_IMPL_H

#include <doca_graph.h>

#include "doca20_workq_impl.h"

/* One of ctx, cb and sub is set. */
struct doca_graph_node {
	struct doca_graph *graph;
	struct pier_graph_node *node;	/* while the graph is started */
	struct doca_ctx *ctx;
	doca_graph_user_node_cb_t cb;
	struct doca_graph *sub;
	uint32_t index;
	struct doca_graph_node *next;
};

struct edge {
	struct doca_graph_node *from, *to;
	struct edge *next;
};

struct doca_graph {
	struct doca_ctx ctx;		/* first; it has no device */
	struct pier_graph *graph;	/* while it is started */
	struct doca_graph_node *nodes;	/* the last one first */
	struct edge *edges;
	uint32_t count, instances;
};

/* What an instance does at a node. */
struct step {
	const struct doca_graph_node *node;
	const struct doca_job *job;
	void *cookie;
	struct doca_graph_instance *sub;
	struct pier_task *task;		/* while submitted; NULL: none */
	struct flight flight;		/* that of the job */
};

struct doca_graph_instance {
	struct doca_graph *graph;
	struct pier_task *task;		/* NULL: it is not submitted */
	struct step steps[];		/* by the number of the node */
};

/* Of a user node; @arg is its step. */
int pier__doca20_graph_call(void *arg);

#endif
