/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <pthread.h>

#include <pier/pier.h>

#include "t/lib/limit.h"
#include "t/lib/tap.h"

/* Sync events as contexts: their tasks on an engine. */

#define CPU PIER_SYNC_EVENT_CPU
#define ALL UINT64_MAX
#define TASKS 8

static struct pier_pe *pe;

static struct pier_sync_event *create(uint32_t tasks)
{
	struct pier_sync_event_config cfg = {
		.size = sizeof(cfg),
		.publisher = CPU,
		.subscriber = CPU,
		.tasks = tasks,
	};
	struct pier_sync_event *event = NULL;

	IS(pier_sync_event_create(&event), 0);
	IS(pier_sync_event_configure(event, &cfg), 0);
	return event;
}

static struct pier_sync_event *start(void)
{
	struct pier_sync_event *event = create(TASKS);

	IS(pier_ctx_start(pier_sync_event_ctx(event), pe), 0);
	return event;
}

static uint64_t value_of(const struct pier_sync_event *event)
{
	uint64_t value = 0xbad;

	IS(pier_sync_event_get(event, &value), 0);
	return value;
}

static void finished(struct pier_task *task, void *arg)
{
	*(int *)arg = pier_task_status(task);
}

static void submit(struct pier_task *task, int *status)
{
	*status = -EINPROGRESS;
	pier_task_set_done(task, finished, status);
	IS(pier_task_submit(task, 0), 0);
	IS(*status, -EINPROGRESS);
}

/* Run @task, which has nothing to wait for, and free it. */
static int run(struct pier_task *task)
{
	int status;

	submit(task, &status);
	IS(pier_pe_progress(pe, 0), 1);
	pier_task_free(task);
	return status;
}

static void tasks_do_what_the_calls_do(void)
{
	struct pier_sync_event *event = start();
	struct pier_task *task;
	uint64_t got = 1;

	IS(pier_sync_event_task_get(event, &got, &task), 0);
	IS(run(task), 0);
	IS(got, 0);
	IS(pier_sync_event_task_set(event, ALL, &task), 0);
	IS(value_of(event), 0);
	IS(run(task), 0);
	OK(value_of(event) == ALL);
	IS(pier_sync_event_task_add(event, 5, &got, &task), 0);
	IS(run(task), 0);
	OK(got == ALL);
	IS(pier_sync_event_task_add(event, 5, NULL, &task), 0);
	IS(run(task), 0);
	IS(value_of(event), 9);
	IS(pier_sync_event_task_wait_gt(event, 8, ALL, &task), 0);
	IS(run(task), 0);
	IS(pier_sync_event_task_wait_eq(event, 1, 1, &task), 0);
	IS(run(task), 0);
	IS(pier_sync_event_task_wait_neq(event, 0, ALL, &task), 0);
	IS(run(task), 0);
	pier_sync_event_destroy(event);
}

static void a_wait_ends_with_its_value_and_holds_up_no_task(void)
{
	struct pier_sync_event *event = start();
	struct pier_task *gt, *eq, *neq, *set;
	int gt_status, eq_status, neq_status, set_status;

	IS(pier_sync_event_task_wait_gt(event, 1, ALL, &gt), 0);
	IS(pier_sync_event_task_wait_eq(event, 2, 0xff, &eq), 0);
	IS(pier_sync_event_task_wait_neq(event, 0, ALL, &neq), 0);
	IS(pier_sync_event_task_set(event, 1, &set), 0);
	submit(gt, &gt_status);
	submit(eq, &eq_status);
	submit(neq, &neq_status);
	submit(set, &set_status);
	IS(pier_pe_progress(pe, 1), 1);
	IS(set_status, 0);
	IS(neq_status, -EINPROGRESS);
	IS(pier_pe_progress(pe, 0), 1);
	IS(neq_status, 0);
	IS(eq_status, -EINPROGRESS);
	IS(pier_sync_event_add(event, UINT64_C(1) << 63, NULL), 0);
	IS(pier_pe_progress(pe, 0), 1);
	IS(gt_status, 0);
	IS(pier_sync_event_set(event, 0x102), 0);
	IS(pier_pe_progress(pe, 0), 1);
	IS(eq_status, 0);
	IS(pier_pe_progress(pe, 0), 0);
	pier_task_free(gt);
	pier_task_free(eq);
	pier_task_free(neq);
	pier_task_free(set);
	pier_sync_event_destroy(event);
}

static void tasks_wait_for_the_bits_of_their_mask(void)
{
	struct pier_sync_event *event = start();
	struct pier_task *gt, *eq, *neq;
	int gt_status, eq_status, neq_status;

	IS(pier_sync_event_set(event, 0x1f0), 0);
	IS(pier_sync_event_task_wait_gt(event, 0, 0xf, &gt), 0);
	IS(pier_sync_event_task_wait_eq(event, 0x10, 0x30, &eq), 0);
	IS(pier_sync_event_task_wait_neq(event, 0, 0xf, &neq), 0);
	submit(gt, &gt_status);
	submit(eq, &eq_status);
	submit(neq, &neq_status);
	IS(pier_pe_progress(pe, 0), 0);
	IS(pier_sync_event_set(event, 0x1), 0);
	IS(pier_pe_progress(pe, 0), 2);
	IS(gt_status, 0);
	IS(neq_status, 0);
	IS(eq_status, -EINPROGRESS);
	IS(pier_sync_event_set(event, 0xf51), 0);
	IS(pier_pe_progress(pe, 0), 1);
	IS(eq_status, 0);
	IS(pier_sync_event_task_set_values(eq, 1, 1, NULL), 0);
	submit(eq, &eq_status);
	IS(pier_pe_progress(pe, 0), 1);
	pier_task_free(gt);
	pier_task_free(eq);
	pier_task_free(neq);
	pier_sync_event_destroy(event);
}

static void a_round_finishes_no_more_than_its_budget(void)
{
	struct pier_sync_event *event = start();
	struct pier_task *task[TASKS];
	int status[TASKS], i;

	for (i = 0; i < TASKS; i++) {
		IS(i < TASKS / 2 ? pier_sync_event_task_wait_eq(
					   event, ALL, ALL, &task[i]) :
				   pier_sync_event_task_add(event, 1, NULL,
							    &task[i]), 0);
		submit(task[i], &status[i]);
	}
	for (i = 1; i <= TASKS / 2; i++) {
		IS(pier_pe_progress(pe, 1), 1);
		IS(value_of(event), i);
	}
	IS(pier_pe_progress(pe, 1), 0);
	IS(pier_ctx_stop_wait(pier_sync_event_ctx(event), LIMIT_MS), 0);
	for (i = 0; i < TASKS; i++) {
		IS(status[i], i < TASKS / 2 ? -ECANCELED : 0);
		pier_task_free(task[i]);
	}
	pier_sync_event_destroy(event);
}

static void *set_seven(void *event)
{
	pier_sync_event_set(event, 7);
	return NULL;
}

static void an_engine_that_sleeps_sees_what_a_thread_sets(void)
{
	struct pier_sync_event *event = start();
	struct pier_task *task;
	pthread_t thread;
	int status;

	IS(pier_sync_event_task_wait_eq(event, 7, ALL, &task), 0);
	submit(task, &status);
	IS(pier_pe_wait(pe, 5), -ETIMEDOUT);
	IS(pthread_create(&thread, NULL, set_seven, event), 0);
	IS(pier_pe_wait(pe, LIMIT_MS), 0);
	IS(status, 0);
	pthread_join(thread, NULL);
	pier_task_free(task);
	pier_sync_event_destroy(event);
}

static bool becomes_readable(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return IS(poll(&poll_fd, 1, LIMIT_MS), 1);
}

static void an_engine_with_nothing_but_waits_may_sleep(void)
{
	struct pier_sync_event *event = start();
	struct pier_task *wait, *other, *set;
	int wait_status, other_status, set_status;

	IS(pier_sync_event_task_wait_eq(event, 7, ALL, &wait), 0);
	IS(pier_sync_event_task_wait_gt(event, 7, ALL, &other), 0);
	IS(pier_sync_event_task_set(event, 1, &set), 0);
	submit(wait, &wait_status);
	submit(other, &other_status);
	IS(pier_pe_arm(pe), -EAGAIN);
	IS(pier_pe_progress(pe, 0), 0);
	IS(pier_pe_arm(pe), 0);
	OK(becomes_readable(pier_pe_fd(pe)));
	pier_pe_clear(pe);
	submit(set, &set_status);
	IS(pier_pe_arm(pe), -EAGAIN);
	IS(pier_pe_progress(pe, 0), 1);
	IS(pier_pe_arm(pe), -EAGAIN);
	IS(pier_pe_progress(pe, 0), 0);
	IS(pier_pe_arm(pe), 0);
	pier_pe_clear(pe);
	IS(pier_sync_event_set(event, 7), 0);
	IS(pier_pe_progress(pe, 0), 1);
	IS(wait_status, 0);
	IS(other_status, -EINPROGRESS);
	IS(pier_sync_event_set(event, 8), 0);
	IS(pier_pe_progress(pe, 0), 1);
	pier_task_free(wait);
	IS(pier_task_free(other), 0);
	pier_task_free(set);
	pier_sync_event_destroy(event);
}

static void the_mode_is_fixed_at_the_start(void)
{
	struct pier_sync_event *event = start();
	struct pier_task *task;

	IS(pier_sync_event_start(event), -EBUSY);
	IS(pier_sync_event_stop(event), -EPERM);
	LIKE(pier_last_error(), "pier_ctx_stop");
	IS(pier_sync_event_wait_eq(event, 0, ALL, PIER_SYNC_EVENT_YIELD, 0),
	   -EPERM);
	LIKE(pier_last_error(), "tasks");
	IS(pier_sync_event_wait_gt(event, 0, ALL, PIER_SYNC_EVENT_BUSY, 0),
	   -EPERM);
	IS(pier_sync_event_wait_neq(event, 1, ALL, PIER_SYNC_EVENT_BUSY, 0),
	   -EPERM);
	pier_sync_event_destroy(event);

	event = create(0);
	IS(pier_sync_event_start(event), 0);
	IS(pier_ctx_start(pier_sync_event_ctx(event), pe), -EBUSY);
	IS(pier_ctx_state(pier_sync_event_ctx(event)), PIER_CTX_IDLE);
	IS(pier_sync_event_task_set(event, 1, &task), -ENOBUFS);
	IS(pier_sync_event_wait_eq(event, 0, ALL, PIER_SYNC_EVENT_YIELD, 0), 0);
	IS(pier_sync_event_stop(event), 0);
	pier_sync_event_destroy(event);
}

static void a_stopped_context_can_only_be_destroyed(void)
{
	struct pier_sync_event_config cfg = { .size = sizeof(cfg) };
	struct pier_sync_event *event = start();
	struct pier_ctx *ctx = pier_sync_event_ctx(event);

	IS(pier_sync_event_configure(event, &cfg), -EBUSY);
	IS(pier_ctx_stop_wait(ctx, LIMIT_MS), 0);
	IS(pier_ctx_start(ctx, pe), -ESHUTDOWN);
	IS(pier_ctx_state(ctx), PIER_CTX_IDLE);
	IS(pier_sync_event_start(event), -ESHUTDOWN);
	IS(pier_sync_event_set(event, 1), -ESHUTDOWN);
	IS(pier_sync_event_configure(event, &cfg), -EBUSY);
	IS(pier_sync_event_stop(event), 0);
	pier_sync_event_destroy(event);
}

static void a_context_needs_both_locations_as_well(void)
{
	struct pier_sync_event_config cfg = { .size = sizeof(cfg) };
	struct pier_sync_event *event = NULL;
	struct pier_ctx *ctx;

	IS(pier_sync_event_create(&event), 0);
	ctx = pier_sync_event_ctx(event);
	IS(pier_ctx_start(ctx, pe), -EINVAL);
	LIKE(pier_last_error(), "publisher");
	IS(pier_ctx_state(ctx), PIER_CTX_IDLE);
	cfg.publisher = CPU;
	cfg.subscriber = CPU;
	IS(pier_sync_event_configure(event, &cfg), 0);
	IS(pier_ctx_start(ctx, pe), 0);
	pier_sync_event_destroy(event);
}

static void what_cannot_be_done_is_refused(void)
{
	struct pier_sync_event_config cfg = { .size = sizeof(cfg) };
	struct pier_sync_event *event = create(1);
	struct pier_task *task, *other;
	uint64_t value;
	int status;

	pier_sync_event_get_config(event, &cfg);
	IS(cfg.tasks, 1);
	cfg.tasks = (1u << 20) + 1;
	IS(pier_sync_event_configure(event, &cfg), -EINVAL);
	IS(pier_sync_event_task_set(event, 1, &task), -ENOBUFS);
	IS(pier_ctx_start(pier_sync_event_ctx(event), pe), 0);
	IS(pier_sync_event_task_get(event, NULL, &task), -EINVAL);
	IS(pier_sync_event_task_get(event, &value, &task), 0);
	IS(pier_sync_event_task_get(event, &value, &other), -ENOBUFS);
	IS(pier_sync_event_task_set_values(task, 0, 0, NULL), -EINVAL);
	submit(task, &status);
	IS(pier_task_submit(task, 0), -EBUSY);
	IS(pier_sync_event_task_set_values(task, 0, 0, &value), -EBUSY);
	IS(pier_pe_progress(pe, 0), 1);
	pier_task_free(task);
	pier_sync_event_destroy(event);
}

static void a_task_is_changed_and_submitted_again(void)
{
	struct pier_sync_event *event = start();
	struct pier_task *task;
	uint64_t before = 1;
	int status;

	IS(pier_sync_event_task_add(event, 3, NULL, &task), 0);
	submit(task, &status);
	IS(pier_pe_progress(pe, 0), 1);
	IS(pier_sync_event_task_set_values(task, 10, 0, &before), 0);
	submit(task, &status);
	IS(pier_pe_progress(pe, 0), 1);
	IS(before, 3);
	IS(value_of(event), 13);
	pier_task_free(task);
	IS(pier_sync_event_task_wait_eq(event, 1, ALL, &task), 0);
	submit(task, &status);
	IS(pier_pe_progress(pe, 0), 0);
	IS(pier_ctx_stop_wait(pier_sync_event_ctx(event), LIMIT_MS), 0);
	IS(status, -ECANCELED);
	IS(pier_task_submit(task, 0), -ESHUTDOWN);
	IS(pier_sync_event_task_set_values(task, 13, ALL, NULL), 0);
	pier_task_free(task);
	pier_sync_event_destroy(event);
}

static void free_it(struct pier_task *task, void *arg)
{
	finished(task, arg);
	IS(pier_task_free(task), 0);
}

static void a_running_event_is_destroyed(void)
{
	struct pier_sync_event *event = start();
	struct pier_task *task;
	int status;

	IS(pier_sync_event_task_wait_eq(event, 1, ALL, &task), 0);
	submit(task, &status);
	pier_task_set_done(task, free_it, &status);
	IS(pier_pe_progress(pe, 0), 0);
	pier_sync_event_destroy(event);
	IS(status, -ECANCELED);
	IS(pier_pe_inflight(pe), 0);
}

static void run_in_a_callback(struct pier_task *task, void *arg)
{
	IS(pier_task_run(arg, 0), -EBUSY);
	IS(pier_task_status(arg), 0);	/* nothing was done */
	IS(pier_task_status(task), 0);
}

static void a_task_is_run_until_it_is_complete(void)
{
	struct pier_sync_event *event = start();
	struct pier_task *set, *wait;

	IS(pier_sync_event_task_set(event, 1, &set), 0);
	IS(pier_sync_event_task_wait_eq(event, 2, ALL, &wait), 0);
	IS(pier_task_run(set, 0), 0);
	IS(value_of(event), 1);
	IS(pier_task_run(wait, 1), -ETIMEDOUT);
	LIKE(pier_last_error(), "not finished after 1 ms");
	IS(pier_task_status(wait), -ECANCELED);
	IS(pier_task_submit(wait, 0), 0);
	IS(pier_task_run(wait, 1), -EBUSY);
	IS(pier_sync_event_task_set_values(set, 2, 0, NULL), 0);
	IS(pier_task_run(set, -1), 0);
	IS(pier_task_wait(wait, LIMIT_MS), 0);
	IS(pier_task_wait(wait, 0), 0);		/* it has finished */
	IS(pier_task_run(wait, -1), 0);
	pier_task_set_done(set, run_in_a_callback, wait);
	IS(pier_task_run(set, -1), 0);
	IS(pier_ctx_stop_wait(pier_sync_event_ctx(event), LIMIT_MS), 0);
	IS(pier_task_run(set, -1), -ESHUTDOWN);
	pier_task_free(set);
	pier_task_free(wait);
	pier_sync_event_destroy(event);
}

int main(void)
{
	if (pier_pe_create(&pe))
		return tap_skip_all(pier_last_error());
	TEST(tasks_do_what_the_calls_do);
	TEST(a_wait_ends_with_its_value_and_holds_up_no_task);
	TEST(tasks_wait_for_the_bits_of_their_mask);
	TEST(a_round_finishes_no_more_than_its_budget);
	TEST(an_engine_that_sleeps_sees_what_a_thread_sets);
	TEST(an_engine_with_nothing_but_waits_may_sleep);
	TEST(the_mode_is_fixed_at_the_start);
	TEST(a_stopped_context_can_only_be_destroyed);
	TEST(a_context_needs_both_locations_as_well);
	TEST(what_cannot_be_done_is_refused);
	TEST(a_task_is_changed_and_submitted_again);
	TEST(a_running_event_is_destroyed);
	TEST(a_task_is_run_until_it_is_complete);
	pier_pe_destroy(pe);
	return tap_done();
}
