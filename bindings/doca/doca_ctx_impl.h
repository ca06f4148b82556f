/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_CTX_IMPL_H
#define DOCA_CTX_IMPL_H

#include <pier/pier.h>

#include <doca_ctx.h>
#include <doca_pe.h>

struct doca_pe {
	struct pier_pe *pe;
	int max;			/* events a progress; 0: all, and a */
					/* request clears: the mode ALL */
	unsigned int ctxs;		/* connected to it */
	struct doca_ctx *idle;		/* their last task was freed */
	uint64_t changes;		/* of tasks, and of what instances of */
					/* graphs run, so far; from 1 on */
};

/* What an object does with its context; each may be NULL. */
struct doca_ctx_kind {
	doca_error_t (*prepare)(struct doca_ctx *ctx);	/* before a start */
	void (*idle)(struct doca_ctx *ctx);	/* before idle is told */
	int stop_ms;			/* how long a stop waits for idle, if */
					/* no task is in flight */
};

struct doca_ctx {
	const struct doca_ctx_kind *kind;
	struct pier_ctx *ctx;
	struct doca_pe *pe;
	union doca_data data;
	doca_ctx_state_changed_callback_t changed;
	enum doca_ctx_states state;
	bool ran;			/* it was started once */
	size_t held;			/* tasks that are not freed */
	bool drained;			/* nothing more will complete */
	bool listed;			/* on the engine's list */
	struct doca_ctx *next;
};

void pier__doca_ctx_init(struct doca_ctx *ctx, const struct doca_ctx_kind *kind,
			 struct pier_ctx *pier);

/* The object may go: it is idle.  Takes it from its engine. */
doca_error_t pier__doca_ctx_release(struct doca_ctx *ctx);

/* Its state as the program knows it, for error messages. */
static inline const char *pier__doca_ctx_state_name(const struct doca_ctx *ctx)
{
	return pier_ctx_state_name((enum pier_ctx_state)ctx->state);
}

/* BAD_STATE unless it is idle. */
doca_error_t pier__doca_ctx_may_set(const struct doca_ctx *ctx);

/* Its last task was freed, and nothing will complete. */
void pier__doca_ctx_drained(struct doca_ctx *ctx);

/* Report the first of those that are idle; there is one. */
void pier__doca_ctx_report(struct doca_pe *pe);

#endif
