/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/fail.h"
#include "ops/rdma_build.h"
#include "ops/rdma_task.h"

int pier__rdma_build_write(struct pier__rdma_task *t)
{
	struct ibv_send_wr *wr = &t->wr.send;
	int n = pier__rdma_gather(t, t->src, pier__rdma_message_limit(t));
	int err = n < 0 ? n : pier__rdma_fits(t, t->dst);

	if (!err)
		err = pier__rdma_remote_key(t, &wr->wr.rdma.rkey);
	wr->wr.rdma.remote_addr = pier__buf_tail(t->dst);
	return err ? err : n;
}

int pier_rdma_task_write(struct pier_conn *conn, struct pier_buf *src,
			 struct pier_buf *dst, struct pier_task **ret)
{
	if (!conn)
		return pier__no_object(__func__);
	return pier__rdma_take_send(conn, PIER_TASK_WRITE, src, dst, 0, ret);
}

int pier_rdma_task_write_imm(struct pier_conn *conn, struct pier_buf *src,
			     struct pier_buf *dst, uint32_t imm,
			     struct pier_task **ret)
{
	if (!conn)
		return pier__no_object(__func__);
	return pier__rdma_take_send(conn, PIER_TASK_WRITE_IMM, src, dst, imm,
				    ret);
}

int pier_rdma_write(struct pier_conn *conn, struct pier_buf *src,
		    struct pier_buf *dst, pier_task_fn *fn, void *arg)
{
	struct pier_task *task;
	int err = pier_rdma_task_write(conn, src, dst, &task);

	return err ? err : pier__task_one_shot(task, fn, arg);
}

int pier_rdma_write_imm(struct pier_conn *conn, struct pier_buf *src,
			struct pier_buf *dst, uint32_t imm, pier_task_fn *fn,
			void *arg)
{
	struct pier_task *task;
	int err = pier_rdma_task_write_imm(conn, src, dst, imm, &task);

	return err ? err : pier__task_one_shot(task, fn, arg);
}
