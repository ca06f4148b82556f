/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_BENCH_OVERHEAD_TASKS_H
#define PIER_T_BENCH_OVERHEAD_TASKS_H

#include <stdbool.h>

#include <pier/pier.h>

#define OVERHEAD_NODES 4

/* Tasks of every type, on a device that does nothing. */
struct overhead_task {
	struct pier_task *task;
	struct pier_buf *grows;	/* to be reset before the task is submitted */
				/* again; NULL: none */
	struct pier_buf *node_grows[OVERHEAD_NODES];	/* the same, of the */
				/* nodes of a graph of several */
};

/*
 * Make @count tasks of @type on @pe, at most OVERHEAD_MAX; what is wrong ends
 * the process.  Returns false if there is no case for @type.
 */
#define OVERHEAD_MAX 64
bool overhead_make(enum pier_task_type type, struct pier_pe *pe, int count,
		   struct overhead_task *ret);

/*
 * Make task @i again, which was freed; of an instance of a graph, which was
 * not, set the task of its node again.
 */
void overhead_make_again(enum pier_task_type type, int i,
			 struct overhead_task *ret);

#endif
