/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/fail.h"
#include "ops/rdma_build.h"
#include "ops/rdma_task.h"

int pier__rdma_build_send(struct pier__rdma_task *t)
{
	return pier__rdma_gather(t, t->src, pier__rdma_message_limit(t));
}

int pier_rdma_task_send(struct pier_conn *conn, struct pier_buf *src,
			struct pier_task **ret)
{
	if (!conn)
		return pier__no_object(__func__);
	return pier__rdma_take_send(conn, PIER_TASK_SEND, src, NULL, 0, ret);
}

int pier_rdma_task_send_imm(struct pier_conn *conn, struct pier_buf *src,
			    uint32_t imm, struct pier_task **ret)
{
	if (!conn)
		return pier__no_object(__func__);
	return pier__rdma_take_send(conn, PIER_TASK_SEND_IMM, src, NULL, imm,
				    ret);
}

int pier_rdma_send(struct pier_conn *conn, struct pier_buf *src,
		   pier_task_fn *fn, void *arg)
{
	struct pier_task *task;
	int err = pier_rdma_task_send(conn, src, &task);

	return err ? err : pier__task_one_shot(task, fn, arg);
}

int pier_rdma_send_imm(struct pier_conn *conn, struct pier_buf *src,
		       uint32_t imm, pier_task_fn *fn, void *arg)
{
	struct pier_task *task;
	int err = pier_rdma_task_send_imm(conn, src, imm, &task);

	return err ? err : pier__task_one_shot(task, fn, arg);
}
