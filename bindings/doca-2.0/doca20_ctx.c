/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "doca20_workq_impl.h"

#define STOP_MS 5000	/* jobs in flight end in far less */
#define ALONE_DEPTH 256	/* the depth of its work queue is not known yet */

static doca_error_t started(const struct doca_ctx *ctx, const char *what)
{
	return pier__doca_fail(DOCA_ERROR_BAD_STATE, "%s: %s while started",
			       ctx->kind->name, what);
}

static void set_dev(struct doca_ctx *ctx, struct doca_dev *dev)
{
	if (ctx->dev)
		atomic_fetch_sub(&ctx->dev->ctxs, 1);
	if (dev)
		atomic_fetch_add(&dev->ctxs, 1);
	ctx->dev = dev;
}

/* The context is the first member: pointers to both have one value. */
doca_error_t pier__doca20_create(const struct doca_ctx_kind *kind, void *ret)
{
	struct doca_ctx *new;

	if (!ret)
		return DOCA_ERROR_INVALID_VALUE;
	new = calloc(1, kind->size);
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	new->kind = kind;
	memcpy(ret, &new, sizeof(new));
	return DOCA_SUCCESS;
}

doca_error_t pier__doca20_destroy(struct doca_ctx *ctx)
{
	if (!ctx)
		return DOCA_ERROR_INVALID_VALUE;
	if (ctx->ctx)
		return started(ctx, "destroyed");
	if (ctx->kind->destroyed)
		ctx->kind->destroyed(ctx);
	set_dev(ctx, NULL);
	free(ctx);
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_dev_add(struct doca_ctx *ctx, struct doca_dev *dev)
{
	if (!ctx || !dev)
		return DOCA_ERROR_INVALID_VALUE;
	if (ctx->ctx)
		return started(ctx, "a device was added");
	if (ctx->dev == dev)
		return pier__doca_fail(DOCA_ERROR_ALREADY_EXIST,
				       "%s: has the device already",
				       ctx->kind->name);
	if (ctx->dev)
		return pier__doca_fail(DOCA_ERROR_NOT_SUPPORTED,
				       "%s: a second device; it takes one",
				       ctx->kind->name);
	set_dev(ctx, dev);
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_dev_rm(struct doca_ctx *ctx, struct doca_dev *dev)
{
	if (!ctx || !dev)
		return DOCA_ERROR_INVALID_VALUE;
	if (ctx->ctx)
		return started(ctx, "a device was removed");
	if (ctx->dev != dev)
		return pier__doca_fail(DOCA_ERROR_NOT_FOUND,
				       "%s: does not have the device",
				       ctx->kind->name);
	set_dev(ctx, NULL);
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_start(struct doca_ctx *ctx)
{
	if (!ctx)
		return DOCA_ERROR_INVALID_VALUE;
	if (ctx->ctx)
		return started(ctx, "started");
	if (!ctx->dev)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "%s: started without a device",
				       ctx->kind->name);
	return pier__doca_error(ctx->kind->create(ctx));
}

doca_error_t doca_ctx_stop(struct doca_ctx *ctx)
{
	if (!ctx)
		return DOCA_ERROR_INVALID_VALUE;
	if (!ctx->ctx)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "%s: stopped while not started",
				       ctx->kind->name);
	if (ctx->workq)
		return pier__doca_fail(DOCA_ERROR_IN_USE,
				       "%s: stopped before its work queue was "
				       "removed", ctx->kind->name);
	ctx->kind->destroy(ctx);
	ctx->ctx = NULL;
	pier_pe_destroy(ctx->pe);
	ctx->pe = NULL;
	return DOCA_SUCCESS;
}

static doca_error_t run(struct doca_ctx *ctx, uint32_t depth,
			struct pier_pe *pe)
{
	int err = ctx->kind->configure(ctx, depth);

	if (!err)
		err = pier_ctx_start(ctx->ctx, pe);
	return err == -EINPROGRESS ? DOCA_SUCCESS : pier__doca_error(err);
}

doca_error_t pier__doca20_run_alone(struct doca_ctx *ctx)
{
	struct pier_pe *pe;
	doca_error_t error = pier__doca_error(pier_pe_create(&pe));

	if (error)
		return error;
	error = run(ctx, ALONE_DEPTH, pe);
	if (error)
		pier_pe_destroy(pe);
	else
		ctx->pe = pe;
	return error;
}

static doca_error_t may_add(const struct doca_ctx *ctx,
			    const struct doca_workq *workq)
{
	if (!ctx || !workq)
		return DOCA_ERROR_INVALID_VALUE;
	if (!ctx->ctx)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "%s: added to a work queue while not "
				       "started", ctx->kind->name);
	if (ctx->workq == workq)
		return pier__doca_fail(DOCA_ERROR_ALREADY_EXIST,
				       "%s: added to the work queue already",
				       ctx->kind->name);
	if (ctx->workq)
		return pier__doca_fail(DOCA_ERROR_NOT_SUPPORTED,
				       "%s: a second work queue; it takes one",
				       ctx->kind->name);
	if (ctx->pe && workq->event_driven)
		return pier__doca_fail(DOCA_ERROR_NOT_SUPPORTED,
				       "%s: added to a work queue that is "
				       "event-driven after it was used; add it "
				       "first", ctx->kind->name);
	return DOCA_SUCCESS;
}

static void join_alone(struct doca_ctx *ctx, struct doca_workq *workq)
{
	ctx->next = workq->alone;
	workq->alone = ctx;
}

/* The next one that uses it has the engine of its work queue. */
static void leave_alone(struct doca_ctx *ctx, struct doca_workq *workq)
{
	struct doca_ctx **at = &workq->alone;

	while (*at != ctx)
		at = &(*at)->next;
	*at = ctx->next;
	pier_pe_destroy(ctx->pe);
	ctx->pe = NULL;
}

/* pier has one engine a context, which is that of the work queue. */
doca_error_t doca_ctx_workq_add(struct doca_ctx *ctx, struct doca_workq *workq)
{
	doca_error_t error = may_add(ctx, workq);

	if (error)
		return error;
	if (ctx->pe)
		join_alone(ctx, workq);
	else
		error = run(ctx, workq->depth, workq->pe);
	if (error)
		return error;
	ctx->workq = workq;
	workq->ctxs++;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_workq_rm(struct doca_ctx *ctx, struct doca_workq *workq)
{
	doca_error_t error;

	if (!ctx || !workq)
		return DOCA_ERROR_INVALID_VALUE;
	if (ctx->workq != workq)
		return pier__doca_fail(DOCA_ERROR_NOT_FOUND,
				       "%s: was not added to the work queue",
				       ctx->kind->name);
	error = pier__doca_error(pier_ctx_stop_wait(ctx->ctx, STOP_MS));
	if (error)
		return error;
	pier__doca20_keep_events(workq, ctx->pe ? ctx->pe : workq->pe);
	if (workq->event_driven && workq->late)
		pier_pe_wake(workq->pe);
	if (ctx->kind->stopped)
		ctx->kind->stopped(ctx);
	if (ctx->pe)
		leave_alone(ctx, workq);
	ctx->workq = NULL;
	workq->ctxs--;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_get_event_driven_supported(struct doca_ctx *ctx,
						 uint8_t *supported)
{
	if (!ctx || !supported)
		return DOCA_ERROR_INVALID_VALUE;
	*supported = !ctx->pe;
	return DOCA_SUCCESS;
}
