/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "doca_fail.h"
#include "doca_task_impl.h"

doca_error_t doca_pe_create(struct doca_pe **pe)
{
	struct doca_pe *new;
	int err;

	if (!pe)
		return DOCA_ERROR_INVALID_VALUE;
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	new->max = 1;
	new->changes = 1;
	err = pier_pe_create(&new->pe);
	if (err) {
		free(new);
		return pier__doca_error(err);
	}
	*pe = new;
	return DOCA_SUCCESS;
}

doca_error_t doca_pe_destroy(struct doca_pe *pe)
{
	if (!pe)
		return DOCA_ERROR_INVALID_VALUE;
	if (pe->ctxs)
		return pier__doca_fail(DOCA_ERROR_IN_USE, "pe: destroyed with "
				       "%u contexts", pe->ctxs);
	pier_pe_destroy(pe->pe);
	free(pe);
	return DOCA_SUCCESS;
}

/*
 * One event of pier's, and a context that is idle: its callback may destroy
 * @pe.  Inside a callback there is neither.
 */
static uint8_t __attribute__((noinline)) progress_both(struct doca_pe *pe)
{
	if (pier_pe_progress(pe->pe, pe->max) < 0)
		return 0;
	if (pe->idle)
		pier__doca_ctx_report(pe);
	return 1;
}

uint8_t doca_pe_progress(struct doca_pe *pe)
{
	if (!pe)
		return 0;
	if (pe->idle)
		return progress_both(pe);
	return pier_pe_progress(pe->pe, pe->max) > 0;
}

doca_error_t doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx)
{
	doca_error_t error;

	if (!pe || !ctx)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_ctx_may_set(ctx);
	if (error)
		return error;
	if (ctx->pe)
		return pier__doca_fail(DOCA_ERROR_NOT_PERMITTED,
				       "ctx: connected to an engine already");
	ctx->pe = pe;
	pe->ctxs++;
	return DOCA_SUCCESS;
}

doca_error_t
doca_pe_get_notification_handle(const struct doca_pe *pe,
				doca_notification_handle_t *handle)
{
	if (!pe || !handle)
		return DOCA_ERROR_INVALID_VALUE;
	*handle = pier_pe_fd(pe->pe);
	return DOCA_SUCCESS;
}

/*
 * What is pending already makes the handle readable at once.  In one of the
 * modes programs need not clear what ended their sleep before.
 */
doca_error_t doca_pe_request_notification(struct doca_pe *pe)
{
	int err;

	if (!pe)
		return DOCA_ERROR_INVALID_VALUE;
	if (!pe->max)
		pier_pe_clear(pe->pe);
	err = pe->idle ? -EAGAIN : pier_pe_arm(pe->pe);
	if (err != -EAGAIN)
		return pier__doca_error(err);
	pier_pe_wake(pe->pe);
	return DOCA_SUCCESS;
}

doca_error_t doca_pe_clear_notification(struct doca_pe *pe,
					doca_notification_handle_t handle)
{
	(void)handle;
	if (!pe)
		return DOCA_ERROR_INVALID_VALUE;
	pier_pe_clear(pe->pe);
	return DOCA_SUCCESS;
}

doca_error_t doca_pe_get_num_inflight_tasks(const struct doca_pe *pe,
					    size_t *ret)
{
	if (!pe || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	*ret = pier_pe_inflight(pe->pe);
	return DOCA_SUCCESS;
}

/* Both modes look at every context. */
doca_error_t doca_pe_set_event_mode(struct doca_pe *pe,
				    enum doca_pe_event_mode event_mode)
{
	if (!pe || (event_mode != DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE &&
		    event_mode != DOCA_PE_EVENT_MODE_PROGRESS_ALL))
		return DOCA_ERROR_INVALID_VALUE;
	pe->max = event_mode == DOCA_PE_EVENT_MODE_PROGRESS_ALL ? 0 : 1;
	return DOCA_SUCCESS;
}
