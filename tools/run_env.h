/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_TOOLS_RUN_ENV_H
#define PIER_TOOLS_RUN_ENV_H

#include "tool.h"

/* What the options of pier run request of the libraries; NULL: nothing. */
struct run_env {
	struct tool_faults faults;
	const char *pcap;
	int only_soft;
};

/*
 * Put the libraries in @dir and what @env requests into the environment.
 * Returns 0, or an exit status with a message.
 */
int tool_run_env(const char *dir, const struct run_env *env);

#endif
