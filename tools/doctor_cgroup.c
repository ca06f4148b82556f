/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

/* Limits of the control groups that this process is in, of version 1 or 2. */

#define NO_LIMIT UINT64_MAX
#define MEMORY_MIN (UINT64_C(256) << 20)
#define PIDS_MIN 64

/* Files of one resource: version 2 has one tree, version 1 one for each. */
static const struct files {
	const char *controller;		/* of version 1 */
	const char *v2, *v1;
} memory_files = { "memory", "memory.max", "memory.limit_in_bytes" },
  pids_files = { "pids", "pids.max", "pids.max" },
  cpu_files = { "cpu", "cpu.max", "cpu.cfs_quota_us" };

/* Is @name among the controllers, "cpu,cpuacct", of the length @len? */
static bool has_controller(const char *list, size_t len, const char *name)
{
	size_t size = strlen(name);

	for (const char *at = list; at + size <= list + len; at++)
		if (!strncmp(at, name, size) &&
		    (at == list || at[-1] == ',') &&
		    (at + size == list + len || at[size] == ','))
			return true;
	return false;
}

/*
 * The path of this process's group below the tree of @controller, "" for that
 * of version 2.  Returns false: there is none.
 */
static bool find_group(const char *controller, char ret[DOCTOR_LINE])
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[DOCTOR_LINE], *list, *path;
	bool found = false;
	size_t len;

	while (file && !found && fgets(line, sizeof(line), file)) {
		list = strchr(line, ':');
		path = list ? strchr(list + 1, ':') : NULL;
		if (!path)
			continue;
		line[strcspn(line, "\n")] = '\0';
		list++;
		len = (size_t)(path - list);
		found = *controller ? has_controller(list, len, controller) :
				      !len;
		if (found)
			memmove(ret, path + 1, strlen(path + 1) + 1);
	}
	if (file)
		fclose(file);
	return found;
}

/* The number that @text begins with, "max" or -1 being no limit. */
static uint64_t number_of(const char *text)
{
	if (*text < '0' || *text > '9')
		return NO_LIMIT;
	return strtoull(text, NULL, 10);
}

/* Call @look for the group @path below @tree, and for each group above it. */
static uint64_t least(const char *tree, char *path, const char *file,
		      uint64_t (*look)(const char *dir, const char *file))
{
	char dir[2 * DOCTOR_LINE];
	uint64_t ret = NO_LIMIT, one;
	char *slash;

	for (;;) {
		snprintf(dir, sizeof(dir), "%s%s", tree, path);
		one = look(dir, file);
		ret = one < ret ? one : ret;
		slash = strrchr(path, '/');
		if (!slash)
			return ret;
		*slash = '\0';
	}
}

/* The least limit that any group sets which this process is in. */
static uint64_t limit_of(const struct files *files,
			 uint64_t (*look)(const char *dir, const char *file))
{
	char path[DOCTOR_LINE], tree[64];
	uint64_t v2 = NO_LIMIT, v1 = NO_LIMIT;

	if (find_group("", path))
		v2 = least("/sys/fs/cgroup", path, files->v2, look);
	snprintf(tree, sizeof(tree), "/sys/fs/cgroup/%s", files->controller);
	if (find_group(files->controller, path))
		v1 = least(tree, path, files->v1, look);
	return v2 < v1 ? v2 : v1;
}

static uint64_t look_number(const char *dir, const char *file)
{
	char line[DOCTOR_LINE];

	return doctor_line(line, "%s/%s", dir, file) ? number_of(line) :
						       NO_LIMIT;
}

/* In thousandths of a processor: "QUOTA PERIOD", or in two files. */
static uint64_t look_cpu(const char *dir, const char *file)
{
	char line[DOCTOR_LINE], *end;
	uint64_t quota, period;

	if (!doctor_line(line, "%s/%s", dir, file))
		return NO_LIMIT;
	quota = number_of(line);
	if (quota == NO_LIMIT)
		return quota;
	quota = strtoull(line, &end, 10);
	period = strtoull(end, NULL, 10);
	if (!period && doctor_line(line, "%s/cpu.cfs_period_us", dir))
		period = strtoull(line, NULL, 10);
	return period ? quota * 1000 / period : NO_LIMIT;
}

static void check_memory(struct doctor *d)
{
	uint64_t limit = limit_of(&memory_files, look_number);
	bool low = limit < MEMORY_MIN;
	char size[TOOL_SIZE_TEXT];
	json_t *finding;

	/* version 1 has a number for "no limit" */
	if (limit >= INT64_MAX / 2) {
		doctor_add(d, "container_memory", DOCTOR_OK,
			   "no control group limits the memory");
		return;
	}
	tool_size(limit, size);
	finding = doctor_add(d, "container_memory", low ? DOCTOR_WARNING :
			     DOCTOR_OK, "a control group limits the memory to "
			     "%s%s", size, low ? ", which the kernel's buffers "
			     "for sockets are part of" : "");
	tool_json_set(finding, "bytes", json_integer((json_int_t)limit));
	if (low)
		doctor_remedy(finding, "--memory=1g (container), MemoryMax=1G "
			      "(systemd)");
}

static void check_pids(struct doctor *d)
{
	uint64_t limit = limit_of(&pids_files, look_number);
	bool low = limit < PIDS_MIN;
	json_t *finding;

	if (limit == NO_LIMIT) {
		doctor_add(d, "container_pids", DOCTOR_OK,
			   "no control group limits the number of threads");
		return;
	}
	finding = doctor_add(d, "container_pids", low ? DOCTOR_WARNING :
			     DOCTOR_OK, "a control group limits the processes "
			     "and threads to %" PRIu64 "%s", limit, low ?
			     ": contexts and devices have threads" : "");
	tool_json_set(finding, "threads", json_integer((json_int_t)limit));
	if (low)
		doctor_remedy(finding, "--pids-limit=1024 (container), "
			      "TasksMax=1024 (systemd)");
}

static void check_quota(struct doctor *d)
{
	uint64_t limit = limit_of(&cpu_files, look_cpu);
	json_t *finding;

	if (limit == NO_LIMIT) {
		doctor_add(d, "container_cpu", DOCTOR_OK,
			   "no control group limits the time of processors");
		return;
	}
	finding = doctor_add(d, "container_cpu", limit < 1000 ?
			     DOCTOR_WARNING : DOCTOR_OK, "a control group "
			     "limits the time to %.2f processors%s",
			     (double)limit / 1000, limit < 1000 ?
			     ": a program that polls is stopped for a part of "
			     "each period" : "");
	tool_json_set(finding, "processors", json_real((double)limit / 1000));
	if (limit < 1000)
		doctor_remedy(finding, "--cpus=2 (container), CPUQuota=200%% "
			      "(systemd)");
}

void doctor_cgroup(struct doctor *d)
{
	check_memory(d);
	check_pids(d);
	check_quota(d);
}
