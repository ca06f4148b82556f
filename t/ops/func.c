/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <stddef.h>

#include <pier/pier.h>

#include "t/lib/limit.h"
#include "t/lib/tap.h"

/* Functions as tasks. */

static struct pier_pe *pe;
static struct pier_func *func;

/* What a function does, and how often it was called. */
struct callee {
	int calls, ret;
	int again;			/* -EINPROGRESS so often first */
	int wait;			/* and then -EAGAIN */
	void (*act)(void);
};

static int carry_out(void *arg)
{
	struct callee *plan = arg;

	plan->calls++;
	if (plan->act)
		plan->act();
	if (plan->again-- > 0)
		return -EINPROGRESS;
	return plan->wait-- > 0 ? -EAGAIN : plan->ret;
}

static void note(struct pier_task *task, void *arg)
{
	*(int *)arg = pier_task_status(task);
}

static bool open_func(const struct pier_func_config *cfg)
{
	return IS(pier_pe_create(&pe), 0) && IS(pier_func_create(&func), 0) &&
	       (!cfg || IS(pier_func_configure(func, cfg), 0)) &&
	       IS(pier_ctx_start(pier_func_ctx(func), pe), 0);
}

static void close_func(void)
{
	pier_func_destroy(func);
	func = NULL;
	pier_pe_destroy(pe);
}

static int await(const int *status)
{
	long long limit = limit_from_now();

	while (*status == -EINPROGRESS && limit_holds(limit))
		pier_pe_wait(pe, 100);
	return *status;
}

static int call(struct callee *plan)
{
	int status = -EINPROGRESS;

	if (!IS(pier_func_call(func, carry_out, plan, note, &status), 0))
		return 1;
	return await(&status);
}

static void a_function_is_called_in_the_engine(void)
{
	struct callee plan = { .ret = 0 };
	struct pier_task *task;

	if (!open_func(NULL) ||
	    !IS(pier_func_task_call(func, carry_out, &plan, &task), 0))
		return;
	IS(pier_task_type(task), PIER_TASK_CALL);
	IS(pier_task_submit(task, 0), 0);
	IS(plan.calls, 0);
	IS(pier_task_submit(task, 0), -EBUSY);
	IS(pier_func_task_set(task, carry_out, NULL), -EBUSY);
	IS(pier_pe_progress(pe, 0), 1);
	IS(plan.calls, 1);
	IS(pier_task_status(task), 0);
	pier_task_free(task);
	close_func();
}

static void what_it_returns_is_the_status(void)
{
	struct callee fails = { .ret = -EDOM }, wrong = { .ret = 7 };
	struct callee works = { .ret = 0 };

	if (!open_func(NULL))
		return;
	IS(call(&fails), -EDOM);
	LIKE(pier_last_error(), "call: the function failed");
	IS(call(&works), 0);
	IS(call(&wrong), -EINVAL);
	LIKE(pier_last_error(), "returned 7");
	close_func();
}

static void a_function_in_progress_is_called_once_a_round(void)
{
	struct callee plan = { .again = 3 };
	int status = -EINPROGRESS;

	if (!open_func(NULL))
		return;
	IS(pier_func_call(func, carry_out, &plan, note, &status), 0);
	for (int i = 1; i <= 3; i++) {
		IS(pier_pe_progress(pe, 0), 0);
		IS(plan.calls, i);
		IS(pier_pe_arm(pe), -EAGAIN);
	}
	IS(pier_pe_progress(pe, 0), 1);
	IS(status, 0);
	close_func();
}

static void a_function_may_let_the_engine_sleep(void)
{
	struct callee plan = { .wait = 3 };
	int status = -EINPROGRESS;

	if (!open_func(NULL))
		return;
	IS(pier_func_call(func, carry_out, &plan, note, &status), 0);
	while (pier_pe_progress(pe, 0) > 0)
		;
	IS(pier_pe_arm(pe), 0);
	pier_pe_clear(pe);
	IS(await(&status), 0);
	IS(plan.calls, 4);
	close_func();
}

static void an_engine_sleeps_only_if_all_functions_allow_it(void)
{
	struct callee waits = { .wait = 1000 }, runs = { .again = 1000 };
	int first = -EINPROGRESS, second = -EINPROGRESS;

	if (!open_func(NULL))
		return;
	IS(pier_func_call(func, carry_out, &waits, note, &first), 0);
	IS(pier_func_call(func, carry_out, &runs, note, &second), 0);
	for (int i = 0; i < 5; i++) {
		IS(pier_pe_progress(pe, 0), 0);
		IS(pier_pe_arm(pe), -EAGAIN);
	}
	runs.again = 0;
	IS(await(&second), 0);
	IS(pier_pe_progress(pe, 0), 0);
	IS(pier_pe_arm(pe), 0);
	pier_pe_clear(pe);
	IS(pier_ctx_stop(pier_func_ctx(func)), -EINPROGRESS);
	IS(pier_pe_arm(pe), -EAGAIN);
	IS(await(&first), -ECANCELED);
	close_func();
}

/* Those that wait do not hold up others. */
static void functions_in_progress_let_others_pass(void)
{
	struct callee slow = { .again = 1000 }, quick = { .ret = 0 };
	int first = -EINPROGRESS, second = -EINPROGRESS;

	if (!open_func(NULL))
		return;
	IS(pier_func_call(func, carry_out, &slow, note, &first), 0);
	IS(pier_func_call(func, carry_out, &quick, note, &second), 0);
	IS(await(&second), 0);
	IS(first, -EINPROGRESS);
	IS(await(&first), 0);
	IS(slow.calls, 1001);
	close_func();
}

static void the_function_of_a_task_is_changed_between_submits(void)
{
	struct callee first = { .ret = -EDOM }, second = { .ret = -ENXIO };
	struct pier_task *task;
	int status = -EINPROGRESS;

	if (!open_func(NULL) ||
	    !IS(pier_func_task_call(func, carry_out, &first, &task), 0))
		return;
	IS(pier_func_task_set(task, NULL, &second), -EINVAL);
	IS(pier_func_task_set(task, carry_out, &second), 0);
	pier_task_set_done(task, note, &status);
	IS(pier_task_submit(task, 0), 0);
	IS(await(&status), -ENXIO);
	IS(first.calls, 0);
	pier_task_free(task);
	IS(pier_func_task_call(func, NULL, NULL, &task), -EINVAL);
	LIKE(pier_last_error(), "no function");
	close_func();
}

static void a_stop_cancels_what_was_not_called(void)
{
	struct callee plan = { .ret = 0 };
	int status = -EINPROGRESS;

	if (!open_func(NULL))
		return;
	IS(pier_func_call(func, carry_out, &plan, note, &status), 0);
	IS(pier_ctx_stop_wait(pier_func_ctx(func), 10000), 0);
	IS(status, -ECANCELED);
	IS(plan.calls, 0);
	IS(pier_ctx_start(pier_func_ctx(func), pe), 0);
	IS(call(&plan), 0);
	close_func();
}

static void destroy_it(void)
{
	pier_func_destroy(func);
	func = NULL;
}

static void a_function_that_destroys_its_context_is_the_last_one(void)
{
	struct callee plan = { .act = destroy_it }, other = { .ret = 0 };
	int first = -EINPROGRESS, second = -EINPROGRESS;

	if (!open_func(NULL))
		return;
	IS(pier_func_call(func, carry_out, &plan, note, &first), 0);
	IS(pier_func_call(func, carry_out, &other, note, &second), 0);
	IS(await(&first), 0);
	IS(await(&second), -ECANCELED);
	IS(other.calls, 0);
	close_func();
}

static struct callee inner = { .ret = 0 };
static int inner_status = -EINPROGRESS;

static void call_inner(void)
{
	IS(pier_func_call(func, carry_out, &inner, note, &inner_status), 0);
	IS(inner.calls, 0);
}

static void a_function_may_submit_another(void)
{
	struct callee plan = { .act = call_inner };

	if (!open_func(NULL))
		return;
	IS(call(&plan), 0);
	IS(await(&inner_status), 0);
	IS(inner.calls, 1);
	close_func();
}

static void the_configuration_is_that_of_other_contexts(void)
{
	struct pier_func_config cfg = { .size = sizeof(cfg), .tasks = 1,
					.stop_on_task_error = 1 };
	struct callee fails = { .ret = -EDOM };
	struct pier_task *task, *more;

	if (!open_func(&cfg))
		return;
	pier_func_get_config(func, &cfg);
	IS(cfg.tasks, 1);
	IS(pier_func_configure(func, &cfg), -EBUSY);
	IS(pier_func_task_call(func, carry_out, &fails, &task), 0);
	IS(pier_func_task_call(func, carry_out, &fails, &more), -ENOBUFS);
	pier_task_free(task);
	IS(call(&fails), -EDOM);
	OK(pier_ctx_state(pier_func_ctx(func)) != PIER_CTX_RUNNING);
	close_func();
}

static void ignore(struct pier_task *task, void *arg)
{
	note(task, arg);
	pier_pe_ignore_event(pe);
}

static void ignore_state(struct pier_ctx *ctx, enum pier_ctx_state prev,
			 enum pier_ctx_state next, void *user_data)
{
	(void)ctx;
	(void)prev;
	(void)next;
	(void)user_data;
	pier_pe_ignore_event(pe);
}

static void a_stop_ends_its_wait_if_all_events_are_ignored(void)
{
	struct callee busy = { .again = 1000 };
	int status = -EINPROGRESS;

	if (!open_func(NULL))
		return;
	pier_ctx_set_state_changed(pier_func_ctx(func), ignore_state);
	IS(pier_func_call(func, carry_out, &busy, ignore, &status), 0);
	IS(pier_ctx_stop_wait(pier_func_ctx(func), -1), 0);
	IS(status, -ECANCELED);
	close_func();
}

/* The order is that of programs that arm, submit and then sleep. */
static void a_task_submitted_after_arm_makes_the_fd_readable(void)
{
	struct callee plan = { .ret = 0 };
	struct pollfd fd = { .events = POLLIN };
	int status = -EINPROGRESS;

	if (!open_func(NULL))
		return;
	fd.fd = pier_pe_fd(pe);
	while (pier_pe_arm(pe) == -EAGAIN)
		pier_pe_progress(pe, 0);
	IS(poll(&fd, 1, 0), 0);
	IS(pier_func_call(func, carry_out, &plan, note, &status), 0);
	IS(poll(&fd, 1, 20000), 1);
	pier_pe_clear(pe);
	IS(poll(&fd, 1, 0), 0);
	IS(await(&status), 0);
	close_func();
}

int main(void)
{
	TEST(a_function_is_called_in_the_engine);
	TEST(what_it_returns_is_the_status);
	TEST(a_function_in_progress_is_called_once_a_round);
	TEST(a_function_may_let_the_engine_sleep);
	TEST(an_engine_sleeps_only_if_all_functions_allow_it);
	TEST(functions_in_progress_let_others_pass);
	TEST(the_function_of_a_task_is_changed_between_submits);
	TEST(a_stop_cancels_what_was_not_called);
	TEST(a_function_that_destroys_its_context_is_the_last_one);
	TEST(a_function_may_submit_another);
	TEST(the_configuration_is_that_of_other_contexts);
	TEST(a_stop_ends_its_wait_if_all_events_are_ignored);
	TEST(a_task_submitted_after_arm_makes_the_fd_readable);
	return tap_done();
}
