/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_WIRE_CODEC_H
#define PIER_FABRIC_SOFT_WIRE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/soft/wire/packet.h"

/*
 * Bytes <-> headers, and the ICRC.  Pure.  Fields are in host order.
 */
#define SOFT_ID_MAX 63		/* the largest IPv4 ID of soft */

/* The byte of the BTH that is all ones in the ICRC, whatever it has. */
#define SOFT_BTH_CONGESTION 4

/*
 * The sender can read selective acknowledgements.  A bit of the BTH's byte 8,
 * which is reserved; a RoCE device receives no packet with it.
 */
#define SOFT_SELECTIVE 0x01

/*
 * The next five bits of that byte, to a soft device: how many peers send the
 * sender full packets, as the exponent of the power of two that is no less.
 */
#define SOFT_SENDERS_SHIFT 1
#define SOFT_SENDERS_MAX 0x1f

enum soft_opcode {
	SOFT_SEND_FIRST = 0x00,
	SOFT_SEND_MIDDLE = 0x01,
	SOFT_SEND_LAST = 0x02,
	SOFT_SEND_LAST_IMM = 0x03,
	SOFT_SEND_ONLY = 0x04,
	SOFT_SEND_ONLY_IMM = 0x05,
	SOFT_WRITE_FIRST = 0x06,
	SOFT_WRITE_MIDDLE = 0x07,
	SOFT_WRITE_LAST = 0x08,
	SOFT_WRITE_LAST_IMM = 0x09,
	SOFT_WRITE_ONLY = 0x0a,
	SOFT_WRITE_ONLY_IMM = 0x0b,
	SOFT_READ_REQUEST = 0x0c,
	SOFT_READ_FIRST = 0x0d,
	SOFT_READ_MIDDLE = 0x0e,
	SOFT_READ_LAST = 0x0f,
	SOFT_READ_ONLY = 0x10,
	SOFT_ACK = 0x11,
	SOFT_ATOMIC_ACK = 0x12,
	SOFT_COMPARE_SWAP = 0x13,
	SOFT_FETCH_ADD = 0x14,
	SOFT_SEND_LAST_INV = 0x16,
	SOFT_SEND_ONLY_INV = 0x17,
	SOFT_UD_SEND_ONLY = 0x64,
	SOFT_UD_SEND_ONLY_IMM = 0x65,
	SOFT_CNP = 0x81,
};

struct soft_hdr {
	uint8_t opcode;
	bool solicited, ack_req;
	bool selective;			/* SOFT_SELECTIVE */
	uint8_t senders;		/* SOFT_SENDERS_MAX at most */
	uint8_t pad;
	bool becn;			/* of a CNP; not decoded */
	uint16_t pkey;
	uint32_t qpn;			/* destination */
	uint32_t psn;
	/* RETH and AtomicETH */
	uint64_t va;
	uint32_t rkey;
	uint32_t dma_len;
	uint64_t swap_add, compare;
	/* AETH and AtomicAckETH */
	uint8_t syndrome;
	uint32_t msn;
	uint64_t original;
	/* ImmDt as the verbs have it (network order), IETH, DETH */
	uint32_t imm;
	uint32_t invalidate;
	uint32_t qkey, src_qpn;
};

/* Write the headers of @hdr to @bytes (SOFT_HDR_MAX).  Returns the length. */
size_t pier__soft_encode(const struct soft_hdr *hdr, uint8_t *bytes);

/*
 * Read the headers of a packet of @len bytes, ICRC included.  Returns their
 * length, or 0: too short, unknown opcode or version.  The payload is
 * len - result - hdr->pad - 4 bytes, which is not negative.
 */
size_t pier__soft_decode(const uint8_t *bytes, size_t len,
			 struct soft_hdr *ret);

/*
 * A cache of the CRC up to the UDP header, by addresses and length, for packets
 * that differ only behind it.  The sender and the receiver have one each.  All
 * zero: empty.
 */
#define SOFT_FRONTS 4
struct soft_fronts {
	struct soft_front {
		struct soft_addr src, dst;
		size_t len;
		uint32_t crc;
	} at[SOFT_FRONTS];
};

/*
 * The ICRC of a packet from @src to @dst: headers, payload pieces, @pad zero
 * bytes.  IPv4: with identification @id and DF.  Stored least significant
 * byte first.
 */
uint32_t pier__soft_icrc(const struct soft_tx *tx, uint16_t id);

/*
 * What pier__crc32() goes on from over a packet as it is laid out, which is
 * @len bytes with its ICRC and has 0 in SOFT_BTH_CONGESTION: the ICRC is that
 * of its bytes up to there.  IPv4: @id is at most SOFT_ID_MAX.
 */
uint32_t pier__soft_icrc_begin(struct soft_fronts *fronts,
			       const struct soft_addr *src,
			       const struct soft_addr *dst, size_t len,
			       uint16_t id);

/*
 * Is the ICRC at the end of @rx right?  IPv6: checked in full.  IPv4: for an
 * identification of at most @max_id, found by solving for it.
 */
bool pier__soft_icrc_ok(const struct soft_rx *rx, uint16_t max_id);
bool pier__soft_icrc_fits(struct soft_fronts *fronts, const struct soft_rx *rx,
			  uint16_t max_id);

/* The same for any identification; IPv4: *ret is the one, IPv6: 0. */
bool pier__soft_icrc_id(const struct soft_rx *rx, uint16_t *ret);

#endif
