/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_fail.h"
#include "doca_rdma_impl.h"

static int build(struct doca_task *task)
{
	struct doca_rdma_task *t = pier__doca_rdma_task(task);

	return pier_rdma_task_send(t->conn->conn, pier__doca_buf(t->src),
				   &task->task);
}

const struct doca_task_kind pier__doca_rdma_send = {
	.check = pier__doca_rdma_check_conn,
	.build = build,
	.reuse = pier__doca_rdma_reuse,
	.freed = pier__doca_rdma_task_freed,
};

doca_error_t
doca_rdma_cap_task_send_is_supported(const struct doca_devinfo *info)
{
	return pier__doca_can_task(info, PIER_TASK_SEND);
}

doca_error_t doca_rdma_task_send_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_send_completion_cb_t done,
	doca_rdma_task_send_completion_cb_t failed, uint32_t count)
{
	return pier__doca_rdma_conf(rdma, PIER_TASK_SEND, (void (*)(void))done,
				    (void (*)(void))failed, count);
}

doca_error_t doca_rdma_task_send_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *conn,
	const struct doca_buf *src, union doca_data data,
	struct doca_rdma_task_send **task)
{
	struct doca_rdma_task *new;
	doca_error_t error;

	if (!task)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_rdma_take(rdma, PIER_TASK_SEND, conn, data, &new);
	if (error)
		return error;
	new->src = src;
	*task = (struct doca_rdma_task_send *)new;
	return DOCA_SUCCESS;
}

struct doca_task *doca_rdma_task_send_as_task(struct doca_rdma_task_send *task)
{
	return &pier__doca_rdma_task(task)->task;
}

void doca_rdma_task_send_set_rdma_connection(struct doca_rdma_task_send *task,
					     struct doca_rdma_connection *conn)
{
	pier__doca_rdma_set_conn(pier__doca_rdma_task(task), conn);
}

const struct doca_rdma_connection *
doca_rdma_task_send_get_rdma_connection(const struct doca_rdma_task_send *task)
{
	return pier__doca_rdma_task(task)->conn;
}

void doca_rdma_task_send_set_src_buf(struct doca_rdma_task_send *task,
				     const struct doca_buf *src)
{
	pier__doca_rdma_set_src(pier__doca_rdma_task(task), src);
}

const struct doca_buf *
doca_rdma_task_send_get_src_buf(const struct doca_rdma_task_send *task)
{
	return pier__doca_rdma_task(task)->src;
}
