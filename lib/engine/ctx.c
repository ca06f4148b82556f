/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include <pier/ctx.h>

#include "core/clock.h"
#include "core/fail.h"
#include "engine/ctx_impl.h"
#include "engine/pe_impl.h"

#define DRAIN_MS 2000		/* destroy's bound where the object has none */

/* Call the user's callback, which may destroy @ctx. */
static void notify(struct pier_ctx *ctx, enum pier_ctx_state prev)
{
	if (ctx->pe)
		pier__pe_event(ctx->pe);
	if (ctx->state_changed)
		ctx->state_changed(ctx, prev, ctx->state, ctx->user_data);
}

static void set_state(struct pier_ctx *ctx, enum pier_ctx_state next)
{
	enum pier_ctx_state prev = ctx->state;

	ctx->state = next;
	notify(ctx, prev);
}

void pier__ctx_init(struct pier_ctx *ctx, const struct pier__ctx_ops *ops,
		    const char *name)
{
	ctx->ops = ops;
	ctx->name = name;
	ctx->drain_ms = DRAIN_MS;
	pier__list_init(&ctx->link);
}

int pier__ctx_may_configure(const struct pier_ctx *ctx)
{
	struct pier__guard *guard = pier__ctx_guard(ctx);
	int err = pier__guard_enter(guard, "a call that configures a context");

	if (err)
		return err;
	if (ctx->state != PIER_CTX_IDLE)
		err = pier__fail(-EBUSY, "%s: configured while %s", ctx->name,
				 pier_ctx_state_name(ctx->state));
	pier__guard_leave(guard);
	return err;
}

static int start(struct pier_ctx *ctx, struct pier_pe *pe)
{
	int err;

	if (ctx->state != PIER_CTX_IDLE)
		return pier__fail(-EBUSY, "ctx: started while %s",
				  pier_ctx_state_name(ctx->state));

	ctx->pe = pe;
	err = ctx->ops->start(ctx);
	if (err && err != -EINPROGRESS) {
		ctx->pe = NULL;
		return err;
	}

	pier__list_add(&pe->ctxs, &ctx->link);
	set_state(ctx, err ? PIER_CTX_STARTING : PIER_CTX_RUNNING);
	return err;
}

int pier_ctx_start(struct pier_ctx *ctx, struct pier_pe *pe)
{
	struct pier__guard *guard;
	int err;

	if (!ctx || !pe)
		return pier__no_object(__func__);
	guard = pe->guard;
	err = pier__guard_enter(guard, "pier_ctx_start");
	if (err)
		return err;
	err = start(ctx, pe);
	pier__guard_leave(guard);
	return err;
}

void pier__ctx_started(struct pier_ctx *ctx)
{
	set_state(ctx, PIER_CTX_RUNNING);
}

void pier__ctx_stopped(struct pier_ctx *ctx)
{
	pier__list_del(&ctx->link);
	pier__list_add(&ctx->pe->stopped, &ctx->link);
	pier__pe_attend(ctx->pe, PIER__ATTEND_STOPPED);
}

void pier__ctx_report_idle(struct pier_ctx *ctx)
{
	struct pier_pe *pe = ctx->pe;
	bool *idle = ctx->idle;

	pier__pe_event(pe);
	ctx->pe = NULL;
	if (idle)
		*idle = true;
	ctx->idle = NULL;
	set_state(ctx, PIER_CTX_IDLE);
	if (idle)	/* ends a wait whose event the callback has ignored */
		pier__pe_event(pe);
}

int pier__ctx_stop(struct pier_ctx *ctx)
{
	if (ctx->state == PIER_CTX_IDLE)
		return 0;
	if (ctx->state != PIER_CTX_STOPPING) {
		enum pier_ctx_state prev = ctx->state;

		ctx->state = PIER_CTX_STOPPING;
		ctx->ops->stop(ctx);
		notify(ctx, prev);
	}
	return -EINPROGRESS;
}

static int may_stop(struct pier_ctx *ctx)
{
	return ctx->ops->may_stop && ctx->state == PIER_CTX_RUNNING ?
		       ctx->ops->may_stop(ctx) : 0;
}

int pier_ctx_set_task_timeout_ms(struct pier_ctx *ctx, int timeout_ms)
{
	if (!ctx)
		return pier__no_object(__func__);
	if (timeout_ms < 0)
		return pier__fail(-EINVAL, "%s: a timeout of %d ms: 0, none, "
				  "or more", ctx->name, timeout_ms);
	if (ctx->state != PIER_CTX_IDLE)
		return pier__fail(-EBUSY, "%s: the timeout of its tasks is "
				  "changed while it is %s", ctx->name,
				  pier_ctx_state_name(ctx->state));
	ctx->task_timeout_ms = timeout_ms;
	return 0;
}

int pier_ctx_stop(struct pier_ctx *ctx)
{
	struct pier__guard *guard;
	int err;

	if (!ctx)
		return pier__no_object(__func__);
	guard = pier__ctx_guard(ctx);
	err = pier__guard_enter(guard, "pier_ctx_stop");
	if (err)
		return err;
	err = may_stop(ctx);
	if (!err)
		err = pier__ctx_stop(ctx);
	pier__guard_leave(guard);
	return err;
}

/* Drive @pe until *@idle. */
static int drive(struct pier_pe *pe, const bool *idle, uint64_t deadline)
{
	while (!*idle) {
		uint64_t now = pier__now();

		if (now >= deadline)
			return -ETIMEDOUT;
		pier_pe_wait(pe, pier__ms_left(now, deadline));
	}
	return 0;
}

static int stop_wait(struct pier_ctx *ctx, int timeout_ms)
{
	uint64_t deadline = pier__deadline(pier__now(), timeout_ms);
	bool idle = false, *outer = ctx->idle;
	struct pier_pe *pe = ctx->pe;

	if (ctx->state == PIER_CTX_IDLE)
		return 0;
	if (pier__pe_busy(pe)) {
		pier__ctx_stop(ctx);
		return pier__fail(-EBUSY, "ctx: stop_wait in a callback");
	}

	ctx->idle = &idle;
	pier__ctx_stop(ctx);
	pier__pe_settle(pe);
	if (drive(pe, &idle, deadline)) {
		ctx->idle = outer;
		return pier__fail(-ETIMEDOUT,
				  "%s: still stopping after %d ms, with %zu "
				  "tasks in flight", ctx->name, timeout_ms,
				  ctx->inflight);
	}
	if (outer)
		*outer = true;
	return 0;
}

int pier_ctx_stop_wait(struct pier_ctx *ctx, int timeout_ms)
{
	struct pier__guard *guard;
	int err;

	if (!ctx)
		return pier__no_object(__func__);
	guard = pier__ctx_guard(ctx);
	err = pier__guard_enter(guard, "pier_ctx_stop_wait");
	if (err)
		return err;
	err = may_stop(ctx);
	if (!err)
		err = stop_wait(ctx, timeout_ms);
	pier__guard_leave(guard);
	return err;
}

int pier__ctx_drain(struct pier_ctx *ctx)
{
	struct pier__guard *guard = pier__ctx_guard(ctx);
	int err = pier__guard_enter(guard, "a call that destroys a context");

	if (err)
		return err;
	err = stop_wait(ctx, (int)ctx->drain_ms);
	pier__guard_leave(guard);
	return err;
}

void pier__ctx_destroy(struct pier_ctx *ctx, struct pier__deferred *deferred,
		       void (*fn)(struct pier__deferred *deferred))
{
	struct pier__guard *guard = pier__ctx_guard(ctx);

	if (pier__guard_enter(guard, "a call that destroys a context"))
		return;
	deferred->fn = fn;
	if (!ctx->pe) {
		fn(deferred);
	} else {
		if (pier__pe_busy(ctx->pe))
			pier__ctx_stop(ctx);
		pier__pe_defer(ctx->pe, deferred);
	}
	pier__guard_leave(guard);
}

enum pier_ctx_state pier_ctx_state(const struct pier_ctx *ctx)
{
	if (!ctx)
		return PIER_CTX_IDLE;
	return ctx->state;
}

const char *pier_ctx_state_name(enum pier_ctx_state state)
{
	static const char *const names[] = {
		[PIER_CTX_IDLE] = "idle",
		[PIER_CTX_STARTING] = "starting",
		[PIER_CTX_RUNNING] = "running",
		[PIER_CTX_STOPPING] = "stopping",
	};

	return (unsigned int)state <= PIER_CTX_STOPPING ? names[state] :
							  "unknown";
}

void pier_ctx_set_state_changed(struct pier_ctx *ctx, pier_ctx_state_fn *fn)
{
	if (!ctx)
		return;
	ctx->state_changed = fn;
}

void pier_ctx_set_user_data(struct pier_ctx *ctx, void *user_data)
{
	if (!ctx)
		return;
	ctx->user_data = user_data;
}

void *pier_ctx_user_data(const struct pier_ctx *ctx)
{
	if (!ctx)
		return NULL;
	return ctx->user_data;
}

struct pier_pe *pier_ctx_pe(const struct pier_ctx *ctx)
{
	if (!ctx)
		return NULL;
	return ctx->pe;
}

size_t pier_ctx_inflight(const struct pier_ctx *ctx)
{
	if (!ctx)
		return 0;
	return ctx->inflight;
}

void pier_ctx_flush(struct pier_ctx *ctx)
{
	struct pier__guard *guard;

	if (!ctx)
		return;
	guard = pier__ctx_guard(ctx);
	if (pier__guard_enter(guard, "pier_ctx_flush"))
		return;
	if (ctx->ops->flush && ctx->state != PIER_CTX_IDLE)
		ctx->ops->flush(ctx);
	pier__guard_leave(guard);
}
