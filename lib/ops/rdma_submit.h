/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_RDMA_SUBMIT_H
#define PIER_OPS_RDMA_SUBMIT_H

#include "ops/rdma_impl.h"

/* A way of an RDMA task to the device and back. */
struct pier__rdma_kind {
	struct pier__task_ops ops;
	void (*done)(struct pier__op *op, const struct ibv_wc *wc);
	void (*succeed)(struct pier__posted *posted);	/* not of receives */
};

extern const struct pier__rdma_kind pier__rdma_send;	/* a source, or none */
extern const struct pier__rdma_kind pier__rdma_copy;	/* two buffers */
extern const struct pier__rdma_kind pier__rdma_nothing;	/* a copy of no bytes */
extern const struct pier__rdma_kind pier__rdma_recv;	/* a room, or none */

/*
 * Build the work request of @t from its buffers.  Errors: as
 * pier_task_submit(), but those of its connection.
 */
int pier__rdma_build(struct pier__rdma_task *t);
int pier__rdma_build_recv(struct pier__rdma_task *t);

/*
 * May a read or write of no bytes go to the peer of @t, which is up?  It
 * answers what it does not grant with the end of the connection.
 * Errors: -EACCES.
 */
int pier__rdma_check_nothing(struct pier__rdma_task *t);

/*
 * Refuse a buffer that was put before the task was submitted: say so.  @name
 * is "source" or "destination".  Returns -EINVAL.
 */
int pier__rdma_given_back(enum pier_task_type type, const char *name)
	__attribute__((cold));

static inline const char *pier__rdma_name(const struct pier__rdma_task *t)
{
	return pier_task_type_name(t->task.type);
}

#endif
