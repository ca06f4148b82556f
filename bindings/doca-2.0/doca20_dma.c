/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_dma.h>

#include "doca20_workq_impl.h"

struct doca_dma {
	struct doca_ctx ctx;		/* first */
	struct pier_dma *dma;		/* while it is started */
};

static int create(struct doca_ctx *ctx)
{
	struct doca_dma *dma = (struct doca_dma *)ctx;
	int err = pier_dma_create(ctx->dev->dev, &dma->dma);

	if (!err)
		ctx->ctx = pier_dma_ctx(dma->dma);
	return err;
}

static void destroy(struct doca_ctx *ctx)
{
	pier_dma_destroy(((struct doca_dma *)ctx)->dma);
}

static int configure(struct doca_ctx *ctx, uint32_t depth)
{
	struct pier_dma_config cfg = { .size = sizeof(cfg), .tasks = depth };

	return pier_dma_configure(((struct doca_dma *)ctx)->dma, &cfg);
}

static doca_error_t build(struct doca_ctx *ctx, const struct doca_job *job,
			  struct flight *flight, struct pier_task **ret)
{
	const struct doca_dma_job_memcpy *copy =
		(const struct doca_dma_job_memcpy *)job;

	(void)flight;
	return pier__doca_error(
		pier_dma_task_copy(((struct doca_dma *)ctx)->dma,
				   pier__doca_buf(copy->src_buff),
				   pier__doca_buf(copy->dst_buff), ret));
}

static const struct doca_job_kind jobs[] = {
	{ .type = DOCA_DMA_JOB_MEMCPY, .build = build },
	{ 0 },
};

static const struct doca_ctx_kind kind = {
	.name = "dma",
	.size = sizeof(struct doca_dma),
	.create = create,
	.destroy = destroy,
	.configure = configure,
	.jobs = jobs,
};

doca_error_t doca_dma_create(struct doca_dma **dma)
{
	return pier__doca20_create(&kind, dma);
}

doca_error_t doca_dma_destroy(struct doca_dma *dma)
{
	return pier__doca20_destroy(doca_dma_as_ctx(dma));
}

struct doca_ctx *doca_dma_as_ctx(struct doca_dma *dma)
{
	return dma ? &dma->ctx : NULL;
}

doca_error_t doca_dma_job_get_supported(const struct doca_devinfo *info,
					enum doca_dma_job_types type)
{
	if (type != DOCA_DMA_JOB_MEMCPY)
		return pier__doca_no_cap(info);
	return pier__doca_can_task(info, PIER_TASK_COPY);
}

doca_error_t
doca_dma_get_max_list_buf_num_elem(const struct doca_devinfo *info,
				   uint32_t *ret)
{
	return pier__doca_limit(info, PIER_LIMIT_COPY_CHAIN, ret);
}

doca_error_t doca_dma_get_max_buf_size(const struct doca_devinfo *info,
				       uint64_t *ret)
{
	return pier__doca_limit64(info, PIER_LIMIT_COPY, ret);
}
