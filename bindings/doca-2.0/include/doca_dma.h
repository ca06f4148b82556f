/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_DMA_2_0_H
#define DOCA_DMA_2_0_H

#include <doca_ctx.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Copies of memory. */

struct doca_buf;
struct doca_devinfo;
struct doca_dma;

enum doca_dma_job_types {
	DOCA_DMA_JOB_MEMCPY = 0x100,
};

/*
 * The data of @src_buff is appended to that of @dst_buff.  result.u64 of the
 * event is a doca_error_t.
 */
struct doca_dma_job_memcpy {
	struct doca_job base;
	struct doca_buf *dst_buff;
	const struct doca_buf *src_buff;
};

doca_error_t doca_dma_create(struct doca_dma **dma);
doca_error_t doca_dma_destroy(struct doca_dma *dma);
struct doca_ctx *doca_dma_as_ctx(struct doca_dma *dma);
doca_error_t doca_dma_job_get_supported(const struct doca_devinfo *info,
					enum doca_dma_job_types type);
doca_error_t
doca_dma_get_max_list_buf_num_elem(const struct doca_devinfo *info,
				   uint32_t *ret);
doca_error_t doca_dma_get_max_buf_size(const struct doca_devinfo *info,
				       uint64_t *ret);

#ifdef __cplusplus
}
#endif

#endif
