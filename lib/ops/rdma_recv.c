/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "core/fail.h"
#include "ops/rdma_build.h"
#include "ops/rdma_task.h"

int pier__rdma_build_recv(struct pier__rdma_task *t)
{
	return pier__rdma_scatter(t, t->dst, UINT64_MAX);
}

int pier_rdma_task_receive(struct pier_rdma *rdma, struct pier_buf *dst,
			   struct pier_task **ret)
{
	struct pier__rdma_task *t;
	int err;

	if (!rdma)
		return pier__no_object(__func__);
	err = pier__rdma_take(rdma, NULL, PIER_TASK_RECEIVE, NULL, dst, &t);
	if (err)
		return err;
	memset(&t->wr.recv, 0, sizeof(t->wr.recv));
	t->wr.recv.wr_id = (uintptr_t)&t->task.op;
	t->wr.recv.sg_list = t->sge;
	*ret = &t->task;
	return 0;
}

int pier_rdma_receive(struct pier_rdma *rdma, struct pier_buf *dst,
		      pier_task_fn *fn, void *arg)
{
	struct pier_task *task;
	int err = pier_rdma_task_receive(rdma, dst, &task);

	return err ? err : pier__task_one_shot(task, fn, arg);
}

enum pier_recv_opcode pier_recv_opcode(const struct pier_task *task)
{
	if (!task)
		return PIER_RECV_SEND;
	return ((const struct pier__rdma_task *)task)->opcode;
}

uint32_t pier_recv_imm(const struct pier_task *task)
{
	if (!task)
		return 0;
	return ((const struct pier__rdma_task *)task)->imm;
}

uint32_t pier_recv_len(const struct pier_task *task)
{
	if (!task)
		return 0;
	return ((const struct pier__rdma_task *)task)->received;
}
