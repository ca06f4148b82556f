/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CORE_GUARD_H
#define PIER_CORE_GUARD_H

#include <stddef.h>

/*
 * Which thread is inside calls on an engine and on what belongs to it, in a
 * build with --enable-debug; else there is none, and the calls are empty.
 */
struct pier__guard;

#ifdef PIER_DEBUG

#define PIER__GUARDS 1

/* Errors: -ENOMEM. */
int pier__guard_create(struct pier__guard **ret);

/*
 * It is freed when the thread has left the call it is in, and nothing is bound
 * to it any more.  NULL is allowed.
 */
void pier__guard_destroy(struct pier__guard *guard);

/*
 * Around @call, a constant; one call in another is allowed.  NULL: no engine.
 * Errors: -EDEADLK, another thread is inside, which is logged; do not leave.
 */
int pier__guard_enter(struct pier__guard *guard, const char *call);
void pier__guard_leave(struct pier__guard *guard);

/*
 * What has *@at is used with @guard from now on, by @call; NULL: with none.
 * The change is logged if another thread is inside with the one before.
 */
void pier__guard_bind(struct pier__guard **at, struct pier__guard *guard,
		      const char *call);

#else

#define PIER__GUARDS 0

static inline int pier__guard_create(struct pier__guard **ret)
{
	*ret = NULL;
	return 0;
}

static inline void pier__guard_destroy(struct pier__guard *guard)
{
	(void)guard;
}

static inline int pier__guard_enter(struct pier__guard *guard, const char *call)
{
	(void)guard;
	(void)call;
	return 0;
}

static inline void pier__guard_leave(struct pier__guard *guard)
{
	(void)guard;
}

static inline void pier__guard_bind(struct pier__guard **at,
				    struct pier__guard *guard, const char *call)
{
	(void)at;
	(void)guard;
	(void)call;
}

#endif

#endif
