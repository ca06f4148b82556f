/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_dev_impl.h"
#include "doca_fail.h"

/* No device here has any of it. */

static doca_error_t absent(const void *info, const void *ret)
{
	return ret ? pier__doca_no_cap(info) : DOCA_ERROR_INVALID_VALUE;
}

/* For programs that look at the flag alone. */
static doca_error_t flag(const struct doca_devinfo *info,
			 enum pier_feature feature, uint8_t *ret)
{
	doca_error_t error = pier__doca_has(info, feature);

	if (!ret)
		return DOCA_ERROR_INVALID_VALUE;
	*ret = error == DOCA_SUCCESS;
	return error;
}

doca_error_t doca_dev_accelerate_resource_reclaim(struct doca_dev *dev)
{
	if (!dev)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_unsupported(__func__, "pier has no such call");
}

doca_error_t doca_devinfo_get_vhca_id(const struct doca_devinfo *info,
				      uint16_t *vhca_id)
{
	return absent(info, vhca_id);
}

doca_error_t
doca_devinfo_cap_is_hotplug_manager_supported(const struct doca_devinfo *info,
					      uint8_t *is_hotplug_manager)
{
	return flag(info, PIER_FEATURE_HOTPLUG, is_hotplug_manager);
}

doca_error_t doca_devinfo_cap_is_notification_moderation_supported(
	const struct doca_devinfo *info,
	uint8_t *is_notification_moderation_supported)
{
	return flag(info, PIER_FEATURE_MODERATION,
		    is_notification_moderation_supported);
}

doca_error_t doca_devinfo_cap_is_accelerate_resource_reclaim_supported(
	const struct doca_devinfo *info,
	uint8_t *is_accelerate_resource_reclaim)
{
	if (is_accelerate_resource_reclaim)
		*is_accelerate_resource_reclaim = 0;
	return absent(info, is_accelerate_resource_reclaim);
}

doca_error_t doca_devinfo_rep_get_vhca_id(const struct doca_devinfo_rep *info,
					  uint16_t *vhca_id)
{
	return absent(info, vhca_id);
}
