/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_sync_event.h>

#include "doca_fail.h"

/* There are no exports by PCI yet. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

doca_error_t doca_sync_event_create_from_export(struct doca_dev *dev,
						const uint8_t *data, size_t sz,
						struct doca_sync_event **event)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_sync_event_cap_is_create_from_export_supported(
	const struct doca_devinfo *info)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_sync_event_export_to_remote_pci(struct doca_sync_event *event,
						  struct doca_dev *dev,
						  const uint8_t **data,
						  size_t *sz)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_sync_event_cap_is_export_to_remote_pci_supported(
	const struct doca_devinfo *info)
{
	return pier__doca_unsupported(__func__);
}
