/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_rdma.h>

#include "doca_fail.h"

/* What is for a DPA or a GPU: there is neither here. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

doca_error_t doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx,
					  struct doca_gpu *gpu)
{
	return pier__doca_no_processor(ctx, __func__);
}

doca_error_t doca_ctx_set_datapath_on_dpa(struct doca_ctx *ctx,
					  struct doca_dpa *dpa)
{
	return pier__doca_no_processor(ctx, __func__);
}

doca_error_t doca_mmap_dev_get_dpa_handle(struct doca_mmap *mmap,
					  struct doca_dev *dev,
					  doca_dpa_dev_mmap_t *handle)
{
	return pier__doca_no_processor(mmap && dev && handle, __func__);
}

doca_error_t doca_mmap_set_dpa_memrange(struct doca_mmap *mmap,
					struct doca_dpa *dpa, uint64_t addr,
					size_t len)
{
	return pier__doca_no_processor(mmap, __func__);
}

doca_error_t doca_dma_get_gpu_handle(struct doca_dma *dma,
				     struct doca_gpu_dma **handle)
{
	return pier__doca_no_processor(dma && handle, __func__);
}

doca_error_t doca_rdma_get_dpa_handle(struct doca_rdma *rdma,
				      doca_dpa_dev_rdma_t *handle)
{
	return pier__doca_no_processor(rdma && handle, __func__);
}

doca_error_t doca_rdma_get_gpu_handle(struct doca_rdma *rdma,
				      struct doca_gpu_dev_rdma **handle)
{
	return pier__doca_no_processor(rdma && handle, __func__);
}

doca_error_t
doca_rdma_dpa_completion_attach(struct doca_rdma *rdma,
				struct doca_dpa_completion *completion)
{
	return pier__doca_no_processor(rdma, __func__);
}
