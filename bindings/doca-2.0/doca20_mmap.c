/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_dev.h>

#include "bindings/doca/doca_mmap_impl.h"

/* One of this generation has another shape, and the same name. */
#define doca_mmap_create doca_mmap_create_now
#include "bindings/doca/include/doca_mmap.h"
#undef doca_mmap_create

doca_error_t doca_mmap_create(const union doca_data *data,
			      struct doca_mmap **mmap)
{
	return pier__doca_mmap_create(data, mmap);
}

doca_error_t doca_mmap_dev_add(struct doca_mmap *mmap, struct doca_dev *dev)
{
	return doca_mmap_add_dev(mmap, dev);
}

doca_error_t doca_mmap_dev_rm(struct doca_mmap *mmap, struct doca_dev *dev)
{
	return doca_mmap_rm_dev(mmap, dev);
}

doca_error_t doca_mmap_set_memory_range(struct doca_mmap *mmap, void *addr,
					size_t len)
{
	return doca_mmap_set_memrange(mmap, addr, len);
}

doca_error_t doca_mmap_set_memrang(struct doca_mmap *mmap, void *addr,
				   size_t len)
{
	return doca_mmap_set_memrange(mmap, addr, len);
}

doca_error_t doca_mmap_export(struct doca_mmap *mmap,
			      const struct doca_dev *dev, const void **desc,
			      size_t *len)
{
	return doca_mmap_export_pci(mmap, dev, desc, len);
}

doca_error_t doca_mmap_export_dpu(struct doca_mmap *mmap,
				  const struct doca_dev *dev, const void **desc,
				  size_t *len)
{
	return doca_mmap_export_pci(mmap, dev, desc, len);
}

doca_error_t
doca_devinfo_get_is_mmap_export_dpu_supported(const struct doca_devinfo *info,
					      uint8_t *mmap_export)
{
	return doca_mmap_cap_is_export_pci_supported(info, mmap_export);
}

doca_error_t doca_devinfo_get_is_mmap_from_export_dpu_supported(
	const struct doca_devinfo *info, uint8_t *from_export)
{
	return doca_mmap_cap_is_create_from_export_pci_supported(info,
								 from_export);
}
