/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA20_WORKQ_IMPL_H
#define DOCA20_WORKQ_IMPL_H

#include <pier/pier.h>

#include <doca_ctx.h>

#include "bindings/doca/doca_buf_impl.h"
#include "bindings/doca/doca_dev_impl.h"
#include "bindings/doca/doca_fail.h"

struct flight;

/* A type of job. */
struct doca_job_kind {
	int type;

	/* Take the task that does what @job says. */
	doca_error_t (*build)(struct doca_ctx *ctx, const struct doca_job *job,
			      struct flight *flight, struct pier_task **ret);

	/*
	 * @task has ended and is freed next: keep in @flight what its result
	 * needs.  NULL: nothing.
	 */
	void (*ended)(const struct pier_task *task, struct flight *flight);

	/* Fill in *result; NULL: the error of @flight is its u64. */
	void (*result)(const struct flight *flight, union doca_data *result);
};

/* What a library is: calls return 0 or a negative errno value. */
struct doca_ctx_kind {
	const char *name;
	size_t size;			/* of the object */

	/* Make pier's object, and set ctx->ctx to its context. */
	int (*create)(struct doca_ctx *ctx);
	void (*destroy)(struct doca_ctx *ctx);

	/* It was removed from its work queue; may be NULL. */
	void (*stopped)(struct doca_ctx *ctx);

	/* It is freed next; may be NULL. */
	void (*destroyed)(struct doca_ctx *ctx);

	/* It will have up to @depth jobs in flight. */
	int (*configure)(struct doca_ctx *ctx, uint32_t depth);

	const struct doca_job_kind *jobs;	/* the last has no build */
};

/* The first member of every object that is a context. */
struct doca_ctx {
	const struct doca_ctx_kind *kind;
	struct doca_dev *dev;
	struct pier_ctx *ctx;		/* NULL: it is not started */
	struct doca_workq *workq;
	struct pier_pe *pe;		/* its own, if it is alone: it had to */
					/* run before it had a work queue */
	struct doca_ctx *next;		/* of those on the work queue */
};

/* A job that the program has submitted and whose event it has not retrieved. */
struct flight {
	const struct doca_job_kind *kind;
	union doca_data user_data;
	doca_error_t error;		/* of its task, which has ended */
	uint64_t value;			/* of a sync event, for its result */
	enum pier_recv_opcode opcode;	/* of a receive that has succeeded, */
	uint32_t imm;			/* the same */
	struct doca_graph_instance *instance;	/* of a graph */
	struct flight *next;		/* one that is free, or late */
};

struct doca_workq {
	struct pier_pe *pe;
	uint32_t depth, ctxs, jobs;
	bool event_driven;
	struct doca_ctx *alone;		/* the first of its contexts that is */
	struct flight *free;		/* the first that is */
	struct flight *late;		/* the first whose task is freed */
	struct flight **late_end;	/* where the next one goes */
	struct flight flights[];
};

/* Run @ctx, which has no work queue yet, on an engine of its own. */
doca_error_t pier__doca20_run_alone(struct doca_ctx *ctx);

/* Keep the events that are left on @pe, and free their tasks. */
void pier__doca20_keep_events(struct doca_workq *workq, struct pier_pe *pe);

/* *@ret is how to carry out @job.  NOT_SUPPORTED. */
doca_error_t pier__doca20_job_kind(const struct doca_job *job,
				   const struct doca_job_kind **ret);

/* *@ret is for the next job of @workq.  NO_MEMORY: it is full. */
doca_error_t pier__doca20_flight(struct doca_workq *workq,
				 const struct doca_job_kind *kind,
				 union doca_data user_data,
				 struct flight **ret);

/* Submit @task as that job, or free it. */
doca_error_t pier__doca20_submit(struct doca_workq *workq,
				 struct flight *flight,
				 struct pier_task *task);

/*
 * Make an object of @kind; *@ret, the caller's pointer, points to it.
 * INVALID_VALUE, @ret is NULL; NO_MEMORY.
 */
doca_error_t pier__doca20_create(const struct doca_ctx_kind *kind, void *ret);

/* Free it.  INVALID_VALUE, there is none; BAD_STATE, it is started. */
doca_error_t pier__doca20_destroy(struct doca_ctx *ctx);

#endif
