/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_fail.h"
#include "doca_sync_event_call.h"

/* Calls that are the same for DOCA 2.0. */

doca_error_t pier__doca_sync_check_addr(const uint64_t *addr)
{
	if (addr && (uintptr_t)addr % sizeof(*addr) == 0)
		return DOCA_SUCCESS;
	return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "sync event: address "
			       "%p, a multiple of 8", (const void *)addr);
}

doca_error_t doca_sync_event_get(struct doca_sync_event *event, uint64_t *value)
{
	if (!event || !value)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_error(
		pier_sync_event_get(pier__doca_sync_of(event), value));
}

doca_error_t doca_sync_event_update_add(struct doca_sync_event *event,
					uint64_t value, uint64_t *fetched)
{
	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_error(pier_sync_event_add(pier__doca_sync_of(event),
						    value, fetched));
}

doca_error_t doca_sync_event_update_set(struct doca_sync_event *event,
					uint64_t value)
{
	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_error(
		pier_sync_event_set(pier__doca_sync_of(event), value));
}

doca_error_t pier__doca_sync_wait(pier__doca_sync_wait_fn *fn,
				  struct doca_sync_event *event,
				  uint64_t value, uint64_t mask,
				  enum pier_sync_event_wait how)
{
	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_error(
		fn(pier__doca_sync_of(event), value, mask, how, -1));
}

doca_error_t doca_sync_event_wait_gt(struct doca_sync_event *event,
				     uint64_t value, uint64_t mask)
{
	return pier__doca_sync_wait(pier_sync_event_wait_gt, event, value,
				    mask, PIER_SYNC_EVENT_BUSY);
}

doca_error_t doca_sync_event_wait_gt_yield(struct doca_sync_event *event,
					   uint64_t value, uint64_t mask)
{
	return pier__doca_sync_wait(pier_sync_event_wait_gt, event, value,
				    mask, PIER_SYNC_EVENT_YIELD);
}
