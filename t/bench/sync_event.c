/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long a set takes to reach a thread that waits on another core: by sync
 * events, beside a bare futex and beside a bare word.  Each figure is the
 * median of the turns' ratios, with the least and the most.  And how long a
 * peer's set takes.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <pier/pier.h>

#include "bench/procs.h"
#include "bench/sync_event_remote.h"
#include "bench/target.h"

#define TURNS 21
#define LIMIT 1.5
#define CACHE_LINE 64
#define WAKES 100
#define ASLEEP_US 200		/* after which a waiter sleeps */

/* One way to set and to wait; values count upwards from 1. */
struct sync_way {
	const char *name;
	int rounds;
	bool sleeps;
	void (*set)(void *word, uint32_t value);
	void (*wait)(void *word, uint32_t value);
};

static void event_set(void *word, uint32_t value)
{
	must(pier_sync_event_set(word, value));
}

static void event_wait_busy(void *word, uint32_t value)
{
	must(pier_sync_event_wait_eq(word, value, UINT64_MAX,
				     PIER_SYNC_EVENT_BUSY, 10000));
}

static void event_wait_asleep(void *word, uint32_t value)
{
	must(pier_sync_event_wait_eq(word, value, UINT64_MAX,
				     PIER_SYNC_EVENT_YIELD, 10000));
}

static void line_set(void *word, uint32_t value)
{
	atomic_store_explicit((atomic_uint *)word, value, memory_order_release);
}

static void line_wait(void *word, uint32_t value)
{
	while (atomic_load_explicit((atomic_uint *)word,
				    memory_order_acquire) != value)
		;
}

static void futex_set(void *word, uint32_t value)
{
	atomic_store((atomic_uint *)word, value);
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void futex_wait(void *word, uint32_t value)
{
	uint32_t now;

	while ((now = atomic_load((atomic_uint *)word)) != value)
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, now, NULL, NULL,
			0);
}

static const struct sync_way busy = {
	"polling", 5000, false, event_set, event_wait_busy
};
static const struct sync_way line = {
	"line", 5000, false, line_set, line_wait
};
static const struct sync_way asleep = {
	"sleeping", WAKES, true, event_set, event_wait_asleep
};
static const struct sync_way futex = {
	"futex", WAKES, true, futex_set, futex_wait
};

/* What the two threads share: a word for each direction. */
struct table {
	const struct sync_way *way;
	void *there, *back;
	double seen;		/* us; when the last value was */
	atomic_int count;	/* of values seen */
};

static cpu_set_t cores;		/* that the process may use */

static void *answer(void *arg)
{
	const struct table *table = arg;

	sched_setaffinity(0, sizeof(cores), &cores);
	proc_be(PROC_B);
	for (int i = 1; i <= table->way->rounds; i++) {
		table->way->wait(table->there, (uint32_t)i);
		table->way->set(table->back, (uint32_t)i);
	}
	return NULL;
}

static void begin(pthread_t *thread, void *(*fn)(void *), struct table *table)
{
	if (pthread_create(thread, NULL, fn, table))
		proc_die("sync_event: no thread");
}

/* Microseconds there and back, both threads polling. */
static double measure_turns(struct table *table)
{
	pthread_t thread;
	double start;

	begin(&thread, answer, table);
	start = proc_now();
	for (int i = 1; i <= table->way->rounds; i++) {
		table->way->set(table->there, (uint32_t)i);
		table->way->wait(table->back, (uint32_t)i);
	}
	start = proc_now() - start;
	pthread_join(thread, NULL);
	return start / table->way->rounds;
}

static void *note_time(void *arg)
{
	struct table *table = arg;

	sched_setaffinity(0, sizeof(cores), &cores);
	proc_be(PROC_B);
	for (int i = 1; i <= table->way->rounds; i++) {
		table->way->wait(table->there, (uint32_t)i);
		table->seen = proc_now();
		atomic_store(&table->count, i);
	}
	return NULL;
}

/* Microseconds from a set to the return of a thread that sleeps, the median. */
static double measure_wakes(struct table *table)
{
	double took[WAKES], start;
	pthread_t thread;

	begin(&thread, note_time, table);
	for (int i = 1; i <= table->way->rounds; i++) {
		usleep(ASLEEP_US);
		start = proc_now();
		table->way->set(table->there, (uint32_t)i);
		while (atomic_load(&table->count) != i)
			usleep(ASLEEP_US);
		took[i - 1] = table->seen - start;
	}
	pthread_join(thread, NULL);
	return proc_median(took, WAKES);
}

static double measure(struct table *table)
{
	return table->way->sleeps ? measure_wakes(table) : measure_turns(table);
}

static struct pier_sync_event *make_event(void)
{
	struct pier_sync_event_config cfg = {
		.size = sizeof(cfg),
		.publisher = PIER_SYNC_EVENT_CPU,
		.subscriber = PIER_SYNC_EVENT_CPU,
	};
	struct pier_sync_event *event;

	must(pier_sync_event_create(&event));
	must(pier_sync_event_configure(event, &cfg));
	must(pier_sync_event_start(event));
	return event;
}

static double measure_events(const struct sync_way *way)
{
	struct table table = { way, make_event(), make_event(), 0, 0 };
	double took = measure(&table);

	pier_sync_event_destroy(table.there);
	pier_sync_event_destroy(table.back);
	return took;
}

static double measure_bare(const struct sync_way *way)
{
	static _Alignas(CACHE_LINE) atomic_uint word[2][CACHE_LINE / 4];
	struct table table = { way, &word[0][0], &word[1][0], 0, 0 };

	atomic_store(&word[0][0], 0);
	atomic_store(&word[1][0], 0);
	return measure(&table);
}

static void compare(const struct sync_way *ours, const struct sync_way *bare,
		    const char *what)
{
	double ratio[TURNS], took[2] = { 0 }, median;

	for (int i = -1; i < TURNS; i++) {	/* the first is not counted */
		took[0] = measure_bare(bare);
		took[1] = measure_events(ours);
		ratio[i < 0 ? 0 : i] = took[1] / took[0];
	}
	median = proc_median(ratio, TURNS);
	bench_judge(median <= LIMIT, "set to a %s waiter: %.2f (%.2f to %.2f) "
		    "x %s, at most %.1f", ours->name, median, ratio[0],
		    ratio[TURNS - 1], what, LIMIT);
	printf("  the last turn: %.2f us, beside %.2f us\n",
	       took[1], took[0]);
}

int main(void)
{
	bench_begin(3);
	sched_getaffinity(0, sizeof(cores), &cores);
	sync_event_remote();
	compare(&asleep, &futex, "a futex wake");
	compare(&busy, &line, "a cache line's way");
	return bench_status();
}
