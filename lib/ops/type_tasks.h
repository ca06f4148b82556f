/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_TYPE_TASKS_H
#define PIER_OPS_TYPE_TASKS_H

#include <stdbool.h>

#include <pier/task.h>

/* The sum of the numbers of those types that @has. */
uint64_t pier__type_tasks_sum(const uint32_t type_tasks[PIER_TASK_TYPES],
			      bool (*has)(enum pier_task_type type));

/*
 * Settle type_tasks of a configuration, numbers of tasks by type; @has are the
 * types of the pool that *@tasks, called @name, is the size of.  *@tasks stays
 * if there is no number for one of them; else it is 0 or their sum, which it
 * becomes.  Errors: -EINVAL.
 */
int pier__type_tasks_settle(const uint32_t type_tasks[PIER_TASK_TYPES],
			    bool (*has)(enum pier_task_type type),
			    uint32_t *tasks, const char *name);

/* None is for a type that is not one of @has.  Errors: -EINVAL. */
int pier__type_tasks_check(const uint32_t type_tasks[PIER_TASK_TYPES],
			   bool (*has)(enum pier_task_type type),
			   const char *object);

#endif
