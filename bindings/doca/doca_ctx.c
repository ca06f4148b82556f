/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "doca_task_impl.h"
#include "doca_fail.h"

/* The callback may destroy @ctx. */
static void set_state(struct doca_ctx *ctx, enum doca_ctx_states next)
{
	enum doca_ctx_states prev = ctx->state;

	ctx->state = next;
	ctx->ran = true;
	if (next == DOCA_CTX_STATE_IDLE) {
		ctx->drained = false;
		if (ctx->kind->idle)
			ctx->kind->idle(ctx);
	}
	if (ctx->changed)
		ctx->changed(ctx->data, ctx, prev, next);
}

/* The states of both have the same numbers. */
static void pier_changed(struct pier_ctx *pier, enum pier_ctx_state prev,
			 enum pier_ctx_state next, void *user_data)
{
	struct doca_ctx *ctx = user_data;

	(void)pier;
	(void)prev;
	if (next == PIER_CTX_IDLE && ctx->held) {
		ctx->drained = true;	/* until its tasks are freed */
		pier_pe_ignore_event(ctx->pe->pe);
	} else {
		set_state(ctx, (enum doca_ctx_states)next);
	}
}

void pier__doca_ctx_init(struct doca_ctx *ctx, const struct doca_ctx_kind *kind,
			 struct pier_ctx *pier)
{
	ctx->kind = kind;
	ctx->ctx = pier;
	pier_ctx_set_user_data(pier, ctx);
	pier_ctx_set_state_changed(pier, pier_changed);
}

doca_error_t pier__doca_ctx_may_set(const struct doca_ctx *ctx)
{
	if (ctx->state == DOCA_CTX_STATE_IDLE)
		return DOCA_SUCCESS;
	return pier__doca_fail(DOCA_ERROR_BAD_STATE, "ctx: set while %s, not "
			       "idle", pier__doca_ctx_state_name(ctx));
}

doca_error_t pier__doca_ctx_release(struct doca_ctx *ctx)
{
	if (ctx->state != DOCA_CTX_STATE_IDLE)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE, "ctx: destroyed "
				       "while %s, not idle",
				       pier__doca_ctx_state_name(ctx));
	if (ctx->pe)
		ctx->pe->ctxs--;
	ctx->pe = NULL;
	return DOCA_SUCCESS;
}

void pier__doca_ctx_drained(struct doca_ctx *ctx)
{
	if (ctx->listed)
		return;
	ctx->listed = true;
	ctx->next = ctx->pe->idle;
	ctx->pe->idle = ctx;
	pier_pe_wake(ctx->pe->pe);
}

void pier__doca_ctx_report(struct doca_pe *pe)
{
	struct doca_ctx *ctx = pe->idle;

	pe->idle = ctx->next;
	ctx->listed = false;
	set_state(ctx, DOCA_CTX_STATE_IDLE);
}

doca_error_t doca_ctx_start(struct doca_ctx *ctx)
{
	doca_error_t error = DOCA_SUCCESS;

	if (!ctx)
		return DOCA_ERROR_INVALID_VALUE;
	if (ctx->state != DOCA_CTX_STATE_IDLE)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE, "ctx: started "
				       "while %s, not idle",
				       pier__doca_ctx_state_name(ctx));
	if (!ctx->pe)
		return pier__doca_fail(DOCA_ERROR_NOT_CONNECTED,
				       "ctx: started without an engine");
	if (ctx->kind->prepare)
		error = ctx->kind->prepare(ctx);
	if (error)
		return error;
	return pier__doca_error(pier_ctx_start(ctx->ctx, ctx->pe->pe));
}

/*
 * Outside callbacks one of which nothing remains is idle at once, so that its
 * callback may have destroyed it.
 */
doca_error_t doca_ctx_stop(struct doca_ctx *ctx)
{
	bool held;
	int ms, err;

	if (!ctx)
		return DOCA_ERROR_INVALID_VALUE;
	if (ctx->state == DOCA_CTX_STATE_IDLE)
		return DOCA_SUCCESS;
	if (ctx->state == DOCA_CTX_STATE_STOPPING)
		return DOCA_ERROR_IN_PROGRESS;
	held = ctx->held;
	ms = pier_ctx_inflight(ctx->ctx) ? 0 : ctx->kind->stop_ms;
	err = pier_ctx_stop_wait(ctx->ctx, ms);
	if (err == -EBUSY && ctx->state == DOCA_CTX_STATE_RUNNING)
		return pier__doca_error(err);	/* it is in use, and runs on */
	return err || held ? DOCA_ERROR_IN_PROGRESS : DOCA_SUCCESS;
}

doca_error_t doca_ctx_get_num_inflight_tasks(const struct doca_ctx *ctx,
					     size_t *ret)
{
	if (!ctx || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	*ret = pier_ctx_inflight(ctx->ctx);
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_set_user_data(struct doca_ctx *ctx, union doca_data data)
{
	doca_error_t error;

	if (!ctx)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_ctx_may_set(ctx);
	if (!error)
		ctx->data = data;
	return error;
}

doca_error_t doca_ctx_get_user_data(const struct doca_ctx *ctx,
				    union doca_data *data)
{
	if (!ctx || !data)
		return DOCA_ERROR_INVALID_VALUE;
	*data = ctx->data;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_set_state_changed_cb(struct doca_ctx *ctx,
					   doca_ctx_state_changed_callback_t cb)
{
	doca_error_t error;

	if (!ctx || !cb)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_ctx_may_set(ctx);
	if (!error)
		ctx->changed = cb;
	return error;
}

/* Without a context the state is idle, so that nobody waits for it. */
doca_error_t doca_ctx_get_state(const struct doca_ctx *ctx,
				enum doca_ctx_states *state)
{
	if (!state)
		return DOCA_ERROR_INVALID_VALUE;
	*state = ctx ? ctx->state : DOCA_CTX_STATE_IDLE;
	return ctx ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

void doca_ctx_flush_tasks(struct doca_ctx *ctx)
{
	if (ctx)
		pier_ctx_flush(ctx->ctx);
}

doca_error_t doca_ctx_set_completion_vector(struct doca_ctx *ctx,
					    uint32_t comp_vector)
{
	if (!ctx)
		return DOCA_ERROR_INVALID_VALUE;
	if (!comp_vector)
		return DOCA_SUCCESS;
	return pier__doca_unsupported("a completion vector", "an engine has "
				      "one descriptor for all contexts");
}

doca_error_t
doca_ctx_cap_get_num_completion_vectors(const struct doca_devinfo *info,
					uint32_t *num_comp_vectors)
{
	if (!info || !num_comp_vectors)
		return DOCA_ERROR_INVALID_VALUE;
	*num_comp_vectors = 1;
	return DOCA_SUCCESS;
}
