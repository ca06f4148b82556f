/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_ENGINE_TASK_IMPL_H
#define PIER_ENGINE_TASK_IMPL_H

#include <errno.h>
#include <stdbool.h>

#include <pier/task.h>

#include "core/list.h"
#include "core/op.h"
#include "engine/ctx_impl.h"
#include "engine/pe_impl.h"

struct pier_buf;

/* What the engine needs of a kind of task. */
struct pier__task_ops {
	/*
	 * Check, by pier__task_may_submit() too, post, and then call
	 * pier__task_submitted().  0, or an error that leaves everything as
	 * it was.
	 */
	int (*submit)(struct pier_task *task, unsigned int flags);

	/*
	 * Are the arguments valid?  Of tasks that fail at completion if they
	 * are not; NULL: submit checks them.
	 */
	int (*check)(struct pier_task *task);

	/* Back to the pool; never called while submitted. */
	void (*release)(struct pier_task *task);

	void (*error)(const struct pier_task *task,
		      struct pier_task_error *ret);

	/*
	 * Its buffers, NULL for none, which it holds while it is submitted.
	 * NULL: it is of a kind that has none.
	 */
	void (*bufs)(struct pier_task *task, struct pier_buf *ret[2]);

	/*
	 * As pier_task_cancel(), of one in flight.  A kind has force() if it
	 * ends one by less than the end of its context, or if it has tasks of
	 * other contexts, to stop those; NULL: its context is stopped.
	 */
	int (*cancel)(struct pier_task *task);
	void (*force)(struct pier_task *task);

	/*
	 * What holds one in flight up, for messages: "", or a constant that
	 * ends in ": ".  NULL: nothing is known of that.
	 */
	const char *(*obstacle)(const struct pier_task *task);

	/*
	 * Can one in flight still finish?  1, yes; 0, unless nothing is
	 * connected; an error, with its message: what it waits for has ended,
	 * @conn, or all that it has if NULL.  NULL: it ends by itself then.
	 */
	int (*hope)(const struct pier_task *task, const struct pier_conn *conn);
};

struct pier__task_pool;

/* The first member of every task. */
struct pier_task {
	struct pier__op op;		/* first: wr_id points here */
	const struct pier__task_ops *ops;
	struct pier_ctx *ctx;
	struct pier_conn *conn;		/* NULL: none */
	pier_task_fn *end;		/* what to call once it has finished: */
					/* usual, unless it is a part */
	pier_task_fn *usual;		/* done itself, if that is all */
	void *arg;
	int status;			/* -EINPROGRESS while submitted */
	enum pier_task_type type;
	bool one_shot;			/* free it after done, or when it is */
					/* given back */
	bool trying;			/* a full queue is not an error */
	bool cancelled;			/* in the queue of a CPU's context: */
					/* to be cancelled, not run */
	pier_task_fn *done;		/* NULL: retrieved */
	struct pier__list link;		/* finished, to be retrieved */
	struct pier__task_pool *pool;	/* where it came from */
	struct pier_task *next;		/* free in it, or in a queue */
	void *part;			/* of what it is a part while */
					/* submitted; NULL: of nothing */
	char *text;			/* of the last failure; NULL: it is */
					/* of no pool */
	struct pier__list places;	/* where it is a node's task */
	const struct pier__task_ops *own;	/* its ops while it is */
					/* claimed; NULL: it is not */
	int timeout_ms;			/* 0: none */
	uint64_t deadline;		/* when something is done to end it; */
					/* 0: the engine has not seen it in */
					/* flight yet */
	struct pier__list timed;	/* in the engine's if it has a */
					/* timeout, or alone */
	const char *late;		/* its time is over, for this reason */
					/* or ""; NULL: it is not */
};

/* A node of a graph's instance, and its task until that is freed. */
struct pier__task_place {
	struct pier__list link;		/* of the task's places */
	struct pier_task *task;		/* NULL: not set, or none needed */
	const struct pier_task *of;	/* the instance; while it is */
					/* submitted the task is not freed */
};

static inline bool pier__task_busy(const struct pier_task *task)
{
	return task->status == -EINPROGRESS;
}

/* Is it a node's in an instance that is submitted? */
static inline bool pier__task_is_claimed(const struct pier_task *task)
{
	return task->own;
}

/* Those of a claimed task, for the calls of the program. */
extern const struct pier__task_ops pier__task_claimed_ops;

/* What its kind does, claimed or not. */
static inline const struct pier__task_ops *
pier__task_ops(const struct pier_task *task)
{
	return pier__task_is_claimed(task) ? task->own : task->ops;
}

/*
 * An instance of a graph has @task, which is not submitted: until it is given
 * back only the instance submits it, and the program does not change or free
 * it.
 */
static inline void pier__task_claim(struct pier_task *task)
{
	task->own = task->ops;
	task->ops = &pier__task_claimed_ops;
}

static inline void pier__task_give_back(struct pier_task *task)
{
	task->ops = task->own;
	task->own = NULL;
}

/* Its kind has changed. */
static inline void pier__task_set_ops(struct pier_task *task,
				      const struct pier__task_ops *ops)
{
	if (pier__task_is_claimed(task))
		task->own = ops;
	else
		task->ops = ops;
}

/* Is it free, and are the flags valid?  Else pier__task_submit_error(). */
static inline bool pier__task_may_submit(const struct pier_task *task,
					 unsigned int flags)
{
	return !pier__task_busy(task) &&
	       (!flags || flags == PIER_SUBMIT_MORE);
}

/*
 * Have the thread's last error, @err, begin with the names of the context and
 * of the task: "dma: copy: the source has no data".
 */
int pier__task_named(const struct pier_task *task, int err)
	__attribute__((cold));

/* Errors: -EBUSY; -ESHUTDOWN; -EINVAL.  0: the engine has no objection. */
int pier__task_submit_error(const struct pier_task *task, unsigned int flags);

/* It is posted. */
static inline void pier__task_submitted(struct pier_task *task)
{
	if (!task->done)	/* it may wait to be retrieved */
		pier__list_del(&task->link);
	task->status = -EINPROGRESS;
	task->ctx->inflight++;
}

/* Submit by @ops; a full queue is no failure to report.  Engine's thread. */
static inline int pier__task_submit_quietly(struct pier_task *task,
					    const struct pier__task_ops *ops,
					    unsigned int flags)
{
	int err;

	task->trying = true;
	err = ops->submit(task, flags);
	task->trying = false;
	return err;
}

/* Make it as new: without a callback, a status, or an owner. */
void pier__task_reset(struct pier_task *task);

/*
 * Finish a submitted task: it is no longer in flight, its callback runs or it
 * waits to be retrieved, a user-visible event is counted.  It may be freed when
 * this returns.  Engine's thread, never from inside submit.
 */
static inline void pier__task_finish(struct pier_task *task, int status)
{
	struct pier_ctx *ctx = task->ctx;

	task->status = status;
	ctx->inflight--;
	ctx->pe->events++;
	task->end(task, task->arg);
}

/*
 * The same with an error, whose message is the thread's last error; it may stop
 * the context: its config decides.
 */
void pier__task_finish_failed(struct pier_task *task, int status);

/* Keep a copy of @text as that of the failure of @task. */
void pier__task_keep_text(struct pier_task *task, const char *text);

/* What pier__task_may_change() does unless it needs no more than a look. */
int pier__task_check_change(const struct pier_task *task);

/*
 * May a task be changed?
 * Errors: -EBUSY, it is submitted, or claimed by an instance of a graph none of
 * whose functions runs; -EDEADLK, as of pier__guard_enter().
 */
static inline int pier__task_may_change(const struct pier_task *task)
{
	if (!PIER__GUARDS && !pier__task_busy(task) &&
	    !pier__task_is_claimed(task))
		return 0;
	return pier__task_check_change(task);
}

/*
 * A submitted task is a part of another: @end is called instead of its
 * callback, and @part is found in it.  @end calls pier__task_leave(), after
 * which the task is the program's again.
 */
static inline void pier__task_join(struct pier_task *task, pier_task_fn *end,
				   void *part)
{
	task->part = part;
	task->end = end;
}

void pier__task_leave(struct pier_task *task);

/* One with a timeout is complete: if it took too long its context may stop. */
void pier__task_end_timed_node(struct pier_task *task) __attribute__((cold));

/* The same as leave for the task of a node. */
static inline void pier__task_leave_node(struct pier_task *task)
{
	task->part = NULL;
	if (task->timeout_ms)
		pier__task_end_timed_node(task);
	task->end = task->usual;
}

/* @task is that of @place from now on; NULL: none is. */
void pier__task_put_in(struct pier_task *task, struct pier__task_place *place);

/* The status of a task that pier_task_cancel() has ended, with its message. */
int pier__task_cancelled(const struct pier_task *task);

/* As pier_task_wait_conn(); @conn NULL: any of its connections. */
int pier__task_wait(struct pier_task *task, const struct pier_conn *conn,
		    int timeout_ms);

/* As pier_task_cancel(), of one in flight. */
int pier__task_cancel(struct pier_task *task);

/*
 * End one whose cancel() does not end it: stop what carries it out, which is
 * logged.
 */
void pier__task_force(struct pier_task *task);

/* Its callback or its timeout has changed: what it ends by. */
void pier__task_set_end(struct pier_task *task);

/*
 * Back to its pool: it is not submitted, and no node's in an instance that is.
 * One that is, and was abandoned, is a one-shot: who gives it back releases it.
 */
void pier__task_release(struct pier_task *task);

/* Submit, and free after its callback.  On an error it is freed at once. */
int pier__task_one_shot(struct pier_task *task, pier_task_fn *fn, void *arg);

#endif
