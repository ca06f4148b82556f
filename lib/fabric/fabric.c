/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/fail.h"
#include "fabric/fabric.h"

/* Hardware before soft: whoever has an RDMA device wants to use it. */
const struct pier__fabric *const pier__fabrics[] = {
	&pier__verbs,
	&pier__soft,
	NULL,
};

int pier__ports_add(struct pier__ports *ports, const struct pier__port *port)
{
	struct pier__port *grown;

	grown = realloc(ports->port, (ports->count + 1) * sizeof(*grown));
	if (!grown)
		return pier__fail(-ENOMEM, "no memory for %zu ports",
				  ports->count + 1);
	ports->port = grown;
	grown[ports->count++] = *port;
	return 0;
}

void pier__ports_miss(struct pier__ports *ports,
		      const struct pier__fabric *kind, bool repairable,
		      const char *why)
{
	if (ports->missing && (ports->repairable || !repairable))
		return;
	ports->missing = kind;
	ports->repairable = repairable;
	snprintf(ports->why, sizeof(ports->why), "%s", why);
}

int pier__counteds_add(struct pier__counteds *list,
		       const struct pier__counted *row)
{
	struct pier__counted *grown;
	size_t n = list->count;

	/* At powers of two it is full. */
	if (!(n & (n - 1))) {
		grown = realloc(list->row, (n ? 2 * n : 1) * sizeof(*grown));
		if (!grown)
			return pier__fail(-ENOMEM, "no memory for the "
					  "counters of %zu things", n + 1);
		list->row = grown;
	}
	list->row[list->count++] = *row;
	return 0;
}

void pier__counters_put(struct pier_counters *counters, const char *name,
			uint64_t value)
{
	const size_t max = sizeof(counters->counter) /
			   sizeof(counters->counter[0]);
	struct pier_counter *one;

	if (counters->count == max)
		return;
	one = &counters->counter[counters->count++];
	snprintf(one->name, sizeof(one->name), "%s", name);
	one->value = value;
}
