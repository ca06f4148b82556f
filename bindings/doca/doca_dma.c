/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_dma.h>

#include "doca_buf_impl.h"
#include "doca_dev_impl.h"
#include "doca_fail.h"
#include "doca_task_impl.h"

struct doca_dma {
	struct doca_ctx ctx;		/* first */
	struct pier_dma *dma;
	struct doca_task_pool pool;
};

struct doca_dma_task_memcpy {
	struct doca_task task;		/* first */
	const struct doca_buf *src;
	struct doca_buf *dst;
};

static int build(struct doca_task *task)
{
	struct doca_dma_task_memcpy *copy = (struct doca_dma_task_memcpy *)task;

	return pier_dma_task_copy(((struct doca_dma *)task->ctx)->dma,
				  pier__doca_buf(copy->src),
				  pier__doca_buf(copy->dst), &task->task);
}

static int set_bufs(struct doca_task *task, struct pier_task *pier)
{
	struct doca_dma_task_memcpy *copy = (struct doca_dma_task_memcpy *)task;

	return pier_dma_task_set_bufs(pier, pier__doca_buf(copy->src),
				      pier__doca_buf(copy->dst));
}

static const struct doca_task_kind memcpy_kind = {
	.build = build,
	.reuse = set_bufs,
};

static doca_error_t prepare(struct doca_ctx *ctx)
{
	struct doca_dma *dma = (struct doca_dma *)ctx;
	struct pier_dma_config cfg = {
		.size = sizeof(cfg),
		.tasks = dma->pool.count,
		.stop_on_task_error = 1,
	};
	doca_error_t error;

	error = pier__doca_pool_fill(&dma->pool, ctx, &memcpy_kind,
				     sizeof(struct doca_dma_task_memcpy));
	return error ? error :
		       pier__doca_error(pier_dma_configure(dma->dma, &cfg));
}

static const struct doca_ctx_kind kind = {
	.prepare = prepare,
};

doca_error_t doca_dma_create(struct doca_dev *dev, struct doca_dma **dma)
{
	struct doca_dma *new;
	int err;

	if (!dev || !dma)
		return DOCA_ERROR_INVALID_VALUE;
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	err = pier_dma_create(dev->dev, &new->dma);
	if (err) {
		free(new);
		return pier__doca_error(err);
	}
	pier__doca_ctx_init(&new->ctx, &kind, pier_dma_ctx(new->dma));
	*dma = new;
	return DOCA_SUCCESS;
}

doca_error_t doca_dma_destroy(struct doca_dma *dma)
{
	doca_error_t error;

	if (!dma)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_ctx_release(&dma->ctx);
	if (error)
		return error;
	pier__doca_pool_free(&dma->pool);
	pier_dma_destroy(dma->dma);
	free(dma);
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_dma_as_ctx(struct doca_dma *dma)
{
	return dma ? &dma->ctx : NULL;
}

doca_error_t
doca_dma_cap_task_memcpy_is_supported(const struct doca_devinfo *info)
{
	return pier__doca_can_task(info, PIER_TASK_COPY);
}

doca_error_t doca_dma_cap_get_max_num_tasks(struct doca_dma *dma,
					    uint32_t *max_num_tasks)
{
	struct doca_devinfo info;

	if (!dma)
		return DOCA_ERROR_INVALID_VALUE;
	info.info = pier_dev_info(pier_dma_dev(dma->dma));
	return pier__doca_limit(&info, PIER_LIMIT_TASKS, max_num_tasks);
}

doca_error_t
doca_dma_cap_task_memcpy_get_max_buf_list_len(const struct doca_devinfo *info,
					      uint32_t *ret)
{
	return pier__doca_limit(info, PIER_LIMIT_COPY_CHAIN, ret);
}

doca_error_t
doca_dma_cap_task_memcpy_get_max_buf_size(const struct doca_devinfo *info,
					  uint64_t *buf_size)
{
	return pier__doca_limit64(info, PIER_LIMIT_COPY, buf_size);
}

doca_error_t
doca_dma_task_memcpy_set_conf(struct doca_dma *dma,
			      doca_dma_task_memcpy_completion_cb_t done,
			      doca_dma_task_memcpy_completion_cb_t failed,
			      uint32_t count)
{
	if (!dma)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_pool_conf(&dma->pool, &dma->ctx,
				    (void (*)(void))done,
				    (void (*)(void))failed, count);
}

doca_error_t doca_dma_task_memcpy_alloc_init(struct doca_dma *dma,
					     const struct doca_buf *src,
					     struct doca_buf *dst,
					     union doca_data data,
					     struct doca_dma_task_memcpy **task)
{
	struct doca_task *new;
	doca_error_t error;

	if (!dma || !task)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_pool_take(&dma->pool, data, &new);
	if (error)
		return error;
	*task = (struct doca_dma_task_memcpy *)new;
	(*task)->src = src;
	(*task)->dst = dst;
	return DOCA_SUCCESS;
}

struct doca_task *
doca_dma_task_memcpy_as_task(struct doca_dma_task_memcpy *task)
{
	return &task->task;
}

/*
 * May it be?  A function of a graph may change the tasks of its instance,
 * which pier has.
 */
static bool may_change(const struct doca_dma_task_memcpy *task)
{
	return (task->task.task && pier_task_may_change(task->task.task)) ||
	       pier__doca_task_may_change(&task->task);
}

/* A task that pier has already is changed, so that it need not be built. */
static void change(struct doca_dma_task_memcpy *task)
{
	if (task->task.task && set_bufs(&task->task, task->task.task))
		pier__doca_task_unbuild(&task->task);
}

void doca_dma_task_memcpy_set_src(struct doca_dma_task_memcpy *task,
				  const struct doca_buf *src)
{
	if (!may_change(task))
		return;
	task->src = src;
	change(task);
}

const struct doca_buf *
doca_dma_task_memcpy_get_src(const struct doca_dma_task_memcpy *task)
{
	return task->src;
}

void doca_dma_task_memcpy_set_dst(struct doca_dma_task_memcpy *task,
				  struct doca_buf *dst)
{
	if (!may_change(task))
		return;
	task->dst = dst;
	change(task);
}

struct doca_buf *
doca_dma_task_memcpy_get_dst(const struct doca_dma_task_memcpy *task)
{
	return task->dst;
}
