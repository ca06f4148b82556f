/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/time.h>
#include <unistd.h>

#include "core/clock.h"
#include "engine/source.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* Progress engines: sources of a test's own, sleeping and waking, ends. */

/* A source that counts what is asked of it. */
struct probe {
	struct pier__source source;	/* first */
	int polls, arms, clears;
	int events;		/* to report, one at a time in the budget */
	int arm_result;
	int budget;		/* as last given */
	struct probe *remove;	/* in the next poll; or NULL */
};

static int probe_poll(struct pier__source *source, int budget)
{
	struct probe *probe = (struct probe *)source;
	int n;

	probe->polls++;
	probe->budget = budget;
	if (probe->remove)
		pier__pe_remove(&probe->remove->source);
	probe->remove = NULL;
	for (n = 0; n < budget && probe->events; n++, probe->events--)
		pier__pe_event(source->pe);
	return n > 0;
}

static int probe_arm(struct pier__source *source)
{
	struct probe *probe = (struct probe *)source;

	probe->arms++;
	return probe->arm_result;
}

static void probe_clear(struct pier__source *source)
{
	struct probe *probe = (struct probe *)source;
	uint64_t count;
	ssize_t got = read(source->fd, &count, sizeof(count));

	(void)got;	/* it may be empty */
	probe->clears++;
}

static bool add(struct pier_pe *pe, struct probe *probe, bool slow)
{
	memset(probe, 0, sizeof(*probe));
	probe->source.poll = probe_poll;
	probe->source.arm = probe_arm;
	probe->source.clear = probe_clear;
	probe->source.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	probe->source.slow = slow;
	probe->source.due = PIER__NEVER;
	return IS(pier__pe_add(pe, &probe->source), 0);
}

static void take_out(struct probe *probe)
{
	pier__pe_remove(&probe->source);
	close(probe->source.fd);
}

static void ring(struct probe *probe)
{
	uint64_t one = 1;

	IS(write(probe->source.fd, &one, sizeof(one)), sizeof(one));
}

static bool readable(struct pier_pe *pe)
{
	struct pollfd fd = { .fd = pier_pe_fd(pe), .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

static void an_engine_with_nothing_on_it_has_no_events(void)
{
	struct pier_event event;
	struct pier_pe *pe;

	if (!IS(pier_pe_create(&pe), 0))
		return;
	IS(pier_pe_progress(pe, 0), 0);
	IS(pier_pe_wait(pe, 0), -ETIMEDOUT);
	IS(pier_pe_wait(pe, 1), -ETIMEDOUT);
	LIKE(pier_last_error(), "nothing happened for 1 ms");
	IS(pier_pe_retrieve(pe, &event), -EAGAIN);
	LIKE(pier_last_error(), "nothing happened for 1 ms");
	IS(pier_pe_inflight(pe), 0);
	OK(pier_pe_fd(pe) >= 0);
	pier_pe_destroy(pe);
	pier_pe_destroy(NULL);
}

static void progress_tells_at_most_what_it_was_asked_for(void)
{
	struct probe one, two;
	struct pier_pe *pe;
	int n, total = 0;

	if (!IS(pier_pe_create(&pe), 0) || !add(pe, &one, false) ||
	    !add(pe, &two, false))
		return;
	one.events = 10;
	two.events = 3;
	while ((n = pier_pe_progress(pe, 2)) > 0) {
		OK(n <= 2);
		OK(one.budget <= 2);
		total += n;
		if (total == 4)
			OK(two.polls > 0);	/* it has its turn */
	}
	IS(total, 13);
	one.events = 100;
	IS(pier_pe_progress(pe, 0), 64);
	IS(pier_pe_progress(pe, 0), 36);
	take_out(&one);
	take_out(&two);
	pier_pe_destroy(pe);
}

static void a_poll_may_remove_any_source(void)
{
	struct probe one, two, three;
	struct pier_pe *pe;

	if (!IS(pier_pe_create(&pe), 0) || !add(pe, &one, false) ||
	    !add(pe, &two, false) || !add(pe, &three, false))
		return;
	one.remove = &two;
	pier_pe_progress(pe, 0);
	IS(two.polls, 0);
	IS(three.polls, 1);
	one.remove = &one;
	pier_pe_progress(pe, 0);
	pier_pe_progress(pe, 0);
	IS(one.polls, 2);
	IS(three.polls, 3);
	three.remove = &three;
	pier_pe_progress(pe, 0);
	pier_pe_progress(pe, 0);
	IS(three.polls, 4);
	take_out(&one);		/* twice is harmless */
	take_out(&two);
	take_out(&three);
	pier_pe_destroy(pe);
}

static void a_slow_source_is_polled_when_due(void)
{
	struct pier_pe *pe;
	struct probe slow;
	uint64_t begun = pier__now();
	int i, before;

	if (!IS(pier_pe_create(&pe), 0) || !add(pe, &slow, true))
		return;
	for (i = 0; i < 10; i++)
		pier_pe_progress(pe, 0);
	before = slow.polls;	/* 0, if this process was not stopped */
	OK(!before || pier__now() - begun > PIER__MS);
	pier__pe_due(&slow.source, 0);
	slow.events = 1;
	IS(pier_pe_arm(pe), -EAGAIN);
	IS(pier_pe_progress(pe, 0), 1);
	IS(slow.polls, before + 1);
	pier__pe_due(&slow.source, PIER__NEVER);
	for (i = 0; i < 2000 && slow.polls < before + 2; i++)
		pier_pe_progress(pe, 0);
	IS(slow.polls, before + 2);	/* now and then all the same */
	pier__pe_due(&slow.source, pier__now() + 5 * PIER__MS);
	slow.events = 1;
	IS(pier_pe_wait(pe, PEER_LIMIT_MS), 0);
	take_out(&slow);
	pier_pe_destroy(pe);
}

/* A program that is seldom here does not count rounds for it. */
static void a_slow_source_is_polled_after_a_nudge(void)
{
	struct pier_pe *pe;
	struct probe slow, fast;

	if (!IS(pier_pe_create(&pe), 0) || !add(pe, &slow, true) ||
	    !add(pe, &fast, false))
		return;
	fast.events = INT_MAX;	/* so that it is not polled for a while */
	for (int i = 0; i < 2000 && !slow.polls; i++)
		pier_pe_progress(pe, 1);
	slow.polls = 0;
	pier__pe_nudge(pe);
	pier_pe_progress(pe, 1);
	pier_pe_progress(pe, 1);
	IS(slow.polls, 1);
	take_out(&slow);
	take_out(&fast);
	pier_pe_destroy(pe);
}

static void a_slow_source_is_polled_in_every_round_a_millisecond_apart(void)
{
	struct probe slow;
	struct pier_pe *pe;
	uint64_t next;

	if (!IS(pier_pe_create(&pe), 0) || !add(pe, &slow, true))
		return;
	for (int i = 1; i <= 4; i++) {
		next = pier__now() + PIER__MS;
		while (pier__now() < next)
			;
		pier_pe_progress(pe, 1);
		IS(slow.polls, i);
	}
	take_out(&slow);
	pier_pe_destroy(pe);
}

/* Rounds without events, of which not each looks at the clock. */
static void poll_briskly(struct pier_pe *pe)
{
	for (int i = 0; i < 66; i++)
		pier_pe_progress(pe, 0);
}

static void the_first_round_after_arming_looks_at_the_clock(void)
{
	struct probe slow;
	struct pier_pe *pe;
	int before, i;

	if (!IS(pier_pe_create(&pe), 0) || !add(pe, &slow, true))
		return;
	for (i = 0; i < 8; i++) {
		poll_briskly(pe);
		pier__pe_due(&slow.source, pier__now() + PIER__MS / 8);
		if (pier_pe_arm(pe) == 0) {
			while (pier__now() < slow.source.due)
				;
			pier_pe_clear(pe);
		}
		before = slow.polls;
		pier_pe_progress(pe, 0);
		OK(slow.polls > before);
		pier__pe_due(&slow.source, PIER__NEVER);
	}
	take_out(&slow);
	pier_pe_destroy(pe);
}

/*
 * A program that polls a few times, and then does something else.  It has not
 * polled more often without a pause than it does after this one.
 */
#define FEW 2
static void rounds_between_pauses_look_at_the_clock(void)
{
	struct probe slow;
	struct pier_pe *pe;
	int before, i, k;

	if (!IS(pier_pe_create(&pe), 0) || !add(pe, &slow, true))
		return;
	for (i = 0; i < 8; i++) {
		for (k = 0; k < FEW; k++)
			pier_pe_progress(pe, 0);
		pier__pe_due(&slow.source, pier__now() + PIER__MS / 8);
		while (pier__now() < slow.source.due)
			;
		before = slow.polls;
		for (k = 0; k < 2 * FEW; k++)
			pier_pe_progress(pe, 0);
		OK(slow.polls > before);
		pier__pe_due(&slow.source, pier__now() + PIER__MS / 8);
		while (pier__now() < slow.source.due)
			;
	}
	take_out(&slow);
	pier_pe_destroy(pe);
}

static void the_fd_becomes_readable_when_a_slow_source_is_due(void)
{
	struct pollfd fd = { .events = POLLIN };
	struct pier_pe *pe;
	struct probe slow;
	int i;

	if (!IS(pier_pe_create(&pe), 0) || !add(pe, &slow, true))
		return;
	pier_pe_progress(pe, 0);
	pier__pe_due(&slow.source, pier__now() + 5 * PIER__MS);
	slow.events = 1;
	if (pier_pe_arm(pe) == 0) {
		fd.fd = pier_pe_fd(pe);
		IS(poll(&fd, 1, PEER_LIMIT_MS), 1);
		pier_pe_clear(pe);
	}
	IS(pier_pe_wait(pe, PEER_LIMIT_MS), 0);
	IS(slow.events, 0);
	pier__pe_due(&slow.source, PIER__NEVER);
	for (i = 0; i < 1000 && pier_pe_arm(pe); i++)
		pier_pe_progress(pe, 0);
	OK(i < 1000);
	OK(!readable(pe));
	pier_pe_clear(pe);
	take_out(&slow);
	pier_pe_destroy(pe);
}

static void arming_asks_every_source_and_tells_what_is_pending(void)
{
	struct pier_pe *pe;
	struct probe probe;

	if (!IS(pier_pe_create(&pe), 0) || !add(pe, &probe, false))
		return;
	IS(pier_pe_arm(pe), 0);
	IS(probe.arms, 1);
	OK(!readable(pe));
	ring(&probe);
	OK(readable(pe));
	pier_pe_clear(pe);
	IS(probe.clears, 1);
	OK(!readable(pe));
	probe.arm_result = -EAGAIN;
	IS(pier_pe_arm(pe), -EAGAIN);
	probe.arm_result = 0;
	pier_pe_wake(pe);
	IS(pier_pe_arm(pe), -EAGAIN);
	IS(pier_pe_progress(pe, 0), 0);
	IS(pier_pe_arm(pe), 0);
	pier_pe_clear(pe);
	OK(!readable(pe));
	take_out(&probe);
	pier_pe_destroy(pe);
}

static void a_sleeping_wait_ends_with_a_source(void)
{
	struct pier_pe *pe;
	struct probe probe;

	if (!IS(pier_pe_create(&pe), 0) || !add(pe, &probe, false))
		return;
	IS(pier_pe_wait(pe, 1), -ETIMEDOUT);
	probe.events = 1;
	IS(pier_pe_wait(pe, -1), 0);
	IS(probe.events, 0);
	take_out(&probe);
	pier_pe_destroy(pe);
}

static void *wake_from_here(void *arg)
{
	pier_pe_wake(arg);
	return NULL;
}

static void another_thread_wakes_a_wait(void)
{
	pthread_t thread;
	struct pier_pe *pe;
	int i;

	if (!IS(pier_pe_create(&pe), 0))
		return;
	for (i = 0; i < 20; i++) {
		if (!IS(pthread_create(&thread, NULL, wake_from_here, pe), 0))
			break;
		IS(pier_pe_wait(pe, -1), 0);
		pthread_join(thread, NULL);
	}
	IS(pier_pe_wait(pe, 0), -ETIMEDOUT);	/* each wakes once */
	pier_pe_wake(pe);
	pier_pe_wake(pe);
	IS(pier_pe_wait(pe, -1), 0);
	IS(pier_pe_wait(pe, 0), -ETIMEDOUT);
	pier_pe_destroy(pe);
}

static struct pier_pe *volatile wake_it;

/* A signal handler. */
static void on_alarm(int sig)
{
	(void)sig;
	if (wake_it)
		pier_pe_wake(wake_it);
}

static bool alarm_in(int ms)
{
	struct itimerval in = { .it_value = { 0, ms * 1000 } };
	struct sigaction action = { .sa_handler = on_alarm };

	return IS(sigaction(SIGALRM, &action, NULL), 0) &&
	       IS(setitimer(ITIMER_REAL, &in, NULL), 0);
}

static void a_signal_handler_wakes_a_wait(void)
{
	struct pier_pe *pe;

	if (!IS(pier_pe_create(&pe), 0))
		return;
	wake_it = pe;
	if (alarm_in(20))
		IS(pier_pe_wait(pe, -1), 0);
	wake_it = NULL;
	pier_pe_destroy(pe);
}

static void a_signal_alone_does_not_end_a_wait(void)
{
	struct pier_pe *pe;

	if (!IS(pier_pe_create(&pe), 0))
		return;
	if (alarm_in(5))
		IS(pier_pe_wait(pe, 30), -ETIMEDOUT);
	pier_pe_destroy(pe);
}

static void a_wake_makes_the_fd_readable(void)
{
	struct pier_pe *pe;

	if (!IS(pier_pe_create(&pe), 0))
		return;
	IS(pier_pe_arm(pe), 0);
	OK(!readable(pe));
	pier_pe_wake(pe);
	OK(readable(pe));
	pier_pe_clear(pe);
	OK(!readable(pe));
	pier_pe_destroy(pe);
}

/* An event loop on poll(2), as the manual has it, over a real device. */
static void an_event_loop_of_its_own_moves_data(void)
{
	struct pollfd fd = { .events = POLLIN };
	int i, sent = -EINPROGRESS, got = -EINPROGRESS;
	struct pier_dev *dev;
	struct peer a, b;

	if (pier_dev_open(NULL, &dev)) {
		tap_skip(pier_last_error());
		return;
	}
	if (!peer_pair(&a, &b, dev, NULL, 4096))
		return;
	fd.fd = pier_pe_fd(a.pe);
	IS(pier_rdma_send(a.conn, NULL, peer_done, &sent), 0);
	IS(pier_rdma_receive(b.rdma, NULL, peer_done, &got), 0);
	for (i = 0; i < 100000 && (sent || got) && tap_holds(); i++) {
		if (pier_pe_progress(a.pe, 0) > 0)
			continue;
		if (pier_pe_arm(a.pe) == -EAGAIN)
			continue;
		IS(poll(&fd, 1, PEER_LIMIT_MS), 1);
		pier_pe_clear(a.pe);
	}
	IS(sent, 0);
	IS(got, 0);
	peer_unpair(&a, &b);
	pier_dev_close(dev);
}

int main(void)
{
	TEST(an_engine_with_nothing_on_it_has_no_events);
	TEST(progress_tells_at_most_what_it_was_asked_for);
	TEST(a_poll_may_remove_any_source);
	TEST(a_slow_source_is_polled_when_due);
	TEST(a_slow_source_is_polled_after_a_nudge);
	TEST(a_slow_source_is_polled_in_every_round_a_millisecond_apart);
	TEST(the_first_round_after_arming_looks_at_the_clock);
	TEST(rounds_between_pauses_look_at_the_clock);
	TEST(the_fd_becomes_readable_when_a_slow_source_is_due);
	TEST(arming_asks_every_source_and_tells_what_is_pending);
	TEST(a_sleeping_wait_ends_with_a_source);
	TEST(another_thread_wakes_a_wait);
	TEST(a_signal_handler_wakes_a_wait);
	TEST(a_signal_alone_does_not_end_a_wait);
	TEST(a_wake_makes_the_fd_readable);
	TEST(an_event_loop_of_its_own_moves_data);
	return tap_done();
}
