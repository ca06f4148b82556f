/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "cm/conn_impl.h"
#include "cm/queues.h"
#include "cm/scheduler.h"
#include "core/clock.h"
#include "core/fail.h"

#define STEPS 64		/* of hot connections in one round */
#define SLOTS 256		/* scanned in one round */
#define SOON (5 * PIER__MS)	/* due by then: hot */
#define LOOK_NS (100 * PIER__MS)	/* for events while no sleep does */

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void pier__scheduler_wake(struct pier__queues *queues)
{
	pier__pe_due(&queues->scheduler.source, 0);
}

void pier__scheduler_recheck(struct pier__queues *queues)
{
	queues->scheduler.recheck_wanted = true;
	pier__scheduler_wake(queues);
}

/* Returns when the next step of @conn is due. */
static uint64_t step(struct pier__scheduler *s, struct pier_conn *conn,
		     uint64_t now)
{
	uint64_t next = pier__conn_step(conn, now);

	if (next == PIER__NEVER)
		return next;	/* it may be freed */
	if (next > now + SOON)
		s->scan_due = sooner(s->scan_due, next);
	else if (pier__list_empty(&conn->hot))
		pier__list_add(&s->hot, &conn->hot);
	return next;
}

static uint64_t step_hot(struct pier__scheduler *s, struct pier_pe *pe,
			 uint64_t now)
{
	struct pier__list batch, *link;
	uint64_t due = PIER__NEVER;

	pier__list_take_all(&s->hot, &batch);
	for (int n = 0; n < STEPS && pier__pe_budget(pe) > 0; n++) {
		link = pier__list_pop(&batch);
		if (!link)
			return due;
		due = sooner(due, step(s, pier__container_of(
			link, struct pier_conn, hot), now));
	}
	while ((link = pier__list_pop(&batch)))
		pier__list_add(&s->hot, link);
	return now;
}

/* Check @conn for a change that concerns all connections. */
static void recheck(struct pier__queues *queues, struct pier_conn *conn,
		    const struct pier__port *port, uint64_t now)
{
	pier__conn_check_gid(conn, port, now);
	pier__conn_check_fault(conn);
	if (queues->error)
		pier__conn_queues_failed(conn);
}

/* Scan slots from scan_at to @end.  Returns when the next step is due. */
static uint64_t scan_slots(struct pier__queues *queues, uint32_t end,
			   uint64_t now)
{
	struct pier__scheduler *s = &queues->scheduler;
	uint64_t due = PIER__NEVER;
	struct pier__port port;

	if (s->rechecking)
		pier__dev_port(queues->dev, &port);
	for (; s->scan_at < end && pier__pe_budget(queues->pe) > 0;
	     s->scan_at++) {
		struct pier_conn *conn = queues->slots[s->scan_at];

		if (!conn)
			continue;
		if (s->rechecking)
			recheck(queues, conn, &port, now);
		if (conn->due <= now || s->rechecking)
			due = sooner(due, step(s, conn, now));
		else
			s->scan_due = sooner(s->scan_due, conn->due);
	}
	return due;
}

static uint64_t scan(struct pier__queues *queues, uint64_t now)
{
	struct pier__scheduler *s = &queues->scheduler;
	uint32_t max = queues->cfg->max_conns;
	uint64_t due;

	if (s->recheck_wanted) {	/* from the first slot on */
		s->recheck_wanted = false;
		s->rechecking = true;
		s->scan_at = 0;
		s->scan_due = 0;
	}
	if (!s->scan_at && now < s->scan_due)
		return s->scan_due;
	if (!s->scan_at)
		s->scan_due = PIER__NEVER;
	due = scan_slots(queues, max - s->scan_at < SLOTS ?
				 max : s->scan_at + SLOTS, now);
	if (s->scan_at < max)
		return now;
	s->scan_at = 0;
	s->rechecking = false;
	return s->recheck_wanted ? now : sooner(due, s->scan_due);
}

static void check_device(struct pier__queues *queues, uint64_t now)
{
	struct pier__scheduler *s = &queues->scheduler;
	unsigned int changes;

	if (now < s->device_due)
		return;
	s->device_due = now + PIER__MS;
	pier__dev_events(queues->dev);
	if (!queues->error && pier__dev_alive(queues->dev))
		pier__queues_fail(queues, -ENODEV);
	changes = atomic_load(&queues->dev->changes);
	if (changes != s->changes)
		pier__scheduler_recheck(queues);
	s->changes = changes;
}

/* Once, when each connection has failed. */
static void report_failure(struct pier__queues *queues)
{
	const struct pier__scheduler *s = &queues->scheduler;

	if (!queues->error || queues->error_reported || s->rechecking ||
	    s->recheck_wanted)
		return;
	queues->error_reported = true;
	if (queues->owner->failed)
		queues->owner->failed(queues->owner->ctx);
}

static int poll_steps(struct pier__source *source, int budget)
{
	struct pier__queues *queues = pier__container_of(
		source, struct pier__queues, scheduler.source);
	uint64_t now = pier__pe_now(queues->pe), due;

	(void)budget;
	if (now > queues->scheduler.device_due + LOOK_NS)
		check_device(queues, now);
	if (now < source->due)
		return 0;
	check_device(queues, now);
	source->due = PIER__NEVER;
	due = step_hot(&queues->scheduler, queues->pe, now);
	due = sooner(due, scan(queues, now));
	if (due < source->due)	/* a callback may have asked for sooner */
		pier__pe_due(source, due);
	report_failure(queues);
	pier__queues_finish(queues);
	return 0;
}

void pier__scheduler_init(struct pier__scheduler *scheduler)
{
	scheduler->source = (struct pier__source){
		.poll = poll_steps,
		.fd = -1,
		.slow = true,
		.due = PIER__NEVER,
	};
	pier__list_init(&scheduler->hot);
	scheduler->scan_due = PIER__NEVER;
}

int pier__scheduler_start(struct pier__queues *queues)
{
	struct pier__source *source = &queues->scheduler.source;
	int fd = queues->dev->fdev->event_fd;

	if (fd >= 0) {
		/* its own: contexts on one engine share the device's */
		source->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		if (source->fd < 0)
			return pier__fail(-errno, "no file descriptor: %s",
					  pier_strerror(errno));
	}
	return pier__pe_add(queues->pe, source);
}

void pier__scheduler_stop(struct pier__queues *queues)
{
	struct pier__scheduler *s = &queues->scheduler;

	while (pier__list_pop(&s->hot))
		;
	pier__pe_remove(&s->source);
	if (s->source.fd >= 0)
		close(s->source.fd);
}
