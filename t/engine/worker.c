/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>

#include <pier/pe.h>

#include "engine/worker.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"

/* A thread that carries out tasks while the engine goes on. */

#define TASKS 50

static struct pier_pe *pe;
static struct pier__worker worker;
static struct pier_task tasks[TASKS];

/* What the thread does, and what lets it go on. */
static sem_t begun, go_on;
static pthread_t ran_on;
static sigset_t blocked;

static void run(struct pier_task *task, void *arg)
{
	ran_on = pthread_self();
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	task->status = *(int *)arg;
}

static void run_at_a_sign(struct pier_task *task, void *arg)
{
	sem_post(&begun);
	sem_wait(&go_on);
	run(task, arg);
}

static int seven = 7;

/* Wait for @n tasks; in their order? */
static bool take(int n)
{
	long long limit = limit_from_now();
	int i = 0;

	while (i < n && limit_holds(limit)) {
		struct pier_task *task = pier__worker_take(&worker);

		for (; task; task = task->next) {
			OK(task == &tasks[i++]);
			IS(task->status, 7);
		}
		if (i < n)
			pier_pe_wait(pe, 100);
	}
	return i == n;
}

static void tasks_are_carried_out_by_another_thread_in_order(void)
{
	if (!IS(pier__worker_start(&worker, pe, run, &seven), 0))
		return;
	for (int i = 0; i < TASKS; i++)
		pier__worker_pass(&worker, &tasks[i]);
	OK(take(TASKS));
	OK(!pthread_equal(ran_on, pthread_self()));
	OK(!pier__worker_ready(&worker));
	pier__worker_stop(&worker);
}

static void signals_are_left_to_the_threads_of_the_program(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGALRM, SIGUSR1 };
	sigset_t mine;

	if (!IS(pier__worker_start(&worker, pe, run, &seven), 0))
		return;
	pier__worker_pass(&worker, &tasks[0]);
	OK(take(1));
	pthread_sigmask(SIG_SETMASK, NULL, &mine);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		OK(sigismember(&blocked, signals[i]));
		OK(!sigismember(&mine, signals[i]));
	}
	pier__worker_stop(&worker);
}

/* The engine's round is between the begin and the end of one task. */
static void the_engine_goes_on_and_is_woken_at_the_end(void)
{
	struct pollfd fd = { .fd = pier_pe_fd(pe), .events = POLLIN };

	if (!IS(pier__worker_start(&worker, pe, run_at_a_sign, &seven), 0))
		return;
	pier__worker_pass(&worker, &tasks[0]);
	sem_wait(&begun);
	IS(pier_pe_progress(pe, 0), 0);
	pier_pe_clear(pe);	/* of the wake-ups of other tests */
	OK(!pier__worker_ready(&worker));
	IS(pier_pe_arm(pe), 0);
	sem_post(&go_on);
	IS(poll(&fd, 1, LIMIT_MS), 1);
	pier_pe_clear(pe);
	OK(pier__worker_ready(&worker));
	OK(take(1));
	pier__worker_stop(&worker);
}

static void what_is_not_begun_is_recalled(void)
{
	struct pier_task *got;
	int i = 1;

	if (!IS(pier__worker_start(&worker, pe, run_at_a_sign, &seven), 0))
		return;
	for (int j = 0; j < 5; j++) {
		tasks[j].status = -EINPROGRESS;
		pier__worker_pass(&worker, &tasks[j]);
	}
	sem_wait(&begun);
	got = pier__worker_recall(&worker);
	for (; got; got = got->next)
		OK(got == &tasks[i++]);
	IS(i, 5);
	sem_post(&go_on);
	OK(take(1));
	IS(tasks[1].status, -EINPROGRESS);
	pier__worker_stop(&worker);
}

static void it_starts_and_ends_without_a_task(void)
{
	for (int i = 0; i < 20; i++) {
		if (!IS(pier__worker_start(&worker, pe, run, &seven), 0))
			return;
		pier__worker_stop(&worker);
	}
}

int main(void)
{
	sem_init(&begun, 0, 0);
	sem_init(&go_on, 0, 0);
	if (!IS(pier_pe_create(&pe), 0))
		return tap_done();
	TEST(tasks_are_carried_out_by_another_thread_in_order);
	TEST(signals_are_left_to_the_threads_of_the_program);
	TEST(the_engine_goes_on_and_is_woken_at_the_end);
	TEST(what_is_not_begun_is_recalled);
	TEST(it_starts_and_ends_without_a_task);
	pier_pe_destroy(pe);
	return tap_done();
}
