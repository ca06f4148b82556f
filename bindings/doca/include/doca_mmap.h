/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_MMAP_H
#define DOCA_MMAP_H

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Memory: a range on one or more devices.  Set it up, start it, take buffers
 * of it, export it to peers.  What export returns is readable and writable
 * memory that belongs to the mmap until it is destroyed.
 */

struct doca_dev;
struct doca_devinfo;
struct doca_dpa;
struct doca_mmap;

typedef uint64_t doca_dpa_dev_mmap_t;

/* Called when the mmap is destroyed. */
typedef void(doca_mmap_memrange_free_cb_t)(void *addr, size_t len,
					   void *cookie);

doca_error_t doca_mmap_create(struct doca_mmap **mmap);
doca_error_t doca_mmap_destroy(struct doca_mmap *mmap);
doca_error_t doca_mmap_start(struct doca_mmap *mmap);
doca_error_t doca_mmap_stop(struct doca_mmap *mmap);
doca_error_t doca_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev);
doca_error_t doca_mmap_rm_dev(struct doca_mmap *mmap, struct doca_dev *dev);
doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap,
				  const struct doca_dev *dev, const void **desc,
				  size_t *len);
doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap,
				   const struct doca_dev *dev,
				   const void **desc, size_t *len);

/* The result needs no start; @data may be NULL. */
doca_error_t doca_mmap_create_from_export(const union doca_data *data,
					  const void *desc, size_t len,
					  struct doca_dev *dev,
					  struct doca_mmap **mmap);

/* The range may be set once. */
doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr,
				    size_t len);
doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap,
					   int dmabuf_fd, void *addr,
					   size_t dmabuf_offset, size_t len);
doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr,
				    size_t *len);
doca_error_t doca_mmap_set_free_cb(struct doca_mmap *mmap,
				   doca_mmap_memrange_free_cb_t *free_cb,
				   void *opaque);
doca_error_t doca_mmap_get_user_data(const struct doca_mmap *mmap,
				     union doca_data *data);
doca_error_t doca_mmap_get_max_num_devices(const struct doca_mmap *mmap,
					   uint32_t *max_num_devices);
doca_error_t doca_mmap_get_num_bufs(const struct doca_mmap *mmap,
				    uint32_t *num_bufs);
doca_error_t doca_mmap_get_exported(const struct doca_mmap *mmap,
				    uint8_t *exported);
doca_error_t doca_mmap_get_from_export(const struct doca_mmap *mmap,
				       uint8_t *from_export);
doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap,
					   uint32_t max_num_devices);
doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access);
doca_error_t doca_mmap_set_user_data(struct doca_mmap *mmap,
				     union doca_data data);
doca_error_t
doca_mmap_cap_is_export_pci_supported(const struct doca_devinfo *info,
				      uint8_t *mmap_export);
doca_error_t doca_mmap_cap_is_create_from_export_pci_supported(
	const struct doca_devinfo *info, uint8_t *from_export);
doca_error_t doca_mmap_enable_thread_safety(struct doca_mmap *mmap);

/* Not supported: memory of a DPA. */
doca_error_t doca_mmap_dev_get_dpa_handle(struct doca_mmap *mmap,
					  struct doca_dev *dev,
					  doca_dpa_dev_mmap_t *handle);
doca_error_t doca_mmap_set_dpa_memrange(struct doca_mmap *mmap,
					struct doca_dpa *dpa, uint64_t addr,
					size_t len);

#ifdef __cplusplus
}
#endif

#endif
