/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_BENCH_SYNC_EVENT_REMOTE_H
#define PIER_T_BENCH_SYNC_EVENT_REMOTE_H

/*
 * Measure and judge how long a peer's set takes, one target; forks, so that it
 * is called before the process has threads.
 */
void sync_event_remote(void);

#endif
