/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_dma.h>

#include "doca_fail.h"

/* There are no copies by devices yet. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

doca_error_t doca_dma_create(struct doca_dev *dev, struct doca_dma **dma)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_dma_destroy(struct doca_dma *dma)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_dma_cap_task_memcpy_is_supported(const struct doca_devinfo *info)
{
	return pier__doca_unsupported(__func__);
}

struct doca_ctx *doca_dma_as_ctx(struct doca_dma *dma)
{
	return NULL;
}

doca_error_t doca_dma_cap_get_max_num_tasks(struct doca_dma *dma,
					    uint32_t *max_num_tasks)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_dma_cap_task_memcpy_get_max_buf_list_len(const struct doca_devinfo *info,
					      uint32_t *ret)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_dma_cap_task_memcpy_get_max_buf_size(const struct doca_devinfo *info,
					  uint64_t *buf_size)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_dma_task_memcpy_set_conf(
	struct doca_dma *dma, doca_dma_task_memcpy_completion_cb_t done,
	doca_dma_task_memcpy_completion_cb_t failed, uint32_t count)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_dma_task_memcpy_alloc_init(struct doca_dma *dma,
					     const struct doca_buf *src,
					     struct doca_buf *dst,
					     union doca_data data,
					     struct doca_dma_task_memcpy **task)
{
	return pier__doca_unsupported(__func__);
}

struct doca_task *
doca_dma_task_memcpy_as_task(struct doca_dma_task_memcpy *task)
{
	return NULL;
}

void doca_dma_task_memcpy_set_src(struct doca_dma_task_memcpy *task,
				  const struct doca_buf *src)
{
}

const struct doca_buf *
doca_dma_task_memcpy_get_src(const struct doca_dma_task_memcpy *task)
{
	return NULL;
}

void doca_dma_task_memcpy_set_dst(struct doca_dma_task_memcpy *task,
				  struct doca_buf *dst)
{
}

struct doca_buf *
doca_dma_task_memcpy_get_dst(const struct doca_dma_task_memcpy *task)
{
	return NULL;
}
