/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "core/clock.h"
#include "engine/source.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * Calls for one event: a source that has several is polled again without a
 * round, but others have their turn.
 */

#define TASKS 40
#define RUN 16			/* the most events of one source in sequence */

/* A source that has events. */
struct burst {
	struct pier__source source;	/* first */
	int polls, events;
};

static int probe_poll(struct pier__source *source, int budget)
{
	struct burst *probe = (struct burst *)source;

	probe->polls++;
	if (budget < 1 || !probe->events)
		return 0;
	probe->events--;
	pier__pe_event(source->pe);
	return 1;
}

static bool add(struct pier_pe *pe, struct burst *probe, bool slow, int events)
{
	*probe = (struct burst){
		.source = {
			.poll = probe_poll,
			.fd = -1,
			.slow = slow,
			.due = PIER__NEVER,
		},
		.events = events,
	};
	return IS(pier__pe_add(pe, &probe->source), 0);
}

static void other_sources_have_their_turn(void)
{
	struct burst one, two;
	struct pier_pe *pe;
	int calls = 0;

	if (!IS(pier_pe_create(&pe), 0) || !add(pe, &one, false, 100) ||
	    !add(pe, &two, false, 1))
		return;
	for (; two.events && calls <= RUN; calls++)
		IS(pier_pe_progress(pe, 1), 1);
	OK(calls <= RUN + 1);
	OK(calls > RUN / 2);		/* not a round for each */
	for (; one.events; calls++)
		IS(pier_pe_progress(pe, 1), 1);
	IS(calls, 101);
	IS(pier_pe_progress(pe, 1), 0);
	pier__pe_remove(&one.source);
	pier__pe_remove(&two.source);
	pier_pe_destroy(pe);
}

static void a_slow_source_that_is_due_is_polled_in_the_next_call(void)
{
	struct burst fast, slow;
	struct pier_pe *pe;

	if (!IS(pier_pe_create(&pe), 0) || !add(pe, &fast, false, 100) ||
	    !add(pe, &slow, true, 0))
		return;
	for (int i = 0; i < 4; i++)
		IS(pier_pe_progress(pe, 1), 1);
	slow.polls = 0;
	pier__pe_due(&slow.source, 0);
	IS(pier_pe_progress(pe, 1), 1);
	IS(slow.polls, 1);
	pier__pe_remove(&fast.source);
	pier__pe_remove(&slow.source);
	pier_pe_destroy(pe);
}

static void a_source_that_is_removed_is_not_polled_again(void)
{
	struct burst one, two;
	struct pier_pe *pe;

	if (!IS(pier_pe_create(&pe), 0) || !add(pe, &one, false, 10) ||
	    !add(pe, &two, false, 1))
		return;
	IS(pier_pe_progress(pe, 1), 1);
	IS(one.events, 9);
	pier__pe_remove(&one.source);
	one.polls = 0;
	IS(pier_pe_progress(pe, 1), 1);
	IS(two.events, 0);
	IS(pier_pe_progress(pe, 1), 0);
	IS(one.polls, 0);
	pier__pe_remove(&two.source);
	pier_pe_destroy(pe);
}

/* Two contexts of functions, and what became of their tasks. */
static struct pier_pe *pe;
static struct funcs {
	struct pier_func *func;
	struct pier_task *task[TASKS];
	int done, cancelled;
} funcs[2];
static int calls, run, longest;
static struct funcs *last;

static int succeed(void *arg)
{
	(void)arg;
	return 0;
}

static void ended(struct pier_task *task, void *arg)
{
	struct funcs *f = arg;

	OK(task == f->task[f->done++]);	/* in their order */
	f->cancelled += pier_task_status(task) == -ECANCELED;
	calls++;
	run = f == last ? run + 1 : 1;
	longest = run > longest ? run : longest;
	last = f;
}

static void submit_all(struct funcs *f)
{
	IS(pier_func_create(&f->func), 0);
	IS(pier_ctx_start(pier_func_ctx(f->func), pe), 0);
	for (int i = 0; i < TASKS; i++) {
		IS(pier_func_task_call(f->func, succeed, NULL, &f->task[i]), 0);
		pier_task_set_done(f->task[i], ended, f);
		IS(pier_task_submit(f->task[i], 0), 0);
	}
}

static void open_funcs(void)
{
	memset(funcs, 0, sizeof(funcs));
	calls = run = longest = 0;
	last = NULL;
	IS(pier_pe_create(&pe), 0);
	submit_all(&funcs[0]);
	submit_all(&funcs[1]);
}

static void close_funcs(void)
{
	for (int i = 0; i < 2; i++) {
		for (int j = 0; j < TASKS; j++)
			pier_task_free(funcs[i].task[j]);
		pier_func_destroy(funcs[i].func);
	}
	pier_pe_destroy(pe);
}

static void each_call_is_one_callback_and_none_is_lost(void)
{
	open_funcs();
	for (int i = 1; i <= 2 * TASKS; i++) {
		IS(pier_pe_arm(pe), -EAGAIN);
		IS(pier_pe_progress(pe, 1), 1);
		IS(calls, i);
	}
	IS(funcs[0].done, TASKS);
	IS(funcs[1].done, TASKS);
	OK(longest <= RUN);
	IS(pier_pe_progress(pe, 1), 0);
	IS(pier_pe_arm(pe), 0);
	pier_pe_clear(pe);
	close_funcs();
}

static void a_stop_ends_those_that_are_pending_one_a_call(void)
{
	struct pier_ctx *ctx;

	open_funcs();
	ctx = pier_func_ctx(funcs[0].func);
	IS(pier_pe_progress(pe, 1), 1);
	IS(funcs[0].done, 1);
	IS(pier_ctx_stop(ctx), -EINPROGRESS);
	for (int i = 1; i < 2 * TASKS; i++) {
		int idle = pier_ctx_state(ctx) == PIER_CTX_IDLE;
		int n = pier_pe_progress(pe, 1);

		idle = pier_ctx_state(ctx) == PIER_CTX_IDLE && !idle;
		IS(n, 1 + idle);
		IS(calls, i + 1);
	}
	IS(funcs[0].cancelled, TASKS - 1);
	IS(funcs[1].cancelled, 0);
	IS(pier_ctx_state(ctx), PIER_CTX_IDLE);
	close_funcs();
}

/* The first callback of the second context destroys it. */
static void destroy_it(struct pier_task *task, void *arg)
{
	struct funcs *f = arg;

	OK(task == f->task[f->done++]);
	pier_func_destroy(f->func);
	f->func = NULL;
	calls++;
}

static void a_context_may_go_while_some_are_pending(void)
{
	open_funcs();
	pier_task_set_done(funcs[1].task[0], destroy_it, &funcs[1]);
	while (pier_pe_inflight(pe) && calls < 2 * TASKS)
		OK(pier_pe_progress(pe, 1) >= 1);
	IS(calls, 2 * TASKS);
	IS(funcs[0].done, TASKS);
	IS(funcs[0].cancelled, 0);
	IS(funcs[1].done, TASKS);
	IS(funcs[1].cancelled, TASKS - 1);
	close_funcs();
}

static void count(struct pier_task *task, void *arg)
{
	(void)task;
	++*(int *)arg;
}

/* Only the last of the chain has a completion of the device. */
static void a_chain_of_sends_is_completed_one_a_call(void)
{
	int sent = 0, got = 0, before, n;
	long long limit = limit_from_now();
	struct pier_task *task[8];
	struct pier_dev *dev;
	struct peer a, b;

	if (pier_dev_open(NULL, &dev)) {
		tap_skip(pier_last_error());
		return;
	}
	if (!peer_pair(&a, &b, dev, NULL, 4096))
		return;
	for (int i = 0; i < 8; i++) {
		IS(pier_rdma_receive(b.rdma, NULL, count, &got), 0);
		IS(pier_rdma_receive(b.rdma, NULL, count, &got), 0);
		IS(pier_rdma_task_send(a.conn, NULL, &task[i]), 0);
		pier_task_set_done(task[i], count, &sent);
	}
	for (int i = 0; i < 8; i++)
		IS(pier_task_submit(task[i], i < 7 ? PIER_SUBMIT_MORE : 0), 0);
	while (sent + got < 16 && limit_holds(limit)) {
		before = sent + got;
		n = pier_pe_progress(a.pe, 1);
		IS(sent + got - before, n);
		OK(n <= 1);
		if (sent && sent < 8)
			IS(pier_pe_arm(a.pe), -EAGAIN);
	}
	IS(sent, 8);
	IS(got, 8);
	for (int i = 0; i < 8; i++)
		IS(pier_task_submit(task[i], i < 7 ? PIER_SUBMIT_MORE : 0), 0);
	while (sent == 8 && limit_holds(limit))
		pier_pe_progress(a.pe, 1);
	IS(pier_ctx_stop(pier_rdma_ctx(a.rdma)), -EINPROGRESS);
	peer_ctx(&a, PIER_CTX_IDLE);
	IS(sent, 16);
	for (int i = 0; i < 8; i++)
		pier_task_free(task[i]);
	peer_unpair(&a, &b);
	pier_dev_close(dev);
}

int main(void)
{
	TEST(other_sources_have_their_turn);
	TEST(a_slow_source_that_is_due_is_polled_in_the_next_call);
	TEST(a_source_that_is_removed_is_not_polled_again);
	TEST(each_call_is_one_callback_and_none_is_lost);
	TEST(a_stop_ends_those_that_are_pending_one_a_call);
	TEST(a_context_may_go_while_some_are_pending);
	TEST(a_chain_of_sends_is_completed_one_a_call);
	return tap_done();
}
