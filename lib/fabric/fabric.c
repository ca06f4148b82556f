/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
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
