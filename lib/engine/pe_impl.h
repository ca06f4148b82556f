/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_ENGINE_PE_IMPL_H
#define PIER_ENGINE_PE_IMPL_H

#include <stdatomic.h>
#include <stdint.h>

#include <pier/pe.h>

#include "core/guard.h"
#include "core/list.h"
#include "engine/source.h"

/* What a round has to look at besides its sources. */
enum pier__attention {
	PIER__ATTEND_WAKE = 1,		/* pier_pe_wake(), by any thread */
	PIER__ATTEND_STOPPED = 2,	/* pier_pe.stopped has some */
	PIER__ATTEND_DEFERRED = 4,	/* pier_pe.deferred has some */
	PIER__ATTEND_WORKER = 8,	/* pier__pe_nudge(), by any thread */
	PIER__ATTEND_DESTROY = 16,	/* as soon as the engine is left */
};

/* The progress engine's body, for ctx.c, task.c and task.h. */
struct pier_pe {
	int busy;		/* inside callbacks */
	int events;		/* seen by a user in this round */
	int max;		/* of them */
	unsigned int quiet;	/* rounds until the slow sources' turn */
	uint64_t now;		/* of this round; 0: not read yet */
	struct pier__source *fast;	/* sources polled in every round */
	struct pier__source *visit;	/* next to poll; removal moves it */
	struct pier__source *again;	/* may have more than the one event */
					/* that was requested; NULL: none */
	atomic_uint attention;	/* enum pier__attention */
	atomic_bool armed;	/* it sleeps, or may: nudge it */

	int epoll_fd;		/* the one pollable fd; the others are in it */
	int wake_fd;		/* eventfd, written by pier_pe_wake() */
	int timer_fd;		/* at timer_due, for a polled fd */
	uint64_t timer_due;	/* what timer_fd is set to */
	uint64_t next_due;	/* earliest due of the slow sources */
	unsigned int stride;	/* what quiet began with, */
	unsigned int idle;	/* or is after a round without events */
	uint64_t glanced;	/* at the clock, last, ns */
	unsigned int rounds;	/* since all slow sources were polled, */
	uint64_t looked;	/* which was then */
	int depth;		/* calls that drive it, one in another */
	struct pier__source *slow;	/* sources polled when due */
	struct pier__list ctxs;		/* contexts started here */
	struct pier__list stopped;	/* those whose end is to be reported */
	struct pier__list finished;	/* tasks to be retrieved */
	struct pier__list deferred;
	struct pier__list timed;	/* tasks with a timeout, */
	struct pier__source timeouts;	/* which ends them; of no engine: */
					/* there were none yet */
	struct pier__guard *guard;	/* of a debug build; NULL: none */
	const struct pier_task *adjusts;	/* the instance of a graph */
					/* whose function runs; NULL: none */
	bool adjusted;			/* that has changed a task of it */
};

/* Have @fd wake its sleeps; @ptr is what epoll reports. */
int pier__pe_watch(struct pier_pe *pe, int fd, void *ptr);

/* Its tasks will not be retrieved; those that are one-shot have no owner. */
void pier__pe_drop_finished(struct pier_pe *pe);

/* Have the engine look at @what before it leaves this round, or the next. */
static inline void pier__pe_attend(struct pier_pe *pe,
				   enum pier__attention what)
{
	atomic_fetch_or(&pe->attention, what);
}

#endif
