/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_fail.h"
#include "doca_mmap_impl.h"

doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr,
				    size_t *len)
{
	if (!mmap || !addr || !len)
		return DOCA_ERROR_INVALID_VALUE;
	if (!mmap->len)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "mmap: there is no range yet");
	*addr = mmap->addr;
	*len = mmap->len;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_free_cb(struct doca_mmap *mmap,
				   doca_mmap_memrange_free_cb_t *free_cb,
				   void *opaque)
{
	if (!mmap || !free_cb)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->started)
		return pier__doca_mmap_started("a callback");
	mmap->free_cb = free_cb;
	mmap->opaque = opaque;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_user_data(struct doca_mmap *mmap,
				     union doca_data data)
{
	if (!mmap)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->started)
		return pier__doca_mmap_started("user data");
	mmap->data = data;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_user_data(const struct doca_mmap *mmap,
				     union doca_data *data)
{
	if (!mmap || !data)
		return DOCA_ERROR_INVALID_VALUE;
	*data = mmap->data;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap,
					   uint32_t max_num_devices)
{
	if (!mmap || !max_num_devices)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->started)
		return pier__doca_mmap_started("a number of devices");
	if (mmap->dev_count > max_num_devices)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE, "mmap: at most %u "
				       "devices, but it has %u",
				       max_num_devices, mmap->dev_count);
	if (max_num_devices > MMAP_DEVS)
		return pier__doca_fail(DOCA_ERROR_NOT_SUPPORTED, "mmap: %u "
				       "devices, at most %d", max_num_devices,
				       MMAP_DEVS);
	mmap->dev_max = max_num_devices;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_max_num_devices(const struct doca_mmap *mmap,
					   uint32_t *max_num_devices)
{
	if (!mmap || !max_num_devices)
		return DOCA_ERROR_INVALID_VALUE;
	*max_num_devices = mmap->dev_max;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_exported(const struct doca_mmap *mmap,
				    uint8_t *exported)
{
	if (!mmap || !exported)
		return DOCA_ERROR_INVALID_VALUE;
	*exported = mmap->desc != NULL;
	for (uint32_t i = 0; i < mmap->dev_count; i++)
		*exported |= mmap->pci[i].desc != NULL;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_from_export(const struct doca_mmap *mmap,
				       uint8_t *from_export)
{
	if (!mmap || !from_export)
		return DOCA_ERROR_INVALID_VALUE;
	*from_export = mmap->imported;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap,
					   int dmabuf_fd, void *addr,
					   size_t dmabuf_offset, size_t len)
{
	doca_error_t error;

	if (dmabuf_fd < 0 || dmabuf_offset > SIZE_MAX - len)
		return DOCA_ERROR_INVALID_VALUE;
	error = doca_mmap_set_memrange(mmap, addr, len);
	if (error)
		return error;
	mmap->dmabuf = true;
	mmap->dmabuf_fd = dmabuf_fd;
	mmap->dmabuf_offset = dmabuf_offset;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_num_bufs(const struct doca_mmap *mmap,
				    uint32_t *num_bufs)
{
	if (!mmap || !num_bufs)
		return DOCA_ERROR_INVALID_VALUE;
	*num_bufs = mmap->mmap ? (uint32_t)pier_mmap_buf_count(mmap->mmap) : 0;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_enable_thread_safety(struct doca_mmap *mmap)
{
	if (!mmap)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_unsupported(__func__, "pier has no such call");
}
