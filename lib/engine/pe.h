/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_ENGINE_PE_H
#define PIER_ENGINE_PE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pier/pe.h>

#include "core/list.h"
#include "engine/source.h"

/* The progress engine's body, for ctx.c and task.c. */
struct pier_pe {
	int epoll_fd;		/* the one pollable fd; the others are in it */
	int wake_fd;		/* eventfd, written by pier_pe_wake() */
	int timer_fd;		/* at timer_due, for whoever polls the fd */
	atomic_bool woken;
	uint64_t timer_due;	/* what timer_fd is set to */
	uint64_t now;		/* of this round; 0: not read yet */
	bool hot;		/* the last round had events */
	uint64_t next_due;	/* earliest due of the slow sources */
	unsigned int rounds;
	int busy;		/* inside callbacks */
	int depth;		/* calls that drive it, one in another */
	int events;		/* seen by a user in this round */
	int max;		/* of them */
	bool destroyed;		/* put off until the engine is left */
	struct pier__list fast, slow;	/* sources */
	struct pier__list *visit;	/* next to poll; removal moves it */
	struct pier__list ctxs;		/* contexts started here */
	struct pier__list stopped;	/* those to be told idle */
	struct pier__list finished;	/* tasks to be retrieved */
	struct pier__list deferred;
};

#endif
