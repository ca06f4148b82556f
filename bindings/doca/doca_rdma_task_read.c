/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_fail.h"
#include "doca_rdma_impl.h"

static int build(struct doca_task *task)
{
	struct doca_rdma_task *t = pier__doca_rdma_task(task);

	return pier_rdma_task_read(t->conn->conn, pier__doca_buf(t->src),
				   pier__doca_buf(t->dst), &task->task);
}

/* How much was read can be read after the task is freed. */
static void freed(struct doca_task *task)
{
	struct doca_rdma_task *t = pier__doca_rdma_task(task);

	if (task->task)
		t->len = pier_read_len(task->task);
	pier__doca_rdma_task_freed(task);
}

const struct doca_task_kind pier__doca_rdma_read = {
	.check = pier__doca_rdma_check_conn,
	.build = build,
	.reuse = pier__doca_rdma_reuse,
	.freed = freed,
};

doca_error_t
doca_rdma_cap_task_read_is_supported(const struct doca_devinfo *info)
{
	return pier__doca_can_task(info, PIER_TASK_READ);
}

doca_error_t doca_rdma_task_read_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_read_completion_cb_t done,
	doca_rdma_task_read_completion_cb_t failed, uint32_t count)
{
	return pier__doca_rdma_conf(rdma, PIER_TASK_READ, (void (*)(void))done,
				    (void (*)(void))failed, count);
}

doca_error_t doca_rdma_task_read_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *conn,
	const struct doca_buf *src, struct doca_buf *dst, union doca_data data,
	struct doca_rdma_task_read **task)
{
	struct doca_rdma_task *new;
	doca_error_t error;

	if (!task)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_rdma_take(rdma, PIER_TASK_READ, conn, data, &new);
	if (error)
		return error;
	new->src = src;
	new->dst = dst;
	new->len = 0;
	*task = (struct doca_rdma_task_read *)new;
	return DOCA_SUCCESS;
}

struct doca_task *doca_rdma_task_read_as_task(struct doca_rdma_task_read *task)
{
	return &pier__doca_rdma_task(task)->task;
}

void doca_rdma_task_read_set_rdma_connection(struct doca_rdma_task_read *task,
					     struct doca_rdma_connection *conn)
{
	pier__doca_rdma_set_conn(pier__doca_rdma_task(task), conn);
}

const struct doca_rdma_connection *
doca_rdma_task_read_get_rdma_connection(const struct doca_rdma_task_read *task)
{
	return pier__doca_rdma_task(task)->conn;
}

void doca_rdma_task_read_set_src_buf(struct doca_rdma_task_read *task,
				     const struct doca_buf *src)
{
	pier__doca_rdma_set_src(pier__doca_rdma_task(task), src);
}

const struct doca_buf *
doca_rdma_task_read_get_src_buf(const struct doca_rdma_task_read *task)
{
	return pier__doca_rdma_task(task)->src;
}

void doca_rdma_task_read_set_dst_buf(struct doca_rdma_task_read *task,
				     struct doca_buf *dst)
{
	pier__doca_rdma_set_dst(pier__doca_rdma_task(task), dst);
}

struct doca_buf *
doca_rdma_task_read_get_dst_buf(const struct doca_rdma_task_read *task)
{
	return pier__doca_rdma_task(task)->dst;
}

uint32_t
doca_rdma_task_read_get_result_len(const struct doca_rdma_task_read *task)
{
	const struct doca_rdma_task *t = pier__doca_rdma_task(task);

	return t->task.task ? pier_read_len(t->task.task) : t->len;
}
