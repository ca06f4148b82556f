/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/futex.h"

void pier__futex_wait(atomic_uint *word, unsigned int value, uint64_t deadline)
{
	const uint64_t second = 1000 * PIER__MS;
	struct timespec until = {
		.tv_sec = (time_t)(deadline / second),
		.tv_nsec = (long)(deadline % second),
	};

	syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value,
		deadline == PIER__NEVER ? NULL : &until, NULL,
		FUTEX_BITSET_MATCH_ANY);
}

void pier__futex_wake(atomic_uint *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
