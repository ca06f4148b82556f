/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_RC_POST_DIRECT_H
#define PIER_FABRIC_SOFT_RC_POST_DIRECT_H

#include "fabric/soft/rc/qp.h"

/* A request that needs no packet: a WRITE, a READ or an atomic. */
struct soft_direct {
	uint8_t opcode;			/* enum ibv_wr_opcode */
	uint8_t pieces;
	uint32_t rkey, length;
	uint64_t remote;
	uint64_t swap_add, compare;
	struct iovec iov[SOFT_SEND_SGE];	/* here, of @length bytes */
};

/*
 * Execute @wr, of @length bytes, and complete it, if its peer is one
 * of shared memory that lets this and nothing is in its way.
 */
bool pier__soft_post_direct(struct soft_qp *qp, const struct ibv_send_wr *wr,
			    uint32_t length);

#endif
