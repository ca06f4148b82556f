/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_TOOLS_RUN_REAL_H
#define PIER_TOOLS_RUN_REAL_H

#include "tool.h"

/*
 * Look for the libibverbs.so.1 that programs have without pier, and put it
 * into the environment if it has devices, which are real ones; within another
 * pier run leave that as it is.  If @only_soft is set there is none.  Returns
 * 0, or -1: out of memory.
 */
int tool_run_real(int only_soft);

/* The names of those devices, in order; NULL behind the last one. */
const char *const *tool_run_real_names(void);

#endif
