/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_ARGLINE_H
#define PIER_T_LIB_ARGLINE_H

#include <stdint.h>

#include <pier/args.h>
#include <pier/log.h>

/* For tests of command lines: a program's options, and what it prints. */
struct argline_own {
	int flag, number;
	uint64_t size;
	const char *text, *name;
};

extern struct argline_own own;		/* zero before each parse */
extern const struct pier_option options[];	/* their places are in own */
extern const struct pier_option required[];
extern char printed[8192];		/* what the last parse printed, */
extern char complained[8192];		/* on stdout and on stderr */

/* Parse words that are divided by one blank each. */
int parse(struct pier_args *args, const char *line);

/* The same with the program's own options, and no others but everybody's. */
int parse_own(const char *line);

/* A log callback that does nothing. */
void ignore(enum pier_log_level level, const char *area, const char *message,
	    void *arg);

#endif
