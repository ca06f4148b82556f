/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "core/clock.h"
#include "core/fail.h"
#include "core/futex.h"
#include "ops/sync_event_remote.h"

#define LOOK_MS 100	/* for the first look of a wait, at the least */

/*
 * Calls on the event of another process: each is a task on the event's own
 * engine, which the calling thread drives in its turn.
 */

/* Values of the turn. */
enum {
	FREE,
	TAKEN,
	AWAITED,	/* taken, and other threads sleep until it is free */
};

/* Wait for the turn until @deadline.  Returns whether it is the caller's. */
static bool take_turn(struct pier__sync_remote *remote, uint64_t deadline)
{
	unsigned int turn = FREE;

	if (atomic_compare_exchange_strong(&remote->turn, &turn, TAKEN))
		return true;
	while (atomic_exchange(&remote->turn, AWAITED) != FREE) {
		if (pier__now() >= deadline)
			return false;
		pier__futex_wait(&remote->turn, AWAITED, deadline);
	}
	return true;
}

static void end_turn(struct pier__sync_remote *remote)
{
	if (atomic_exchange(&remote->turn, FREE) == AWAITED)
		pier__futex_wake(&remote->turn);
}

/* The task is over; the thread that drives the engine sees its status. */
static void over(struct pier_task *task, void *arg)
{
	(void)task;
	(void)arg;
}

int pier__sync_call_start(struct pier__sync_remote *remote)
{
	struct pier_sync_event *event = remote->event;
	int err = remote->pe ? 0 : pier_pe_create(&remote->pe);

	event->cpu.type_tasks = NULL;	/* one task is of all types */
	event->cpu.ctx.stop_on_task_error = false;
	if (!err)
		err = pier_ctx_start(&event->cpu.ctx, remote->pe);
	if (err)
		return err;
	pier__cpu_take(&event->cpu, PIER_TASK_SYNC_GET, &remote->call);
	pier_task_set_done(remote->call, over, NULL);
	pier__sync_task(remote->call)->result = &remote->result;
	atomic_store(&event->life, PIER__SYNC_BLOCKING);
	return 0;
}

void pier__sync_call_stop(struct pier__sync_remote *remote)
{
	struct pier_sync_event *event = remote->event;

	if (!remote->pe)	/* it ran as a context */
		return;
	atomic_store(&event->life, PIER__SYNC_STOPPED);
	pier__sync_wake(event);
	pier_pe_wake(remote->pe);
	take_turn(remote, PIER__NEVER);
	if (remote->call && !pier__ctx_drain(&event->cpu.ctx)) {
		remote->call->type = PIER_TASK_SYNC_GET;	/* as taken */
		pier_task_free(remote->call);
		remote->call = NULL;
	}
	end_turn(remote);
}

/*
 * Drive the engine until the task is over.  Errors: -ESHUTDOWN; -EINPROGRESS,
 * without a message: it is not until @deadline.
 */
static int drive(struct pier__sync_remote *remote,
		 enum pier_sync_event_wait how, uint64_t deadline)
{
	while (pier__task_busy(remote->call)) {
		int err = pier__sync_usable(remote->event);
		uint64_t now = pier__now();

		if (err)
			return err;
		if (now >= deadline)
			return -EINPROGRESS;
		if (how == PIER_SYNC_EVENT_BUSY)
			pier_pe_progress(remote->pe, 0);
		else
			pier_pe_wait(remote->pe, pier__ms_left(now, deadline));
	}
	return 0;
}

/* In its turn.  A call before may have left its task in flight. */
static int run_turn(struct pier__sync_remote *remote,
		    enum pier_task_type type, uint64_t value,
		    enum pier_sync_event_wait how, uint64_t deadline)
{
	int err = pier__sync_usable(remote->event);

	if (!err)
		err = drive(remote, how, deadline);
	if (err)
		return err;
	remote->call->type = type;
	pier__sync_task(remote->call)->goal.value = value;
	err = pier_task_submit(remote->call, 0);
	if (!err)
		err = drive(remote, how, deadline);
	return err ? err : pier_task_status(remote->call);
}

/* Errors: -EINPROGRESS, without a message: it is not over at @deadline. */
static int run(struct pier__sync_remote *remote, enum pier_task_type type,
	       uint64_t value, enum pier_sync_event_wait how, uint64_t deadline,
	       uint64_t *ret)
{
	int err = -EINPROGRESS;

	atomic_fetch_add(&remote->callers, 1);
	if (take_turn(remote, deadline)) {
		err = run_turn(remote, type, value, how, deadline);
		if (!err && ret)
			*ret = remote->result;
		end_turn(remote);
	}
	atomic_fetch_sub(&remote->callers, 1);
	return err;
}

int pier__sync_call(struct pier__sync_remote *remote, enum pier_task_type type,
		    uint64_t value, uint64_t *ret)
{
	if (pier__sync_life(remote->event) == PIER__SYNC_CONTEXT)
		return pier__fail(-EPERM, "sync event: a call that blocks, as "
				  "the event is imported, but it runs as a "
				  "context: use its tasks");
	return run(remote, type, value, PIER_SYNC_EVENT_YIELD, PIER__NEVER,
		   ret);
}

/* Sleep for @nap nanoseconds, not beyond @deadline; a stop ends it. */
static void sleep_once(struct pier_sync_event *event, uint64_t nap,
		       uint64_t deadline)
{
	unsigned int changes;
	uint64_t until = pier__now() + nap;

	atomic_fetch_add(&event->sleepers, 1);
	changes = atomic_load(&event->changes);
	if (!pier__sync_usable(event))
		pier__futex_wait(&event->changes, changes,
				 until < deadline ? until : deadline);
	atomic_fetch_sub(&event->sleepers, 1);
}

/* At most until when the first look may take, if it is later than @deadline. */
static uint64_t first_deadline(uint64_t deadline)
{
	uint64_t least = pier__deadline(pier__now(), LOOK_MS);

	return deadline > least ? deadline : least;
}

/* A wait after its first look, which has seen @value. */
static int wait_on(struct pier__sync_remote *remote,
		   const struct pier__sync_goal *goal,
		   enum pier_sync_event_wait how, uint64_t deadline,
		   uint64_t *value)
{
	uint64_t nap = PIER__SYNC_NAP_MIN;
	int err = 0;

	while (!err && !pier__sync_is(*value, goal)) {
		if (how == PIER_SYNC_EVENT_YIELD ||
		    atomic_load(&remote->callers)) {
			sleep_once(remote->event, nap, deadline);
			nap = pier__sync_next_nap(nap);
		}
		if (pier__now() >= deadline)
			return -EINPROGRESS;
		err = run(remote, PIER_TASK_SYNC_GET, 0, how, deadline, value);
	}
	return err;
}

int pier__sync_call_wait(struct pier__sync_remote *remote,
			 const struct pier__sync_goal *goal,
			 enum pier_sync_event_wait how, int timeout_ms)
{
	uint64_t deadline = pier__deadline(pier__now(), timeout_ms), value;
	int err = run(remote, PIER_TASK_SYNC_GET, 0, how,
		      first_deadline(deadline), &value);

	if (err == -EINPROGRESS)
		return pier__fail(-ETIMEDOUT, "sync event: no answer of its "
				  "owner in %d ms",
				  timeout_ms > LOOK_MS ? timeout_ms : LOOK_MS);
	if (!err)
		err = wait_on(remote, goal, how, deadline, &value);
	return err != -EINPROGRESS ? err :
				     pier__sync_timed_out(value, goal,
							  timeout_ms);
}
