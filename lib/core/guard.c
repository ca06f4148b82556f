/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/guard.h"

#ifdef PIER_DEBUG

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fail.h"

#define NAME_SIZE 17		/* of a thread, with a newline */

/*
 * All accesses are relaxed: they order nothing else, so that a thread sanitizer
 * still reports a hand-over without synchronization.
 */
struct pier__guard {
	_Atomic(pid_t) owner;		/* inside; 0: none */
	_Atomic(const char *) call;	/* the outermost one */
	atomic_uint depth;		/* the owner's: calls in calls */
	atomic_bool destroyed;
	atomic_uint refs;		/* its engine, and what is bound */
};

int pier__guard_create(struct pier__guard **ret)
{
	struct pier__guard *guard = calloc(1, sizeof(*guard));

	if (!guard)
		return pier__fail(-ENOMEM, "pe: no memory");
	atomic_init(&guard->refs, 1);
	*ret = guard;
	return 0;
}

static void drop(struct pier__guard *guard)
{
	if (atomic_fetch_sub(&guard->refs, 1) == 1)
		free(guard);
}

static void load_name(pid_t tid, char ret[NAME_SIZE])
{
	char path[64];
	ssize_t len = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		len = read(fd, ret, NAME_SIZE - 1);
		close(fd);
	}
	ret[len > 0 ? len : 0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
}

/* Behind the name of a call: what it is for. */
static void used_text(const struct pier__used *used, char *ret, size_t size)
{
	if (!used)
		ret[0] = '\0';
	else if (used->task)
		snprintf(ret, size, " (task \"%s\" at %p)", used->task,
			 used->at);
	else
		snprintf(ret, size, " (buffer of %zu bytes at %p)",
			 used->len, used->at);
}

static int offend(struct pier__guard *guard, pid_t self, pid_t owner,
		  const char *call, const struct pier__used *used)
{
	const char *other = atomic_load_explicit(&guard->call,
						 memory_order_relaxed);
	char name[NAME_SIZE], owner_name[NAME_SIZE], text[96];

	used_text(used, text, sizeof(text));
	load_name(self, name);
	load_name(owner, owner_name);
	pier__fail(-EDEADLK, "pe: thread \"%s\" (%d) makes the call %s%s while "
		   "thread \"%s\" (%d) is inside %s: an engine belongs to one "
		   "thread", name, (int)self, call, text, owner_name,
		   (int)owner, other ? other : "a call");
	pier__log(PIER_LOG_CRITICAL, "pe", "%s", pier_last_error());
	return -EDEADLK;
}

int pier__guard_enter_with(struct pier__guard *guard, const char *call,
			   const struct pier__used *used)
{
	pid_t self = gettid(), owner = 0;

	if (!guard)
		return 0;
	if (atomic_load_explicit(&guard->owner, memory_order_relaxed) == self) {
		atomic_fetch_add_explicit(&guard->depth, 1,
					  memory_order_relaxed);
		return 0;
	}
	if (!atomic_compare_exchange_strong_explicit(
		    &guard->owner, &owner, self, memory_order_relaxed,
		    memory_order_relaxed))
		return offend(guard, self, owner, call, used);
	atomic_store_explicit(&guard->call, call, memory_order_relaxed);
	atomic_store_explicit(&guard->depth, 1, memory_order_relaxed);
	return 0;
}

void pier__guard_leave(struct pier__guard *guard)
{
	if (!guard ||
	    atomic_fetch_sub_explicit(&guard->depth, 1,
				      memory_order_relaxed) > 1)
		return;
	atomic_store_explicit(&guard->owner, 0, memory_order_relaxed);
	if (atomic_exchange_explicit(&guard->destroyed, false,
				     memory_order_relaxed))
		drop(guard);
}

void pier__guard_destroy(struct pier__guard *guard)
{
	if (!guard)
		return;
	if (atomic_load_explicit(&guard->owner, memory_order_relaxed))
		atomic_store_explicit(&guard->destroyed, true,
				      memory_order_relaxed);
	else
		drop(guard);
}

void pier__guard_bind(struct pier__guard **at, struct pier__guard *guard,
		      const char *call, const struct pier__used *used)
{
	struct pier__guard *old = *at;

	if (old == guard)
		return;
	if (guard)
		atomic_fetch_add(&guard->refs, 1);
	*at = guard;
	if (!old)
		return;
	if (!pier__guard_enter_with(old, call, used))
		pier__guard_leave(old);
	drop(old);
}

#endif
