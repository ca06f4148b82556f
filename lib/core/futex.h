/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CORE_FUTEX_H
#define PIER_CORE_FUTEX_H

#include <stdatomic.h>
#include <stdint.h>

/* Sleeping on a word of this process.  All calls: any thread. */

/*
 * Sleep while *@word is @value, at most until @deadline of pier__now();
 * PIER__NEVER: no limit.  It may end early: check again.
 */
void pier__futex_wait(atomic_uint *word, unsigned int value, uint64_t deadline);

/* Wake every thread that sleeps on @word. */
void pier__futex_wake(atomic_uint *word);

#endif
