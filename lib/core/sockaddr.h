/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CORE_SOCKADDR_H
#define PIER_CORE_SOCKADDR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* Socket addresses of IPv4 and IPv6, and no larger than that.  Any thread. */
union pier__sockaddr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

#define PIER__ADDR_TEXT 96	/* "ADDRESS%SCOPE port N" with its NUL */

/* The bytes it takes up; 0: another family. */
socklen_t pier__sockaddr_len(const struct sockaddr *addr);

/* 0.0.0.0 or ::, whatever the port. */
bool pier__sockaddr_is_any(const struct sockaddr *addr);

/* 127.0.0.1 and its like, or ::1. */
bool pier__sockaddr_is_loopback(const struct sockaddr *addr);
/* The same of a GID. */
bool pier__sockaddr_gid_is_loopback(const uint8_t raw[16]);

/*
 * One that a host can have: not ::, 0.0.0.0, multicast, broadcast, nor any
 * other from 224.0.0.0 on.
 */
bool pier__sockaddr_is_host(const struct in6_addr *ip);

/* The same of a multicast group. */
bool pier__sockaddr_is_group(const struct in6_addr *ip);

void pier__sockaddr_set_port(union pier__sockaddr *addr, uint16_t port);

/*
 * "10.9.0.1 port 13579", "" of another family; @ret holds PIER__ADDR_TEXT
 * bytes.
 */
const char *pier__sockaddr_text(const struct sockaddr *addr, char *ret);

/* IPv4 as the GID of a RoCEv2 port. */
void pier__sockaddr_from_gid(const uint8_t raw[16], union pier__sockaddr *ret);
void pier__sockaddr_to_gid(const struct sockaddr *addr, uint8_t ret[16]);

#endif
