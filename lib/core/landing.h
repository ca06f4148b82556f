/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CORE_LANDING_H
#define PIER_CORE_LANDING_H

#include <stddef.h>
#include <stdint.h>

/*
 * Accesses to memory of a program that may have been unmapped: a signal that
 * they raise is the error of a call.  Other signals are as they were; handlers
 * that the program sets later get all of them.
 */

/* Before the first call: set the handlers of SIGSEGV and SIGBUS, once. */
void pier__landing_install(void);

/*
 * Call @fn, which may be left at any access to memory, and makes no such call.
 * The first call of a thread unblocks the signals in it, where they stay so.
 * Returns 0, or -EFAULT if it was left.
 */
int pier__landing_call(void (*fn)(void *arg), void *arg);

/*
 * Copy; store a word at once; find out whether all pages may be read.
 * Errors: -EFAULT.
 */
int pier__landing_copy(void *dst, const void *src, size_t len);
int pier__landing_store(uint64_t *word, uint64_t value);
int pier__landing_read(const void *src, size_t len);

#endif
