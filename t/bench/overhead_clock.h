/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_BENCH_OVERHEAD_CLOCK_H
#define PIER_T_BENCH_OVERHEAD_CLOCK_H

/*
 * A program that has this file has a monotonic clock that can stand still.  An
 * engine also polls by time, once in a millisecond: with a clock that runs, a
 * program that is slow, as one that is counted on a loaded machine, would poll
 * more often in the same work.  Reading the clock costs what it always does.
 */

/* From now on the clock stands still, or goes on. */
void overhead_clock_stop(void);
void overhead_clock_go(void);

#endif
