/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/fail.h"
#include "ops/task_type.h"

static struct pier__rdma_task *nth(const struct pier__rdma_pool *pool,
				   uint32_t i)
{
	return (struct pier__rdma_task *)(pool->memory + i * pool->size);
}

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
	pool->size = size;
	for (uint32_t i = count; i-- > 0;) {
		struct pier__rdma_task *task = nth(pool, i);

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

/* How many tasks of @type are held; those that are free are marked. */
static uint32_t count_held(const struct pier__rdma_pool *pool,
			   enum pier_task_type type)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < pool->count; i++) {
		const struct pier_task *task = &nth(pool, i)->task;

		n += task->ops && task->type == type;
	}
	return n;
}

/* Held tasks keep memory and connections, which nothing else reports. */
static void report_held(struct pier__rdma_pool *pool)
{
	char text[256] = "";
	size_t len = 0;

	if (pool->free_count == pool->count)
		return;
	for (struct pier__rdma_task *t = pool->free; t; t = t->next)
		t->task.ops = NULL;	/* none is taken again */
	for (unsigned int i = 0; i < pier__task_type_count; i++) {
		uint32_t held = count_held(pool, i);

		if (held && len < sizeof(text))
			len += (size_t)snprintf(text + len, sizeof(text) - len,
						"%s%u %s", len ? ", " : "",
						held, pier_task_type_name(i));
	}
	pier__log(PIER_LOG_CRITICAL, "rdma", "a context is destroyed whose "
		  "tasks are not all freed: %s: pier_task_free() them, they "
		  "keep memory and connections", text);
}

void pier__rdma_pool_destroy(struct pier__rdma_pool *pool)
{
	if (!pool)
		return;
	report_held(pool);
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
