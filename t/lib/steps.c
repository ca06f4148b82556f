/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "core/device_access.h"	/* clang's __SANITIZE_THREAD__ */
#include "t/lib/steps.h"

/* What is watched.  Written by one thread at a time, and read by handlers. */
static struct {
	_Atomic uintptr_t at;		/* 0: the place is free */
	size_t len;
} ranges[STEPS_RANGES];

static void (*report)(unsigned int step);
static atomic_uint count;
static atomic_bool on;

/* Make all that is watched read-only, or not any more. */
static void protect(bool read_only)
{
	int prot = PROT_READ | (read_only ? 0 : PROT_WRITE), i;

	for (i = 0; i < STEPS_RANGES; i++)
		if (ranges[i].at)
			mprotect((void *)ranges[i].at, ranges[i].len, prot);
}

void steps_one(void)
{
	if (on)
		report(++count);
}

/* The thread sanitizer keeps signals of its own. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)

#define TRAP_FLAG 0x100

static bool is_watched(uintptr_t at)
{
	int i;

	for (i = 0; i < STEPS_RANGES; i++)
		if (ranges[i].at && at >= ranges[i].at &&
		    at - ranges[i].at < ranges[i].len)
			return true;
	return false;
}

static void step_next(void *context, bool step)
{
	greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];

	*flags = step ? *flags | TRAP_FLAG : *flags & ~TRAP_FLAG;
}

/*
 * A store is to be executed.  Any other fault comes again, and ends this.  The
 * thread may be one that has the other signal blocked.
 */
static void on_fault(int sig, siginfo_t *info, void *context)
{
	int error = errno;

	if (!is_watched((uintptr_t)info->si_addr)) {
		signal(sig, SIG_DFL);
		return;
	}
	steps_one();
	protect(false);
	step_next(context, true);
	sigdelset(&((ucontext_t *)context)->uc_sigmask, SIGTRAP);
	errno = error;
}

/* It was. */
static void on_trap(int sig, siginfo_t *info, void *context)
{
	int error = errno;

	(void)sig;
	(void)info;
	if (on)
		protect(true);
	step_next(context, false);
	errno = error;
}

bool steps_are_possible(void)
{
	return true;
}

#else

static void on_fault(int sig, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	signal(sig, SIG_DFL);
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	on_fault(sig, info, context);
}

bool steps_are_possible(void)
{
	return false;
}

#endif

void steps_watch(void *at, size_t len)
{
	int i = 0;

	while (i < STEPS_RANGES && ranges[i].at)
		i++;
	if (i == STEPS_RANGES)
		abort();
	ranges[i].len = len;
	ranges[i].at = (uintptr_t)at;
	if (on)
		mprotect(at, len, PROT_READ);
}

void steps_forget(const void *at)
{
	int i;

	for (i = 0; i < STEPS_RANGES; i++)
		if (ranges[i].at == (uintptr_t)at)
			ranges[i].at = 0;
}

static void handle(int sig, void (*fn)(int sig, siginfo_t *info, void *context))
{
	struct sigaction action = { .sa_sigaction = fn,
				    .sa_flags = SA_SIGINFO };

	if (sigaction(sig, &action, NULL))
		abort();
}

void steps_begin(void (*fn)(unsigned int step))
{
	handle(SIGSEGV, on_fault);
	handle(SIGTRAP, on_trap);
	report = fn;
	count = 0;
	on = true;
	protect(true);
}

unsigned int steps_end(void)
{
	on = false;
	protect(false);
	return count;
}
