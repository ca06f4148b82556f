/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

/* What the kernel has in files. */

bool doctor_line(char ret[DOCTOR_LINE], const char *path, ...)
{
	char name[PATH_MAX];
	FILE *file;
	va_list ap;
	bool read;

	va_start(ap, path);
	vsnprintf(name, sizeof(name), path, ap);
	va_end(ap);
	file = fopen(name, "re");
	if (!file)
		return false;
	read = fgets(ret, DOCTOR_LINE, file);
	fclose(file);
	if (!read)
		return false;
	ret[strcspn(ret, "\n")] = '\0';
	return ret[0];
}

uint64_t doctor_status(const char *name, int base)
{
	FILE *file = fopen("/proc/thread-self/status", "re");
	size_t len = strlen(name);
	uint64_t number = 0;
	char line[DOCTOR_LINE];

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, name, len) && line[len] == ':')
			number = strtoull(line + len + 1, NULL, base);
	}
	fclose(file);
	return number;
}
