/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_dev_impl.h"
#include "doca_fail.h"
#include "doca_sync_event_impl.h"

doca_error_t doca_sync_event_export_to_remote_net(struct doca_sync_event *event,
						  const uint8_t **data,
						  size_t *sz)
{
	const void *desc;
	int err;

	if (!event || !data || !sz)
		return DOCA_ERROR_INVALID_VALUE;
	err = pier_sync_event_export(event->event, &desc, sz);
	if (!err)
		*data = desc;
	return pier__doca_error(err);
}

static int import(struct doca_dev *dev, const uint8_t *data, size_t sz,
		  struct pier_sync_event **ret)
{
	int err = pier_sync_event_create_from_export(dev->dev, data, sz, ret);

	if (err)
		return err;
	err = pier_sync_event_start(*ret);
	if (err)
		pier_sync_event_destroy(*ret);
	return err;
}

doca_error_t doca_sync_event_remote_net_create_from_export(
	struct doca_dev *dev, const uint8_t *data, size_t sz,
	struct doca_sync_event_remote_net **event)
{
	struct doca_sync_event_remote_net *new;
	doca_error_t error;
	int err;

	if (!dev || !data || !sz || !event)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_can_import(dev, PIER_EXPORT_SYNC_EVENT);
	if (error)
		return error;
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	err = import(dev, data, sz, &new->event);
	if (err) {
		free(new);
		return pier__doca_error(err);
	}
	*event = new;
	return DOCA_SUCCESS;
}

doca_error_t
doca_sync_event_remote_net_destroy(struct doca_sync_event_remote_net *event)
{
	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	pier_sync_event_destroy(event->event);
	free(event);
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_cap_remote_net_is_create_from_export_supported(
	const struct doca_devinfo *info)
{
	if (!info)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_error(
		pier_devinfo_can_import(info->info, PIER_EXPORT_SYNC_EVENT));
}

doca_error_t doca_sync_event_cap_is_export_to_remote_net_supported(
	const struct doca_devinfo *info)
{
	if (!info)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_error(
		pier_devinfo_can_export(info->info, PIER_EXPORT_SYNC_EVENT));
}
