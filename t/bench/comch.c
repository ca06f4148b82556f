/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a Comm Channel and a DMA copy between two processes cost, beside RDMA
 * sends and writes of the same two: they take turns, each on an engine of its
 * own, and a figure is the median of the turns' ratios, with the least and the
 * most.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/comch_ways.h"
#include "bench/procs.h"
#include "bench/target.h"

#define TURNS 101
#define ROUND_TRIPS 500
#define COPIES 32

static const struct bench_way *const ways[] = {
	&way_send, &way_comch, &way_request, &way_write, &way_dma,
};

#define WAYS (int)(sizeof(ways) / sizeof(ways[0]))

/* The turn that is over; B drives the way of its own until then. */
static atomic_int *over;
static int turn, wire;

/* B: serve each way in its turns. */
static void serve_all(int fd, void *arg)
{
	struct pier_dev *dev;
	int i;

	(void)arg;
	must(pier_dev_open(getenv("BENCH_DEVICE"), &dev));
	for (i = 0; i < WAYS; i++)
		ways[i]->serve(dev, fd);
	for (;;) {
		turn++;
		proc_get(fd, &i, sizeof(i));
		proc_put(fd, &turn, sizeof(turn));
		while (ways[i]->step && atomic_load(over) < turn)
			ways[i]->step();
	}
}

/* A: a turn of @way.  Microseconds an operation. */
static double take_turn(const struct bench_way *way, int count, int depth)
{
	int i = 0, now;
	double us;

	while (ways[i] != way)
		i++;
	proc_put(wire, &i, sizeof(i));
	proc_get(wire, &now, sizeof(now));
	us = way->run(count, depth);
	atomic_store(over, now);
	return us / count;
}

/* The turns of @ours beside @theirs; the first one is not counted. */
struct figures {
	double ratio[TURNS], ours[TURNS], theirs[TURNS];
	double median;
};

static void compare(const struct bench_way *ours,
		    const struct bench_way *theirs, int count, int depth,
		    struct figures *ret)
{
	for (int i = -1; i < TURNS; i++) {
		int at = i < 0 ? 0 : i;

		ret->theirs[at] = take_turn(theirs, count, depth);
		ret->ours[at] = take_turn(ours, count, depth);
		ret->ratio[at] = ret->ours[at] / ret->theirs[at];
	}
	ret->median = proc_median(ret->ratio, TURNS);
}

static void round_trips(const struct bench_way *way, double most)
{
	struct figures f;

	compare(way, &way_send, ROUND_TRIPS, AHEAD, &f);
	bench_judge(f.median <= most, "a %d-byte round trip of %s: %.3f (%.3f "
		    "to %.3f, %.2f us beside %.2f us) of %s, at most %.2f",
		    MESSAGE, way->name, f.median, f.ratio[0],
		    f.ratio[TURNS - 1], proc_median(f.ours, TURNS),
		    proc_median(f.theirs, TURNS), way_send.name, most);
}

/* The rate is what one copy takes, the other way round; MB is 10^6 bytes. */
static void rates(int depth)
{
	struct figures f;

	compare(&way_write, &way_dma, COPIES, depth, &f);
	bench_judge(f.median >= 0.8, "the rate of %s of 1 MiB, %d in flight: "
		    "%.3f (%.3f to %.3f, %.0f MB/s beside %.0f) of %s, at "
		    "least 0.8", way_dma.name, depth, f.median, f.ratio[0],
		    f.ratio[TURNS - 1], COPY / proc_median(f.theirs, TURNS),
		    COPY / proc_median(f.ours, TURNS), way_write.name);
}

int main(void)
{
	struct pier_dev *dev;

	bench_begin(4);
	over = mmap(NULL, sizeof(*over), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (over == MAP_FAILED)
		proc_die("comch: no memory");
	wire = proc_fork(PROC_B, serve_all, NULL);
	proc_be(PROC_A);
	must(pier_dev_open(getenv("BENCH_DEVICE"), &dev));
	for (int i = 0; i < WAYS; i++)
		ways[i]->meet(dev, wire);
	round_trips(&way_comch, 1.15);
	round_trips(&way_request, 1.1);
	rates(1);
	rates(DEPTH);
	fflush(stdout);
	return bench_status();
}
