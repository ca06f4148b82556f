/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <pier/pier.h>

#include "bench/procs.h"
#include "bench/target.h"

static int wanted, met;
static pid_t owner;		/* children print no result */

static void print_result(void)
{
	if (getpid() == owner)
		printf("targets: %d met, %d missed\n", met, wanted - met);
}

void bench_begin(int count)
{
	wanted = count;
	owner = getpid();
	if (atexit(print_result))
		proc_die("no memory");
}

void bench_judge(bool is_met, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf(": %s\n", is_met ? "met" : "MISSED");
	met += is_met;
}

int bench_status(void)
{
	return met < wanted;
}

void must(int err)
{
	if (err < 0)
		proc_die("%s: %s", program_invocation_short_name,
			 pier_last_error());
}
