/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_IO_UDP_H
#define PIER_FABRIC_SOFT_IO_UDP_H

#include "fabric/soft/wire/packet.h"

struct soft_faults;

/*
 * Packets over one UDP socket, for IPv4 and IPv6 alike where there is IPv6.
 * The source address of a packet is that of its struct soft_tx, or the one
 * that the socket is bound to.  Belongs to the thread that drives the
 * endpoint.
 */

/* What was sent and received, since creation. */
struct soft_udp_stats {
	uint64_t tx_packets, tx_sends, tx_calls;
	uint64_t rx_packets, rx_datagrams, rx_calls;
	uint64_t tx_too_long;	/* packets longer than the link's MTU */
	uint64_t tx_refused;	/* that could not be sent for good */
	uint64_t rx_bad;	/* datagrams that are no packets */
};

/*
 * Open a socket on @port, 0 for a free one, of @ip, of all addresses if that is
 * unspecified.  @ifindex is where link-local addresses are.  The caller ends it
 * with destroy.
 * Errors: -ENOMEM; -EADDRINUSE; -EINVAL, PIER_FAULTS; those of socket(2).
 */
int pier__soft_udp_create(const struct in6_addr *ip, uint16_t port,
			  unsigned int ifindex, struct soft_io **ret);

/*
 * Open a socket for packets from and to @ip alone, which is not link-local,
 * on the port of @any: what is sent there comes to it from now on, and no
 * longer to @any.  It is cheaper, as datagrams need no ancillary data for the
 * address.  The caller ends it with destroy.
 * Errors: -ENOMEM; -EADDRNOTAVAIL; those of socket(2).
 */
int pier__soft_udp_create_bound(const struct soft_io *any,
				const struct in6_addr *ip,
				struct soft_io **ret);

/*
 * Open a socket on @port that other processes may have, too, and which receives
 * what is sent to the multicast groups that it is in.  Errors: as above.
 */
int pier__soft_udp_create_group(uint16_t port, unsigned int ifindex,
				struct soft_io **ret);
/* It is in @group on its interface, or is not.  Errors: those of ip(7). */
int pier__soft_udp_join(struct soft_io *io, const struct in6_addr *group,
			bool on);
void pier__soft_udp_destroy(struct soft_io *io);

/* The socket, to wait for. */
int pier__soft_udp_fd(const struct soft_io *io);

const struct soft_udp_stats *pier__soft_udp_stats(const struct soft_io *io);

/* NULL: there are none. */
const struct soft_faults *pier__soft_udp_faults(const struct soft_io *io);

#endif
