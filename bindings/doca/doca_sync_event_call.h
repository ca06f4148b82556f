/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_SYNC_EVENT_CALL_H
#define DOCA_SYNC_EVENT_CALL_H

#include <doca_sync_event.h>

#include <pier/sync_event.h>

/* The event of pier.  Each of the two libraries has its own object. */
struct pier_sync_event *pier__doca_sync_of(const struct doca_sync_event *event);

/* One of pier's calls that wait. */
typedef int pier__doca_sync_wait_fn(struct pier_sync_event *event,
				    uint64_t value, uint64_t mask,
				    enum pier_sync_event_wait how,
				    int timeout_ms);

/* Wait without a limit of time. */
doca_error_t pier__doca_sync_wait(pier__doca_sync_wait_fn *fn,
				  struct doca_sync_event *event,
				  uint64_t value, uint64_t mask,
				  enum pier_sync_event_wait how);

/* May the value be at @addr?  INVALID_VALUE. */
doca_error_t pier__doca_sync_check_addr(const uint64_t *addr);

#endif
