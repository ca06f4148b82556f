/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_fail.h"
#include "doca_rdma_impl.h"

static int build(struct doca_task *task)
{
	struct doca_rdma_task *t = pier__doca_rdma_task(task);

	return pier_rdma_task_send_imm(t->conn->conn, pier__doca_buf(t->src),
				       t->imm, &task->task);
}

const struct doca_task_kind pier__doca_rdma_send_imm = {
	.check = pier__doca_rdma_check_conn,
	.build = build,
	.reuse = pier__doca_rdma_reuse,
	.freed = pier__doca_rdma_task_freed,
};

doca_error_t
doca_rdma_cap_task_send_imm_is_supported(const struct doca_devinfo *info)
{
	return pier__doca_can_task(info, PIER_TASK_SEND_IMM);
}

doca_error_t doca_rdma_task_send_imm_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_send_imm_completion_cb_t done,
	doca_rdma_task_send_imm_completion_cb_t failed, uint32_t count)
{
	return pier__doca_rdma_conf(rdma, PIER_TASK_SEND_IMM,
				    (void (*)(void))done,
				    (void (*)(void))failed, count);
}

doca_error_t doca_rdma_task_send_imm_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *conn,
	const struct doca_buf *src, doca_be32_t imm, union doca_data data,
	struct doca_rdma_task_send_imm **task)
{
	struct doca_rdma_task *new;
	doca_error_t error;

	if (!task)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_rdma_take(rdma, PIER_TASK_SEND_IMM, conn, data,
				     &new);
	if (error)
		return error;
	new->src = src;
	new->imm = imm;
	*task = (struct doca_rdma_task_send_imm *)new;
	return DOCA_SUCCESS;
}

struct doca_task *
doca_rdma_task_send_imm_as_task(struct doca_rdma_task_send_imm *task)
{
	return &pier__doca_rdma_task(task)->task;
}

void doca_rdma_task_send_imm_set_rdma_connection(
	struct doca_rdma_task_send_imm *task, struct doca_rdma_connection *conn)
{
	pier__doca_rdma_set_conn(pier__doca_rdma_task(task), conn);
}

const struct doca_rdma_connection *doca_rdma_task_send_imm_get_rdma_connection(
	const struct doca_rdma_task_send_imm *task)
{
	return pier__doca_rdma_task(task)->conn;
}

void doca_rdma_task_send_imm_set_src_buf(struct doca_rdma_task_send_imm *task,
					 const struct doca_buf *src)
{
	pier__doca_rdma_set_src(pier__doca_rdma_task(task), src);
}

const struct doca_buf *
doca_rdma_task_send_imm_get_src_buf(const struct doca_rdma_task_send_imm *task)
{
	return pier__doca_rdma_task(task)->src;
}

void doca_rdma_task_send_imm_set_immediate_data(
	struct doca_rdma_task_send_imm *task, doca_be32_t imm)
{
	pier__doca_rdma_set_imm(pier__doca_rdma_task(task), imm);
}

doca_be32_t doca_rdma_task_send_imm_get_immediate_data(
	const struct doca_rdma_task_send_imm *task)
{
	return pier__doca_rdma_task(task)->imm;
}
