/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_sync_event.h>

#include "bindings/doca/doca_fail.h"

/* There is no DPA and no GPU. */

static doca_error_t absent(const void *event, const char *name)
{
	return pier__doca_no_processor(event, name);
}

doca_error_t
doca_sync_event_publisher_add_location_dpa(struct doca_sync_event *event,
					   struct doca_dpa *dpa)
{
	(void)dpa;
	return absent(event, __func__);
}

doca_error_t
doca_sync_event_publisher_add_location_gpu(struct doca_sync_event *event,
					   struct doca_gpu *gpu)
{
	(void)gpu;
	return absent(event, __func__);
}

doca_error_t
doca_sync_event_subscriber_add_location_dpa(struct doca_sync_event *event,
					    struct doca_dpa *dpa)
{
	(void)dpa;
	return absent(event, __func__);
}

doca_error_t
doca_sync_event_subscriber_add_location_gpu(struct doca_sync_event *event,
					    struct doca_gpu *gpu)
{
	(void)gpu;
	return absent(event, __func__);
}

doca_error_t doca_sync_event_export_to_dpa(struct doca_sync_event *event,
					   struct doca_dpa *dpa,
					   doca_dpa_dev_sync_event_t *handle)
{
	(void)dpa;
	(void)handle;
	return absent(event, __func__);
}

doca_error_t doca_sync_event_export_to_gpu(struct doca_sync_event *event,
					   struct doca_gpu *gpu,
					   doca_gpu_dev_sync_event_t *handle)
{
	(void)gpu;
	(void)handle;
	return absent(event, __func__);
}

doca_error_t
doca_sync_event_get_export_to_dpa_supported(const struct doca_devinfo *info)
{
	return pier__doca_no_cap(info);
}

doca_error_t
doca_sync_event_get_export_to_gpu_supported(const struct doca_devinfo *info)
{
	return pier__doca_no_cap(info);
}
