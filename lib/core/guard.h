/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CORE_GUARD_H
#define PIER_CORE_GUARD_H

#include <stddef.h>

/*
 * Which thread is inside calls on an engine and on what belongs to it, in a
 * build with --enable-debug; else there is none, and the calls are empty.
 */
struct pier__guard;

/* What a call is for: a task, by its type, or a buffer of @len bytes. */
struct pier__used {
	const char *task;		/* NULL: a buffer */
	const void *at;			/* the task, or the buffer's memory */
	size_t len;
};

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
 * Errors: -EDEADLK, another thread is inside, which is logged, with @used,
 * unless that is NULL; do not leave.
 */
int pier__guard_enter_with(struct pier__guard *guard, const char *call,
			   const struct pier__used *used);

static inline int pier__guard_enter(struct pier__guard *guard, const char *call)
{
	return pier__guard_enter_with(guard, call, NULL);
}

void pier__guard_leave(struct pier__guard *guard);

/*
 * @used, which has *@at, is used with @guard from now on, by @call; NULL: with
 * none.  The change is logged if another thread is inside with the one before.
 */
void pier__guard_bind(struct pier__guard **at, struct pier__guard *guard,
		      const char *call, const struct pier__used *used);

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

static inline int pier__guard_enter_with(struct pier__guard *guard,
					 const char *call,
					 const struct pier__used *used)
{
	(void)guard;
	(void)call;
	(void)used;
	return 0;
}

static inline void pier__guard_leave(struct pier__guard *guard)
{
	(void)guard;
}

static inline void pier__guard_bind(struct pier__guard **at,
				    struct pier__guard *guard, const char *call,
				    const struct pier__used *used)
{
	(void)at;
	(void)guard;
	(void)call;
	(void)used;
}

#endif

#endif
