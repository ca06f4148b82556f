/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_TOOLS_RUN_REPORT_H
#define PIER_TOOLS_RUN_REPORT_H

/* As of shells: the program cannot be run; there is none. */
enum { RUN_NOT_RUN = 126, RUN_NOT_FOUND = 127 };

/*
 * pier run --json: run @path with @argv and wait for its end, then print JSON.
 * What it writes to stdout goes to stderr.  Returns its exit status, 128 and
 * the number of the signal that has ended it, or that of tool_run_exec().
 */
int tool_run_report(const char *path, char *argv[], const char *library);

/* Become @path.  Returns only if that fails: a shell's status. */
int tool_run_exec(const char *path, char *argv[]);

#endif
