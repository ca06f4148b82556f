/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* Faults of the network, which soft devices take from the environment. */

/* Add NAME=VALUE to @all, a value from 0 to @max.  Returns 0 or 2. */
static int add_fault(const char *command, char *all, size_t size,
		     const char *name, const char *text, const char *unit,
		     double max)
{
	size_t len = strlen(all);
	double value;
	char *end;

	if (!text)
		return 0;
	value = strtod(text, &end);
	if (end == text || *end || !(value >= 0) || value > max ||
	    signbit(value) || (value > 0 && value < 1e-6)) {
		tool_message("%s: %s \"%s\": %s, 0 to %g, as 0.5", command,
			     name, text, unit, max);
		return 2;
	}
	snprintf(all + len, size - len, "%s=%.6f,", name, value);
	return 0;
}

int tool_faults_set(const char *command, const struct tool_faults *faults)
{
	char all[256] = "", seed[32];

	if (add_fault(command, all, sizeof(all), "loss", faults->loss,
		      "percent", 100) ||
	    add_fault(command, all, sizeof(all), "corrupt", faults->corrupt,
		      "percent", 100) ||
	    add_fault(command, all, sizeof(all), "delay", faults->late,
		      "milliseconds", 1000))
		return 2;
	if (!*all)
		return 0;
	snprintf(seed, sizeof(seed), "seed=%" PRIu64, faults->seed);
	strcat(all, seed);
	return setenv("PIER_FAULTS", all, 1) ? 1 : 0;
}
