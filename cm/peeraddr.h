/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CM_PEERADDR_H
#define PIER_CM_PEERADDR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include <pier/cm.h>

/* IPv4 or IPv6, and no larger than that. */
union pier__sockaddr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

#define PIER__HOST_MAX 254	/* with its NUL */
#define PIER__ADDR_TEXT 96	/* "ADDRESS%SCOPE port N" with its NUL */

/* Where to connect to, as the user has written it. */
struct pier__peer {
	bool is_name;		/* to be looked up; else addr is it */
	char name[PIER__HOST_MAX];
	uint16_t port;
	union pier__sockaddr addr;
};

/*
 * Read @text: HOST, HOST:PORT, IPV4, IPV4:PORT, IPV6, [IPV6]:PORT or a GID;
 * @port where it says none.  Errors: -EINVAL, with what was expected.
 */
int pier__peer_parse(const char *text, enum pier_addr_type type, uint32_t port,
		     struct pier__peer *ret);

/* An address of ours: numeric, "" or NULL for any (IPv6's any: both). */
int pier__own_parse(const char *text, uint16_t port,
		    union pier__sockaddr *ret);

void pier__sockaddr_set_port(union pier__sockaddr *addr, uint16_t port);

/* "10.9.0.1 port 13579"; @ret holds PIER__ADDR_TEXT bytes. */
const char *pier__sockaddr_text(const struct sockaddr *addr, char *ret);

/* IPv4 as the GID of a RoCEv2 port. */
void pier__sockaddr_from_gid(const uint8_t raw[16], union pier__sockaddr *ret);
void pier__sockaddr_to_gid(const struct sockaddr *addr, uint8_t ret[16]);

#endif
