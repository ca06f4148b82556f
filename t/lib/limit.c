/* SPDX-License-Identifier: BSD-2-Clause */
#include <poll.h>
#include <stdlib.h>
#include <time.h>

#include "t/lib/limit.h"
#include "t/lib/tap.h"

long long limit_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

unsigned int limit_slower(void)
{
	const char *set = getenv("PIER_TEST_SLOWER");
	int times = set ? atoi(set) : 1;

	return times > 0 ? (unsigned int)times : 1;
}

long long limit_from_now(void)
{
	return limit_now_ms() + (long long)LIMIT_MS * limit_slower();
}

int limit_ack_timeout(int base)
{
	unsigned int times;

	for (times = limit_slower(); times > 1; times /= 2)
		base++;		/* twice the time */
	return base;
}

bool limit_holds(long long limit)
{
	if (limit_now_ms() <= limit)
		return true;
	return tap_ok(false, "what is waited for comes in time", __FILE__,
		      __LINE__);
}

bool limit_nap(long long limit)
{
	poll(NULL, 0, 1);
	return limit_holds(limit);
}

bool limit_nap_for(long long limit, int ms)
{
	long long end = limit_now_ms() + ms;

	while (limit_now_ms() < end) {
		if (!limit_nap(limit))
			return false;
	}
	return true;
}

void limit_be_elsewhere(int ms)
{
	poll(NULL, 0, ms);
}
