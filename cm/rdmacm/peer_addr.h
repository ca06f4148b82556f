/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CM_RDMACM_PEER_ADDR_H
#define PIER_CM_RDMACM_PEER_ADDR_H

#include <stdbool.h>
#include <stdint.h>

#include <pier/cm.h>

#include "core/sockaddr.h"

#define PIER__HOST_MAX 254	/* with its NUL */

/* The peer to connect to, as the user typed it. */
struct pier__peer {
	bool is_name;		/* to be resolved; else addr is set */
	char name[PIER__HOST_MAX];
	uint16_t port;
	union pier__sockaddr addr;
};

/*
 * Read @text: HOST, HOST:PORT, IPV4, IPV4:PORT, IPV6, [IPV6]:PORT or a GID;
 * @port if it has none.  Errors: -EINVAL, with what was expected.
 */
int pier__peer_parse(const char *text, enum pier_addr_type type, uint32_t port,
		     struct pier__peer *ret);

/* An address of ours: numeric, "" or NULL for any (IPv6's any: both). */
int pier__own_parse(const char *text, uint16_t port, union pier__sockaddr *ret);

#endif
