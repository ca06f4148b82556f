/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_RC_POST_DIRECT_H
#define PIER_FABRIC_SOFT_RC_POST_DIRECT_H

#include "fabric/soft/rc/qp.h"

/*
 * Bytes that a queue pair moves so in one round: longer requests go on in the
 * next one, so that others are served meanwhile.
 */
#define SOFT_DIRECT_ROUND (4u << 20)

/* A request that needs no packet: a WRITE, a READ or an atomic. */
struct soft_direct {
	uint8_t opcode;			/* enum ibv_wr_opcode */
	uint8_t pieces;
	uint32_t rkey, length;
	uint32_t rest;			/* of the request from here on, with */
					/* @length: may it use all of that? */
	uint64_t remote;
	uint64_t swap_add, compare;
	struct iovec iov[SOFT_SEND_SGE];	/* here, of @length bytes */
};

static inline bool pier__soft_may_be_direct(uint8_t opcode)
{
	return opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_READ ||
	       opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/*
 * Execute @wr, of @length bytes, and complete it, if its peer is one
 * of shared memory that lets this and nothing is in its way.
 */
bool pier__soft_post_direct(struct soft_qp *qp, const struct ibv_send_wr *wr,
			    uint32_t length);

/*
 * A program that always has requests in flight never has one that nothing is in
 * the way of.  So one that could be direct but for those before it waits, and
 * all that are posted behind it, until the send queue is empty; if there are
 * only such requests before it, which need no receive of the peer.  And so does
 * one of more bytes than a round has, of which the first are moved at once.
 *
 * Let @wqe wait, if that is so; false: it is to be queued.
 */
bool pier__soft_waiting_add(struct soft_qp *qp, struct soft_wqe *wqe);

/* The send queue is empty: execute them, or queue what needs packets. */
void pier__soft_waiting_run(struct soft_qp *qp);

/* Queue all that wait: the QP fails.  Queue what was executed in part. */
void pier__soft_waiting_queue(struct soft_qp *qp);
void pier__soft_waiting_queue_begun(struct soft_qp *qp);

#endif
