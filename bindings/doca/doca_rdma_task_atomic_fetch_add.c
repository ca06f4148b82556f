/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_fail.h"
#include "doca_rdma_impl.h"

static int build(struct doca_task *task)
{
	struct doca_rdma_task *t = pier__doca_rdma_task(task);

	return pier_rdma_task_fetch_add(t->conn->conn, pier__doca_buf(t->dst),
					pier__doca_buf(t->result), t->first,
					&task->task);
}

const struct doca_task_kind pier__doca_rdma_fetch_add = {
	.check = pier__doca_rdma_check_conn,
	.build = build,
	.reuse = pier__doca_rdma_reuse,
	.freed = pier__doca_rdma_task_freed,
};

doca_error_t doca_rdma_cap_task_atomic_fetch_add_is_supported(
	const struct doca_devinfo *info)
{
	return pier__doca_can_task(info, PIER_TASK_FETCH_ADD);
}

doca_error_t doca_rdma_task_atomic_fetch_add_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_atomic_fetch_add_completion_cb_t done,
	doca_rdma_task_atomic_fetch_add_completion_cb_t failed, uint32_t count)
{
	return pier__doca_rdma_conf(rdma, PIER_TASK_FETCH_ADD,
				    (void (*)(void))done,
				    (void (*)(void))failed, count);
}

doca_error_t doca_rdma_task_atomic_fetch_add_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *conn,
	struct doca_buf *dst, struct doca_buf *result, uint64_t add,
	union doca_data data, struct doca_rdma_task_atomic_fetch_add **task)
{
	struct doca_rdma_task *new;
	doca_error_t error;

	if (!task)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_rdma_take(rdma, PIER_TASK_FETCH_ADD, conn, data,
				     &new);
	if (error)
		return error;
	new->dst = dst;
	new->result = result;
	new->first = add;
	*task = (struct doca_rdma_task_atomic_fetch_add *)new;
	return DOCA_SUCCESS;
}

struct doca_task *doca_rdma_task_atomic_fetch_add_as_task(
	struct doca_rdma_task_atomic_fetch_add *task)
{
	return &pier__doca_rdma_task(task)->task;
}

void doca_rdma_task_atomic_fetch_add_set_rdma_connection(
	struct doca_rdma_task_atomic_fetch_add *task,
	struct doca_rdma_connection *conn)
{
	pier__doca_rdma_set_conn(pier__doca_rdma_task(task), conn);
}

const struct doca_rdma_connection *
doca_rdma_task_atomic_fetch_add_get_rdma_connection(
	const struct doca_rdma_task_atomic_fetch_add *task)
{
	return pier__doca_rdma_task(task)->conn;
}

void doca_rdma_task_atomic_fetch_add_set_dst_buf(
	struct doca_rdma_task_atomic_fetch_add *task, struct doca_buf *dst)
{
	pier__doca_rdma_set_dst(pier__doca_rdma_task(task), dst);
}

struct doca_buf *doca_rdma_task_atomic_fetch_add_get_dst_buf(
	const struct doca_rdma_task_atomic_fetch_add *task)
{
	return pier__doca_rdma_task(task)->dst;
}

void doca_rdma_task_atomic_fetch_add_set_result_buf(
	struct doca_rdma_task_atomic_fetch_add *task, struct doca_buf *result)
{
	pier__doca_rdma_set_result(pier__doca_rdma_task(task), result);
}

struct doca_buf *doca_rdma_task_atomic_fetch_add_get_result_buf(
	const struct doca_rdma_task_atomic_fetch_add *task)
{
	return pier__doca_rdma_task(task)->result;
}

void doca_rdma_task_atomic_fetch_add_set_add_data(
	struct doca_rdma_task_atomic_fetch_add *task, uint64_t add)
{
	struct doca_rdma_task *t = pier__doca_rdma_task(task);

	pier__doca_rdma_set_value(t, &t->first, add);
}

uint64_t doca_rdma_task_atomic_fetch_add_get_add_data(
	const struct doca_rdma_task_atomic_fetch_add *task)
{
	return pier__doca_rdma_task(task)->first;
}
