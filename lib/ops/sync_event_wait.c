/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>

#include "core/clock.h"
#include "core/fail.h"
#include "core/futex.h"
#include "ops/sync_event_remote.h"

#define POLLS 64	/* between looks at the clock, or before sleep */

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static bool poll_briefly(const struct pier_sync_event *event,
			 const struct pier__sync_goal *goal)
{
	for (int i = 0; i < POLLS; i++) {
		if (pier__sync_reached(event, goal))
			return true;
		relax();
	}
	return false;
}

/* May the wait continue?  Errors: -ESHUTDOWN; -ETIMEDOUT, not logged here. */
static int check(const struct pier_sync_event *event, uint64_t deadline)
{
	int err = pier__sync_usable(event);

	if (!err && deadline != PIER__NEVER && pier__now() >= deadline)
		err = -ETIMEDOUT;
	return err;
}

static int wait_busy(const struct pier_sync_event *event,
		     const struct pier__sync_goal *goal, uint64_t deadline)
{
	int err = 0;

	while (!err && !poll_briefly(event, goal))
		err = check(event, deadline);
	return err;
}

/*
 * A setter stores the value and then loads sleepers; a sleeper is counted and
 * then loads the value: one of them sees the other.
 */
static int sleep_once(struct pier_sync_event *event,
		      const struct pier__sync_goal *goal, uint64_t deadline,
		      uint64_t nap)
{
	unsigned int changes = atomic_load(&event->changes);
	uint64_t until = nap == PIER__NEVER ? nap : pier__now() + nap;
	int err = check(event, deadline);

	if (err || pier__sync_reached(event, goal))
		return err;
	pier__futex_wait(&event->changes, changes,
			 until < deadline ? until : deadline);
	return 0;
}

/* Nothing but calls of this library changes pier's own word here. */
static bool is_private(const struct pier_sync_event *event)
{
	return event->word == &event->own_word && !event->mmap;
}

static int wait_asleep(struct pier_sync_event *event,
		       const struct pier__sync_goal *goal, uint64_t deadline)
{
	uint64_t nap = is_private(event) ? PIER__NEVER : PIER__SYNC_NAP_MIN;
	int err = 0;

	atomic_fetch_add(&event->sleepers, 1);
	while (!err && !pier__sync_reached(event, goal)) {
		err = sleep_once(event, goal, deadline, nap);
		nap = pier__sync_next_nap(nap);
	}
	atomic_fetch_sub(&event->sleepers, 1);
	return err;
}

int pier__sync_timed_out(uint64_t value, const struct pier__sync_goal *goal,
			 int timeout_ms)
{
	static const char *const texts[] = {
		[PIER__SYNC_GT] = "greater than",
		[PIER__SYNC_EQ] = "equal to",
		[PIER__SYNC_NEQ] = "different from",
	};

	return pier__fail(-ETIMEDOUT, "sync event: after %d ms its value 0x%"
			  PRIx64 " under the mask 0x%" PRIx64 " is not %s 0x%"
			  PRIx64, timeout_ms, value, goal->mask,
			  texts[goal->compare], goal->value);
}

static int check_wait(const struct pier_sync_event *event,
		      enum pier_sync_event_wait how)
{
	if (pier__sync_life(event) == PIER__SYNC_CONTEXT)
		return pier__fail(-EPERM, "sync event: a call that blocks, but "
				  "it runs as a context: use its tasks");
	if (how != PIER_SYNC_EVENT_BUSY && how != PIER_SYNC_EVENT_YIELD)
		return pier__fail(-EINVAL, "sync event: unknown way %d to "
				  "wait: %d, busy, or %d, yielding", (int)how,
				  PIER_SYNC_EVENT_BUSY, PIER_SYNC_EVENT_YIELD);
	return pier__sync_usable(event);
}

static int wait_for(struct pier_sync_event *event,
		    const struct pier__sync_goal *goal,
		    enum pier_sync_event_wait how, int timeout_ms)
{
	uint64_t deadline;
	int err = check_wait(event, how);

	if (err)
		return err;
	if (event->remote)
		return pier__sync_call_wait(event->remote, goal, how,
					    timeout_ms);
	if (poll_briefly(event, goal))
		return 0;
	deadline = pier__deadline(pier__now(), timeout_ms);
	err = how == PIER_SYNC_EVENT_BUSY ?
		      wait_busy(event, goal, deadline) :
		      wait_asleep(event, goal, deadline);
	return err != -ETIMEDOUT ? err :
	       pier__sync_timed_out(pier__sync_load(event), goal, timeout_ms);
}

int pier_sync_event_wait_gt(struct pier_sync_event *event, uint64_t value,
			    uint64_t mask, enum pier_sync_event_wait how,
			    int timeout_ms)
{
	struct pier__sync_goal goal = { PIER__SYNC_GT, value, mask };

	if (!event)
		return pier__no_object(__func__);
	return wait_for(event, &goal, how, timeout_ms);
}

int pier_sync_event_wait_eq(struct pier_sync_event *event, uint64_t value,
			    uint64_t mask, enum pier_sync_event_wait how,
			    int timeout_ms)
{
	struct pier__sync_goal goal = { PIER__SYNC_EQ, value, mask };

	if (!event)
		return pier__no_object(__func__);
	return wait_for(event, &goal, how, timeout_ms);
}

int pier_sync_event_wait_neq(struct pier_sync_event *event, uint64_t value,
			     uint64_t mask, enum pier_sync_event_wait how,
			     int timeout_ms)
{
	struct pier__sync_goal goal = { PIER__SYNC_NEQ, value, mask };

	if (!event)
		return pier__no_object(__func__);
	return wait_for(event, &goal, how, timeout_ms);
}
