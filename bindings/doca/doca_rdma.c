/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_fail.h"
#include "doca_rdma_impl.h"

static doca_error_t prepare(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = pier__doca_rdma(ctx);
	doca_error_t error = pier__doca_rdma_fill(rdma);

	if (error)
		return error;
	pier__doca_conns_free(rdma);
	return pier__doca_rdma_configure(rdma);
}

static void idle(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = pier__doca_rdma(ctx);

	pier__doca_conns_end(rdma);
	pier__doca_rdma_cm_idle(rdma);
}

static const struct doca_ctx_kind kind = {
	.prepare = prepare,
	.idle = idle,
};

doca_error_t doca_rdma_create(struct doca_dev *dev, struct doca_rdma **rdma)
{
	struct doca_rdma *new;
	int err;

	if (!dev || !rdma)
		return DOCA_ERROR_INVALID_VALUE;
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	err = pier_rdma_create(dev->dev, &new->rdma);
	if (err) {
		free(new);
		return pier__doca_error(err);
	}
	new->dev = dev;
	new->max_conns = 1;
	new->rnr_retry = 7;
	new->grh = pier__doca_is_ethernet(new);
	pier__doca_ctx_init(&new->ctx, &kind, pier_rdma_ctx(new->rdma));
	pier__doca_conns_init(new);
	pier__doca_rdma_cm_init(new);
	*rdma = new;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_destroy(struct doca_rdma *rdma)
{
	doca_error_t error;

	if (!rdma)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_ctx_release(&rdma->ctx);
	if (error)
		return error;
	pier__doca_conns_free(rdma);
	for (int i = 0; i < PIER_TASK_TYPES; i++)
		pier__doca_pool_free(&rdma->pools[i]);
	pier_rdma_destroy(rdma->rdma);
	free(rdma);
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_rdma_as_ctx(struct doca_rdma *rdma)
{
	return rdma ? &rdma->ctx : NULL;
}
