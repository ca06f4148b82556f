/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Children of the process.  Locks that are taken within the endpoint's are not
 * held around fork(2), as that waits for the helper: a child has new ones.
 */
#include <pthread.h>

#include "dropin/cma/cma.h"
#include "dropin/cma/cma_real.h"

static void hold(void)
{
	pier__cma_ports_hold();
	pier__cma_real_hold();
}

static void release(void)
{
	pier__cma_real_release();
	pier__cma_ports_release();
}

static void reset_in_child(void)
{
	pier__cma_real_release();
	pier__cma_real_channels_forked();
	pier__cma_channels_forked();
	pier__cma_devices_forked();
	pier__cma_join_forked();
	pier__cma_watch_forked();
	pier__cma_ports_forked();
}

__attribute__((constructor)) static void follow_forks(void)
{
	pthread_atfork(hold, release, reset_in_child);
}
