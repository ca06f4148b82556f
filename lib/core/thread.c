/* SPDX-License-Identifier: BSD-2-Clause */
#include <signal.h>

#include "core/fail.h"
#include "core/thread.h"

int pier__thread_start(pthread_t *ret, void *(*fn)(void *arg), void *arg,
		       const char *owner)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	/* Of accesses of its own: core/landing.h. */
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(ret, NULL, fn, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err ? pier__fail(-err, "%s: no thread: %s", owner,
				pier_strerror(err)) : 0;
}
