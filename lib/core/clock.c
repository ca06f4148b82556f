/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits.h>
#include <time.h>

#include "core/clock.h"

uint64_t pier__now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 * PIER__MS + (uint64_t)ts.tv_nsec;
}

uint64_t pier__wall_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec;
}

uint64_t pier__deadline(uint64_t now, int ms)
{
	uint64_t wait;

	if (ms < 0)
		return PIER__NEVER;
	wait = (uint64_t)ms * PIER__MS;
	return wait < PIER__NEVER - now ? now + wait : PIER__NEVER;
}

int pier__ms_left(uint64_t now, uint64_t deadline)
{
	uint64_t left;

	if (deadline == PIER__NEVER)
		return -1;
	if (deadline <= now)
		return 0;
	left = (deadline - now - 1) / PIER__MS + 1;
	return left < INT_MAX ? (int)left : INT_MAX;
}
