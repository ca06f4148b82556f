/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "doca_fail.h"
#include "doca_rdma_impl.h"

/* As much as the source has, and the destination has space for. */
static void set_amount(struct doca_rdma_task *task)
{
	const struct pier_buf *src = pier__doca_buf(task->src);
	const struct pier_buf *dst = pier__doca_buf(task->dst);
	size_t len = src ? pier_buf_data_len(src) : 0;
	size_t space = dst ? pier_buf_chain_tail_len(dst) : 0;

	task->len = len < space ? len : space;
}

static int build(struct doca_task *task)
{
	struct doca_rdma_task *t = pier__doca_rdma_task(task);

	if (!t->conn->conn)
		return -ENOTCONN;
	set_amount(t);
	return pier_rdma_task_read(t->conn->conn, pier__doca_buf(t->src),
				   pier__doca_buf(t->dst), &task->task);
}

const struct doca_task_kind pier__doca_rdma_read = {
	.build = build,
	.freed = pier__doca_rdma_task_freed,
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
	return pier__doca_rdma_conf(rdma, RDMA_READ, (void (*)(void))done,
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
	error = pier__doca_rdma_take(rdma, RDMA_READ, conn, data, &new);
	if (error)
		return error;
	new->src = src;
	new->dst = dst;
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
	set_amount(pier__doca_rdma_task(task));
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
	set_amount(pier__doca_rdma_task(task));
}

struct doca_buf *
doca_rdma_task_read_get_dst_buf(const struct doca_rdma_task_read *task)
{
	return pier__doca_rdma_task(task)->dst;
}

uint32_t
doca_rdma_task_read_get_result_len(const struct doca_rdma_task_read *task)
{
	return (uint32_t)pier__doca_rdma_task(task)->len;
}
