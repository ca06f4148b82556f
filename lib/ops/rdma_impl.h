/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_RDMA_IMPL_H
#define PIER_OPS_RDMA_IMPL_H

#include <stdbool.h>

#include <pier/rdma.h>

#include "cm/conn_impl.h"
#include "cm/owner.h"
#include "cm/queues.h"
#include "engine/ctx_impl.h"
#include "engine/task_pool.h"
#include "mem/buf_impl.h"

/*
 * The state of a buffer when the work request was built from it: as long as it
 * is the same, the work request need not be built again.
 */
struct pier__rdma_built {
	uint64_t stamp;			/* 0: build anew */
	size_t data_len;
};

/* One operation; the preformatted work request is part of it. */
struct pier__rdma_task {
	struct pier_task task;		/* first */
	struct pier__posted posted;
	struct pier_buf *src, *dst;	/* held while submitted */
	struct pier__rdma_built src_built, dst_built;
	struct pier_buf *grows;		/* where data is appended; NULL: none */
	uint32_t chain;			/* elements of sge */
	uint32_t len;			/* bytes on the wire */
	uint32_t received, imm;		/* of a finished receive */
	enum pier_recv_opcode opcode;
	int verbs_status;		/* of a failure; -1: none */
	uint32_t vendor_error;
	union {
		struct ibv_send_wr send;
		struct ibv_recv_wr recv;
	} wr;
	struct ibv_sge sge[];
};

struct pier_rdma {
	struct pier_ctx ctx;		/* first: pier_rdma_ctx() */
	struct pier_rdma_config cfg;	/* settled; 0 as MTU: the port's */
	struct pier__queues_config conn_cfg;	/* of cfg */
	struct pier_dev *dev;		/* held */
	struct pier__conn_owner owner;	/* of its connections */
	struct pier__task_pool *sends, *recvs;	/* NULL before the start */
	struct pier__deferred deferred;	/* destroy inside a callback */
};

static inline struct pier_rdma *pier__rdma_of(struct pier_ctx *ctx)
{
	return pier__container_of(ctx, struct pier_rdma, ctx);
}

/* Fill defaults in and clamp to the device at @port.  Errors: -EINVAL. */
int pier__rdma_settle(struct pier_rdma_config *cfg,
		      const struct pier__port *port);

/* Has each type but receives a number of tasks of its own? */
bool pier__rdma_has_numbers(const struct pier_rdma_config *cfg);

/*
 * Convert a settled configuration back to what pier__rdma_settle() takes: the
 * MTU in force, and PIER_ZERO for a 0 that would become a default.
 */
void pier__rdma_restate(struct pier_rdma_config *cfg,
			const struct pier__port *port);

/* What connections take from the settled configuration @cfg. */
void pier__rdma_conn_config(const struct pier_rdma_config *cfg,
			    struct pier__queues_config *ret);

#endif
