/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_GRAPH_H
#define PIER_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include <pier/ctx.h>
#include <pier/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A graph: tasks and functions with an order among them, as a task of its own.
 * Add nodes and dependencies while it is idle, start it on the engine of the
 * contexts of its nodes, take instances of it, submit them.  A graph is a
 * context, and an instance is a task of it, PIER_TASK_GRAPH.  When it is idle
 * again it can be configured, extended and started again.
 *
 * Calls return 0 or a negative errno value and do not write *ret on failure.
 * They belong to the engine's thread.
 */
struct pier_graph;
struct pier_graph_node;

/*
 * Of a node: returns its status, 0 or a negative error.  -EINPROGRESS or
 * -EAGAIN: call it again in the next round of the engine, which does not sleep
 * until then.
 */
typedef int pier_graph_fn(void *arg);

struct pier_graph_config {
	size_t size;		/* sizeof(struct pier_graph_config), always */
	uint32_t tasks;		/* instances to preallocate, 1..1048576; 0 */
				/* means 256 */
	uint32_t stop_on_task_error;	/* non-zero: a failed instance stops */
				/* the graph */
};

/*
 * Create an idle graph.  The caller destroys it by pier_graph_destroy().
 * Errors: -ENOMEM.
 */
int pier_graph_create(struct pier_graph **ret);

/* Copy @cfg.  Errors: -EBUSY, not idle; -EINVAL, a member is out of range. */
int pier_graph_configure(struct pier_graph *graph,
			 const struct pier_graph_config *cfg);

/* The values in use. */
void pier_graph_get_config(const struct pier_graph *graph,
			   struct pier_graph_config *ret);

/*
 * Stop it if it runs, destroy it with its nodes.  Inside a function of it, no
 * other node begins.  NULL is allowed.
 */
void pier_graph_destroy(struct pier_graph *graph);

/*
 * Its start fails with -EINVAL if no node has a context or graph, and with
 * -ESHUTDOWN if one of those does not run on the same engine.
 */
struct pier_ctx *pier_graph_ctx(struct pier_graph *graph);

/*
 * Add a node that runs a task of @ctx; one that calls @fn; one that runs an
 * instance of the graph @sub.  The graph owns the node; @ctx and @sub must
 * outlive the graph.
 * Errors: -EBUSY, not idle; -EINVAL, NULL; -ELOOP, @sub contains @graph;
 * -ENOMEM.
 */
int pier_graph_add_ctx(struct pier_graph *graph, struct pier_ctx *ctx,
		       struct pier_graph_node **ret);
int pier_graph_add_user(struct pier_graph *graph, pier_graph_fn *fn,
			struct pier_graph_node **ret);
int pier_graph_add_graph(struct pier_graph *graph, struct pier_graph *sub,
			 struct pier_graph_node **ret);

/*
 * @after begins when @before has succeeded.
 * Errors: -EBUSY, not idle; -EINVAL, nodes of another graph; -ELOOP, a cycle;
 * -EEXIST; -ENOMEM.
 */
int pier_graph_add_dependency(struct pier_graph *graph,
			      struct pier_graph_node *before,
			      struct pier_graph_node *after);

/* Take a preallocated instance.  Errors: -ENOBUFS, none is free. */
int pier_graph_task(struct pier_graph *graph, struct pier_task **ret);

/*
 * The task that @node of @instance runs, of the node's context or sub-graph.
 * While the instance is submitted it is the graph's, and so are its buffers: it
 * is not submitted or freed, and changed by a function of @instance only; its
 * callback does not run.
 * Errors: -EBUSY, @instance is submitted, or a node's of one that is; -EINVAL,
 * not such a node or task, or one that is freed after its callback.
 */
int pier_graph_task_set_task(struct pier_task *instance,
			     const struct pier_graph_node *node,
			     struct pier_task *task);

/* The argument of the function of @node.  Errors: the same. */
int pier_graph_task_set_arg(struct pier_task *instance,
			    const struct pier_graph_node *node, void *arg);

#ifdef __cplusplus
}
#endif

#endif
