/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fail.h"
#include "engine/ctx_impl.h"
#include "engine/pe_impl.h"
#include "engine/source.h"
#include "engine/task_timeout.h"

#define MAX_EVENTS 64		/* default budget of a round */
#define SLOW_ROUNDS 256		/* slow sources are due this often anyway, */
#define SLOW_NS PIER__MS	/* or after this time if it is shorter */
#define HOT_ROUNDS 16		/* with events between looks at the clock, */
#define IDLE_ROUNDS 16		/* and without, at most, */
#define BRISK_NS 1000		/* if those before took no longer */
#define SPIN_NS UINT64_C(20000)	/* wait polls this long before it sleeps */

static int open_fds(struct pier_pe *pe)
{
	int err;

	pe->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	pe->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pe->timer_fd = timerfd_create(CLOCK_MONOTONIC,
				      TFD_CLOEXEC | TFD_NONBLOCK);
	if (pe->epoll_fd < 0 || pe->wake_fd < 0 || pe->timer_fd < 0)
		return pier__fail(-errno, "pe: no file descriptor: %s",
				  pier_strerror(errno));

	err = pier__pe_watch(pe, pe->wake_fd, &pe->wake_fd);
	if (!err)
		err = pier__pe_watch(pe, pe->timer_fd, &pe->timer_fd);
	return err;
}

static void close_fds(struct pier_pe *pe)
{
	if (pe->timer_fd >= 0)
		close(pe->timer_fd);
	if (pe->wake_fd >= 0)
		close(pe->wake_fd);
	if (pe->epoll_fd >= 0)
		close(pe->epoll_fd);
}

int pier_pe_create(struct pier_pe **ret)
{
	struct pier_pe *pe = calloc(1, sizeof(*pe));
	int err;

	if (!pe)
		return pier__fail(-ENOMEM, "pe: no memory");
	pier__list_init(&pe->ctxs);
	pier__list_init(&pe->stopped);
	pier__list_init(&pe->finished);
	pier__list_init(&pe->deferred);
	pier__list_init(&pe->timed);
	pe->next_due = pe->timer_due = PIER__NEVER;
	pe->quiet = pe->stride = pe->idle = 1;
	pe->looked = pier__now();

	err = open_fds(pe);
	if (!err)
		err = pier__guard_create(&pe->guard);
	if (err)
		goto err_close_fds;

	*ret = pe;
	return 0;

err_close_fds:
	close_fds(pe);
	free(pe);
	return err;
}

static inline unsigned int attention(struct pier_pe *pe)
{
	return atomic_load_explicit(&pe->attention, memory_order_relaxed);
}

static bool is_destroyed(struct pier_pe *pe)
{
	return attention(pe) & PIER__ATTEND_DESTROY;
}

static void destroy(struct pier_pe *pe)
{
	atomic_store(&pe->attention, 0);
	pe->depth = 1;		/* draining must not come back here */
	pier__pe_settle(pe);
	while (!pier__list_empty(&pe->ctxs)) {
		struct pier_ctx *ctx = pier__container_of(
			pe->ctxs.next, struct pier_ctx, link);

		pier__ctx_drain(ctx);
		if (&ctx->link == pe->ctxs.next)	/* beyond its bound */
			pier__list_del(&ctx->link);
	}
	pier__pe_drop_finished(pe);
	pier__timeouts_stop(pe);
	close_fds(pe);
	pier__guard_destroy(pe->guard);
	free(pe);
}

void pier_pe_destroy(struct pier_pe *pe)
{
	struct pier__guard *guard = pe ? pe->guard : NULL;

	if (!pe || pier__guard_enter(guard, "pier_pe_destroy"))
		return;
	if (pe->busy || pe->depth)
		pier__pe_attend(pe, PIER__ATTEND_DESTROY);
	else
		destroy(pe);
	pier__guard_leave(guard);
}

/* Every call that drives the engine is enclosed by these two. */
static void enter(struct pier_pe *pe)
{
	pe->depth++;
}

/* @pe may be freed after this. */
static void leave(struct pier_pe *pe)
{
	if (!--pe->depth && is_destroyed(pe))
		destroy(pe);
}

static void run_deferred(struct pier_pe *pe)
{
	struct pier__list *link;

	while ((link = pier__list_pop(&pe->deferred))) {
		struct pier__deferred *deferred =
			pier__container_of(link, struct pier__deferred, link);

		deferred->fn(deferred);
	}
}

void pier__pe_defer(struct pier_pe *pe, struct pier__deferred *deferred)
{
	if (!pe->busy) {
		deferred->fn(deferred);
		return;
	}
	pier__list_add(&pe->deferred, &deferred->link);
	pier__pe_attend(pe, PIER__ATTEND_DEFERRED);
}

static void rotate(struct pier_pe *pe)
{
	struct pier__source *first = pe->fast, *last = first->next;

	pe->fast = last;
	while (last->next)
		last = last->next;
	last->next = first;
	first->next = NULL;
}

/*
 * The budget ran out: the next round begins with another source.  Calls for
 * one event try the one that was polled last before a round.
 */
static void __attribute__((noinline)) end_early(struct pier_pe *pe)
{
	struct pier__source *at = pe->max == 1 ? pe->fast : NULL;

	while (at && at->next != pe->visit)
		at = at->next;
	pe->again = at;
	if (pe->fast && pe->fast->next)
		rotate(pe);
}

static inline int poll_fast(struct pier_pe *pe)
{
	struct pier__source *at;
	int did = 0;

	for (at = pe->fast; at; at = pe->visit) {
		pe->visit = at->next;	/* removal moves it on */
		did |= at->poll(at, pe->max - pe->events);
		if (pe->events >= pe->max) {
			end_early(pe);
			break;
		}
	}
	return did;
}

/* Poll the slow sources that are due; @all: every one. */
static int poll_slow(struct pier_pe *pe, bool all)
{
	struct pier__source *at;
	int did = 0;

	for (at = pe->slow; at; at = pe->visit) {
		pe->visit = at->next;	/* removal moves it on */
		if (all || at->due <= pe->now)
			did |= at->poll(at, pe->max);
	}

	pe->next_due = PIER__NEVER;
	for (at = pe->slow; at; at = at->next) {
		if (at->due < pe->next_due)
			pe->next_due = at->due;
	}
	return did;
}

/* The end of a context is reported whatever the budget is. */
static void report_stopped(struct pier_pe *pe)
{
	struct pier__list batch, *link;

	pier__list_take_all(&pe->stopped, &batch);
	while ((link = pier__list_pop(&batch)))
		pier__ctx_report_idle(pier__container_of(link, struct pier_ctx,
							 link));
}

/* Rounds until the next look: not more than were made without a pause. */
static unsigned int idle_rounds(const struct pier_pe *pe)
{
	if (pe->now - pe->glanced > BRISK_NS)
		return 1;
	return pe->idle < IDLE_ROUNDS ? 2 * pe->idle : IDLE_ROUNDS;
}

/* Poll slow sources now and then, rarely under load. */
static int __attribute__((noinline)) look_around(struct pier_pe *pe)
{
	bool all;

	pe->rounds += pe->stride;
	pe->quiet = pe->stride = HOT_ROUNDS;
	pe->now = pier__now();
	pe->idle = idle_rounds(pe);
	pe->glanced = pe->now;
	all = pe->rounds >= SLOW_ROUNDS || pe->now - pe->looked >= SLOW_NS;
	if (all) {
		pe->rounds = 0;
		pe->looked = pe->now;
	}
	return all || pe->now >= pe->next_due ? poll_slow(pe, all) : 0;
}

/* After a round without events. */
static void __attribute__((noinline)) look_sooner(struct pier_pe *pe)
{
	if (pe->quiet > pe->idle)
		pe->quiet = pe->stride = pe->idle;
}

static inline int round_of(struct pier_pe *pe, int max)
{
	int did = 0;

	pe->busy = 1;
	pe->events = 0;
	pe->max = max;
	pe->now = 0;
	if (!--pe->quiet)
		did = look_around(pe);
	did |= poll_fast(pe);
	if (!pe->events)
		look_sooner(pe);
	pe->busy = 0;
	return did;
}

/* It was nudged: the next round polls all slow sources, too. */
static void look_soon(struct pier_pe *pe)
{
	pe->rounds = SLOW_ROUNDS;
	pe->quiet = 1;
}

/* The rest of a round: what was deferred to its end, if anything. */
static void attend(struct pier_pe *pe)
{
	const unsigned int done = PIER__ATTEND_STOPPED |
				  PIER__ATTEND_DEFERRED | PIER__ATTEND_WORKER;

	if (atomic_fetch_and(&pe->attention, ~done) & PIER__ATTEND_WORKER)
		look_soon(pe);
	pe->busy = 1;
	report_stopped(pe);
	pe->busy = 0;
	run_deferred(pe);
}

void pier__pe_settle(struct pier_pe *pe)
{
	enter(pe);
	attend(pe);
	leave(pe);
}

/* Was pier_pe_wake() called since the last call of this? */
static bool take_wake(struct pier_pe *pe)
{
	return attention(pe) & PIER__ATTEND_WAKE &&
	       atomic_fetch_and(&pe->attention,
				~(unsigned int)PIER__ATTEND_WAKE) &
		       PIER__ATTEND_WAKE;
}

/* The end of a round with attention; @pe may be freed after this. */
static int __attribute__((noinline)) progress_more(struct pier_pe *pe)
{
	int events;

	enter(pe);
	attend(pe);
	events = pe->events;
	take_wake(pe);
	leave(pe);
	return events;
}

static int __attribute__((noinline, cold)) fail_nested(const char *what)
{
	return pier__fail(-EBUSY, "pe: %s inside a callback", what);
}

/* What remains after a round; @pe may be freed after this. */
static inline int finish_round(struct pier_pe *pe)
{
	return attention(pe) ? progress_more(pe) : pe->events;
}

static int __attribute__((noinline)) progress_all(struct pier_pe *pe)
{
	pe->again = NULL;
	round_of(pe, 1);
	return finish_round(pe);
}

/*
 * One event, of the source that had the last one, without a round, if it has
 * more.  The calls until the next look at the clock bound this, so that no
 * source starves.
 */
static int __attribute__((noinline)) progress_again(struct pier_pe *pe)
{
	struct pier__source *at = pe->again;

	if (!--pe->quiet) {
		pe->quiet = 1;
		return progress_all(pe);
	}
	pe->busy = 1;
	pe->events = 0;
	pe->max = 1;
	pe->now = 0;
	at->poll(at, 1);
	pe->busy = 0;
	return pe->events ? finish_round(pe) : progress_all(pe);
}

static inline int progress(struct pier_pe *pe, int max)
{
	if (pe->busy)
		return fail_nested("progress");
	if (max == 1 && pe->again)
		return progress_again(pe);
	round_of(pe, max > 0 ? max : MAX_EVENTS);
	return finish_round(pe);
}

int pier_pe_progress(struct pier_pe *pe, int max)
{
	struct pier__guard *guard = pe->guard;
	int ret = pier__guard_enter(guard, "pier_pe_progress");

	if (ret)
		return ret;
	ret = progress(pe, max);
	pier__guard_leave(guard);
	return ret;
}

static int arm_sources(struct pier__source *at)
{
	int err = 0;

	for (; at && !err; at = at->next) {
		if (at->arm) {
			at->armed = true;
			err = at->arm(at);
		}
	}
	return err;
}

static void clear_sources(struct pier__source *at)
{
	for (; at; at = at->next) {
		if (at->armed && at->clear)
			at->clear(at);
		at->armed = false;
	}
}

static void clear_all(struct pier_pe *pe)
{
	atomic_store_explicit(&pe->armed, false, memory_order_relaxed);
	clear_sources(pe->fast);
	clear_sources(pe->slow);
}

/* What finishes before it is armed a source sees; what does later nudges it. */
static int arm(struct pier_pe *pe)
{
	int err;

	pe->quiet = 1;		/* the next round is after a sleep, or is due */
	if (atomic_load(&pe->attention) || pe->next_due <= pier__now())
		return -EAGAIN;
	atomic_store(&pe->armed, true);
	err = arm_sources(pe->fast);
	if (!err)
		err = arm_sources(pe->slow);
	if (err)
		clear_all(pe);
	return err;
}

static void set_timer(struct pier_pe *pe, uint64_t due)
{
	struct itimerspec spec = { 0 };

	if (due == pe->timer_due)
		return;
	if (due != PIER__NEVER) {
		spec.it_value.tv_sec = (time_t)(due / (1000 * PIER__MS));
		spec.it_value.tv_nsec = (long)(due % (1000 * PIER__MS));
	}
	timerfd_settime(pe->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL);
	pe->timer_due = due;
}

int pier_pe_fd(const struct pier_pe *pe)
{
	if (!pe)
		return pier__no_object(__func__);
	return pe->epoll_fd;
}

int pier_pe_arm(struct pier_pe *pe)
{
	int err;

	if (!pe)
		return pier__no_object(__func__);
	err = pier__guard_enter(pe->guard, "pier_pe_arm");
	if (err)
		return err;
	err = pier__list_empty(&pe->finished) ? arm(pe) : -EAGAIN;
	if (!err)
		set_timer(pe, pe->next_due);
	pier__guard_leave(pe->guard);
	return err;
}

/* Clear what ended the sleep: the engine's own event, or a slow source. */
static void clear_event(struct pier_pe *pe, void *ptr)
{
	struct pier__source *source = ptr;
	uint64_t count;
	ssize_t got;

	if (ptr == &pe->wake_fd) {
		got = read(pe->wake_fd, &count, sizeof(count));
		(void)got;	/* there is no other reader */
	} else if (ptr == &pe->timer_fd) {
		set_timer(pe, PIER__NEVER);
	} else if (source->slow) {
		pier__pe_due(source, 0);
	}
}

/* Sleep at most @ms, then clear what is readable. */
static void sleep_and_clear(struct pier_pe *pe, int ms)
{
	struct epoll_event ev[MAX_EVENTS];
	int n = epoll_wait(pe->epoll_fd, ev, MAX_EVENTS, ms);

	for (int i = 0; i < n; i++)
		clear_event(pe, ev[i].data.ptr);
	clear_all(pe);
}

void pier_pe_clear(struct pier_pe *pe)
{
	if (!pe || pier__guard_enter(pe->guard, "pier_pe_clear"))
		return;
	sleep_and_clear(pe, 0);
	pier__guard_leave(pe->guard);
}

/* End the sleep of the engine's thread. */
static void wake(struct pier_pe *pe, unsigned int attend)
{
	uint64_t one = 1;
	ssize_t put;

	if (atomic_fetch_or(&pe->attention, attend) & attend)
		return;
	put = write(pe->wake_fd, &one, sizeof(one));
	(void)put;		/* full means readable, which is enough */
}

void pier_pe_wake(struct pier_pe *pe)
{
	if (!pe)
		return;
	wake(pe, PIER__ATTEND_WAKE);
}

void pier__pe_nudge(struct pier_pe *pe)
{
	wake(pe, PIER__ATTEND_WORKER);
}

/* Sleep until there may be work, or @deadline. */
static void sleep_until(struct pier_pe *pe, uint64_t deadline)
{
	uint64_t until;

	if (arm(pe))
		return;
	until = pe->next_due < deadline ? pe->next_due : deadline;
	sleep_and_clear(pe, pier__ms_left(pier__now(), until));
}

/* Progress until an event, a wake-up, its end or @deadline. */
static int wait_until(struct pier_pe *pe, uint64_t deadline)
{
	uint64_t spin = 0;

	for (;;) {
		int did = round_of(pe, MAX_EVENTS);

		if (attention(pe))
			attend(pe);
		if (is_destroyed(pe) || pe->events || take_wake(pe))
			return 0;
		if (!pe->now)
			continue;
		if (pe->now >= deadline)
			return -ETIMEDOUT;
		if (did || !spin)
			spin = pe->now + SPIN_NS;
		else if (pe->now >= spin)
			sleep_until(pe, deadline);
	}
}

static int wait_for_event(struct pier_pe *pe, int timeout_ms)
{
	int err;

	if (pe->busy)
		return fail_nested("wait");
	enter(pe);
	err = wait_until(pe, pier__deadline(pier__now(), timeout_ms));
	leave(pe);
	return err ? pier__fail(err, "pe: nothing happened for %d ms",
				timeout_ms) : 0;
}

int pier_pe_wait(struct pier_pe *pe, int timeout_ms)
{
	struct pier__guard *guard;
	int err;

	if (!pe)
		return pier__no_object(__func__);
	guard = pe->guard;
	err = pier__guard_enter(guard, "pier_pe_wait");
	if (err)
		return err;
	err = wait_for_event(pe, timeout_ms);
	pier__guard_leave(guard);
	return err;
}
