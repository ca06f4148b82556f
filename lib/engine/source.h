/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_ENGINE_SOURCE_H
#define PIER_ENGINE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/list.h"

struct pier_pe;

/*
 * Something that a progress engine looks at.  Its owner embeds it, fills in
 * the first part and adds it; all calls come from the engine's thread.
 */
struct pier__source {
	/*
	 * Do work; at most @budget user-visible events, each counted
	 * with pier__pe_event().  Returns non-zero if anything was done.
	 */
	int (*poll)(struct pier__source *source, int budget);

	/*
	 * Make fd readable at the next thing to do.  -EAGAIN: there is
	 * something already.  NULL: nothing to be done for it.  It may call
	 * pier__pe_due(), to be polled again at that time at the latest.
	 */
	int (*arm)(struct pier__source *source);

	/*
	 * The sleep that it was armed for is over, whatever ended it: take
	 * notifications out of fd.  May be NULL.
	 */
	void (*clear)(struct pier__source *source);

	int fd;			/* -1: none */
	bool slow;		/* polled when due, at wake-ups, after a */
				/* nudge and now and then, not in every round */
	uint64_t due;		/* ns; poll no later than this; the owner */
				/* changes it with pier__pe_due() */

	struct pier_pe *pe;	/* from here on the engine's */
	bool armed;
	struct pier__source *next;
};

/* Errors: those of epoll_ctl(2). */
int pier__pe_add(struct pier_pe *pe, struct pier__source *source);

/* Allowed at any time, also from inside any poll. */
void pier__pe_remove(struct pier__source *source);

/* Poll @source at @due or before; PIER__NEVER: no need. */
void pier__pe_due(struct pier__source *source, uint64_t due);

/* Count one thing that a user could see. */
void pier__pe_event(struct pier_pe *pe);

/* How many more of them this round may bring; 0 or less: none. */
int pier__pe_budget(const struct pier_pe *pe);

/* Non-zero inside one of the engine's callbacks. */
int pier__pe_busy(const struct pier_pe *pe);

/* The time at the start of this round; read the clock once, use it often. */
uint64_t pier__pe_now(const struct pier_pe *pe);

/*
 * Call @fn once the engine has left all callbacks, at once if it has.  The
 * owner embeds the link and may free itself in @fn.
 */
struct pier__deferred {
	void (*fn)(struct pier__deferred *deferred);
	struct pier__list link;
};

void pier__pe_defer(struct pier_pe *pe, struct pier__deferred *deferred);

/*
 * A source, slow or not, has work: end the sleep of the engine, not its wait,
 * and poll it in one of the next two rounds.  Any thread.
 */
void pier__pe_nudge(struct pier_pe *pe);

/*
 * Report contexts that have ended, and run what was deferred, without a round.
 * Not from callbacks.  @pe may be freed after this.
 */
void pier__pe_settle(struct pier_pe *pe);

#endif
