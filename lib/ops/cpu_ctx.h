/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_CPU_CTX_H
#define PIER_OPS_CPU_CTX_H

#include "dev/dev_impl.h"
#include "engine/ctx_impl.h"
#include "engine/source.h"
#include "engine/task_pool.h"
#include "engine/task_queue.h"

struct pier__cpu_ctx;

#define PIER__CPU_ELSEWHERE 1

/* What a kind of context adds.  What is not set may be NULL. */
struct pier__cpu_ops {
	const char *name;		/* in messages */
	size_t task_size;		/* set; struct pier_task is its first */
					/* member */
	/* NULL: pier__cpu_task_ops; see there. */
	const struct pier__task_ops *task;

	/*
	 * Carry out @task, and release what its submit took.  Returns its
	 * status; -EINPROGRESS: not finished, call again in the next round;
	 * -EAGAIN: the same, but an engine with nothing else to do may sleep
	 * for a millisecond first; PIER__CPU_ELSEWHERE: it has called
	 * pier__cpu_take_out().
	 */
	int (*run)(struct pier_task *task);
	/* Instead of run(): only release that. */
	void (*cancel)(struct pier_task *task);
	/*
	 * Have a task that is elsewhere queued again, or end what it is in.
	 * NULL: none is elsewhere.
	 */
	void (*recall)(struct pier_task *task);

	/*
	 * Of a kind whose tasks are not carried out in the rounds, instead of
	 * run() and cancel(): its source's poll, which calls
	 * pier__cpu_check_ended() at last, and what is pending besides an end.
	 */
	int (*poll)(struct pier__source *source, int budget);
	int (*arm)(struct pier__cpu_ctx *cpu);

	int (*start)(struct pier__cpu_ctx *cpu);	/* may fail */
	void (*stop)(struct pier__cpu_ctx *cpu);	/* begin to */
	bool (*stopping)(struct pier__cpu_ctx *cpu);	/* more than tasks */
	void (*stopped)(struct pier__cpu_ctx *cpu);	/* none in flight */
	/* Set.  Free the object; the context is idle. */
	void (*free)(struct pier__cpu_ctx *cpu);
};

/* The members that the configuration of every kind has, and no others. */
struct pier__cpu_config {
	size_t size;
	uint32_t tasks;
	uint32_t stop_on_task_error;
};

/*
 * A context whose tasks the CPU carries out, in the order in which they were
 * submitted.  The first member of such an object.
 */
struct pier__cpu_ctx {
	struct pier_ctx ctx;		/* first */
	const struct pier__cpu_ops *ops;
	struct pier_dev *dev;		/* held; NULL: none */
	struct pier__cpu_config cfg;	/* settled */
	size_t task_size;		/* ops->task_size, or more */
	const uint32_t *type_tasks;	/* their numbers by type; NULL: */
					/* cfg.tasks for all */
	struct pier__task_pool *pool;	/* NULL before the start */
	struct pier__source source;
	struct pier__task_queue queued;	/* to be run */
	struct pier__task_queue again;	/* in the round after the one that */
					/* runs; else none */
	size_t elsewhere;		/* tasks in flight, not in queued */
	size_t round;			/* tasks that its round has still to */
					/* look at; 0: none runs */
	size_t cancels;			/* not 0: it stops, or queued tasks */
					/* are cancelled */
	size_t waiting;			/* tasks that returned -EAGAIN in the */
					/* last round; 0 if any did not */
	struct pier__deferred deferred;	/* destroy inside a callback */
};

static inline struct pier__cpu_ctx *pier__cpu_of(struct pier_ctx *ctx)
{
	return pier__container_of(ctx, struct pier__cpu_ctx, ctx);
}

static inline struct pier__cpu_ctx *
pier__cpu_of_source(struct pier__source *source)
{
	return pier__container_of(source, struct pier__cpu_ctx, source);
}

/*
 * The calls of tasks.  A kind whose tasks take something at their submission
 * has a table of its own, with a submit that takes it between the next two.
 */
extern const struct pier__task_ops pier__cpu_task_ops;
void pier__cpu_task_error(const struct pier_task *task,
			  struct pier_task_error *ret);

/* May @task be submitted?  Else pier__task_submit_error(). */
static inline bool pier__cpu_may_submit(const struct pier_task *task,
					unsigned int flags)
{
	return pier__task_may_submit(task, flags) &&
	       task->ctx->state == PIER_CTX_RUNNING;
}

/* As pier_task_cancel(), of tasks that are carried out in the rounds. */
int pier__cpu_cancel(struct pier_task *task);

/* Have the next round look at @task; an engine that sleeps, or will, wakes. */
static inline void pier__cpu_queue(struct pier__cpu_ctx *cpu,
				   struct pier_task *task)
{
	if (cpu->source.armed)
		pier__pe_nudge(cpu->ctx.pe);
	pier__task_queue_add(&cpu->queued, task);
}

/*
 * A task was submitted that follows one which has just finished, in a graph:
 * the round that runs looks at one more.
 */
static inline void pier__cpu_follow(struct pier__cpu_ctx *cpu)
{
	if (cpu->round)
		cpu->round++;
}

static inline void pier__cpu_submit(struct pier_task *task)
{
	pier__task_submitted(task);
	pier__cpu_queue(pier__cpu_of(task->ctx), task);
}

/* @dev NULL: it needs none. */
void pier__cpu_init(struct pier__cpu_ctx *cpu, const struct pier__cpu_ops *ops,
		    struct pier_dev *dev);

/* Stop it if it runs, then ops->free() it; deferred inside callbacks. */
void pier__cpu_destroy(struct pier__cpu_ctx *cpu);

/* Copy @cfg, of @size bytes.  Errors: -EBUSY, not idle; -EINVAL. */
int pier__cpu_configure(struct pier__cpu_ctx *cpu, const void *cfg,
			size_t size);

/* A task that run() is called for leaves the queue. */
void pier__cpu_take_out(struct pier_task *task);

/*
 * Finish a task that is elsewhere, with its @status, in a round of the engine.
 * A failed one has its error message.
 */
void pier__cpu_finish(struct pier_task *task, int status);

/* If it stops and nothing is in flight any more, that was its end. */
void pier__cpu_end_if_last(struct pier__cpu_ctx *cpu);

/* The same, after tasks were finished. */
static inline void pier__cpu_check_ended(struct pier__cpu_ctx *cpu)
{
	if (cpu->ctx.state == PIER_CTX_STOPPING)
		pier__cpu_end_if_last(cpu);
}

/* Queue it again: it is run, or cancelled, in the next round. */
void pier__cpu_requeue(struct pier_task *task);

/* The status of a task that is cancelled, with its error message. */
int pier__cpu_cancelled(const struct pier__cpu_ctx *cpu);

/* Take a task of @type.  Errors: -ENOBUFS. */
int pier__cpu_take(struct pier__cpu_ctx *cpu, enum pier_task_type type,
		   struct pier_task **ret);

/* -EINVAL: @task is not one of @type. */
int pier__cpu_not_of(const struct pier_task *task, enum pier_task_type type);

/* May it be changed as one of @type?  Errors: -EINVAL, it is none; -EBUSY. */
static inline int pier__cpu_may_change(const struct pier_task *task,
				       enum pier_task_type type)
{
	return task->type == type ? pier__task_may_change(task) :
				    pier__cpu_not_of(task, type);
}

#endif
