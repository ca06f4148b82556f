/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "doctor.h"

/* The processors, and calls that a container may deny. */

/* Those that this process may use. */
static int usable_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 0 : CPU_COUNT(&set);
}

static void check_cpus(struct doctor *d)
{
	int usable = usable_cpus();
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	json_t *finding;

	finding = doctor_add(d, "cpus", usable == 1 ? DOCTOR_WARNING :
			     DOCTOR_OK, "%d of the %ld processors online can "
			     "be used%s", usable, online, usable == 1 ?
			     ": a program that polls and the other end on this "
			     "host take turns" : "");
	tool_json_set(finding, "usable", json_integer(usable));
	tool_json_set(finding, "online", json_integer(online));
	if (usable == 1)
		doctor_remedy(finding, "%s", online > 1 ?
			      "taskset, cpuset of the container: give it more"
			      : "give the machine another processor");
}

/* Of the first processor; they are usually the same. */
static void check_governor(struct doctor *d)
{
	char line[DOCTOR_LINE];
	json_t *finding;
	bool best;

	if (!doctor_line(line, "/sys/devices/system/cpu/cpu0/cpufreq/"
			 "scaling_governor")) {
		doctor_add(d, "governor", DOCTOR_OK, "the kernel does not "
			   "control the frequency of the processors");
		return;
	}
	best = !strcmp(line, "performance");
	finding = doctor_add(d, "governor", best ? DOCTOR_OK : DOCTOR_WARNING,
			     "the governor of the processors' frequency is "
			     "%s%s", line, best ? "" :
			     ": latencies vary and are longer");
	tool_json_set(finding, "governor", tool_json_text(line));
	if (!best)
		doctor_remedy(finding, "cpupower frequency-set -g performance");
}

/*
 * Calls without which something is slower or missing.  Arguments that are not
 * valid show whether a filter denies the call.
 */
static const struct {
	const char *name;
	long number;
	const char *loss;
} calls[] = {
	{ "io_uring_setup", SYS_io_uring_setup,
	  "pier copy reads and writes files by threads" },
	{ "memfd_create", SYS_memfd_create,
	  "there is no memory with huge pages or for other processes" },
	{ "openat2", SYS_openat2,
	  "pier copy --root cannot open files" },
	{ "mbind", SYS_mbind, "memory is not placed on a NUMA node" },
};

static bool is_denied(long number)
{
	/* the kernel refuses each of these: no address, no flags like that */
	return syscall(number, -1L, 0L, -1L, 0L, 0L, -1L) < 0 &&
	       (errno == ENOSYS || errno == EPERM || errno == EACCES);
}

static void check_calls(struct doctor *d)
{
	json_t *finding;
	int denied = 0;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (!is_denied(calls[i].number))
			continue;
		denied++;
		finding = doctor_add(d, "system_call", DOCTOR_WARNING,
				     "%s is denied (%s): %s", calls[i].name,
				     strerror(errno), calls[i].loss);
		tool_json_set(finding, "call", json_string(calls[i].name));
		doctor_remedy(finding, "permit it in the container's seccomp "
			      "profile, --security-opt seccomp=FILE%s",
			      calls[i].number != SYS_io_uring_setup ? "" :
			      ", and sysctl -w kernel.io_uring_disabled=0");
	}
	if (!denied)
		doctor_add(d, "system_call", DOCTOR_OK, "the kernel executes "
			   "the calls that a container may deny");
}

void doctor_host(struct doctor *d)
{
	check_cpus(d);
	check_governor(d);
	check_calls(d);
}
