/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_fail.h"
#include "doca_task_impl.h"

#define TASKS_MAX (1u << 20)

doca_error_t pier__doca_pool_conf(struct doca_task_pool *pool,
				  struct doca_ctx *ctx, void (*done)(void),
				  void (*failed)(void), uint32_t count)
{
	doca_error_t error = pier__doca_ctx_may_set(ctx);

	if (error)
		return error;
	if (!count || count > TASKS_MAX)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "task: %u "
				       "tasks, 1 to %u are allowed", count,
				       TASKS_MAX);
	if (!done || !failed)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "task: no "
				       "callback for tasks that %s",
				       done ? "fail" : "succeed");
	pool->done = (doca_task_completion_cb_t)done;
	pool->failed = (doca_task_completion_cb_t)failed;
	pool->count = count;
	return DOCA_SUCCESS;
}

static struct doca_task *nth(const struct doca_task_pool *pool, uint32_t i)
{
	return (struct doca_task *)(void *)(pool->memory + i * pool->size);
}

void pier__doca_pool_drop_spare(struct doca_task_pool *pool)
{
	struct doca_task *task;

	for (uint32_t i = 0; i < pool->filled; i++) {
		task = nth(pool, i);
		pier_task_free(task->spare);
		task->spare = NULL;
	}
}

void pier__doca_pool_free(struct doca_task_pool *pool)
{
	pier__doca_pool_drop_spare(pool);
	free(pool->memory);
	pool->memory = NULL;
	pool->filled = 0;
	pool->free = NULL;
}

doca_error_t pier__doca_pool_fill(struct doca_task_pool *pool,
				  struct doca_ctx *ctx,
				  const struct doca_task_kind *kind,
				  size_t size)
{
	pier__doca_pool_free(pool);
	pool->ctx = ctx;
	if (!pool->count)
		return DOCA_SUCCESS;
	pool->memory = calloc(pool->count, size);
	if (!pool->memory)
		return DOCA_ERROR_NO_MEMORY;
	pool->filled = pool->count;
	pool->size = size;
	for (uint32_t i = pool->count; i-- > 0;) {
		struct doca_task *task = nth(pool, i);

		task->kind = kind;
		task->pool = pool;
		task->ctx = ctx;
		task->done = pool->done;
		task->failed = pool->failed;
		task->next = pool->free;
		pool->free = task;
	}
	return DOCA_SUCCESS;
}

doca_error_t pier__doca_pool_take(struct doca_task_pool *pool,
				  union doca_data data, struct doca_task **ret)
{
	struct doca_task *task = pool->free;

	if (!pool->ctx || pool->ctx->state != DOCA_CTX_STATE_RUNNING)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "task: its context does not run");
	if (!task)
		return pier__doca_expected(DOCA_ERROR_NO_MEMORY, "task: all %u "
					   "of this type are taken",
					   pool->count);
	pool->free = task->next;
	task->taken = true;
	task->data = data;
	task->ctx_data = pool->ctx->data;
	task->status = DOCA_SUCCESS;
	pool->ctx->held++;
	*ret = task;
	return DOCA_SUCCESS;
}
