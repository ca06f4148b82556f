/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_MMAP_2_0_H
#define DOCA_MMAP_2_0_H

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Memory: a range on one or more devices.  Set it up, start it, take buffers
 * of it, export it to peers.  What export returns belongs to the mmap until it
 * is destroyed.
 */

struct doca_dev;
struct doca_mmap;

/* Called when the mmap is destroyed. */
typedef void(doca_mmap_memrange_free_cb_t)(void *addr, size_t len,
					   void *cookie);

/* @data may be NULL. */
doca_error_t doca_mmap_create(const union doca_data *data,
			      struct doca_mmap **mmap);
doca_error_t doca_mmap_create_from_export(const union doca_data *data,
					  const void *desc, size_t len,
					  struct doca_dev *dev,
					  struct doca_mmap **mmap);
doca_error_t doca_mmap_destroy(struct doca_mmap *mmap);
doca_error_t doca_mmap_start(struct doca_mmap *mmap);
doca_error_t doca_mmap_stop(struct doca_mmap *mmap);
doca_error_t doca_mmap_dev_add(struct doca_mmap *mmap, struct doca_dev *dev);
doca_error_t doca_mmap_dev_rm(struct doca_mmap *mmap, struct doca_dev *dev);

/* The range may be set once; three names of one call. */
doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr,
				    size_t len);
doca_error_t doca_mmap_set_memory_range(struct doca_mmap *mmap, void *addr,
					size_t len);
doca_error_t doca_mmap_set_memrang(struct doca_mmap *mmap, void *addr,
				   size_t len);
doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr,
				    size_t *len);
doca_error_t doca_mmap_set_free_cb(struct doca_mmap *mmap,
				   doca_mmap_memrange_free_cb_t *free_cb,
				   void *opaque);
doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access);
doca_error_t doca_mmap_get_user_data(const struct doca_mmap *mmap,
				     union doca_data *data);
doca_error_t doca_mmap_get_num_bufs(const struct doca_mmap *mmap,
				    uint32_t *num_bufs);

/*
 * NOT_PERMITTED without permissions of the kind.  doca_mmap_export() is for a
 * DPU.
 */
doca_error_t doca_mmap_export(struct doca_mmap *mmap,
			      const struct doca_dev *dev, const void **desc,
			      size_t *len);
doca_error_t doca_mmap_export_dpu(struct doca_mmap *mmap,
				  const struct doca_dev *dev, const void **desc,
				  size_t *len);
doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap,
				   const struct doca_dev *dev,
				   const void **desc, size_t *len);

#ifdef __cplusplus
}
#endif

#endif
