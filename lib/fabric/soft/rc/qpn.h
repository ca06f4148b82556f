/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_RC_QPN_H
#define PIER_FABRIC_SOFT_RC_QPN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/roce.h"

/*
 * QPNs that carry the UDP port of their endpoint, for programs that exchange no
 * more than QPN and GID: the top bit, 12 bits of the port, 11 random bits.
 * QPNs of rxe are below the top bit.
 */
#define SOFT_QPN_TOP 0x800000u
#define SOFT_QPN_PORT_MIN 49152
#define SOFT_QPN_PORTS 4096
#define SOFT_QPN_GROUP 0xffffffu	/* of multicast, which has a port of */
#define SOFT_GROUP_PORT 53247	/* its own: that which this QPN carries */
#define SOFT_QPN_SHIFT 11
#define SOFT_QPN_EACH (1u << SOFT_QPN_SHIFT)	/* QPNs of a port */

static inline bool pier__soft_qpn_fits(uint16_t port)
{
	return port >= SOFT_QPN_PORT_MIN &&
	       port < SOFT_QPN_PORT_MIN + SOFT_QPN_PORTS;
}

/* The number @n, below SOFT_QPN_EACH, of @port. */
static inline uint32_t pier__soft_qpn_of(uint16_t port, uint32_t n)
{
	return SOFT_QPN_TOP |
	       (uint32_t)(port - SOFT_QPN_PORT_MIN) << SOFT_QPN_SHIFT | n;
}

/* The UDP port of the peer whose QP is @qpn. */
static inline uint16_t pier__soft_qpn_port(uint32_t qpn)
{
	if (!(qpn & SOFT_QPN_TOP))
		return ROCE_UDP_PORT;
	return SOFT_QPN_PORT_MIN +
	       (qpn >> SOFT_QPN_SHIFT) % SOFT_QPN_PORTS;
}

#endif
