/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What overhead.c measures, of a program written for DOCA: the difference is
 * what the layer costs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/overhead_clock.h"
#include "bench/overhead_doca_tasks.h"
#include "bench/overhead_mode.h"
#include "bench/overhead_peer.h"

#define BATCH OVERHEAD_DOCA_MAX

static struct doca_pe *pe;
static struct overhead_doca_task tasks[BATCH];
static long done;

void must(doca_error_t error)
{
	if (error) {
		fprintf(stderr, "overhead_doca: %s\n",
			doca_error_get_name(error));
		exit(1);
	}
}

void overhead_doca_done(void)
{
	done++;
}

/* What is not, in between: it is called from nowhere else. */
void __attribute__((noinline)) bench_peer(long n);

static void bench_submit(const struct overhead_doca_task *at, uint32_t flags)
{
	if (at->grows)
		doca_buf_reset_data_len(at->grows);
	must(at->instance ? doca_graph_instance_submit(at->instance) :
	     flags == DOCA_TASK_SUBMIT_FLAG_FLUSH ?
			    doca_task_submit(at->task) :
			    doca_task_submit_ex(at->task, flags));
}

void bench_peer(long n)
{
	overhead_peer_begin(n);
	while (!overhead_peer_progress())
		;
}

/* Until @n more tasks are done. */
static void bench_finish(long n)
{
	const long want = done + n;

	if (overhead_peer_exists())
		bench_peer(n);
	while (done < want)
		doca_pe_progress(pe);
}

void bench_single(long n)
{
	for (long i = 0; i < n; i++) {
		bench_submit(&tasks[0], DOCA_TASK_SUBMIT_FLAG_FLUSH);
		bench_finish(1);
	}
}

static void bench_submit_all(void)
{
	for (int i = 0; i < BATCH; i++)
		bench_submit(&tasks[i], i + 1 < BATCH ?
			     DOCA_TASK_SUBMIT_FLAG_NONE :
			     DOCA_TASK_SUBMIT_FLAG_FLUSH);
}

static void __attribute__((noinline)) bench_batches(long n)
{
	for (long i = 0; i < n; i += BATCH) {
		bench_submit_all();
		bench_finish(BATCH);
	}
}

/* The first submit builds a task, and may make a connection: not counted. */
static void warm_up(void)
{
	bench_submit_all();
	overhead_peer_begin(overhead_peer_exists() ? BATCH : 0);
	while (done < BATCH ||
	       (overhead_peer_exists() && !overhead_peer_progress())) {
		if (overhead_peer_exists())
			overhead_peer_progress();
		doca_pe_progress(pe);
	}
	done = 0;
}

void bench_batched(long n)
{
	doca_pe_set_event_mode(pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL);
	bench_batches(n);
}

/* The default mode: one event a call. */
void bench_events(long n)
{
	bench_batches(n);
}

/* Each is a task of its own; of an instance of a graph its node's is set. */
void bench_anew(long n)
{
	for (long i = 0; i < n; i++) {
		overhead_doca_make_again(0, &tasks[0]);
		bench_submit(&tasks[0], DOCA_TASK_SUBMIT_FLAG_FLUSH);
		bench_finish(1);
		if (!tasks[0].instance)
			doca_task_free(tasks[0].task);
	}
}

int main(int argc, char *argv[])
{
	void (*run)(long n) = argc > 2 ? overhead_mode(argv[2]) : NULL;
	long n = argc > 3 ? atol(argv[3]) : 3200;

	if (argc == 2 && !strcmp(argv[1], "types")) {
		overhead_doca_types();
		return 0;
	}
	if (!run || n < 1 || n % BATCH) {
		fprintf(stderr, "usage: overhead_doca types | TYPE "
			"single|batched|events|anew [COUNT], a multiple of "
			"%d\n", BATCH);
		return 2;
	}
	must(doca_pe_create(&pe));
	if (!overhead_doca_make(argv[1], pe, BATCH, tasks)) {
		fprintf(stderr, "overhead_doca: no type is called %s\n",
			argv[1]);
		return 2;
	}
	warm_up();
	if (run == bench_anew && !tasks[0].instance)
		doca_task_free(tasks[0].task);
	overhead_clock_stop();
	run(n);
	if (done != n) {
		fprintf(stderr, "overhead_doca: %ld of %ld tasks done\n", done,
			n);
		return 1;
	}
	printf("%ld tasks\n", done);
	return 0;
}
