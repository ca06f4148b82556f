/* SPDX-License-Identifier: BSD-2-Clause */
#include "t/lib/counted.h"
#include "t/lib/tap.h"

static uint64_t of(const struct pier_counters *counters, const char *name)
{
	uint64_t value = 0;

	if (!IS(pier_counters_find(counters, name, &value), 0))
		tap_note("%s", name);
	return value;
}

uint64_t counted_dev(struct pier_dev *dev, const char *name)
{
	struct pier_counters counters = { .size = sizeof(counters) };

	IS(pier_dev_counters(dev, &counters), 0);
	return of(&counters, name);
}

uint64_t counted_conn(const struct pier_conn *conn, const char *name)
{
	struct pier_counters counters = { .size = sizeof(counters) };

	IS(pier_conn_counters(conn, &counters), 0);
	return of(&counters, name);
}
