/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads with an engine each, for a while: random operations of every type,
 * connects by descriptors and by address, disconnects, stops and starts.
 * Prints what was compared.
 *
 *	stress [SECONDS]
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/clock.h"
#include "t/lib/caller.h"
#include "t/lib/lane.h"
#include "t/lib/limit.h"

#define THREADS 4
#define SECONDS 60
#define BATCHES 8		/* on a connection, at most */
#define RESTART 16		/* connections between restarts */

struct stress {
	pthread_t thread;
	struct lane lane;
	unsigned long long connections, by_address, restarts;
	int status;
	char text[512];		/* the error message */
};

static struct pier_dev *dev;
static const char *address;	/* of dev; NULL: none */
static struct stress all[THREADS];
static atomic_bool over;	/* the time is up, or a thread has failed */

static int restart(struct lane *lane)
{
	struct pier_ctx *ctxs[] = {
		pier_rdma_ctx(lane->ends[0].rdma),
		pier_rdma_ctx(lane->ends[1].rdma),
		pier_dma_ctx(lane->dma),
		pier_sha_ctx(lane->sha),
		pier_func_ctx(lane->func),
		pier_graph_ctx(lane->graph),
	};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(ctxs) / sizeof(ctxs[0]); i++) {
		err = pier_ctx_stop_wait(ctxs[i], LIMIT_MS);
		if (!err)
			err = pier_ctx_start(ctxs[i], lane->pe);
	}
	return err;
}

static int use_connection(struct stress *stress)
{
	struct lane *lane = &stress->lane;
	bool by_address = address && lane->random & 2;
	int err = by_address ? lane_connect_to(lane, address) :
			       lane_connect(lane);

	stress->by_address += by_address;
	if (!err)
		err = lane_run(lane, 1 + (unsigned int)lane->random % BATCHES);
	lane_disconnect(lane);
	if (!err && ++stress->connections % RESTART == 0) {
		err = restart(lane);
		stress->restarts++;
	}
	return err;
}

static void *run(void *arg)
{
	struct stress *stress = arg;
	struct pier_pe *pe;
	int err = pier_pe_create(&pe);

	if (err)
		goto out;
	err = lane_open(&stress->lane, dev, pe, (uint64_t)(stress - all));
	while (!err && !over)
		err = use_connection(stress);
	lane_close(&stress->lane);
	pier_pe_destroy(pe);
out:
	stress->status = err;
	if (err) {
		over = true;
		snprintf(stress->text, sizeof(stress->text), "%s",
			 pier_last_error());
	}
	return NULL;
}

/* Until the time is up, or a thread has failed. */
static void wait_for(int seconds)
{
	const struct timespec pause = { .tv_nsec = 50000000 };
	uint64_t end = pier__now() + (uint64_t)seconds * 1000 * PIER__MS;

	while (!over && pier__now() < end)
		nanosleep(&pause, NULL);
	over = true;
}

/* What a run without the sanitizer does not show. */
static void say_what_was_looked_for(void)
{
#ifndef __SANITIZE_THREAD__
	puts("races are looked for in builds with --enable-tsan only");
#endif
}

static int report(void)
{
	int failed = 0;

	for (int i = 0; i < THREADS; i++) {
		const struct stress *stress = &all[i];

		pthread_join(stress->thread, NULL);
		printf("thread %d: %llu operations compared, %llu connections, "
		       "%llu by address, %llu restarts\n", i,
		       stress->lane.operations, stress->connections,
		       stress->by_address, stress->restarts);
		if (!stress->status)
			continue;
		fprintf(stderr, "thread %d: error %d: %s\n", i, stress->status,
			stress->text);
		failed = 1;
	}
	return failed;
}

int main(int argc, char *argv[])
{
	int seconds = argc > 1 ? atoi(argv[1]) : SECONDS;
	int failed;

	if (seconds < 1 || pier_dev_open(NULL, &dev)) {
		fprintf(stderr, "stress: %s\n", seconds < 1 ?
			"usage: stress [SECONDS]" : pier_last_error());
		return 2;
	}
	address = caller_address(dev);
	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&all[i].thread, NULL, run, &all[i])) {
			fputs("stress: no thread\n", stderr);
			return 2;
		}
	}
	wait_for(seconds);
	failed = report();
	say_what_was_looked_for();
	pier_dev_close(dev);
	return failed;
}
