/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_mmap_advise.h>

#include "doca_fail.h"
#include "doca_task_impl.h"

/* Memory and devices are coherent here: each task succeeds. */
struct doca_mmap_advise {
	struct doca_ctx ctx;		/* first */
	struct pier_func *func;
	struct doca_task_pool pool;
};

struct doca_mmap_advise_task_invalidate_cache {
	struct doca_task task;		/* first */
	struct doca_buf *buf;
};

static struct doca_mmap_advise *advise_of(struct doca_ctx *ctx)
{
	return (struct doca_mmap_advise *)ctx;
}

static int do_nothing(void *arg)
{
	(void)arg;
	return 0;
}

static int build(struct doca_task *task)
{
	return pier_func_task_call(advise_of(task->ctx)->func, do_nothing,
				   NULL, &task->task);
}

/* They all do the same. */
static int reuse(struct doca_task *task, struct pier_task *pier)
{
	(void)task;
	(void)pier;
	return 0;
}

static const struct doca_task_kind invalidate = {
	.build = build,
	.reuse = reuse,
};

static doca_error_t prepare(struct doca_ctx *ctx)
{
	struct doca_mmap_advise *advise = advise_of(ctx);
	struct pier_func_config cfg = {
		.size = sizeof(cfg),
		.tasks = advise->pool.count,
	};
	doca_error_t error;

	error = pier__doca_pool_fill(
		&advise->pool, ctx, &invalidate,
		sizeof(struct doca_mmap_advise_task_invalidate_cache));
	return error ? error : pier__doca_error(
				       pier_func_configure(advise->func, &cfg));
}

static const struct doca_ctx_kind kind = {
	.prepare = prepare,
};

doca_error_t doca_mmap_advise_create(struct doca_dev *dev,
				     struct doca_mmap_advise **advise)
{
	struct doca_mmap_advise *new;
	int err;

	if (!dev || !advise)
		return DOCA_ERROR_INVALID_VALUE;
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	err = pier_func_create(&new->func);
	if (err) {
		free(new);
		return pier__doca_error(err);
	}
	pier__doca_ctx_init(&new->ctx, &kind, pier_func_ctx(new->func));
	*advise = new;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_advise_destroy(struct doca_mmap_advise *advise)
{
	doca_error_t error;

	if (!advise)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_ctx_release(&advise->ctx);
	if (error)
		return error;
	pier__doca_pool_free(&advise->pool);
	pier_func_destroy(advise->func);
	free(advise);
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_mmap_advise_as_ctx(struct doca_mmap_advise *advise)
{
	return advise ? &advise->ctx : NULL;
}

doca_error_t doca_mmap_advise_cap_task_cache_invalidate_is_supported(
	const struct doca_devinfo *info)
{
	return info ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_mmap_advise_task_cache_invalidate_get_max_buf_size(
	const struct doca_devinfo *info, uint64_t *buf_size)
{
	if (!info || !buf_size)
		return DOCA_ERROR_INVALID_VALUE;
	*buf_size = SIZE_MAX;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_advise_task_invalidate_cache_set_conf(
	struct doca_mmap_advise *advise,
	doca_mmap_advise_task_invalidate_cache_completion_cb_t done,
	doca_mmap_advise_task_invalidate_cache_completion_cb_t failed,
	uint32_t count)
{
	if (!advise)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_pool_conf(&advise->pool, &advise->ctx,
				    (void (*)(void))done,
				    (void (*)(void))failed, count);
}

doca_error_t doca_mmap_advise_task_invalidate_cache_alloc_init(
	struct doca_mmap_advise *advise, struct doca_buf *buf,
	union doca_data data,
	struct doca_mmap_advise_task_invalidate_cache **task)
{
	struct doca_mmap_advise_task_invalidate_cache *new;
	struct doca_task *base;
	doca_error_t error;

	if (!advise || !buf || !task)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_pool_take(&advise->pool, data, &base);
	if (error)
		return error;
	new = (struct doca_mmap_advise_task_invalidate_cache *)base;
	new->buf = buf;
	*task = new;
	return DOCA_SUCCESS;
}

struct doca_task *doca_mmap_advise_task_invalidate_cache_as_doca_task(
	struct doca_mmap_advise_task_invalidate_cache *task)
{
	return &task->task;
}

void doca_mmap_advise_task_invalidate_cache_set_buf(
	struct doca_mmap_advise_task_invalidate_cache *task,
	struct doca_buf *buf)
{
	if (!pier__doca_task_may_change(&task->task))
		return;
	task->buf = buf;
}

struct doca_buf *doca_mmap_advise_task_invalidate_cache_get_buf(
	const struct doca_mmap_advise_task_invalidate_cache *task)
{
	return task->buf;
}
