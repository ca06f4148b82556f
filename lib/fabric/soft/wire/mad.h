/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_WIRE_MAD_H
#define PIER_FABRIC_SOFT_WIRE_MAD_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bytes <-> messages of connection management.  Pure.  Fields are in host
 * order; their names are those of the InfiniBand specification.
 */
#define SOFT_MAD_LEN 256
#define SOFT_MAD_DATA_MAX 224	/* private data of any message */
#define SOFT_MAD_INFO_LEN 72
#define SOFT_MAD_IP_LEN 36	/* of a REQ's private data */

enum soft_mad_attr {
	SOFT_MAD_REQ = 0x10,
	SOFT_MAD_MRA = 0x11,
	SOFT_MAD_REJ = 0x12,
	SOFT_MAD_REP = 0x13,
	SOFT_MAD_RTU = 0x14,
	SOFT_MAD_DREQ = 0x15,
	SOFT_MAD_DREP = 0x16,
	SOFT_MAD_SIDR_REQ = 0x17,
	SOFT_MAD_SIDR_REP = 0x18,
	SOFT_MAD_LAP = 0x19,
	SOFT_MAD_APR = 0x1a,
};

/* What a REJ or an MRA answers. */
enum soft_mad_message {
	SOFT_MAD_OF_REQ = 0,
	SOFT_MAD_OF_REP = 1,
	SOFT_MAD_OF_NONE = 2,
};

/* A path in a REQ, an alternate one in a LAP. */
struct soft_mad_path {
	uint16_t local_lid, remote_lid;
	uint8_t local_gid[16], remote_gid[16];
	uint32_t flow_label;
	uint8_t rate, tclass, hop_limit, sl;
	uint8_t subnet_local, ack_timeout, sap;
};

/* Any message: its attribute determines its fields. */
struct soft_mad {
	uint16_t attr;			/* enum soft_mad_attr */
	uint16_t status, specific;
	uint64_t tid;
	uint32_t modifier;
	uint32_t local_id, remote_id;	/* SIDR: local_id is the request's */
	uint32_t ece_vendor;
	uint64_t service_id;
	uint64_t guid;			/* local CA */
	uint32_t qkey, qpn, psn;	/* DREQ, LAP: qpn is the receiver's */
	uint32_t local_eecn, remote_eecn;
	uint8_t responder_resources, initiator_depth;
	uint8_t local_timeout, remote_timeout;	/* of CM responses */
	uint8_t transport, ext_transport, flow_control, srq, rdc, failover;
	uint8_t retry_count, rnr_retry, max_retries;
	uint8_t mtu;			/* code */
	uint8_t ack_delay;
	uint16_t pkey;
	struct soft_mad_path primary, alternate;
	uint8_t message;		/* enum soft_mad_message */
	uint8_t service_timeout;
	uint8_t result;			/* SIDR_REP's status, APR's */
	uint8_t info_len;
	uint16_t reason;
	uint8_t info[SOFT_MAD_INFO_LEN];

	/*
	 * Private data.  Decoded: the whole field.  Encoded: what is given,
	 * at most the field, then zeros.
	 */
	const uint8_t *data;
	size_t len;
};

/* The attribute of @bytes, which are a message of ours. */
uint8_t pier__soft_mad_attr(const uint8_t *bytes);

/* The size of the private data of @attr. */
size_t pier__soft_mad_data_len(uint16_t attr);

/* Write @mad to @bytes (SOFT_MAD_LEN). */
void pier__soft_mad_encode(const struct soft_mad *mad, uint8_t *bytes);

/*
 * Read a message; ret->data points into @bytes.  Returns false: it is none of
 * connection management.
 */
bool pier__soft_mad_decode(const uint8_t *bytes, size_t len,
			   struct soft_mad *ret);

/* The addresses at the start of a REQ's private data, IPv4 mapped. */
struct soft_mad_ip {
	struct in6_addr src, dst;
	uint16_t src_port;
};

/* Write @ip to @bytes (SOFT_MAD_IP_LEN). */
void pier__soft_mad_ip_encode(const struct soft_mad_ip *ip, uint8_t *bytes);

/* Returns false: another version, or addresses that cannot be. */
bool pier__soft_mad_ip_decode(const uint8_t *bytes, size_t len,
			      struct soft_mad_ip *ret);

#endif
