/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_ENGINE_TASK_POOL_H
#define PIER_ENGINE_TASK_POOL_H

#include "engine/task_impl.h"

/* Tasks of one size; outlives the context until the last is freed. */
struct pier__task_pool {
	struct pier_ctx *ctx;		/* theirs */
	struct pier_task *free;
	char *memory;
	char *texts;			/* of failures, one for each task */
	size_t size;			/* of a task, what surrounds it too */
	uint32_t count, free_count;
	bool by_type;			/* each type has a number: */
	uint32_t number[PIER_TASK_TYPES];
	uint32_t taken[PIER_TASK_TYPES];	/* by type, in any case */
	/* What a type is called in messages. */
	const char *(*name)(enum pier_task_type type);
	bool orphan;			/* freed with its last task */
};

/*
 * Allocate @count tasks of @ctx, of @size bytes each; struct pier_task is the
 * first member, the rest is zeroed.  @name: of a type, for messages.  Errors:
 * -ENOMEM.
 */
int pier__task_pool_create(struct pier_ctx *ctx, uint32_t count, size_t size,
			   const char *(*name)(enum pier_task_type type),
			   struct pier__task_pool **ret);

/*
 * Tasks that are not freed keep it alive; that is logged, in the name of
 * @object, with their types.  NULL is allowed.
 */
void pier__task_pool_destroy(struct pier__task_pool *pool, const char *object);

/* How many are not freed.  NULL: none. */
uint32_t pier__task_pool_held(const struct pier__task_pool *pool);

/* From now on each type has a number of its own; the sum is that of @pool. */
void pier__task_pool_set_numbers(struct pier__task_pool *pool,
				 const uint32_t number[PIER_TASK_TYPES]);

/*
 * Take a task, as new but without ops; NULL: all are taken, or all of @type.
 * Give it back.
 */
struct pier_task *pier__task_pool_take(struct pier__task_pool *pool,
				       enum pier_task_type type);
void pier__task_pool_give(struct pier_task *task);

/*
 * Fail because there is none for @object, the size of whose pool is called
 * @name.  Returns -ENOBUFS.
 */
int pier__task_pool_empty(const struct pier__task_pool *pool,
			  enum pier_task_type type, const char *object,
			  const char *name);

/* Is it in the pool? */
bool pier__task_is_free(const struct pier_task *task);

/* What the type of @task is called in messages. */
const char *pier__task_name(const struct pier_task *task);

/* As pier__guard_enter(); a message about another thread has @task. */
static inline int pier__task_enter(const struct pier_task *task,
				   struct pier__guard *guard, const char *call)
{
	struct pier__used used = { .at = task };

	if (PIER__GUARDS)
		used.task = pier__task_name(task);
	return pier__guard_enter_with(guard, call, &used);
}

#endif
