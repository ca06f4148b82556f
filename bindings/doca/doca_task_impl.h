/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_TASK_IMPL_H
#define DOCA_TASK_IMPL_H

#include "doca_ctx_impl.h"

/* What is different in each object's tasks. */
struct doca_task_kind {
	/* May it be built?  NULL: always. */
	doca_error_t (*check)(struct doca_task *task);
	/* Make the task that pier runs. */
	int (*build)(struct doca_task *task);
	/*
	 * Give @pier, which was of an operation whose task was freed, the
	 * arguments of this one, which are not checked yet; an error: another
	 * one is built.  NULL: pier's is freed with it.
	 */
	int (*reuse)(struct doca_task *task, struct pier_task *pier);
	/* It is freed, and task is still pier's; or NULL. */
	void (*freed)(struct doca_task *task);
};

struct doca_task {
	const struct doca_task_kind *kind;
	struct pier_task *task;		/* NULL: it must be built first */
	struct pier_task *spare;	/* of the last operation that was */
					/* freed; NULL: none */
	struct doca_ctx *ctx;
	union doca_data data;
	union doca_data ctx_data;	/* which its context, that runs, has */
	doca_task_completion_cb_t done, failed;
	doca_error_t status;		/* of the last one of pier */
	bool taken;			/* the program has it */
	bool in_graph;			/* nodes of instances have had it */
	uint32_t builds;		/* new tasks of pier's, so far */
	struct doca_task_pool *pool;
	struct doca_task *next;		/* free */
};

/* The tasks of one type of a context, and their callbacks. */
struct doca_task_pool {
	doca_task_completion_cb_t done, failed;
	struct doca_ctx *ctx;
	uint32_t count;
	uint32_t filled;		/* tasks in memory */
	size_t size;			/* of one */
	char *memory;
	struct doca_task *free;
};

/*
 * set_conf of a type: both callbacks, at least one task; the context is idle.
 * Callbacks of all types have the same shape.
 */
doca_error_t pier__doca_pool_conf(struct doca_task_pool *pool,
				  struct doca_ctx *ctx, void (*done)(void),
				  void (*failed)(void), uint32_t count);

/* Allocate the tasks, of @size bytes each, at the start of the context. */
doca_error_t pier__doca_pool_fill(struct doca_task_pool *pool,
				  struct doca_ctx *ctx,
				  const struct doca_task_kind *kind,
				  size_t size);
void pier__doca_pool_free(struct doca_task_pool *pool);

/* Free what is kept of tasks that are free: it refers to a connection. */
void pier__doca_pool_drop_spare(struct doca_task_pool *pool);

/* Take a task; the rest of it is as it was when it was freed. */
doca_error_t pier__doca_pool_take(struct doca_task_pool *pool,
				  union doca_data data, struct doca_task **ret);

/* Make pier's task, of which there is none. */
doca_error_t pier__doca_task_build(struct doca_task *task);

/*
 * May it be freed, changed, or what @verb is?  Not while it is submitted: that
 * is logged, and the caller does nothing.
 */
bool pier__doca_task_may(const struct doca_task *task, const char *verb);

static inline bool pier__doca_task_may_change(const struct doca_task *task)
{
	return pier__doca_task_may(task, "changed");
}

/* Its arguments change, which they may: pier's task, if any, is built anew. */
void pier__doca_task_unbuild(struct doca_task *task);

#endif
