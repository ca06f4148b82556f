/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include "core/fail.h"
#include "ops/rdma.h"

int pier__rdma_pool_create(uint32_t count, uint32_t chain,
			   struct pier__rdma_pool **ret)
{
	size_t size = sizeof(struct pier__rdma_task) +
		      chain * sizeof(struct ibv_sge);
	struct pier__rdma_pool *pool = calloc(1, sizeof(*pool));

	size = (size + 63) & ~(size_t)63;
	if (pool)
		pool->memory = calloc(count, size);
	if (!pool || !pool->memory) {
		free(pool);
		return pier__fail(-ENOMEM, "no memory for %u tasks of %zu "
				  "bytes", count, size);
	}
	pool->count = pool->free_count = count;
	pool->chain = chain;
	for (uint32_t i = count; i-- > 0;) {
		struct pier__rdma_task *task =
			(struct pier__rdma_task *)(pool->memory + i * size);

		task->pool = pool;
		task->next = pool->free;
		pool->free = task;
		pier__list_init(&task->task.link);
		pier__list_init(&task->posted.link);
	}
	*ret = pool;
	return 0;
}

static void free_unused(struct pier__rdma_pool *pool)
{
	if (!pool->orphan || pool->free_count != pool->count)
		return;
	free(pool->memory);
	free(pool);
}

void pier__rdma_pool_destroy(struct pier__rdma_pool *pool)
{
	if (!pool)
		return;
	pool->orphan = true;
	free_unused(pool);
}

struct pier__rdma_task *pier__rdma_pool_take(struct pier__rdma_pool *pool)
{
	struct pier__rdma_task *task = pool->free;

	if (!task)
		return NULL;
	pool->free = task->next;
	pool->free_count--;
	pier__task_reset(&task->task);
	return task;
}

void pier__rdma_pool_give(struct pier__rdma_task *task)
{
	struct pier__rdma_pool *pool = task->pool;

	task->next = pool->free;
	pool->free = task;
	pool->free_count++;
	free_unused(pool);
}
