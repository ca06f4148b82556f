/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_STEPS_H
#define PIER_T_LIB_STEPS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The steps of a process: what it stores to memory that other processes see,
 * one instruction at a time, and calls that are steps by themselves.  Such
 * memory is made read-only, so that each store faults, and is then executed by
 * a single step of the CPU.
 *
 * Threads: a store of one while another one's is executed may not be counted.
 */
#define STEPS_RANGES 16

/* Can this CPU do it, in this build? */
bool steps_are_possible(void);

/* Memory of whole pages that is written from now on, and not any more. */
void steps_watch(void *at, size_t len);
void steps_forget(const void *at);

/*
 * Call @fn before each step with its number, the first is 1; in a handler of a
 * signal.  The second ends that, and returns how many there were.
 */
void steps_begin(void (*fn)(unsigned int step));
unsigned int steps_end(void);

/* This call is a step. */
void steps_one(void);

#endif
