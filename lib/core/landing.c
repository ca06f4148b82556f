/* SPDX-License-Identifier: BSD-2-Clause */
/* Accesses to memory that may not be mapped. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include "core/device_access.h"
#include "core/landing.h"

#define STEP 4096		/* no system has smaller pages */

/* Where a fault of this thread goes on; NULL: it has no guard. */
static _Thread_local sigjmp_buf *volatile landing
	__attribute__((tls_model("initial-exec")));	/* for a handler */
/* The signals are not blocked in this thread. */
static _Thread_local bool unblocked __attribute__((tls_model("initial-exec")));

static const int signals[] = { SIGSEGV, SIGBUS };
static struct sigaction before[2];

/* The signals that are blocked meanwhile are those that it has requested. */
static void set_mask(int number, const struct sigaction *action)
{
	sigset_t own;

	pthread_sigmask(SIG_BLOCK, &action->sa_mask, NULL);
	if (!(action->sa_flags & SA_NODEFER))
		return;
	sigemptyset(&own);
	sigaddset(&own, number);
	pthread_sigmask(SIG_UNBLOCK, &own, NULL);
}

/* The accesses of the program's handler have no guard. */
static void call_handler(const struct sigaction *action, int number,
			 siginfo_t *info, void *context)
{
	sigjmp_buf *guard = landing;

	landing = NULL;
	set_mask(number, action);
	if (action->sa_flags & SA_SIGINFO)
		action->sa_sigaction(number, info, context);
	else
		action->sa_handler(number);
	landing = guard;
}

static bool has_handler(const struct sigaction *action)
{
	return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* As the program had it before.  The access is made once more then. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	struct sigaction *old = &before[number == SIGBUS], action = *old;

	if (has_handler(&action)) {
		if (action.sa_flags & SA_RESETHAND)
			*old = (struct sigaction){ .sa_handler = SIG_DFL };
		call_handler(&action, number, info, context);
		return;
	}
	if (action.sa_handler == SIG_IGN && info->si_code <= 0)
		return;
	sigaction(number, &action, NULL);
	if (info->si_code <= 0)		/* no access: by kill(2) */
		raise(number);
}

/* Left by a jump, which leaves no signal blocked that was not. */
static void handle(int number, siginfo_t *info, void *context)
{
	const ucontext_t *at = context;
	sigjmp_buf *to = landing;

	if (to && info->si_code > 0) {
		pthread_sigmask(SIG_SETMASK, &at->uc_sigmask, NULL);
		siglongjmp(*to, 1);
	}
	pass_on(number, info, context);
}

static void install(void)
{
	struct sigaction action = {
		.sa_sigaction = handle,
		.sa_flags = SA_SIGINFO | SA_ONSTACK,
	};
	size_t i;

	sigemptyset(&action.sa_mask);
	for (i = 0; i < 2; i++)
		sigaction(signals[i], &action, &before[i]);
}

void pier__landing_install(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, install);
}

/* A fault whose signal is blocked would end the process. */
static void unblock(void)
{
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < 2; i++)
		sigaddset(&set, signals[i]);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	unblocked = true;
}

int pier__landing_call(void (*fn)(void *arg), void *arg)
{
	sigjmp_buf here;

	if (!unblocked)
		unblock();
	if (sigsetjmp(here, 0)) {
		landing = NULL;
		return -EFAULT;
	}
	landing = &here;
	atomic_signal_fence(memory_order_seq_cst);
	fn(arg);
	atomic_signal_fence(memory_order_seq_cst);
	landing = NULL;
	return 0;
}

/*
 * The thread sanitizer looks at accesses again when a handler begins, so a
 * function that is left needs no end of a device's access.
 */
struct stretch {
	void *dst;
	const void *src;
	size_t len;
};

static void copy(void *arg)
{
	const struct stretch *stretch = arg;

	pier__device_access_begin();
	memcpy(stretch->dst, stretch->src, stretch->len);
	pier__device_access_end();
}

int pier__landing_copy(void *dst, const void *src, size_t len)
{
	struct stretch extent = { .dst = dst, .src = src, .len = len };

	return pier__landing_call(copy, &extent);
}

struct store {
	uint64_t *word, value;
};

static void store(void *arg)
{
	const struct store *store = arg;

	pier__device_access_begin();
	pier__device_access_probe(store->word);
	__atomic_store_n(store->word, store->value, __ATOMIC_RELEASE);
	pier__device_access_end();
}

int pier__landing_store(uint64_t *word, uint64_t value)
{
	struct store arg = { .word = word, .value = value };

	return pier__landing_call(store, &arg);
}

static void read_pages(void *arg)
{
	const struct stretch *stretch = arg;
	const volatile uint8_t *at = stretch->src;
	const volatile uint8_t *last = at + stretch->len - 1;

	pier__device_access_begin();
	for (; at < last; at += STEP)
		(void)*at;
	(void)*last;
	pier__device_access_end();
}

int pier__landing_read(const void *src, size_t len)
{
	struct stretch extent = { .src = src, .len = len };

	if (!len)
		return 0;
	return pier__landing_call(read_pages, &extent);
}
