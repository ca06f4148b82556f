/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CM_OWNER_H
#define PIER_CM_OWNER_H

#include <pier/cm.h>

#include "core/list.h"
#include "engine/ctx_impl.h"

/* The program's callbacks for all connections of a context; NULL: none. */
struct pier__conn_callbacks {
	pier_conn_fn *request, *established, *failure, *disconnected;
};

/*
 * The part of a context that connections and listeners belong to, whatever
 * kind of context it is.  It outlives its queues.  Engine's thread.
 */
struct pier__conn_owner {
	struct pier_ctx *ctx;
	struct pier__queues *queues;	/* NULL while the context is idle */
	struct pier__conn_callbacks callbacks;
	/* The queues have stopped and are destroyed; pier__ctx_stopped(). */
	void (*stopped)(struct pier_ctx *ctx);
	/* The queues have failed, and all connections; NULL: ignored. */
	void (*failed)(struct pier_ctx *ctx);
	bool quiet;			/* pier's own: the states of its */
					/* connections are no events */
	bool no_roce_port;		/* listeners of a soft device never */
					/* take port 4791; set before start */
	struct pier__list conns, listeners;	/* those not destroyed */
};

void pier__conn_owner_init(struct pier__conn_owner *owner, struct pier_ctx *ctx,
			   void (*stopped)(struct pier_ctx *ctx));

/* Destroy its connections.  The context is idle. */
void pier__conn_owner_destroy(struct pier__conn_owner *owner);

#endif
