/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "t/lib/far.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"

/* Tasks of sync events that another process owns. */

#define CPU PIER_SYNC_EVENT_CPU
#define YIELD PIER_SYNC_EVENT_YIELD
#define ALL UINT64_MAX
#define ADDS 200

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

static int await(const int *status)
{
	long long limit = limit_from_now();

	while (*status == -EINPROGRESS && limit_holds(limit))
		pier_pe_wait(far_pe, 100);
	return *status;
}

/* Run @task, and free it. */
static int run(struct pier_task *task)
{
	int status;

	submit(task, &status);
	await(&status);
	pier_task_free(task);
	return status;
}

static int run_set(uint64_t value)
{
	struct pier_task *task;

	return IS(pier_sync_event_task_set(theirs, value, &task), 0) ?
		       run(task) :
		       -ENOBUFS;
}

static void tasks_run_on_the_programs_engine(void)
{
	struct pier_task *task;
	uint64_t got = 1;

	if (far_start_ctx()) {
		IS(pier_sync_event_task_get(theirs, &got, &task), 0);
		IS(run(task), 0);
		IS(got, 0);
		IS(run_set(ALL), 0);
		OK(*far_word == ALL);
		IS(pier_sync_event_task_add(theirs, 5, &got, &task), 0);
		IS(run(task), 0);
		OK(got == ALL);
		IS(*far_word, 4);
		IS(pier_sync_event_task_wait_gt(theirs, 3, ALL, &task), 0);
		IS(run(task), 0);
		IS(pier_sync_event_task_wait_eq(theirs, 4, 0xff, &task), 0);
		IS(run(task), 0);
		IS(pier_sync_event_task_wait_neq(theirs, 5, ALL, &task), 0);
		IS(run(task), 0);
	}
	far_end(true);
}

static void a_wait_holds_up_no_task_and_is_no_event(void)
{
	struct pier_task *wait;
	int status;

	if (far_start_ctx()) {
		IS(pier_sync_event_task_wait_eq(theirs, 42, ALL, &wait), 0);
		submit(wait, &status);
		for (uint64_t i = 0; i < 20; i++)
			IS(run_set(i), 0);
		IS(status, -EINPROGRESS);
		/* its looks are no events */
		IS(pier_pe_wait(far_pe, 30), -ETIMEDOUT);
		far_tell(FAR_ANSWER, 41);
		IS(run_set(41), 0);
		IS(await(&status), 0);
		far_answered();
		pier_task_free(wait);
	}
	far_end(true);
}

static void many_adds_run_at_once(void)
{
	struct pier_task *tasks[ADDS];
	uint64_t before[ADDS], seen = 0;
	int status[ADDS];

	if (far_start_ctx()) {
		for (int i = 0; i < ADDS; i++) {
			IS(pier_sync_event_task_add(theirs, 1, &before[i],
						    &tasks[i]),
			   0);
			submit(tasks[i], &status[i]);
		}
		for (int i = 0; i < ADDS; i++) {
			IS(await(&status[i]), 0);
			seen += before[i];
			pier_task_free(tasks[i]);
		}
		IS(*far_word, ADDS);
		IS(seen, ADDS * (ADDS - 1) / 2);
	}
	far_end(true);
}

static void calls_are_refused_in_context_mode_and_tasks_in_the_other(void)
{
	struct pier_task *task;
	uint64_t got;

	if (far_start_ctx()) {
		IS(pier_sync_event_get(theirs, &got), -EPERM);
		LIKE(pier_last_error(), "use its tasks");
		IS(pier_sync_event_set(theirs, 1), -EPERM);
		IS(pier_sync_event_add(theirs, 1, NULL), -EPERM);
		IS(pier_sync_event_wait_eq(theirs, 1, ALL, YIELD, 0), -EPERM);
		IS(pier_sync_event_stop(theirs), -EPERM);
	}
	far_end(true);
	if (far_start()) {
		IS(pier_sync_event_task_get(theirs, &got, &task), -ENOBUFS);
		IS(pier_sync_event_start(theirs), -EBUSY);
		IS(pier_ctx_start(pier_sync_event_ctx(theirs), far_pe), -EBUSY);
	}
	far_end(true);
}

static void tasks_of_an_owner_that_died_fail_and_the_context_stops(void)
{
	struct pier_task *wait;
	int status;

	if (far_start_ctx()) {
		IS(run_set(1), 0);
		IS(pier_sync_event_task_wait_eq(theirs, 42, ALL, &wait), 0);
		submit(wait, &status);
		pair_kill(&far_owner);
		OK(await(&status) < 0);
		LIKE(pier_last_error(), "no access to the export: ");
		IS(pier_ctx_state(pier_sync_event_ctx(theirs)),
		   PIER_CTX_RUNNING);
		pier_task_free(wait);
		IS(pier_ctx_stop_wait(pier_sync_event_ctx(theirs), LIMIT_MS),
		   0);
	}
	far_end(false);
}

static struct pier_task *together[3];
static int ended;

static void cancel_another(struct pier_task *task, void *arg)
{
	(void)task;
	(void)arg;
	for (int i = 0; !ended && i < 3; i++) {
		if (pier_task_status(together[i]) == -EINPROGRESS) {
			IS(pier_task_cancel(together[i]), 0);
			break;
		}
	}
	ended++;
}

static void a_task_that_fails_may_cancel_those_that_fail_with_it(void)
{
	long long limit = limit_from_now();
	int cancelled = 0, status;
	struct pier_ctx *ctx;

	ended = 0;
	if (far_start_ctx()) {
		ctx = pier_sync_event_ctx(theirs);
		IS(run_set(1), 0);
		for (int i = 0; i < 3; i++) {
			IS(pier_sync_event_task_wait_eq(theirs, 42, ALL,
							&together[i]), 0);
			pier_task_set_done(together[i], cancel_another, NULL);
			IS(pier_task_submit(together[i], 0), 0);
		}
		pair_kill(&far_owner);
		while (pier_pe_inflight(far_pe) && limit_holds(limit))
			pier_pe_wait(far_pe, LIMIT_MS);
		IS(ended, 3);
		for (int i = 0; i < 3; i++) {
			status = pier_task_status(together[i]);
			cancelled += status == -ECANCELED;
			OK(status < 0 && status != -EINPROGRESS);
			IS(pier_task_free(together[i]), 0);
		}
		IS(cancelled, 1);
		IS(pier_ctx_stop_wait(ctx, LIMIT_MS), 0);
	}
	far_end(false);
}

/* With one event a round, requests complete after their connection's end. */
static void requests_in_flight_end_after_their_connection(void)
{
	long long limit = limit_from_now();
	struct pier_task *tasks[ADDS];
	int status[ADDS], failed = 0;

	if (far_start_ctx()) {
		IS(run_set(1), 0);
		kill(far_owner.pid, SIGSTOP);
		OK(pair_is_stopped(&far_owner, true));
		for (int i = 0; i < ADDS; i++) {
			IS(pier_sync_event_task_add(theirs, 1, NULL,
						    &tasks[i]), 0);
			submit(tasks[i], &status[i]);
		}
		pier_pe_progress(far_pe, 0);
		pair_kill(&far_owner);
		while (pier_pe_inflight(far_pe) && limit_holds(limit))
			pier_pe_progress(far_pe, 1);
		for (int i = 0; i < ADDS; i++) {
			failed += status[i] < 0;
			pier_task_free(tasks[i]);
		}
		/* a kernel serves the memory of a process that is stopped */
		if (!strcmp(pier_devinfo_kind(pier_dev_info(far_dev)), "soft"))
			OK(failed > 0);
		IS(pier_ctx_stop_wait(pier_sync_event_ctx(theirs), LIMIT_MS),
		   0);
	}
	far_end(false);
}

/* Its request goes on, in pier's memory: the connection is the same. */
static void a_task_in_flight_is_taken_back_alone(void)
{
	struct pier_task *get, *wait;
	uint64_t got = 0xbad;

	if (far_start_ctx()) {
		IS(run_set(1), 0);
		IS(pier_sync_event_task_get(theirs, &got, &get), 0);
		IS(pier_sync_event_task_wait_eq(theirs, 9, ALL, &wait), 0);
		IS(pier_task_run(wait, 50), -ETIMEDOUT);
		kill(far_owner.pid, SIGSTOP);
		OK(pair_is_stopped(&far_owner, true));
		IS(pier_task_submit(get, 0), 0);
		pier_pe_progress(far_pe, 0);	/* it is posted */
		if (pier_task_status(get) == -EINPROGRESS) {
			IS(pier_task_cancel(get), 0);
			IS(pier_task_wait(get, -1), -ECANCELED);
			LIKE(pier_last_error(), "sync event get: cancelled");
		}
		pair_go_on(&far_owner);
		IS(run_set(9), 0);		/* after the answer to it */
		IS(got, pier_task_status(get) ? 0xbad : 1);
		IS(pier_task_run(wait, LIMIT_MS), 0);
		IS(pier_task_run(get, LIMIT_MS), 0);
		IS(got, 9);
		pier_task_free(get);
		pier_task_free(wait);
	}
	far_end(true);
}

static void a_context_stops_with_waits_in_flight(void)
{
	struct pier_task *wait;
	int status;

	if (far_start_ctx()) {
		IS(run_set(1), 0);
		IS(pier_sync_event_task_wait_eq(theirs, 42, ALL, &wait), 0);
		submit(wait, &status);
		IS(pier_ctx_stop_wait(pier_sync_event_ctx(theirs), LIMIT_MS),
		   0);
		IS(status, -ECANCELED);
		pier_task_free(wait);
	}
	far_end(true);
}

static void an_importer_configures_its_tasks_only(void)
{
	struct pier_sync_event_config cfg = { .size = sizeof(cfg), .tasks = 2 };
	struct pier_task *tasks[3];
	uint64_t got;

	if (far_begin()) {
		cfg.publisher = CPU;
		IS(pier_sync_event_configure(theirs, &cfg), -EPERM);
		cfg.publisher = 0;
		cfg.word = &got;
		IS(pier_sync_event_configure(theirs, &cfg), -EPERM);
		cfg.word = NULL;
		IS(pier_sync_event_configure(theirs, &cfg), 0);
		IS(pier_ctx_start(pier_sync_event_ctx(theirs), far_pe), 0);
		IS(pier_sync_event_configure(theirs, &cfg), -EBUSY);
		IS(pier_sync_event_task_get(theirs, &got, &tasks[0]), 0);
		IS(pier_sync_event_task_get(theirs, &got, &tasks[1]), 0);
		IS(pier_sync_event_task_get(theirs, &got, &tasks[2]), -ENOBUFS);
		pier_task_free(tasks[0]);
		pier_task_free(tasks[1]);
	}
	far_end(true);
}

static bool configure(struct pier_sync_event_config *cfg)
{
	cfg->size = sizeof(*cfg);
	return far_begin() && IS(pier_sync_event_configure(theirs, cfg), 0);
}

static void a_failed_task_stops_the_context_that_is_to_stop(void)
{
	struct pier_sync_event_config cfg = { .stop_on_task_error = 1 };
	struct pier_task *wait[2];
	struct pier_ctx *ctx;
	int status[2];

	if (configure(&cfg)) {
		ctx = pier_sync_event_ctx(theirs);
		IS(pier_ctx_start(ctx, far_pe), 0);
		IS(run_set(1), 0);
		for (int i = 0; i < 2; i++) {
			IS(pier_sync_event_task_wait_eq(theirs, 42, ALL,
							&wait[i]), 0);
			submit(wait[i], &status[i]);
		}
		pair_kill(&far_owner);
		OK(await(&status[0]) < 0);
		OK(await(&status[1]) < 0);
		LIKE(pier_task_error_text(wait[0]), "no access to the export");
		OK(pier_ctx_state(ctx) != PIER_CTX_RUNNING);
		IS(pier_ctx_stop_wait(ctx, LIMIT_MS), 0);
		pier_task_free(wait[0]);
		pier_task_free(wait[1]);
	}
	far_end(false);
}

static void a_call_uses_no_number_of_a_type(void)
{
	struct pier_sync_event_config cfg = { .stop_on_task_error = 1 };
	uint64_t got = 0;

	cfg.type_tasks[PIER_TASK_SYNC_WAIT_EQ] = 1;
	if (configure(&cfg) && IS(pier_sync_event_start(theirs), 0)) {
		IS(pier_sync_event_set(theirs, 7), 0);
		IS(pier_sync_event_add(theirs, 1, &got), 0);
		IS(got, 7);
		IS(pier_sync_event_wait_gt(theirs, 7, ALL, YIELD, -1), 0);
		IS(pier_sync_event_get(theirs, &got), 0);
		IS(got, 8);
	}
	far_end(true);
}

int main(void)
{
	if (!far_supported())
		return tap_skip_all(pier_last_error());
	TEST(tasks_run_on_the_programs_engine);
	TEST(a_wait_holds_up_no_task_and_is_no_event);
	TEST(many_adds_run_at_once);
	TEST(calls_are_refused_in_context_mode_and_tasks_in_the_other);
	TEST(tasks_of_an_owner_that_died_fail_and_the_context_stops);
	TEST(a_task_that_fails_may_cancel_those_that_fail_with_it);
	TEST(requests_in_flight_end_after_their_connection);
	TEST(a_task_in_flight_is_taken_back_alone);
	TEST(a_context_stops_with_waits_in_flight);
	TEST(an_importer_configures_its_tasks_only);
	TEST(a_failed_task_stops_the_context_that_is_to_stop);
	TEST(a_call_uses_no_number_of_a_type);
	return tap_done();
}
