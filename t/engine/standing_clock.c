/* SPDX-License-Identifier: BSD-2-Clause */
#include <time.h>

#include <pier/pe.h>

#include "bench/overhead_clock.h"
#include "core/clock.h"
#include "engine/source.h"
#include "t/lib/tap.h"

/* What bench-overhead counts does not depend on how long it takes. */

#define ROUNDS 64	/* fewer than those after which all are polled anyway */

static int polled;

static int count(struct pier__source *source, int budget)
{
	(void)source;
	(void)budget;
	polled++;
	return 0;
}

/* Of the processor, which is not stopped. */
static double used(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

/* How often a source is polled that is slow, in rounds that take 2 ms each. */
static int polls_of_slow_rounds(void)
{
	struct pier__source slow = { .poll = count, .fd = -1, .slow = true,
				     .due = PIER__NEVER };
	struct pier_pe *pe;

	if (!IS(pier_pe_create(&pe), 0) || !IS(pier__pe_add(pe, &slow), 0))
		return -1;
	pier_pe_progress(pe, 0);
	polled = 0;
	for (int i = 0; i < ROUNDS; i++) {
		double begin = used();

		while (used() - begin < 0.002)
			;
		pier_pe_progress(pe, 0);
	}
	pier__pe_remove(&slow);
	pier_pe_destroy(pe);
	return polled;
}

static void a_clock_that_stands_has_no_source_polled_by_time(void)
{
	overhead_clock_stop();
	IS(polls_of_slow_rounds(), 0);
	overhead_clock_go();
}

static void a_clock_that_goes_has_them_polled(void)
{
	OK(polls_of_slow_rounds() > 0);
}

static void a_clock_that_was_stopped_goes_on(void)
{
	uint64_t begin, at;

	overhead_clock_stop();
	begin = pier__now();
	IS(pier__now(), begin);
	overhead_clock_go();
	do
		at = pier__now();
	while (at == begin);
	OK(at > begin);
}

int main(void)
{
	TEST(a_clock_that_stands_has_no_source_polled_by_time);
	TEST(a_clock_that_goes_has_them_polled);
	TEST(a_clock_that_was_stopped_goes_on);
	return tap_done();
}
