/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "perf.h"

/* While it is measured: the line on a terminal, and Ctrl-C. */

#define TICK 1000000000		/* nanoseconds between two lines */

volatile sig_atomic_t perf_interrupted;

static struct pier_pe *engine;	/* that the handler wakes */
static struct sigaction before;

static void interrupt(int number)
{
	(void)number;
	perf_interrupted = 1;
	pier_pe_wake(engine);
}

/*
 * A second Ctrl-C ends the process, whatever it does.  One that is ignored, as
 * in the background of a script, remains so.
 */
void perf_watch_start(struct perf *perf)
{
	struct sigaction action = { .sa_handler = interrupt,
				    .sa_flags = (int)SA_RESETHAND };

	engine = perf->pe;
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, NULL, &before);
	if (before.sa_handler != SIG_IGN)
		sigaction(SIGINT, &action, NULL);
	perf->live = !perf->opts.json && !perf->opts.csv &&
		     isatty(STDERR_FILENO);
}

void perf_watch_stop(void)
{
	sigaction(SIGINT, &before, NULL);
}

void perf_watch_begin(struct perf *perf, uint64_t now)
{
	perf->begun = perf->ticked = now;
	perf->next_tick = perf->live ? now + TICK : UINT64_MAX;
	perf->ticked_count = 0;
}

void perf_watch_print(struct perf *perf, uint64_t now, uint64_t count)
{
	double seconds = (double)(now - perf->ticked) / 1e9;
	double rate = (double)(count - perf->ticked_count) / seconds;
	double bytes = rate * (double)perf->size;
	bool gbits = perf->opts.gbits;

	fprintf(stderr, "\r\033[K%" PRIu64 " bytes, %.0f s: %" PRIu64
		" messages, %.0f a second, %.3f %s", perf->size,
		(double)(now - perf->begun) / 1e9, count, rate,
		(gbits ? bytes * 8 : bytes) / 1e9, gbits ? "Gbit/s" : "GB/s");
	fflush(stderr);
	perf->ticked = now;
	perf->ticked_count = count;
	perf->next_tick = now + TICK;
}

void perf_watch_end(struct perf *perf)
{
	if (perf->live && perf->ticked != perf->begun)
		fputs("\r\033[K", stderr);
}
