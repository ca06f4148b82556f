/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CORE_THREAD_H
#define PIER_CORE_THREAD_H

#include <pthread.h>

/*
 * Run @fn with @arg in a new thread, which the caller joins.  All signals are
 * blocked in it, but those of its own accesses to memory: they are the
 * program's threads' to handle.  @owner begins the error message.  Errors:
 * those of pthread_create(3), negative.  Any thread.
 */
int pier__thread_start(pthread_t *ret, void *(*fn)(void *arg), void *arg,
		       const char *owner);

#endif
