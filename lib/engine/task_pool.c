/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "engine/task_pool.h"
#include "engine/task_timeout.h"

static int submit_free(struct pier_task *task, unsigned int flags)
{
	(void)task;
	(void)flags;
	return pier__fail(-EINVAL, "task: submitted after it was freed");
}

static void no_error(const struct pier_task *task, struct pier_task_error *ret)
{
	(void)task;
	(void)ret;
}

/* Of a task in the pool, which a program uses by mistake. */
static const struct pier__task_ops free_ops = {
	.submit = submit_free,
	.error = no_error,
};

bool pier__task_is_free(const struct pier_task *task)
{
	return task->ops == &free_ops;
}

static struct pier_task *nth(const struct pier__task_pool *pool, uint32_t i)
{
	return (struct pier_task *)(pool->memory + i * pool->size);
}

const char *pier__task_name(const struct pier_task *task)
{
	return task->pool ? task->pool->name(task->type) : "task";
}

static void free_pool(struct pier__task_pool *pool)
{
	if (!pool)
		return;
	free(pool->texts);
	free(pool->memory);
	free(pool);
}

int pier__task_pool_create(struct pier_ctx *ctx, uint32_t count, size_t size,
			   const char *(*name)(enum pier_task_type type),
			   struct pier__task_pool **ret)
{
	struct pier__task_pool *pool = calloc(1, sizeof(*pool));

	size = (size + 63) & ~(size_t)63;
	if (pool) {
		pool->memory = calloc(count, size);
		pool->texts = calloc(count, PIER__ERROR_TEXT);
	}
	if (!pool || !pool->memory || !pool->texts) {
		free_pool(pool);
		return pier__fail(-ENOMEM, "no memory for %u tasks of %zu "
				  "bytes", count, size);
	}
	pool->count = pool->free_count = count;
	pool->size = size;
	pool->ctx = ctx;
	pool->name = name;
	for (uint32_t i = count; i-- > 0;) {
		struct pier_task *task = nth(pool, i);

		task->pool = pool;
		task->text = pool->texts + (size_t)i * PIER__ERROR_TEXT;
		task->ops = &free_ops;
		task->next = pool->free;
		pool->free = task;
		pier__list_init(&task->link);
		pier__list_init(&task->places);
		pier__list_init(&task->timed);
	}
	*ret = pool;
	return 0;
}

static void free_unused(struct pier__task_pool *pool)
{
	if (pool->orphan && pool->free_count == pool->count)
		free_pool(pool);
}

uint32_t pier__task_pool_held(const struct pier__task_pool *pool)
{
	return pool ? pool->count - pool->free_count : 0;
}

/* Held tasks keep memory and connections, which nothing else reports. */
static void report_held(const struct pier__task_pool *pool, const char *object)
{
	char text[256] = "";
	size_t len = 0;

	for (unsigned int i = 0; i < PIER_TASK_TYPES; i++) {
		uint32_t held = pool->taken[i];

		if (held && len < sizeof(text))
			len += (size_t)snprintf(text + len, sizeof(text) - len,
						"%s%u %s", len ? ", " : "",
						held, pool->name(i));
	}
	pier__log(PIER_LOG_CRITICAL, object, "a context is destroyed whose "
		  "tasks are not all freed: %s: pier_task_free() them, they "
		  "keep memory and connections", text);
}

void pier__task_pool_destroy(struct pier__task_pool *pool, const char *object)
{
	if (!pool)
		return;
	if (pier__task_pool_held(pool))
		report_held(pool, object);
	pool->orphan = true;
	free_unused(pool);
}

void pier__task_pool_set_numbers(struct pier__task_pool *pool,
				 const uint32_t number[PIER_TASK_TYPES])
{
	memcpy(pool->number, number, sizeof(pool->number));
	pool->by_type = true;
}

struct pier_task *pier__task_pool_take(struct pier__task_pool *pool,
				       enum pier_task_type type)
{
	struct pier_task *task = pool->free;

	if (!task || (pool->by_type && pool->taken[type] >= pool->number[type]))
		return NULL;
	pool->free = task->next;
	pool->free_count--;
	pool->taken[type]++;
	task->ctx = pool->ctx;
	if (task->ctx->task_timeout_ms)
		pier__task_time(task, task->ctx->task_timeout_ms);
	pier__task_reset(task);
	task->type = type;
	return task;
}

int pier__task_pool_empty(const struct pier__task_pool *pool,
			  enum pier_task_type type, const char *object,
			  const char *name)
{
	if (pool->by_type && !pool->number[type])
		return pier__fail(-ENOBUFS, "%s: type_tasks has no tasks of "
				  "the type %s", object, pool->name(type));
	if (pool->by_type)
		return pier__fail(-ENOBUFS, "%s: all %u tasks of the type %s "
				  "are taken: let some finish and free them, "
				  "or raise type_tasks", object,
				  pool->number[type], pool->name(type));
	return pier__fail(-ENOBUFS, "%s: all %u tasks are taken: let some "
			  "finish and free them, or raise %s", object,
			  pool->count, name);
}

void pier__task_pool_give(struct pier_task *task)
{
	struct pier__task_pool *pool = task->pool;

	if (task->timeout_ms)
		pier__task_time(task, 0);
	task->ops = &free_ops;
	task->next = pool->free;
	pool->free = task;
	pool->free_count++;
	pool->taken[task->type]--;
	free_unused(pool);
}
