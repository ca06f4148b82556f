/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CORE_CLOCK_H
#define PIER_CORE_CLOCK_H

#include <stdint.h>

#define PIER__MS UINT64_C(1000000)	/* nanoseconds */
#define PIER__NEVER UINT64_MAX

/* Nanoseconds of the monotonic clock. */
uint64_t pier__now(void);

/* Seconds since 1970, for what is written to files. */
uint64_t pier__wall_seconds(void);

/* @now plus @ms milliseconds; PIER__NEVER if @ms is below 0. */
uint64_t pier__deadline(uint64_t now, int ms);

/* Milliseconds from @now to @deadline, rounded up; -1: never. */
int pier__ms_left(uint64_t now, uint64_t deadline);

#endif
