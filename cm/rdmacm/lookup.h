/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CM_RDMACM_LOOKUP_H
#define PIER_CM_RDMACM_LOOKUP_H

#include "cm/rdmacm/peer_addr.h"
#include "engine/source.h"

/*
 * Names of hosts to addresses, by /etc/hosts and DNS, without blocking and
 * without a thread: the resolver's sockets are watched by the engine.  Only
 * lookup.c uses c-ares.  Engine's thread.
 */
#define PIER__ADDRS_MAX 8

struct pier__addrs {
	unsigned int count, next;
	union pier__sockaddr addr[PIER__ADDRS_MAX];
};

struct pier__lookup;
struct pier__query;

/*
 * @addrs, with the requested port; or NULL and the @reason, @err
 * being -ENOENT if the name does not exist.
 */
typedef void pier__lookup_fn(void *arg, const struct pier__addrs *addrs,
			     int err, const char *reason);

int pier__lookup_create(struct pier_pe *pe, struct pier__lookup **ret);

/* All queries are finished or cancelled.  NULL is fine. */
void pier__lookup_destroy(struct pier__lookup *lookup);

/*
 * Resolve @name to addresses of @family, AF_UNSPEC: both.  @fn is called
 * once, perhaps before this returns, which then sets *ret to NULL.
 * Errors: -ENOMEM.
 */
int pier__lookup_name(struct pier__lookup *lookup, const char *name,
		      int family, uint16_t port, pier__lookup_fn *fn, void *arg,
		      struct pier__query **ret);

/* Its callback is not called any more.  NULL is fine. */
void pier__query_cancel(struct pier__query *query);

#endif
