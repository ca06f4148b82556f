/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <stdio.h>

#include "t/lib/lane.h"
#include "t/lib/tap.h"

/* Several contexts on one engine, and an engine in each of several threads. */

#define LANES 4
#define BATCHES 20
#define CONNECTIONS 3		/* of each lane, one after the other */

static struct pier_dev *dev;
static struct lane lanes[LANES];

/* Open, connect and use a lane, several times. */
static int use(struct lane *lane)
{
	int err = 0;

	for (int i = 0; !err && i < CONNECTIONS; i++) {
		err = lane_connect(lane);
		if (!err)
			err = lane_run(lane, BATCHES);
		lane_disconnect(lane);
	}
	return err;
}

static void contexts_on_one_engine_move_their_own_data(void)
{
	struct pier_pe *pe;
	int i, round;

	if (!IS(pier_pe_create(&pe), 0))
		return;
	for (i = 0; i < LANES; i++) {
		IS(lane_open(&lanes[i], dev, pe, (uint64_t)i), 0);
		IS(lane_connect(&lanes[i]), 0);
	}
	for (round = 0; round < BATCHES && tap_holds(); round++) {
		for (i = 0; i < LANES; i++)
			IS(lane_submit(&lanes[i]), 0);
		for (i = 0; i < LANES; i++)
			IS(lane_await(&lanes[i]), 0);
	}
	for (i = 0; i < LANES; i++) {
		IS(lanes[i].operations, BATCHES * LANE_SLOTS);
		lane_close(&lanes[i]);
	}
	IS(pier_pe_inflight(pe), 0);
	pier_pe_destroy(pe);
}

struct lane_thread {
	pthread_t thread;
	int number, status;
	char text[512];		/* the error message */
};

/* A thread with an engine of its own. */
static void *work(void *arg)
{
	struct lane_thread *worker = arg;
	struct lane *lane = &lanes[worker->number];
	struct pier_pe *pe;

	worker->status = pier_pe_create(&pe);
	if (worker->status)
		return NULL;
	worker->status = lane_open(lane, dev, pe, (uint64_t)worker->number);
	if (!worker->status)
		worker->status = use(lane);
	snprintf(worker->text, sizeof(worker->text), "%s", pier_last_error());
	lane_close(lane);
	pier_pe_destroy(pe);
	return NULL;
}

static void engines_in_threads_move_their_own_data(void)
{
	struct lane_thread workers[LANES] = { 0 };
	int i, started;

	for (i = 0; i < LANES; i++) {
		workers[i].number = i;
		if (!IS(pthread_create(&workers[i].thread, NULL, work,
				       &workers[i]), 0))
			break;
	}
	started = i;
	for (i = 0; i < started; i++) {
		pthread_join(workers[i].thread, NULL);
		if (!IS(workers[i].status, 0))
			tap_note("%s", workers[i].text);
		IS(lanes[i].operations, CONNECTIONS * BATCHES * LANE_SLOTS);
	}
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(contexts_on_one_engine_move_their_own_data);
	TEST(engines_in_threads_move_their_own_data);
	pier_dev_close(dev);
	return tap_done();
}
