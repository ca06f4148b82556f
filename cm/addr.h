/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CM_ADDR_H
#define PIER_CM_ADDR_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "fabric/fabric.h"

#define PIER__GIDS_MAX 16	/* that one end offers */

/* One address that an end offers. */
struct pier__gid_offer {
	uint8_t raw[16];
	uint8_t type;		/* enum pier_gid_type */
	uint8_t prefix;		/* bits of its subnet; 0: unknown */
	uint32_t index;		/* in the local table; unknown for a peer's */
};

/*
 * The addresses of @port to offer: all usable ones, best first, never
 * link-local on RoCE, temporary ones only if there are no others; or only
 * that of @gid_index unless it is PIER__GID_ANY.  Returns how many.  Errors:
 * -ERANGE, no such index; -EADDRNOTAVAIL, none is usable.
 */
#define PIER__GID_ANY (-1)
int pier__gid_offers(const struct pier__port *port, int gid_index,
		     struct pier__gid_offer *ret);

/* That of @gid_index alone.  Returns 1.  Errors: -ERANGE, no such index. */
int pier__gid_at(const struct pier__port *port, int gid_index,
		 struct pier__gid_offer *ret);

/* Addresses as @field of a descriptor; @ret holds PIER__GIDS_MAX. */
struct pier__wire_in;
struct pier__wire_out;
void pier__gids_encode(struct pier__wire_out *out, unsigned int field,
		       const struct pier__gid_offer *gids, unsigned int count);
int pier__gids_decode(const struct pier__wire_in *in, unsigned int field,
		      struct pier__gid_offer *ret, unsigned int *ret_count);

/*
 * The pair that both ends choose, given the same two lists: of one family, on
 * one subnet if there is such a pair.  Errors: -EHOSTUNREACH.
 */
int pier__gid_choose(const struct pier__gid_offer *ours, unsigned int n_ours,
		     const struct pier__gid_offer *theirs,
		     unsigned int n_theirs, unsigned int *ret_ours,
		     unsigned int *ret_theirs);

/* Find the index of @gid, which changes when another is removed. */
bool pier__gid_find(const struct pier__port *port,
		    const struct pier__gid_offer *gid, uint32_t *ret_index);

/* "10.9.0.1" or "fd00::2"; @ret holds INET6_ADDRSTRLEN bytes. */
const char *pier__gid_text(const uint8_t raw[16], char *ret);

/* What an address vector is made of. */
struct pier__av {
	uint8_t link_layer;
	bool grh;		/* the port requires one */
	uint8_t port, service_level, traffic_class, hop_limit;
	uint8_t sgid_index;
	uint16_t dlid;
	uint8_t sgid[16], dgid[16];
};

/*
 * The address vector: RoCE always has a GRH, InfiniBand between subnets and
 * where the port requires one.
 */
void pier__av_build(const struct pier__av *av, struct ibv_ah_attr *ret);

#endif
