/* SPDX-License-Identifier: BSD-2-Clause */
/* Accesses to memory that may not be mapped. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include "core/device_access.h"
#include "core/landing.h"

#define STEP 4096		/* no system has smaller pages */

/* Where a fault of this thread goes on; NULL: it has no guard. */
static _Thread_local sigjmp_buf *volatile landing
	__attribute__((tls_model("initial-exec")));	/* for a handler */

static const int signals[] = { SIGSEGV, SIGBUS };
static struct sigaction before[2];

/* As the program had it before.  The access is made once more then. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	const struct sigaction *old = &before[number == SIGBUS];

	if (old->sa_flags & SA_SIGINFO) {
		old->sa_sigaction(number, info, context);
	} else if (old->sa_handler == SIG_IGN && info->si_code <= 0) {
		return;
	} else if (old->sa_handler == SIG_DFL || old->sa_handler == SIG_IGN) {
		sigaction(number, old, NULL);
		if (info->si_code <= 0)		/* no access: by kill(2) */
			raise(number);
	} else {
		old->sa_handler(number);
	}
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

int pier__landing_call(void (*fn)(void *arg), void *arg)
{
	sigjmp_buf here;

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
