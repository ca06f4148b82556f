/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_VERBSPAIR_H
#define PIER_T_LIB_VERBSPAIR_H

#include <stdbool.h>

#include <infiniband/verbs.h>

/*
 * Two RC QPs of one process that are connected, as a program written for
 * libibverbs sets them up, on soft_lo.  They share a completion queue, which is
 * an extended one with a channel, and a region.
 */
#define VERBSPAIR_MEM (1u << 20)
#define VERBSPAIR_WR 64		/* of each queue */
#define VERBSPAIR_INLINE 64

struct verbspair {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_comp_channel *channel;
	struct ibv_cq_ex *cq;
	struct ibv_qp *qp[2];
	uint8_t *mem;			/* VERBSPAIR_MEM */
};

/* Returns whether all calls have succeeded; both then have the wr calls. */
bool verbspair_open(struct verbspair *pair);

/* Connect @qp, which is in RESET, to @peer: its state is RTS, or RTR. */
int verbspair_connect(struct ibv_qp *qp, const struct ibv_qp *peer,
		      enum ibv_qp_state state);

/*
 * Returns whether all objects could be destroyed.  A QP that is NULL was
 * destroyed before.
 */
bool verbspair_close(struct verbspair *pair);

/* Post a receive of @len bytes at @off. */
int verbspair_recv(struct verbspair *pair, int i, uint64_t wr_id, uint32_t off,
		   uint32_t len);

/* Wait for a completion, at most 20 s. */
bool verbspair_wait(struct verbspair *pair, struct ibv_wc *wc);

#endif
