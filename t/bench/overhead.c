/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What pier itself costs: submit, progress and callback on a device that does
 * nothing.  Counted by callgrind between the toggles in overhead.sh; without
 * it, this only checks that every task completes.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/overhead_clock.h"
#include "bench/overhead_graphs.h"
#include "bench/overhead_mode.h"
#include "bench/overhead_peer.h"
#include "bench/overhead_tasks.h"
#include "bench/procs.h"
#include "bench/target.h"

#define BATCH 32
#define NAPS 12

static struct pier_pe *pe;
static struct overhead_task tasks[BATCH];
static enum pier_task_type type;	/* theirs */
static bool elsewhere;		/* a thread carries the tasks out */
static long done;

static void task_done(struct pier_task *task, void *arg)
{
	(void)arg;
	done += pier_task_status(task) == 0;
}

/* What is not, in between: it is called from nowhere else. */
void __attribute__((noinline)) bench_peer(long n);

static void bench_submit(const struct overhead_task *at, unsigned int flags)
{
	if (at->grows)
		pier_buf_reset(at->grows);
	for (int i = 0; i < OVERHEAD_NODES && at->node_grows[i]; i++)
		pier_buf_reset(at->node_grows[i]);
	must(pier_task_submit(at->task, flags));
}

/* Let a thread finish all that it has, as rounds in vain would be counted. */
static void bench_await(void)
{
	const struct timespec nap = { .tv_nsec = 50000 };

	for (int i = 0; i < NAPS; i++)
		nanosleep(&nap, NULL);
}

void bench_peer(long n)
{
	overhead_peer_begin(n);
	while (!overhead_peer_progress())
		;
}

/* Until @n more tasks are done, at most @max in a call; 0: many. */
static void bench_finish(long n, int max)
{
	const long want = done + n;

	if (overhead_peer_exists())
		bench_peer(n);
	while (done < want) {
		if (elsewhere)
			bench_await();
		must(pier_pe_progress(pe, max));
	}
}

void bench_single(long n)
{
	for (long i = 0; i < n; i++) {
		bench_submit(&tasks[0], 0);
		bench_finish(1, 0);
	}
}

static void bench_batches(long n, int max)
{
	for (long i = 0; i < n; i += BATCH) {
		for (int j = 0; j < BATCH; j++)
			bench_submit(&tasks[j], j + 1 < BATCH ?
				     PIER_SUBMIT_MORE : 0);
		bench_finish(BATCH, max);
	}
}

void bench_batched(long n)
{
	bench_batches(n, 0);
}

void bench_events(long n)
{
	bench_batches(n, 1);
}

/* Each is a task of its own; of an instance of a graph its node's is set. */
void bench_anew(long n)
{
	const bool stays = type == PIER_TASK_GRAPH;

	for (long i = 0; i < n; i++) {
		overhead_make_again(type, 0, &tasks[0]);
		if (!stays)
			pier_task_set_done(tasks[0].task, task_done, NULL);
		bench_submit(&tasks[0], 0);
		bench_finish(1, 0);
		if (!stays)
			must(pier_task_free(tasks[0].task));
	}
}

/* The types have the numbers from 0 on. */
static const char *key(int number)
{
	const char *text = pier_task_type_key((enum pier_task_type)number);

	return strcmp(text, "unknown") ? text : NULL;
}

static int print_types(void)
{
	for (int i = 0; key(i); i++)
		puts(key(i));
	return 0;
}

static enum pier_task_type type_of(const char *text)
{
	for (int i = 0; key(i); i++)
		if (!strcmp(key(i), text))
			return (enum pier_task_type)i;
	proc_die("overhead: no type of task is called %s", text);
}

static void make_type(const char *text)
{
	type = type_of(text);
	if (!overhead_make(type, pe, BATCH, tasks))
		proc_die("overhead: %s is not measured yet", text);
	elsewhere = type == PIER_TASK_HASH;
}

/* @text is a type, or a graph of several nodes. */
static void make(const char *text)
{
	must(pier_pe_create(&pe));
	type = PIER_TASK_GRAPH;
	if (!overhead_graphs_make(text, pe, BATCH, tasks))
		make_type(text);
	for (int i = 0; i < BATCH; i++)
		pier_task_set_done(tasks[i].task, task_done, NULL);
}

/* The first message to a consumer makes a connection: not counted. */
static void warm_up(void)
{
	for (int i = 0; i < BATCH; i++)
		bench_submit(&tasks[i], 0);
	overhead_peer_begin(BATCH);
	while (!overhead_peer_progress() || done < BATCH)
		must(pier_pe_progress(pe, 0) < 0);
	done = 0;
}

int main(int argc, char *argv[])
{
	void (*run)(long n) = argc > 2 ? overhead_mode(argv[2]) : NULL;
	long n = argc > 3 ? atol(argv[3]) : 3200;

	if (argc == 2 && !strcmp(argv[1], "types"))
		return print_types();
	if (argc == 2 && !strcmp(argv[1], "graphs")) {
		overhead_graphs_print();
		return 0;
	}
	if (!run || n < 1 || n % BATCH)
		proc_die("usage: overhead types | graphs | NAME "
			 "single|batched|events|anew [COUNT], a multiple of %d",
			 BATCH);
	make(argv[1]);
	if (overhead_peer_exists())
		warm_up();
	if (run == bench_anew && type != PIER_TASK_GRAPH)
		must(pier_task_free(tasks[0].task));
	overhead_clock_stop();
	run(n);
	if (done != n)
		proc_die("overhead: %ld of %ld tasks done", done, n);
	printf("%ld tasks\n", done);
	return 0;
}
