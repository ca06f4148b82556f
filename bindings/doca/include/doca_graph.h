/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_GRAPH_H
#define DOCA_GRAPH_H

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Tasks and functions that run in an order, again and again. */

struct doca_ctx;
struct doca_pe;
struct doca_task;
struct doca_graph;
struct doca_graph_node;
struct doca_graph_instance;

typedef void (*doca_graph_completion_cb_t)(struct doca_graph_instance *instance,
					   union doca_data data,
					   union doca_data graph_data);
typedef doca_error_t (*doca_graph_user_node_cb_t)(void *cookie);

doca_error_t doca_graph_create(struct doca_pe *pe, struct doca_graph **graph);
doca_error_t doca_graph_destroy(struct doca_graph *graph);
doca_error_t doca_graph_set_conf(struct doca_graph *graph,
				 doca_graph_completion_cb_t done,
				 doca_graph_completion_cb_t failed,
				 uint32_t count);
doca_error_t doca_graph_set_user_data(struct doca_graph *graph,
				      union doca_data data);
doca_error_t doca_graph_get_user_data(const struct doca_graph *graph,
				      union doca_data *data);
doca_error_t doca_graph_node_create_from_ctx(struct doca_graph *graph,
					     const struct doca_ctx *ctx,
					     struct doca_graph_node **node);
doca_error_t doca_graph_node_create_from_user(struct doca_graph *graph,
					      doca_graph_user_node_cb_t cb,
					      struct doca_graph_node **node);
doca_error_t doca_graph_node_create_from_graph(struct doca_graph *graph,
					       struct doca_graph *sub,
					       struct doca_graph_node **node);
doca_error_t doca_graph_add_dependency(struct doca_graph *graph,
				       struct doca_graph_node *from,
				       struct doca_graph_node *to);
doca_error_t doca_graph_start(struct doca_graph *graph);
doca_error_t doca_graph_stop(struct doca_graph *graph);
doca_error_t doca_graph_instance_create(const struct doca_graph *graph,
					struct doca_graph_instance **instance);
doca_error_t doca_graph_instance_destroy(struct doca_graph_instance *instance);
doca_error_t
doca_graph_instance_set_user_data(struct doca_graph_instance *instance,
				  union doca_data data);
doca_error_t
doca_graph_instance_get_user_data(const struct doca_graph_instance *instance,
				  union doca_data *data);
doca_error_t
doca_graph_instance_set_ctx_node_data(struct doca_graph_instance *instance,
				      struct doca_graph_node *node,
				      struct doca_task *task);
doca_error_t
doca_graph_instance_set_user_node_data(struct doca_graph_instance *instance,
				       struct doca_graph_node *node,
				       void *cookie);
doca_error_t doca_graph_instance_set_sub_graph_node_data(
	struct doca_graph_instance *instance, struct doca_graph_node *node,
	struct doca_graph_instance *sub);
doca_error_t doca_graph_instance_submit(struct doca_graph_instance *instance);

#ifdef __cplusplus
}
#endif

#endif
