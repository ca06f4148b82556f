/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_sync_event.h>

#include "doca_fail.h"

/* No event is of a DPA or a GPU. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

doca_error_t
doca_sync_event_add_publisher_location_dpa(struct doca_sync_event *event,
					   struct doca_dpa *dpa)
{
	return pier__doca_no_processor(event, __func__);
}

doca_error_t
doca_sync_event_add_publisher_location_gpu(struct doca_sync_event *event,
					   struct doca_gpu *gpu)
{
	return pier__doca_no_processor(event, __func__);
}

doca_error_t
doca_sync_event_add_subscriber_location_dpa(struct doca_sync_event *event,
					    struct doca_dpa *dpa)
{
	return pier__doca_no_processor(event, __func__);
}

doca_error_t
doca_sync_event_add_subscriber_location_gpu(struct doca_sync_event *event,
					    struct doca_gpu *gpu)
{
	return pier__doca_no_processor(event, __func__);
}

doca_error_t doca_sync_event_get_dpa_handle(struct doca_sync_event *event,
					    struct doca_dpa *dpa,
					    doca_dpa_dev_sync_event_t *handle)
{
	return pier__doca_no_processor(event && handle, __func__);
}

doca_error_t doca_sync_event_get_gpu_handle(struct doca_sync_event *event,
					    struct doca_gpu *gpu,
					    doca_gpu_dev_sync_event_t *handle)
{
	return pier__doca_no_processor(event && handle, __func__);
}

doca_error_t doca_sync_event_remote_net_get_dpa_handle(
	struct doca_sync_event_remote_net *event, struct doca_dpa *dpa,
	doca_dpa_dev_sync_event_remote_net_t *handle)
{
	return pier__doca_no_processor(event && handle, __func__);
}

doca_error_t doca_sync_event_remote_net_get_gpu_handle(
	struct doca_sync_event_remote_net *event, struct doca_gpu *gpu,
	doca_gpu_dev_sync_event_remote_net_t *handle)
{
	return pier__doca_no_processor(event && handle, __func__);
}

doca_error_t
doca_sync_event_cap_is_export_to_dpa_supported(const struct doca_devinfo *info)
{
	return pier__doca_no_cap(info);
}

doca_error_t
doca_sync_event_cap_is_export_to_gpu_supported(const struct doca_devinfo *info)
{
	return pier__doca_no_cap(info);
}

doca_error_t doca_sync_event_cap_remote_net_is_export_to_dpa_supported(
	const struct doca_devinfo *info)
{
	return pier__doca_no_cap(info);
}

doca_error_t doca_sync_event_cap_remote_net_is_export_to_gpu_supported(
	const struct doca_devinfo *info)
{
	return pier__doca_no_cap(info);
}
