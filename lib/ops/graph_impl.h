/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_GRAPH_IMPL_H
#define PIER_OPS_GRAPH_IMPL_H

#include <pier/graph.h>

#include "ops/cpu_ctx.h"
#include "ops/local_buf.h"

struct pier_graph_node {
	struct pier_graph *graph;
	struct pier_graph_node *next;	/* of the graph */
	uint32_t index;			/* among the graph's nodes */
	struct pier_ctx *ctx;		/* NULL: it calls fn */
	struct pier__cpu_ctx *cpu;	/* ctx; NULL: it is of another kind */
	struct pier_graph *sub;		/* NULL: ctx is no graph's */
	pier_graph_fn *fn;
	uint32_t before;		/* how many nodes it waits for */
	uint32_t after_count;
	struct pier_graph_node **after;	/* those that wait for it */
	bool seen;			/* in a search */
	struct pier_graph_node *visit;
};

struct pier_graph {
	struct pier__cpu_ctx cpu;	/* first */
	struct pier_graph_node *nodes, **nodes_end;
	uint32_t count;
	bool seen;			/* in a search */
	struct pier_graph *visit;
};

/* A node of an instance. */
struct pier__graph_step {
	struct pier__graph_task *instance;
	const struct pier_graph_node *node;
	struct pier__task_place place;	/* of its task */
	struct pier_buf *held[2];	/* that one's, while it is claimed */
					/* and does not begin yet, */
	bool holds;			/* and these are set */
	bool turns;			/* what comes next in a claim is not */
					/* the next one of the instance */
	bool begun;			/* its task, which was claimed */
	uint32_t waits;			/* for so many nodes */
	void *arg;
	struct pier__graph_step *next;	/* that can begin */
};

/* An instance. */
struct pier__graph_task {
	struct pier_task task;		/* first */
	bool queued;			/* it is, to be advanced */
	uint32_t running;		/* tasks of its nodes in flight */
	struct pier__graph_step *ready, **ready_end;	/* can begin */
	int status;			/* the first error, of which the task */
					/* has the text */
	bool claims;			/* it has claimed its tasks, and all */
					/* that are in those */
	bool claimed;			/* as one of those, for the node */
	struct pier__graph_step *up;	/* NULL in one that claims */
	uint32_t count;
	struct pier__graph_step step[];	/* by index of the node */
};

static inline struct pier_graph *pier__graph_of(struct pier__cpu_ctx *cpu)
{
	return pier__container_of(cpu, struct pier_graph, cpu);
}

static inline struct pier__graph_task *pier__graph_task(struct pier_task *task)
{
	return pier__container_of(task, struct pier__graph_task, task);
}

extern const struct pier__cpu_ops pier__graph_ops;

/* Free the object, which is idle. */
void pier__graph_free(struct pier__cpu_ctx *cpu);

/* Can all nodes run?  Errors: as of pier_graph_ctx(). */
int pier__graph_check(const struct pier_graph *graph);

/* Fail because the task of @step cannot be claimed. */
int pier__graph_refuse(const struct pier__graph_step *step)
	__attribute__((cold));

/*
 * Can it be?  Errors: -EINVAL, there is none, or another node of the instance
 * has it; -EBUSY.
 */
static inline int pier__graph_check_step(const struct pier__graph_step *step)
{
	const struct pier_task *task = step->place.task;

	if (task && !pier__task_busy(task) && !pier__task_is_claimed(task))
		return 0;
	return pier__graph_refuse(step);
}

/*
 * Claim the tasks of all nodes of @instance, and of the instances among them,
 * hold the buffers of those that wait, and set what they wait for.  Errors: as
 * pier__graph_check_step().
 */
int pier__graph_claim(struct pier__graph_task *instance);

/* The end of that: none of them is in flight. */
void pier__graph_give_back(struct pier__graph_task *instance);

/*
 * The same of the only node of @instance, of which that is not done before it
 * is needed; it can be claimed.
 */
void pier__graph_claim_only(struct pier__graph_task *instance);

/* A function has changed tasks of @instance: hold the buffers they have now. */
void pier__graph_hold_again(struct pier__graph_task *instance);

/* Hold the buffers of the claimed task of @step, which does not begin yet. */
void pier__graph_hold_bufs(struct pier__graph_step *step);

/* The task of @step has begun, or never will: its buffers are its own. */
static inline void pier__graph_drop_bufs(struct pier__graph_step *step)
{
	if (!step->holds)
		return;
	step->holds = false;
	pier__local_drop(step->held[0]);
	pier__local_drop(step->held[1]);
}

#endif
