/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_dev_impl.h"
#include "doca_fail.h"
#include "doca_sync_event_impl.h"

/* An event has one device, by which RDMA peers and processes reach it. */
doca_error_t doca_sync_event_export_to_remote_pci(struct doca_sync_event *event,
						  struct doca_dev *dev,
						  const uint8_t **data,
						  size_t *sz)
{
	const void *desc;
	int err;

	if (!event || !dev || !data || !sz)
		return DOCA_ERROR_INVALID_VALUE;
	if (!event->imported && event->dev && event->dev != dev)
		return pier__doca_fail(DOCA_ERROR_NOT_SUPPORTED, "sync event: "
				       "exported for another device than that "
				       "of its CPU location");
	err = pier_sync_event_export_process(event->event, &desc, sz);
	if (!err)
		*data = desc;
	return pier__doca_error(err);
}

doca_error_t doca_sync_event_create_from_export(struct doca_dev *dev,
						const uint8_t *data, size_t sz,
						struct doca_sync_event **event)
{
	struct pier_sync_event *new;
	int err;

	if (!dev || !data || !sz || !event)
		return DOCA_ERROR_INVALID_VALUE;
	err = pier_sync_event_import_process(dev->dev, data, sz, &new);
	return err ? pier__doca_error(err) :
		     pier__doca_sync_create(new, dev, event);
}

doca_error_t doca_sync_event_cap_is_create_from_export_supported(
	const struct doca_devinfo *info)
{
	return pier__doca_has(info, PIER_FEATURE_SYNC_IMPORTED);
}

doca_error_t doca_sync_event_cap_is_export_to_remote_pci_supported(
	const struct doca_devinfo *info)
{
	return pier__doca_has(info, PIER_FEATURE_ADDRESS);
}
