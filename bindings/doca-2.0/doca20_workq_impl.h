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

	/* Fill in *result; NULL: @error is its u64. */
	void (*result)(const struct pier_task *task, doca_error_t error,
		       const struct flight *flight, union doca_data *result);
};

/* What a library is: calls return 0 or a negative errno value. */
struct doca_ctx_kind {
	const char *name;

	/* Make pier's object, and set ctx->ctx to its context. */
	int (*create)(struct doca_ctx *ctx);
	void (*destroy)(struct doca_ctx *ctx);

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
};

/* A job that the program has submitted and whose event it has not retrieved. */
struct flight {
	const struct doca_job_kind *kind;
	union doca_data user_data;
	uint64_t value;			/* of a sync event, for its result */
	struct flight *next;		/* one that is free */
};

struct doca_workq {
	struct pier_pe *pe;
	uint32_t depth, ctxs, jobs;
	bool event_driven;
	struct flight *free;		/* the first that is */
	struct flight flights[];
};

/* Is there no object to destroy, or is one started?  Logs it. */
doca_error_t pier__doca_ctx_may_destroy(const struct doca_ctx *ctx);

/* Free what it has, at the end. */
void pier__doca_ctx_fini(struct doca_ctx *ctx);

#endif
