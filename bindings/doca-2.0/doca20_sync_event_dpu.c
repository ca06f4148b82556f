/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca20_sync_event_impl.h"

doca_error_t doca_sync_event_export_to_dpu(struct doca_sync_event *event,
					   struct doca_dev *dev,
					   const uint8_t **data, size_t *sz)
{
	const void *desc;
	int err;

	if (!event || !dev || !data || !sz)
		return DOCA_ERROR_INVALID_VALUE;
	if (event->ctx.dev != dev)
		return pier__doca_fail(DOCA_ERROR_NOT_SUPPORTED, "sync event: "
				       "exported for another device than that "
				       "of its location");
	err = pier_sync_event_export_process(event->event, &desc, sz);
	if (!err)
		*data = desc;
	return pier__doca_error(err);
}

doca_error_t doca_sync_event_get_create_from_export_supported(
	const struct doca_devinfo *info)
{
	return pier__doca_has(info, PIER_FEATURE_SYNC_IMPORTED);
}

doca_error_t
doca_sync_event_get_export_to_dpu_supported(const struct doca_devinfo *info)
{
	return pier__doca_has(info, PIER_FEATURE_ADDRESS);
}

doca_error_t
doca_sync_event_job_get_supported(const struct doca_devinfo *info,
				  enum doca_sync_event_job_type type)
{
	static const enum pier_task_type types[] = {
		PIER_TASK_SYNC_GET,
		PIER_TASK_SYNC_SET,
		PIER_TASK_SYNC_ADD,
		PIER_TASK_SYNC_WAIT_GT,
	};

	if (type < DOCA_SYNC_EVENT_JOB_GET || type > DOCA_SYNC_EVENT_JOB_WAIT)
		return pier__doca_no_cap(info);
	return pier__doca_can_task(info,
				   types[type - DOCA_SYNC_EVENT_JOB_GET]);
}
