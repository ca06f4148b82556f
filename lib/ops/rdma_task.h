/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_RDMA_TASK_H
#define PIER_OPS_RDMA_TASK_H

#include "ops/rdma_impl.h"

/*
 * Take a task out of the pool of its type, filled in but for its work request.
 * Of an atomic @src is the result.  Errors: as pier_rdma_task_send().
 */
int pier__rdma_take(struct pier_rdma *rdma, struct pier_conn *conn,
		    enum pier_task_type type, struct pier_buf *src,
		    struct pier_buf *dst, struct pier__rdma_task **ret);

/* The same of any type but a receive, with its work request. */
int pier__rdma_take_send(struct pier_conn *conn, enum pier_task_type type,
			 struct pier_buf *src, struct pier_buf *dst,
			 uint32_t imm, struct pier_task **ret);

/* pier_rdma_task_set_bufs() of any type. */
int pier__rdma_set_bufs(struct pier_task *task, struct pier_buf *src,
			struct pier_buf *dst);

/* The buffers of a task: see struct pier__task_ops. */
void pier__rdma_bufs(struct pier_task *task, struct pier_buf *ret[2]);

#endif
