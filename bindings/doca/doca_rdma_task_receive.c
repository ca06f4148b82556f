/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_fail.h"
#include "doca_rdma_impl.h"

/* Of a message that has arrived. */
static struct doca_rdma_connection *peer(const struct pier_task *task)
{
	struct pier_conn *conn = pier_task_conn(task);

	return conn ? pier_conn_user_data(conn) : NULL;
}

bool pier__doca_rdma_received_from(const struct doca_rdma_connection *conn)
{
	const struct doca_task_pool *pool =
		&conn->rdma->pools[PIER_TASK_RECEIVE];
	const struct doca_rdma_task *task =
		(const struct doca_rdma_task *)(void *)pool->memory;

	for (uint32_t i = 0; i < pool->filled; i++, task++) {
		if (task->task.taken && task->task.task &&
		    peer(task->task.task) == conn)
			return true;
	}
	return false;
}

static int build(struct doca_task *task)
{
	struct doca_rdma_task *t = pier__doca_rdma_task(task);

	return pier_rdma_task_receive(pier__doca_rdma(task->ctx)->rdma,
				      pier__doca_buf(t->dst), &task->task);
}

/* What was received can be read after the task is freed. */
static void freed(struct doca_task *task)
{
	struct doca_rdma_task *t = pier__doca_rdma_task(task);

	if (!task->task)
		return;
	t->opcode = pier_recv_opcode(task->task);
	t->imm = pier_recv_imm(task->task);
	t->len = pier_recv_len(task->task);
	t->conn = peer(task->task);
	if (t->conn && !t->conn->conn)	/* it has ended: keep nothing of it */
		pier__doca_task_unbuild(task);
}

const struct doca_task_kind pier__doca_rdma_receive = {
	.build = build,
	.reuse = pier__doca_rdma_reuse_receive,
	.freed = freed,
};

doca_error_t
doca_rdma_cap_task_receive_is_supported(const struct doca_devinfo *info)
{
	return pier__doca_can_task(info, PIER_TASK_RECEIVE);
}

doca_error_t doca_rdma_task_receive_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_receive_completion_cb_t done,
	doca_rdma_task_receive_completion_cb_t failed, uint32_t count)
{
	return pier__doca_rdma_conf(rdma, PIER_TASK_RECEIVE,
				    (void (*)(void))done,
				    (void (*)(void))failed, count);
}

doca_error_t
doca_rdma_task_receive_allocate_init(struct doca_rdma *rdma,
				     struct doca_buf *dst, union doca_data data,
				     struct doca_rdma_task_receive **task)
{
	struct doca_rdma_task *t;
	struct doca_task *new;
	doca_error_t error;

	if (!rdma || !task)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_pool_take(&rdma->pools[PIER_TASK_RECEIVE], data,
				     &new);
	if (error)
		return error;
	t = pier__doca_rdma_task(new);
	t->conn = NULL;
	t->dst = dst;
	*task = (struct doca_rdma_task_receive *)t;
	return DOCA_SUCCESS;
}

struct doca_task *
doca_rdma_task_receive_as_task(struct doca_rdma_task_receive *task)
{
	return &pier__doca_rdma_task(task)->task;
}

void doca_rdma_task_receive_set_dst_buf(struct doca_rdma_task_receive *task,
					struct doca_buf *dst)
{
	pier__doca_rdma_set_dst(pier__doca_rdma_task(task), dst);
}

struct doca_buf *
doca_rdma_task_receive_get_dst_buf(const struct doca_rdma_task_receive *task)
{
	return pier__doca_rdma_task(task)->dst;
}

enum doca_rdma_opcode doca_rdma_task_receive_get_result_opcode(
	const struct doca_rdma_task_receive *task)
{
	const struct doca_rdma_task *t = pier__doca_rdma_task(task);

	return (enum doca_rdma_opcode)(
		t->task.task ? pier_recv_opcode(t->task.task) : t->opcode);
}

uint32_t
doca_rdma_task_receive_get_result_len(const struct doca_rdma_task_receive *task)
{
	const struct doca_rdma_task *t = pier__doca_rdma_task(task);

	return t->task.task ? pier_recv_len(t->task.task) : t->len;
}

doca_be32_t doca_rdma_task_receive_get_result_immediate_data(
	const struct doca_rdma_task_receive *task)
{
	const struct doca_rdma_task *t = pier__doca_rdma_task(task);

	return t->task.task ? pier_recv_imm(t->task.task) : t->imm;
}

const struct doca_rdma_connection *
doca_rdma_task_receive_get_result_rdma_connection(
	const struct doca_rdma_task_receive *task)
{
	const struct doca_rdma_task *t = pier__doca_rdma_task(task);

	return t->task.task ? peer(t->task.task) : t->conn;
}
