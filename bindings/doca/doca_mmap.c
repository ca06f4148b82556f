/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "doca_dev_impl.h"
#include "doca_fail.h"
#include "doca_mmap_impl.h"

#define ACCESS_ALL ((DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING << 1) - 1)
#define ACCESS_RDMA \
	(DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | \
	 DOCA_ACCESS_FLAG_RDMA_ATOMIC)

doca_error_t pier__doca_mmap_started(const char *what)
{
	return pier__doca_fail(DOCA_ERROR_BAD_STATE, "mmap: %s after start",
			       what);
}

doca_error_t pier__doca_mmap_create(const union doca_data *data,
				    struct doca_mmap **mmap)
{
	struct doca_mmap *new;

	if (!mmap)
		return DOCA_ERROR_INVALID_VALUE;
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	new->access = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE;
	new->dev_max = MMAP_DEVS;
	if (data)
		new->data = *data;
	*mmap = new;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr,
				    size_t len)
{
	if (!mmap || !addr || !len || (uintptr_t)addr + len < (uintptr_t)addr)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->started)
		return pier__doca_mmap_started("a range");
	if (mmap->len)
		return pier__doca_fail(DOCA_ERROR_NOT_PERMITTED, "mmap: a "
				       "second range, %zu bytes at %p: it has "
				       "%zu at %p", len, addr, mmap->len,
				       mmap->addr);
	mmap->addr = addr;
	mmap->len = len;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access)
{
	if (!mmap)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->started)
		return pier__doca_mmap_started("permissions");
	if (access & ~(uint32_t)ACCESS_ALL)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "mmap: "
				       "permissions 0x%x, known is 0x%x",
				       access, ACCESS_ALL);
	mmap->access = access;
	return DOCA_SUCCESS;
}

doca_error_t pier__doca_mmap_lacks(const struct doca_dev *dev)
{
	return pier__doca_fail(DOCA_ERROR_NOT_FOUND, "mmap: does not have "
			       "device %s", pier_devinfo_name(dev->info.info));
}

bool pier__doca_mmap_has(const struct doca_mmap *mmap,
			 const struct doca_dev *dev, uint32_t *ret)
{
	for (uint32_t i = 0; i < mmap->dev_count; i++) {
		*ret = i;
		if (mmap->devs[i] == dev)
			return true;
	}
	return false;
}

doca_error_t doca_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev)
{
	uint32_t at;

	if (!mmap || !dev)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->started)
		return pier__doca_mmap_started("a device");
	if (pier__doca_mmap_has(mmap, dev, &at))
		return pier__doca_fail(DOCA_ERROR_ALREADY_EXIST, "mmap: has "
				       "device %s already",
				       pier_devinfo_name(dev->info.info));
	if (mmap->dev_count == mmap->dev_max)
		return pier__doca_fail(DOCA_ERROR_NO_MEMORY,
				       "mmap: more than %u devices",
				       mmap->dev_max);
	atomic_fetch_add(&dev->mmaps, 1);
	mmap->devs[mmap->dev_count++] = dev;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_rm_dev(struct doca_mmap *mmap, struct doca_dev *dev)
{
	uint32_t at;

	if (!mmap || !dev)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->started)
		return pier__doca_mmap_started("a device less");
	if (!pier__doca_mmap_has(mmap, dev, &at))
		return pier__doca_mmap_lacks(dev);
	atomic_fetch_sub(&dev->mmaps, 1);
	mmap->devs[at] = mmap->devs[--mmap->dev_count];
	return DOCA_SUCCESS;
}

static uint32_t pier_access(uint32_t access)
{
	uint32_t ret = PIER_LOCAL_READ;

	if (access & (DOCA_ACCESS_FLAG_LOCAL_READ_WRITE |
		      DOCA_ACCESS_FLAG_PCI_READ_WRITE))
		ret |= PIER_LOCAL_WRITE;
	if (access & DOCA_ACCESS_FLAG_PCI_READ_ONLY)
		ret |= PIER_PEER_READ;
	if (access & DOCA_ACCESS_FLAG_PCI_READ_WRITE)
		ret |= PIER_PEER_WRITE;
	if (access & DOCA_ACCESS_FLAG_RDMA_READ)
		ret |= PIER_REMOTE_READ;
	if (access & DOCA_ACCESS_FLAG_RDMA_WRITE)
		ret |= PIER_REMOTE_WRITE;
	if (access & DOCA_ACCESS_FLAG_RDMA_ATOMIC)
		ret |= PIER_REMOTE_ATOMIC;
	return ret;
}

/* Everything that was set, and the registration. */
static int map(const struct doca_mmap *mmap, struct pier_mmap *new)
{
	struct pier_mmap_config cfg = {
		.size = sizeof(cfg),
		.addr = mmap->addr,
		.len = mmap->len,
		.access = pier_access(mmap->access),
	};
	int err;

	if (mmap->dmabuf) {
		cfg.flags = PIER_MMAP_DMABUF;
		cfg.dmabuf_fd = mmap->dmabuf_fd;
		cfg.dmabuf_offset = mmap->dmabuf_offset;
	}
	err = pier_mmap_configure(new, &cfg);
	for (uint32_t i = 0; i < mmap->dev_count && !err; i++)
		err = pier_mmap_add_dev(new, mmap->devs[i]->dev);
	return err ? err : pier_mmap_start(new);
}

doca_error_t doca_mmap_start(struct doca_mmap *mmap)
{
	struct pier_mmap *new;
	int err;

	if (!mmap)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->imported)
		return pier__doca_fail(DOCA_ERROR_NOT_PERMITTED, "mmap: "
				       "started, but it is imported");
	if (mmap->started)
		return pier__doca_mmap_started("start");
	if (!mmap->len || !mmap->dev_count)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "mmap: "
				       "started without a %s",
				       mmap->len ? "device" : "range");
	err = pier_mmap_create(&new);
	if (err)
		return pier__doca_error(err);
	err = map(mmap, new);
	if (err) {
		pier_mmap_destroy(new);
		return pier__doca_error(err);
	}
	free(mmap->desc);	/* of an earlier start, without use now */
	mmap->desc = NULL;
	pier__doca_mmap_pci_free(mmap);
	mmap->mmap = new;
	mmap->started = true;
	return DOCA_SUCCESS;
}

/* Buffers of it must have been released. */
static doca_error_t unmap(struct doca_mmap *mmap)
{
	if (!mmap->mmap)
		return DOCA_SUCCESS;
	if (!pier_mmap_buf_count(mmap->mmap))
		pier__doca_mmap_pci_end(mmap);
	if (pier_mmap_stop(mmap->mmap))
		return pier__doca_fail(DOCA_ERROR_NOT_PERMITTED, "%s",
				       pier_last_error());
	pier_mmap_destroy(mmap->mmap);
	mmap->mmap = NULL;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_stop(struct doca_mmap *mmap)
{
	doca_error_t error;

	if (!mmap)
		return DOCA_ERROR_INVALID_VALUE;
	error = unmap(mmap);
	if (!error)
		mmap->started = false;
	return error;
}

doca_error_t doca_mmap_destroy(struct doca_mmap *mmap)
{
	doca_error_t error;

	if (!mmap)
		return DOCA_ERROR_INVALID_VALUE;
	error = unmap(mmap);
	if (error)
		return error;
	for (uint32_t i = 0; i < mmap->dev_count; i++)
		atomic_fetch_sub(&mmap->devs[i]->mmaps, 1);
	if (mmap->free_cb)
		mmap->free_cb(mmap->addr, mmap->len, mmap->opaque);
	free(mmap->desc);
	pier__doca_mmap_pci_free(mmap);
	free(mmap);
	return DOCA_SUCCESS;
}

/* Keep the export for as long as @mmap lives. */
static doca_error_t copy_desc(struct doca_mmap *mmap, const void *desc,
			      size_t len)
{
	void *copy = malloc(len);

	if (!copy)
		return DOCA_ERROR_NO_MEMORY;
	memcpy(copy, desc, len);
	free(mmap->desc);
	mmap->desc = copy;
	mmap->desc_len = len;
	return DOCA_SUCCESS;
}

static doca_error_t export(struct doca_mmap *mmap)
{
	const void *desc;
	size_t len;
	int err = pier_mmap_export(mmap->mmap, &desc, &len);

	return err ? pier__doca_error(err) : copy_desc(mmap, desc, len);
}

doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap,
				   const struct doca_dev *dev,
				   const void **desc, size_t *len)
{
	doca_error_t error = DOCA_SUCCESS;
	uint32_t at;

	if (!mmap || !dev || !desc || !len)
		return DOCA_ERROR_INVALID_VALUE;
	if (!mmap->started || mmap->imported ||
	    !(mmap->access & ACCESS_RDMA))
		return pier__doca_fail(DOCA_ERROR_NOT_PERMITTED, "mmap: "
				       "exported without start, or with "
				       "permissions 0x%x, none of RDMA",
				       mmap->access);
	if (!pier__doca_mmap_has(mmap, dev, &at))
		return pier__doca_mmap_lacks(dev);
	if (!mmap->desc)
		error = export(mmap);
	if (error)
		return error;
	*desc = mmap->desc;
	*len = mmap->desc_len;
	return DOCA_SUCCESS;
}

/* @desc is that of an export for RDMA, or by PCI. */
static int import(struct doca_mmap *mmap, struct pier_dev *dev,
		  const void *desc, size_t len)
{
	int err = pier_mmap_create_from_export(dev, desc, len, &mmap->mmap);

	if (err == -PIER_EKIND)
		err = pier_dma_import(dev, desc, len, &mmap->mmap);
	if (err)
		return err;
	mmap->addr = pier_mmap_addr(mmap->mmap);
	mmap->len = pier_mmap_len(mmap->mmap);
	mmap->started = mmap->imported = true;
	return 0;
}

doca_error_t doca_mmap_create_from_export(const union doca_data *data,
					  const void *desc, size_t len,
					  struct doca_dev *dev,
					  struct doca_mmap **mmap)
{
	struct doca_mmap *new;
	doca_error_t error;
	int err;

	if (!desc || !len || !dev || !mmap)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_can_import(dev, PIER_EXPORT_MMAP);
	if (!error)
		error = pier__doca_mmap_create(data, &new);
	if (error)
		return error;
	err = import(new, dev->dev, desc, len);
	if (err) {
		doca_mmap_destroy(new);
		return pier__doca_error(err);
	}
	*mmap = new;
	return DOCA_SUCCESS;
}
