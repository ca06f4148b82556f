/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_BENCH_SYNC_EVENT_REMOTE_H
#define PIER_T_BENCH_SYNC_EVENT_REMOTE_H

#include <stdbool.h>

/*
 * Measure and print how long a peer's set takes; forks, so that it is called
 * before the process has threads.  Returns whether the target is met.
 */
bool sync_event_remote(void);

#endif
