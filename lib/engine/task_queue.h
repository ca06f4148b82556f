/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_ENGINE_TASK_QUEUE_H
#define PIER_ENGINE_TASK_QUEUE_H

#include "engine/task_impl.h"

/* Tasks in an order, linked by their next: tasks that are not in a pool. */
struct pier__task_queue {
	struct pier_task *first;	/* NULL: none */
	struct pier_task **end;		/* where the next one goes */
};

static inline void pier__task_queue_init(struct pier__task_queue *queue)
{
	queue->first = NULL;
	queue->end = &queue->first;
}

static inline void pier__task_queue_add(struct pier__task_queue *queue,
					struct pier_task *task)
{
	task->next = NULL;
	*queue->end = task;
	queue->end = &task->next;
}

/* Take out the first one; there is one. */
static inline struct pier_task *
pier__task_queue_pop(struct pier__task_queue *queue)
{
	struct pier_task *task = queue->first;

	queue->first = task->next;
	if (!queue->first)
		queue->end = &queue->first;
	return task;
}

/* Take @task out; false: it is not in @queue. */
static inline bool pier__task_queue_take_out(struct pier__task_queue *queue,
					     const struct pier_task *task)
{
	struct pier_task **at = &queue->first;

	while (*at && *at != task)
		at = &(*at)->next;
	if (!*at)
		return false;
	*at = task->next;
	if (!*at)
		queue->end = at;
	return true;
}

/* Is @task in @queue? */
static inline bool pier__task_queue_has(const struct pier__task_queue *queue,
					const struct pier_task *task)
{
	const struct pier_task *at = queue->first;

	while (at && at != task)
		at = at->next;
	return at;
}

/* Append all of @from to @queue. */
static inline void pier__task_queue_move(struct pier__task_queue *queue,
					 struct pier__task_queue *from)
{
	if (!from->first)
		return;
	*queue->end = from->first;
	queue->end = from->end;
	pier__task_queue_init(from);
}

#endif
