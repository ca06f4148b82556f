/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include <string.h>

#include "bench/overhead_mode.h"

static const struct {
	const char *name;
	void (*run)(long n);
} modes[] = {
	{ "single", bench_single },
	{ "batched", bench_batched },
	{ "events", bench_events },
	{ "anew", bench_anew },
};

void (*overhead_mode(const char *name))(long n)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (!strcmp(modes[i].name, name))
			return modes[i].run;
	}
	return NULL;
}
