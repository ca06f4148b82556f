/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <signal.h>
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

/* What printf() has is lost if it was interrupted in there. */
static void end_by_signal(int signal)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "targets: %d met, %d missed\n",
			   met, wanted - met);

	if (getpid() == owner && write(STDOUT_FILENO, text, (size_t)len) < len)
		_exit(1);
	_exit(128 + signal);
}

void bench_begin(int count)
{
	static const int ends[] = { SIGABRT, SIGBUS, SIGFPE, SIGHUP, SIGILL,
				    SIGINT, SIGPIPE, SIGSEGV, SIGTERM };

	wanted = count;
	owner = getpid();
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		signal(ends[i], end_by_signal);
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
