/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_dev.h>

#include "bindings/doca/include/doca_dev.h"
#include "bindings/doca/include/doca_rdma_bridge.h"

/* The list has NULL behind the last anyway. */
doca_error_t doca_devinfo_list_create(struct doca_devinfo ***list,
				      uint32_t *count)
{
	uint32_t ignored;

	return doca_devinfo_create_list(list, count ? count : &ignored);
}

doca_error_t doca_devinfo_list_destroy(struct doca_devinfo **list)
{
	return doca_devinfo_destroy_list(list);
}

doca_error_t doca_devinfo_rep_list_create(struct doca_dev *dev, int filter,
					  struct doca_devinfo_rep ***list,
					  uint32_t *count)
{
	uint32_t ignored;

	return doca_devinfo_rep_create_list(dev, filter, list,
					    count ? count : &ignored);
}

doca_error_t doca_devinfo_rep_list_destroy(struct doca_devinfo_rep **list)
{
	return doca_devinfo_rep_destroy_list(list);
}

doca_error_t doca_dev_open_from_pd(struct ibv_pd *pd, struct doca_dev **dev)
{
	return doca_rdma_bridge_open_dev_from_pd(pd, dev);
}

doca_error_t doca_dev_get_pd(const struct doca_dev *dev, struct ibv_pd **pd)
{
	return doca_rdma_bridge_get_dev_pd(dev, pd);
}

doca_error_t
doca_devinfo_get_is_hotplug_manager_supported(const struct doca_devinfo *info,
					      uint8_t *is_hotplug_manager)
{
	return doca_devinfo_cap_is_hotplug_manager_supported(
		info, is_hotplug_manager);
}
