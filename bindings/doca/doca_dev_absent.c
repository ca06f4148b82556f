/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_dev_impl.h"
#include "doca_fail.h"

/* Devices here have none of it. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

doca_error_t doca_dev_accelerate_resource_reclaim(struct doca_dev *dev)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *info,
				       uint8_t *mac_addr, uint32_t size)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_devinfo_get_active_rate(const struct doca_devinfo *info,
					  uint64_t *active_rate)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_devinfo_get_vhca_id(const struct doca_devinfo *info,
				      uint16_t *vhca_id)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_devinfo_cap_is_hotplug_manager_supported(const struct doca_devinfo *info,
					      uint8_t *is_hotplug_manager)
{
	return pier__doca_has(info, PIER_FEATURE_HOTPLUG);
}

doca_error_t doca_devinfo_cap_is_notification_moderation_supported(
	const struct doca_devinfo *info,
	uint8_t *is_notification_moderation_supported)
{
	return pier__doca_has(info, PIER_FEATURE_MODERATION);
}

doca_error_t doca_devinfo_cap_is_accelerate_resource_reclaim_supported(
	const struct doca_devinfo *info,
	uint8_t *is_accelerate_resource_reclaim)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_devinfo_rep_get_vhca_id(const struct doca_devinfo_rep *info,
					  uint16_t *vhca_id)
{
	return pier__doca_unsupported(__func__);
}
