/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_RDMA_BRIDGE_H
#define DOCA_RDMA_BRIDGE_H

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Protection domains and keys, for programs that use verbs beside it. */

struct doca_buf;
struct doca_dev;
struct doca_mmap;
struct ibv_pd;

doca_error_t doca_rdma_bridge_get_dev_pd(const struct doca_dev *dev,
					 struct ibv_pd **pd);
doca_error_t doca_rdma_bridge_open_dev_from_pd(struct ibv_pd *pd,
					       struct doca_dev **dev);
doca_error_t doca_rdma_bridge_get_buf_mkey(const struct doca_buf *buf,
					   struct doca_dev *dev,
					   uint32_t *mkey);
doca_error_t
doca_rdma_bridge_get_mmap_mkey_from_pd(const struct doca_mmap *mmap,
				       struct ibv_pd *pd, uint32_t *mkey);

#ifdef __cplusplus
}
#endif

#endif
