/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_BENCH_OVERHEAD_DOCA_TASKS_H
#define PIER_T_BENCH_OVERHEAD_DOCA_TASKS_H

#include <stdbool.h>

#include <doca_buf.h>
#include <doca_graph.h>
#include <doca_pe.h>

/* Operations of a program for DOCA, on a device that does nothing. */
struct overhead_doca_task {
	struct doca_task *task;
	struct doca_graph_instance *instance;	/* NULL: it is the task */
	struct doca_buf *grows;	/* to be reset before it is submitted again; */
				/* NULL: none */
};

/* Called for each that has ended. */
void overhead_doca_done(void);

/* End the process with the name of @error if it is one. */
void must(doca_error_t error);

/* Print the types, by the names that pier has for them. */
void overhead_doca_types(void);

/*
 * Make @count tasks of @type on @pe, at most OVERHEAD_DOCA_MAX; what is wrong
 * ends the process.  Returns false if there is no such type.
 */
#define OVERHEAD_DOCA_MAX 32
bool overhead_doca_make(const char *type, struct doca_pe *pe, int count,
			struct overhead_doca_task *ret);

/*
 * Make task @i again, which was freed; of an instance of a graph, which was
 * not, set the task of its node again.
 */
void overhead_doca_make_again(int i, struct overhead_doca_task *ret);

#endif
