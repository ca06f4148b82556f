/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_graph.h>

#include "doca_fail.h"

/* There are no graphs yet. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

doca_error_t doca_graph_create(struct doca_pe *pe, struct doca_graph **graph)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_graph_destroy(struct doca_graph *graph)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_graph_set_conf(struct doca_graph *graph,
				 doca_graph_completion_cb_t done,
				 doca_graph_completion_cb_t failed,
				 uint32_t count)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_graph_set_user_data(struct doca_graph *graph,
				      union doca_data data)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_graph_get_user_data(const struct doca_graph *graph,
				      union doca_data *data)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_graph_node_create_from_ctx(struct doca_graph *graph,
					     const struct doca_ctx *ctx,
					     struct doca_graph_node **node)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_graph_node_create_from_user(struct doca_graph *graph,
					      doca_graph_user_node_cb_t cb,
					      struct doca_graph_node **node)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_graph_node_create_from_graph(struct doca_graph *graph,
					       struct doca_graph *sub,
					       struct doca_graph_node **node)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_graph_add_dependency(struct doca_graph *graph,
				       struct doca_graph_node *from,
				       struct doca_graph_node *to)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_graph_start(struct doca_graph *graph)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_graph_stop(struct doca_graph *graph)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_graph_instance_create(const struct doca_graph *graph,
					struct doca_graph_instance **instance)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_graph_instance_destroy(struct doca_graph_instance *instance)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_graph_instance_set_user_data(struct doca_graph_instance *instance,
				  union doca_data data)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_graph_instance_get_user_data(const struct doca_graph_instance *instance,
				  union doca_data *data)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_graph_instance_set_ctx_node_data(struct doca_graph_instance *instance,
				      struct doca_graph_node *node,
				      struct doca_task *task)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_graph_instance_set_user_node_data(struct doca_graph_instance *instance,
				       struct doca_graph_node *node,
				       void *cookie)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_graph_instance_set_sub_graph_node_data(
	struct doca_graph_instance *instance, struct doca_graph_node *node,
	struct doca_graph_instance *sub)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_graph_instance_submit(struct doca_graph_instance *instance)
{
	return pier__doca_unsupported(__func__);
}
