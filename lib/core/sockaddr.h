/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CORE_SOCKADDR_H
#define PIER_CORE_SOCKADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/socket.h>

/* Socket addresses of IPv4 and IPv6.  Any thread. */

/* Room for the longest text, with an interface and a port. */
#define PIER__SOCKADDR_TEXT 80

/* "10.0.0.1:4711", "[fe80::1%eth0]:4711", "address family 27". */
void pier__sockaddr_text(const struct sockaddr *addr, char *ret, size_t size);

/* The bytes it takes up; 0: another family. */
socklen_t pier__sockaddr_len(const struct sockaddr *addr);

/* Host order; 0 of another family. */
uint16_t pier__sockaddr_port(const struct sockaddr *addr);

/* 0.0.0.0 or ::, whatever the port. */
bool pier__sockaddr_is_any(const struct sockaddr *addr);

/* As a GID: IPv4 becomes ::ffff:a.b.c.d; of another family all zero. */
void pier__sockaddr_gid(const struct sockaddr *addr, uint8_t ret[16]);

#endif
