/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that wait for events. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dropin/cm.h"

static long futex(struct dropin_bell *bell, int op, unsigned int value)
{
	return syscall(SYS_futex, &bell->rings, op, value, NULL, NULL, 0);
}

void pier__dropin_ring(struct dropin_bell *bell)
{
	atomic_fetch_add(&bell->rings, 1);
	if (atomic_load(&bell->sleepers))
		futex(bell, FUTEX_WAKE_PRIVATE, INT_MAX);
}

/* Programs cancel threads that wait, as they can in read(2). */
static int sleep_on(struct dropin_bell *bell, unsigned int rings)
{
	int type;
	long ret;

	atomic_fetch_add(&bell->sleepers, 1);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	ret = futex(bell, FUTEX_WAIT_PRIVATE, rings);
	pthread_setcanceltype(type, NULL);
	atomic_fetch_sub(&bell->sleepers, 1);
	return ret && errno != EAGAIN ? -1 : 0;
}

int pier__dropin_blocks(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -1;
	if (flags & O_NONBLOCK) {
		errno = EAGAIN;
		return -1;
	}
	return 0;
}

int pier__dropin_wait(struct dropin_bell *bell, unsigned int rings, int fd)
{
	return pier__dropin_blocks(fd) ? -1 : sleep_on(bell, rings);
}
