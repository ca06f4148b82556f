/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_IO_UDP_SOCK_H
#define PIER_FABRIC_SOFT_IO_UDP_SOCK_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "fabric/soft/io/faults.h"
#include "fabric/soft/io/udp.h"
#include "fabric/soft/wire/codec.h"

/*
 * One UDP socket, shared by udp.c, which makes it, udp_tx.c and udp_rx.c.
 *
 * Sending.  Packets are staged: copied behind each other with pad and ICRC,
 * so that the ICRC is that of the bytes that leave, even if the user's memory
 * changes meanwhile, and that a run of packets is one piece.  Runs of equal
 * size to one destination leave as one segmented send (GSO).  The socket is
 * not connected and forbids fragments: then IPv4 sends have identification 0,
 * segment i of a segmented one i, and the ICRC covers just that.
 *
 * Receiving.  A datagram may be a run of packets (GRO), which is split.
 *
 * Both go in portions that a core's caches hold: what was staged is read
 * again at once by the kernel, and what was received by us.
 */
#define SOFT_UDP_PORTION (60 << 10)	/* bytes, or little more */
#define SOFT_UDP_DATAGRAM_MAX 65000	/* of a send, with space for headers */
#define SOFT_UDP_RX_SLOTS 32
#define SOFT_UDP_SLOT_SIZE 65536	/* any datagram fits */
#define SOFT_UDP_HOP_LIMIT 64		/* the socket's own */

union soft_udp_name {
	struct sockaddr sa;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* Ancillary data, aligned: addresses, segment size, class and hop limit. */
union soft_udp_control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(struct in6_pktinfo)) +
		   3 * CMSG_SPACE(sizeof(int))];
};

struct soft_udp_tx {
	struct mmsghdr msg[SOFT_BATCH];
	struct iovec iov[SOFT_BATCH];
	union soft_udp_name name[SOFT_BATCH];
	union soft_udp_control control[SOFT_BATCH];
	int packets[SOFT_BATCH];	/* in each message; refused: < 0 */
	struct soft_fronts fronts;
	uint8_t stage[SOFT_UDP_PORTION + SOFT_UDP_DATAGRAM_MAX];
};

struct soft_udp_rx {
	struct mmsghdr msg[SOFT_UDP_RX_SLOTS];
	struct iovec iov[SOFT_UDP_RX_SLOTS];
	union soft_udp_name name[SOFT_UDP_RX_SLOTS];
	union soft_udp_control control[SOFT_UDP_RX_SLOTS];
	int batch;			/* datagrams at a time */
	bool was_full;			/* so many came the last time */
	int count, slot;		/* received; being split */
	size_t at;			/* its next packet */
	size_t segment;			/* bytes of each of its packets */
	bool marked;			/* all of them */
	struct soft_addr src, dst;
	uint8_t *bytes;			/* all slots, owned */
};

/*
 * Destinations whose route takes no GSO (a tunnel with IPsec, an interface
 * without checksums), each at the place of its hash, :: where there is none.
 * One that has to give way to another is found out again.
 */
#define SOFT_UDP_PLAIN 64

struct soft_udp_plain {
	int count;
	struct in6_addr *doubt;		/* in ip: but was GSO the reason? */
	struct in6_addr ip[SOFT_UDP_PLAIN];
};

struct soft_udp {
	struct soft_io io;		/* first */
	int fd;
	unsigned int ifindex;
	bool v6;			/* the socket is for both families */
	bool bound;			/* to rx.dst.ip alone */
	bool gso;			/* the kernel has it */
	struct soft_udp_plain plain;	/* but not to these */
	struct soft_udp_stats stats;
	struct soft_faults *faults;	/* owned; NULL: none */
	struct soft_udp_rx rx;
	struct soft_udp_tx tx;
};

static inline struct soft_udp *pier__soft_udp_of(struct soft_io *io)
{
	return (struct soft_udp *)io;
}

/* The members of struct soft_io_ops. */
int pier__soft_udp_send(struct soft_io *io, const struct soft_tx *tx,
			int count);
int pier__soft_udp_recv(struct soft_io *io, struct soft_rx *ret, int max);

/* The same with faults. */
int pier__soft_udp_recv_faulty(struct soft_io *io, struct soft_rx *ret,
			       int max);

/* Write @addr to @name.  Returns its length. */
socklen_t pier__soft_udp_name(const struct soft_udp *udp,
			      union soft_udp_name *name,
			      const struct soft_addr *addr);

/* What stays the same in every message. */
void pier__soft_udp_tx_init(struct soft_udp_tx *tx);
void pier__soft_udp_rx_init(struct soft_udp_rx *rx);

#endif
