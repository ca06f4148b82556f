/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "core/fail.h"
#include "ops/limit.h"
#include "ops/type_tasks.h"

uint64_t pier__type_tasks_sum(const uint32_t type_tasks[PIER_TASK_TYPES],
			      bool (*has)(enum pier_task_type type))
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < PIER_TASK_TYPES; i++)
		sum += has(i) ? type_tasks[i] : 0;
	return sum;
}

int pier__type_tasks_settle(const uint32_t type_tasks[PIER_TASK_TYPES],
			    bool (*has)(enum pier_task_type type),
			    uint32_t *tasks, const char *name)
{
	uint64_t sum = pier__type_tasks_sum(type_tasks, has);

	if (!sum)
		return 0;
	if (sum > PIER__TASKS_MAX)
		return pier__fail(-EINVAL, "type_tasks %llu: 0 to %u in all, "
				  "0 for %s alone", (unsigned long long)sum,
				  PIER__TASKS_MAX, name);
	if (*tasks && *tasks != sum)
		return pier__fail(-EINVAL, "%s %u: the sum of type_tasks is "
				  "%u, allowed is that or 0", name, *tasks,
				  (uint32_t)sum);
	*tasks = (uint32_t)sum;
	return 0;
}

int pier__type_tasks_check(const uint32_t type_tasks[PIER_TASK_TYPES],
			   bool (*has)(enum pier_task_type type),
			   const char *object)
{
	for (unsigned int i = 0; i < PIER_TASK_TYPES; i++) {
		if (type_tasks[i] && !has(i))
			return pier__fail(-EINVAL, "type_tasks[%u] %u: %s has "
					  "no tasks of the type %s", i,
					  type_tasks[i], object,
					  pier_task_type_name(i));
	}
	return 0;
}
