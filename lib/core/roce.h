/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CORE_ROCE_H
#define PIER_CORE_ROCE_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers of IBTA and RoCEv2 that the headers of rdma-core do not have. */
#define ROCE_UDP_PORT 4791		/* the only one of a RoCE device */
#define ROCE_GSI_QPN 1			/* connection management */
#define ROCE_GSI_QKEY 0x80010000u
#define ROCE_PKEY_DEFAULT 0xffff

/* Reasons in a CM REJ, without those about RDCs and alternate paths. */
enum roce_rej_reason {
	ROCE_REJ_NO_QP = 1,
	ROCE_REJ_NO_EEC = 2,
	ROCE_REJ_NO_RESOURCES = 3,
	ROCE_REJ_TIMEOUT = 4,
	ROCE_REJ_UNSUPPORTED = 5,
	ROCE_REJ_COMM_ID = 6,
	ROCE_REJ_COMM_INSTANCE = 7,
	ROCE_REJ_SERVICE_ID = 8,
	ROCE_REJ_TRANSPORT = 9,
	ROCE_REJ_STALE = 10,
	ROCE_REJ_GID = 12,
	ROCE_REJ_LID = 13,
	ROCE_REJ_SL = 14,
	ROCE_REJ_TRAFFIC_CLASS = 15,
	ROCE_REJ_HOP_LIMIT = 16,
	ROCE_REJ_PACKET_RATE = 17,
	ROCE_REJ_CM_REDIRECT = 24,
	ROCE_REJ_REDIRECT = 25,
	ROCE_REJ_MTU = 26,
	ROCE_REJ_READS = 27,
	ROCE_REJ_CONSUMER = 28,
	ROCE_REJ_RNR_RETRY = 29,
	ROCE_REJ_DUPLICATE_ID = 30,
	ROCE_REJ_VERSION = 31,
	ROCE_REJ_FLOW_LABEL = 32,
};

/* Is @pkey the default P_Key, with full or limited membership? */
static inline bool pier__roce_pkey_is_default(uint16_t pkey)
{
	return (pkey | 0x8000) == ROCE_PKEY_DEFAULT;
}

/* Can @qpn be that of a connected QP?  0, 1 and the multicast QPN cannot. */
static inline bool pier__roce_qpn_is_rc(uint32_t qpn)
{
	return qpn > ROCE_GSI_QPN && qpn < 0xffffff;
}

#endif
