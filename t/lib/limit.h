/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_LIMIT_H
#define PIER_T_LIB_LIMIT_H

#include <stdbool.h>

/*
 * How a test waits for a condition:
 *
 *	limit = limit_from_now();
 *	while (!condition && limit_nap(limit))
 *		;
 *
 * The limit is LIMIT_MS, which PIER_TEST_SLOWER stretches.  With engines to
 * drive meanwhile it is peer_step() instead of limit_nap().
 */
#define LIMIT_MS 20000

unsigned int limit_slower(void);	/* PIER_TEST_SLOWER, or 1 */
long long limit_now_ms(void);		/* CLOCK_MONOTONIC */
long long limit_from_now(void);

/* Has it not passed?  If it has, that is a failed check. */
bool limit_holds(long long limit);

/* The same; sleeps for a millisecond, in which others can work. */
bool limit_nap(long long limit);

/* The same, for @ms milliseconds or until the limit has passed. */
bool limit_nap_for(long long limit, int ms);

/* The ack_timeout that is @base where nothing stretches the limits. */
int limit_ack_timeout(int base);

/* Do something else than pier for @ms milliseconds, as a program may. */
void limit_be_elsewhere(int ms);

#endif
