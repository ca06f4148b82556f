/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the flight recorder costs the soft device: writes between two endpoints
 * on a network in virtual time, with it and without it in turns, whose packets
 * are the same.  A figure is the ratio of the least processor time that a turn
 * has taken, which nothing else on the machine changes.  A real network adds
 * system calls to both, so that the share is less there.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/target.h"
#include "core/clock.h"
#include "fabric/soft/stats/recorder.h"
#include "t/lib/softpair.h"

#define TURNS 400
#define WRITES 400
#define WARMUP 40		/* the memory is touched */
#define SIZE 65536
#define LIMIT (3600 * UINT64_C(1000) * PIER__MS)
#define TARGET 1.03

static struct soft_events events[2];
static struct soft_qp_events own[2];

static double processor_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Processor seconds of all writes; how many entries there were. */
static double turn(double loss, bool is_on, uint64_t *ret_events)
{
	static const struct softpair_opts opts = { .mtu = 4096 };
	struct softpair *pair = softpair_open(&opts, 1);
	struct softpair_end *from = &pair->end[0], *to = &pair->end[1];
	double begun = 0;

	memset(events, 0, sizeof(events));
	memset(own, 0, sizeof(own));
	for (int i = 0; i < 2 && is_on; i++) {
		pier__soft_ep_record_in(pair->end[i].ep, &events[i]);
		pier__soft_qp_record_in(pair->end[i].qp, &own[i]);
	}
	pair->net.faults.loss = loss;
	for (uint32_t i = 0; i < WARMUP + WRITES; i++) {
		if (i == WARMUP)
			begun = processor_time();
		if (softpair_send(from, i, IBV_WR_RDMA_WRITE, 0, SIZE, to,
				  PAIR_MEM / 2) ||
		    !softpair_wait(pair, 0, i + 1, LIMIT))
			exit(1);
	}
	begun = processor_time() - begun;
	if (is_on)
		*ret_events = own[0].count + own[1].count;
	softpair_close(pair);
	return begun;
}

static void compare(double loss)
{
	double least[2] = { 1e9, 1e9 }, ratio;
	uint64_t count = 0;

	/* With, without, without, with: neither always follows the other. */
	for (int i = 0; i < 2 * TURNS; i++) {
		bool is_on = i % 4 == 0 || i % 4 == 3;
		double seconds = turn(loss, is_on, &count);

		if (seconds < least[is_on])
			least[is_on] = seconds;
	}
	ratio = least[true] / least[false];
	bench_judge(ratio <= TARGET, "a write of 64K, %.1f %% lost: %.3f x "
		    "without (%.3f us, %.3f entries), at most %.2f",
		    loss * 100, ratio, least[true] / WRITES * 1e6,
		    (double)count / WRITES, TARGET);
}

int main(void)
{
	bench_begin(3);
	compare(0);
	compare(0.001);
	compare(0.01);
	return bench_status();
}
