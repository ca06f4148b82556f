/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_TOOLS_RUN_STATS_H
#define PIER_TOOLS_RUN_STATS_H

#include <jansson.h>

/*
 * pier run --stats: have the counters of the processes that are started now
 * remain in a folder.  Returns 0, or 1 with a message.
 */
int tool_run_stats_begin(void);

/*
 * Remove the folder.  Returns the number of processes and the sums of their
 * counters; NULL, with a message: they cannot be read.
 */
json_t *tool_run_stats_end(void);

/* Print @stats on stderr. */
void tool_run_stats_print(json_t *stats);

#endif
