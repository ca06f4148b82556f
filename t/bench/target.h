/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_BENCH_TARGET_H
#define PIER_T_BENCH_TARGET_H

#include <stdbool.h>

/*
 * The targets of a benchmark: each is a line that ends in "met" or "MISSED".
 * However the process exits, its last line is "targets: N met, M missed"; a
 * target that was not judged is missed.
 */

/* There are @count targets. */
void bench_begin(int count);

/* The next target: print what @fmt says, and whether it is @met. */
void bench_judge(bool met, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The exit status: 0 if every target was met. */
int bench_status(void);

/* End the process with the error message of pier if @err is an error. */
void must(int err);

#endif
