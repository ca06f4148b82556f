/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_RDMA_SUBMIT_H
#define PIER_OPS_RDMA_SUBMIT_H

#include "ops/rdma.h"

/* The two ways of an RDMA task to the device and back. */
extern const struct pier__task_ops pier__rdma_send_ops;
extern const struct pier__task_ops pier__rdma_recv_ops;

/* Completion handlers, for op.done. */
void pier__rdma_send_done(struct pier__op *op, const struct ibv_wc *wc);
void pier__rdma_send_succeed(struct pier__posted *posted);
void pier__rdma_recv_done(struct pier__op *op, const struct ibv_wc *wc);

#endif
