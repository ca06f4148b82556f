/* SPDX-License-Identifier: BSD-2-Clause */
#include "cm/conn_impl.h"
#include "cm/owner.h"

void pier__conn_owner_init(struct pier__conn_owner *owner, struct pier_ctx *ctx,
			   void (*stopped)(struct pier_ctx *ctx))
{
	owner->ctx = ctx;
	owner->stopped = stopped;
	pier__list_init(&owner->conns);
	pier__list_init(&owner->listeners);
}

struct pier_ctx *pier_conn_ctx(const struct pier_conn *conn)
{
	if (!conn)
		return NULL;
	return conn->owner->ctx;
}

void pier__conn_owner_destroy(struct pier__conn_owner *owner)
{
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &owner->conns)
		pier_conn_destroy(pier__container_of(pos, struct pier_conn,
						     link));
}
