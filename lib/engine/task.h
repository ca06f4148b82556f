/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_ENGINE_TASK_H
#define PIER_ENGINE_TASK_H

#include <stdbool.h>
#include <stddef.h>

#include <pier/task.h>

#include "core/list.h"
#include "core/op.h"
#include "engine/ctx.h"

/* What a kind of task does; the engine knows no more of it. */
struct pier__task_ops {
	/* Check and post.  0, or an error that leaves everything as it was. */
	int (*submit)(struct pier_task *task, unsigned int flags);

	/* Back to the pool; never called while submitted. */
	void (*release)(struct pier_task *task);

	void (*error)(const struct pier_task *task,
		      struct pier_task_error *ret);
};

/* The first member of every task. */
struct pier_task {
	struct pier__op op;		/* first: wr_id points here */
	const struct pier__task_ops *ops;
	struct pier_ctx *ctx;
	struct pier_conn *conn;		/* NULL: none */
	pier_task_fn *done;		/* NULL: retrieved */
	void *arg;
	int status;			/* -EINPROGRESS while submitted */
	enum pier_task_type type;
	bool submitted;
	bool one_shot;			/* free it after done */
	bool freed;			/* by its user while submitted */
	struct pier__list link;		/* finished, to be retrieved */
};

/*
 * Finish a submitted task: it is no longer in flight, its callback runs or it
 * waits to be retrieved, a user-visible event is counted.  It may be gone when
 * this returns.  Engine's thread, never from inside submit.
 */
void pier__task_finish(struct pier_task *task, int status);

/* Submit, and free after its callback.  On an error it is freed at once. */
int pier__task_one_shot(struct pier_task *task, pier_task_fn *fn, void *arg);

#endif
