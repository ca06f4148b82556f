/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_WIRE_PACKET_H
#define PIER_FABRIC_SOFT_WIRE_PACKET_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/*
 * What the soft device sends and receives: batches of packets, and time.  The
 * calls are those of UDP sockets (io/udp.c), in tests those of a seeded network
 * in virtual time (t/lib/vnet.c).
 * A packet here is the UDP payload: BTH to ICRC.
 */
#define SOFT_MTU_MAX 4096
#define SOFT_HDR_MAX 48		/* BTH and the longest extended headers */
#define SOFT_PACKET_MAX (SOFT_HDR_MAX + SOFT_MTU_MAX + 4)
#define SOFT_TX_IOV 8		/* pieces of user memory in one packet */
#define SOFT_PULL_MAX 262144	/* bytes that are pulled for one packet, at */
#define SOFT_PULL_MIN 65536	/* most, and at least */
#define SOFT_JOIN_MAX 32768	/* bytes of packets that are one, at most */
#define SOFT_BATCH 256		/* packets: several segmented sends of most */

/* One address of an endpoint or a peer, IPv4 as ::ffff:a.b.c.d. */
struct soft_addr {
	struct in6_addr ip;
	uint16_t port;		/* host order */
};

/*
 * Of a traffic class; the other bits are ECN's, which are the sender's: it
 * heeds marks, and a switch has marked the packet.
 */
#define SOFT_TCLASS_DSCP 0xfc
#define SOFT_TCLASS_ECT 0x02
#define SOFT_TCLASS_CE 0x03

/*
 * A packet to send: the headers by value, the payload where the user has it.
 * pad zero bytes and the ICRC are added by the io layer, which knows the IP
 * identification that goes into it.
 */
struct soft_tx {
	struct soft_addr src, dst;
	uint8_t tclass, hop_limit;
	uint8_t pad;			/* 0..3 */
	uint8_t hdr_len;
	uint8_t hdr[SOFT_HDR_MAX];
	bool pull;			/* the receiver reads the payload */
					/* itself: of several packets */
	uint32_t withdrawn;		/* then: of the ring, when built */
	bool joined;			/* of several packets, with payload */
	uint32_t payload_len;		/* sum of iov */
	uint32_t iov_count;
	struct iovec iov[SOFT_TX_IOV];
};

/* Where in the sender's memory the payload of a packet is. */
struct soft_pull {
	struct soft_io *io;		/* that reads it */
	uint32_t withdrawn;		/* of the sender's ring */
	uint32_t len, pieces;
	struct iovec at[SOFT_TX_IOV];
};

/* A received packet, valid until the next receive. */
struct soft_rx {
	const uint8_t *data;
	const uint8_t *front;	/* NULL, or a copy of the headers: @data are */
				/* in memory that the sender can change */
	const struct soft_io *via;	/* what the peer's QP is connected */
				/* over: no addresses, no ICRC; NULL: UDP */
	const struct soft_pull *pull;	/* NULL, or instead of a payload */
	bool joined;		/* may be of several packets */
	size_t len;
	struct soft_addr src, dst;
	uint16_t place;		/* in its run: likely its identification */
	bool marked;		/* CE */
};

struct soft_io;
struct soft_qp;
struct soft_direct;

struct soft_io_ops {
	/* Nanoseconds; never goes back. */
	uint64_t (*now)(struct soft_io *io);

	/*
	 * Send @count packets in order.  Returns how many were taken: fewer
	 * when the socket is full (try later).  Packets that cannot be sent
	 * for good (no route, interface down) count as taken without an
	 * error: the protocol times out.
	 */
	int (*send)(struct soft_io *io, const struct soft_tx *tx, int count);

	/* Take at most @max packets; 0: none.  Never blocks. */
	int (*recv)(struct soft_io *io, struct soft_rx *rx, int max);

	/*
	 * Instead of that: give the endpoint at most @max packets, each by
	 * pier__soft_ep_packet(), or pier__soft_short_receive() if that takes
	 * it.  Returns how many.  NULL: recv is called.
	 */
	int (*deliver)(struct soft_io *io, int max);

	/*
	 * Where to write a packet of @len bytes, BTH to pad, that leaves by
	 * put; NULL: use send.  A peer that sleeps sees it after ring, or the
	 * next deliver.  NULL: it has no such place.
	 */
	uint8_t *(*reserve)(struct soft_io *io, uint32_t len);
	void (*put)(struct soft_io *io, uint32_t len);
	void (*ring)(struct soft_io *io);

	/*
	 * Execute @op of @qp now, without a packet, if the peer lets it.
	 * Returns false: by packets, from its begin on.  May requests for
	 * @rkey be executed so?  If not, this may change it.  @qp is connected
	 * no more.  NULL: it cannot.
	 */
	bool (*direct)(struct soft_io *io, struct soft_qp *qp,
		       const struct soft_direct *op);
	bool (*granted)(struct soft_io *io, struct soft_qp *qp, uint32_t rkey);
	void (*ended)(struct soft_io *io, struct soft_qp *qp);

	/*
	 * Does the peer read what packets have as their payload?  If so, set
	 * the member of soft_tx of packets that are built now.  Read that of
	 * @pull to @count pieces of as many bytes.  NULL: it cannot.
	 * Errors: -EFAULT, some is not there; -EAGAIN, as if the packet had
	 * not come.
	 */
	bool (*pulls)(const struct soft_io *io, uint32_t *withdrawn);
	int (*pull)(struct soft_io *io, const struct iovec *to, int count,
		    const struct soft_pull *pull);
};

struct soft_io {
	const struct soft_io_ops *ops;
	uint16_t port;		/* the UDP port that peers send to */
	bool shared;		/* memory: receiving makes no system call */
	uint64_t due;		/* receive then, ns: packets are delayed; 0: */
				/* there are none */
};

#endif
