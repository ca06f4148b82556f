/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "perf.h"

/* On which processors the two sides run. */

int perf_cpu_take(struct perf *perf)
{
	cpu_set_t set;

	if (perf->opts.cpu < 0)
		return 0;
	CPU_ZERO(&set);
	CPU_SET((size_t)perf->opts.cpu, &set);
	if (!sched_setaffinity(0, sizeof(set), &set))
		return 0;
	return perf_err(perf, -errno, "--cpu %d: %s", perf->opts.cpu,
			strerror(errno));
}

/* The only one that this thread may run on; -1: there are several. */
static int only_cpu(void)
{
	cpu_set_t set;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(set), &set) || CPU_COUNT(&set) != 1)
		return -1;
	while (!CPU_ISSET((size_t)cpu, &set))
		cpu++;
	return cpu;
}

void perf_cpu_print(char ret[PERF_CPU_SIZE])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
	char id[37] = "-";

	if (file) {
		if (fscanf(file, "%36s", id) != 1)
			strcpy(id, "-");
		fclose(file);
	}
	snprintf(ret, PERF_CPU_SIZE, "%s %d", id, only_cpu());
}

void perf_cpu_compare(const char *peer)
{
	char own[PERF_CPU_SIZE];

	perf_cpu_print(own);
	if (only_cpu() >= 0 && own[0] != '-' && !strcmp(own, peer))
		tool_message("pier perf: WARNING: both sides run on one "
			     "processor, %d: what is measured is mostly the "
			     "scheduler; see --cpu", only_cpu());
}
