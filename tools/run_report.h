/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_TOOLS_RUN_REPORT_H
#define PIER_TOOLS_RUN_REPORT_H

/* As of shells: the program cannot be run; there is none. */
enum { RUN_NOT_RUN = 126, RUN_NOT_FOUND = 127 };

/* What the program gets, and where from. */
#define RUN_LIBRARY "libibverbs.so.1"
#define RUN_CM_LIBRARY "librdmacm.so.1"
#define RUN_FILES_LIBRARY "libpier-files.so"

struct run_report {
	int json;		/* print JSON */
	int stats;		/* print the counters, within that or as text */
	const char *library;	/* the folder */
};

/*
 * Run @path with @argv and wait for its end, then print @report.  With JSON
 * what it writes to stdout goes to stderr.  Returns its exit status, 128 and
 * the number of the signal that has ended it, or that of tool_run_exec().
 */
int tool_run_report(const char *path, char *argv[],
		    const struct run_report *report);

/* Become @path.  Returns only if that fails: a shell's status. */
int tool_run_exec(const char *path, char *argv[]);

#endif
