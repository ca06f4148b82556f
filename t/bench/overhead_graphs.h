/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_BENCH_OVERHEAD_GRAPHS_H
#define PIER_T_BENCH_OVERHEAD_GRAPHS_H

#include "bench/overhead_tasks.h"

/* Instances of graphs of several copies, on a device that does nothing. */

/* Print what they are called. */
void overhead_graphs_print(void);

/*
 * Make @count instances of the graph called @name on @pe, at most
 * OVERHEAD_MAX; what is wrong ends the process.  Returns false if none is
 * called so.
 */
bool overhead_graphs_make(const char *name, struct pier_pe *pe, int count,
			  struct overhead_task *ret);

#endif
