/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "doca_dev_impl.h"
#include "doca_fail.h"
#include "doca_mmap_impl.h"

#define ACCESS_PCI \
	(DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE)

/* What a program has is a copy: it lives longer than the export. */
static doca_error_t copy_desc(struct doca_mmap_pci *pci)
{
	const void *desc;

	pier_dma_export_desc(pci->exported, &desc, &pci->len);
	free(pci->desc);
	pci->desc = malloc(pci->len);
	if (!pci->desc)
		return DOCA_ERROR_NO_MEMORY;
	memcpy(pci->desc, desc, pci->len);
	return DOCA_SUCCESS;
}

static doca_error_t export(struct doca_mmap *mmap, uint32_t at)
{
	struct doca_mmap_pci *pci = &mmap->pci[at];
	doca_error_t error;
	int err = pier_dma_export_create(mmap->mmap, mmap->devs[at]->dev,
					 &pci->exported);

	if (err)
		return pier__doca_error(err);
	error = copy_desc(pci);
	if (error) {
		pier_dma_export_destroy(pci->exported);
		pci->exported = NULL;
	}
	return error;
}

doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap,
				  const struct doca_dev *dev, const void **desc,
				  size_t *len)
{
	doca_error_t error = DOCA_SUCCESS;
	uint32_t at;

	if (!mmap || !dev || !desc || !len)
		return DOCA_ERROR_INVALID_VALUE;
	if (!mmap->started || mmap->imported || !(mmap->access & ACCESS_PCI))
		return pier__doca_fail(DOCA_ERROR_NOT_PERMITTED, "mmap: "
				       "exported without start, or with "
				       "permissions 0x%x, none of PCI",
				       mmap->access);
	if (!pier__doca_mmap_has(mmap, dev, &at))
		return pier__doca_mmap_lacks(dev);
	if (!mmap->pci[at].exported)
		error = export(mmap, at);
	if (error)
		return error;
	*desc = mmap->pci[at].desc;
	*len = mmap->pci[at].len;
	return DOCA_SUCCESS;
}

void pier__doca_mmap_pci_end(struct doca_mmap *mmap)
{
	for (uint32_t i = 0; i < MMAP_DEVS; i++) {
		pier_dma_export_destroy(mmap->pci[i].exported);
		mmap->pci[i].exported = NULL;
	}
}

void pier__doca_mmap_pci_free(struct doca_mmap *mmap)
{
	for (uint32_t i = 0; i < MMAP_DEVS; i++) {
		free(mmap->pci[i].desc);
		mmap->pci[i].desc = NULL;
	}
}

/* A peer connects by address. */
static doca_error_t supported(const struct doca_devinfo *info, uint8_t *ret)
{
	if (!info || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	*ret = !pier_devinfo_has(info->info, PIER_FEATURE_ADDRESS);
	return DOCA_SUCCESS;
}

doca_error_t
doca_mmap_cap_is_export_pci_supported(const struct doca_devinfo *info,
				      uint8_t *mmap_export)
{
	return supported(info, mmap_export);
}

doca_error_t doca_mmap_cap_is_create_from_export_pci_supported(
	const struct doca_devinfo *info, uint8_t *from_export)
{
	return supported(info, from_export);
}
