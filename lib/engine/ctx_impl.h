/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_ENGINE_CTX_IMPL_H
#define PIER_ENGINE_CTX_IMPL_H

#include <stdbool.h>
#include <stddef.h>

#include <pier/ctx.h>

#include "core/list.h"
#include "engine/pe_impl.h"
#include "engine/source.h"

/*
 * What an object does as a context.  start: 0; -EINPROGRESS, starting, until
 * pier__ctx_started() or pier__ctx_stopped(), which come later; or an error
 * that leaves it idle.  stop: begin to end what is in flight;
 * pier__ctx_stopped() reports the end, in stop itself or later.  flush: post
 * what is deferred; it is not idle.  NULL: nothing ever is.  may_stop: may the
 * program stop it now?  Or an error; NULL: always.
 */
struct pier__ctx_ops {
	int (*start)(struct pier_ctx *ctx);
	void (*stop)(struct pier_ctx *ctx);
	void (*flush)(struct pier_ctx *ctx);
	int (*may_stop)(struct pier_ctx *ctx);
};

/* The first member of every object that is a context. */
struct pier_ctx {
	const struct pier__ctx_ops *ops;
	const char *name;		/* in messages */
	struct pier_pe *pe;		/* NULL while idle */
	enum pier_ctx_state state;
	pier_ctx_state_fn *state_changed;
	void *user_data;
	size_t inflight;		/* tasks submitted, not finished */
	int task_timeout_ms;		/* of its tasks; 0: none */
	unsigned int drain_ms;		/* bound on stopping in destroy */
	bool stop_on_task_error;	/* a task that fails stops it */
	bool *idle;			/* set when idle is reported, after */
					/* which @ctx may be destroyed */
	struct pier__list link;		/* the engine's list of contexts */
};

/* Around calls on @ctx and what belongs to it; NULL while it is idle. */
static inline struct pier__guard *pier__ctx_guard(const struct pier_ctx *ctx)
{
	return ctx->pe ? ctx->pe->guard : NULL;
}

void pier__ctx_init(struct pier_ctx *ctx, const struct pier__ctx_ops *ops,
		    const char *name);

/*
 * May it be configured, or what it consists of changed?  Errors: -EBUSY, it is
 * not idle; -EDEADLK, as of pier__guard_enter(), for the same reason.
 */
int pier__ctx_may_configure(const struct pier_ctx *ctx);

/* Stop it, whether the program may or not.  0, idle; or -EINPROGRESS. */
int pier__ctx_stop(struct pier_ctx *ctx);

/* A starting context runs. */
void pier__ctx_started(struct pier_ctx *ctx);

/*
 * A starting or stopping context has ended: the engine reports idle in its
 * round.
 */
void pier__ctx_stopped(struct pier_ctx *ctx);

/* Called by the engine for that; may destroy the context. */
void pier__ctx_report_idle(struct pier_ctx *ctx);

/*
 * For destroy outside callbacks: stop, drive the engine until idle, at most
 * drain_ms.  Returns 0 or -ETIMEDOUT.  Inside callbacks use pier__pe_defer().
 */
int pier__ctx_drain(struct pier_ctx *ctx);

/*
 * Have @fn destroy it with @deferred: now, or, inside a callback, in which it
 * stops at once, when the engine has returned from that.
 */
void pier__ctx_destroy(struct pier_ctx *ctx, struct pier__deferred *deferred,
		       void (*fn)(struct pier__deferred *deferred));

#endif
