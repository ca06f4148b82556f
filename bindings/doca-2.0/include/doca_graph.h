/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_GRAPH_2_0_H
#define DOCA_GRAPH_2_0_H

#include <doca_ctx.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Jobs, functions and other graphs in an order, as a job of its own.  Create
 * the nodes and their order, start the graph, add it to the work queue of its
 * contexts, create instances, give them data, submit them.
 */

struct doca_graph;
struct doca_graph_instance;
struct doca_graph_node;

/* Type of the events of instances; result.u64 is a doca_error_t. */
enum doca_graph_job_type {
	DOCA_GRAPH_JOB = 0x500,
};

typedef doca_error_t (*doca_graph_user_node_cb_t)(void *cookie);

doca_error_t doca_graph_create(struct doca_graph **graph);
doca_error_t doca_graph_destroy(struct doca_graph *graph);

/* Before the start, which fails if the order is a circle. */
doca_error_t doca_graph_ctx_node_create(struct doca_graph *graph,
					struct doca_ctx *ctx,
					struct doca_graph_node **node);
doca_error_t doca_graph_user_node_create(struct doca_graph *graph,
					 doca_graph_user_node_cb_t cb,
					 struct doca_graph_node **node);
doca_error_t doca_graph_sub_graph_node_create(struct doca_graph *graph,
					      struct doca_graph *sub,
					      struct doca_graph_node **node);
doca_error_t doca_graph_add_dependency(struct doca_graph *graph,
				       struct doca_graph_node *from,
				       struct doca_graph_node *to);

/* Its contexts are on a work queue by then, and its sub-graphs started. */
doca_error_t doca_graph_start(struct doca_graph *graph);
doca_error_t doca_graph_stop(struct doca_graph *graph);
doca_error_t doca_graph_workq_add(struct doca_graph *graph,
				  struct doca_workq *workq);
doca_error_t doca_graph_workq_rm(struct doca_graph *graph,
				 struct doca_workq *workq);

/* The graph has its last node by then.  IN_USE while it is submitted. */
doca_error_t doca_graph_instance_create(struct doca_graph *graph,
					struct doca_graph_instance **instance);
doca_error_t doca_graph_instance_destroy(struct doca_graph_instance *instance);

/* @job is read when @instance is submitted, and not copied before. */
doca_error_t
doca_graph_instance_set_ctx_node_data(struct doca_graph_instance *instance,
				      struct doca_graph_node *node,
				      const struct doca_job *job);
doca_error_t
doca_graph_instance_set_user_node_data(struct doca_graph_instance *instance,
				       struct doca_graph_node *node,
				       void *cookie);
doca_error_t doca_graph_instance_set_sub_graph_node_data(
	struct doca_graph_instance *instance, struct doca_graph_node *node,
	struct doca_graph_instance *sub);
doca_error_t doca_workq_graph_submit(struct doca_workq *workq,
				     struct doca_graph_instance *instance,
				     union doca_data user_data);

#ifdef __cplusplus
}
#endif

#endif
