/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_FAILING_H
#define PIER_T_LIB_FAILING_H

#include <stdbool.h>
#include <stddef.h>

/*
 * An allocator that counts, and fails on demand.  Takes the place of
 * malloc, calloc, realloc, strdup and free in everything that is linked into
 * the test, the library included, by the linker's --wrap; what libraries
 * beneath allocate for themselves is not seen.  Any thread.
 */

/* Let allocation number @n from now on fail, once; below 0: none. */
void failing_at(long n);

/* Has it failed? */
bool failing_happened(void);

/* Allocations ever made or tried, and frees of what they gave. */
long failing_allocations(void);
long failing_frees(void);

/* Pieces of memory allocated and not freed. */
long failing_live(void);

/* The size of the piece that was allocated first of those; 0: none. */
size_t failing_oldest(void);

#endif
