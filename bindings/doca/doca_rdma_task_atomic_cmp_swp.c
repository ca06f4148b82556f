/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_fail.h"
#include "doca_rdma_impl.h"

static int build(struct doca_task *task)
{
	struct doca_rdma_task *t = pier__doca_rdma_task(task);

	return pier_rdma_task_compare_swap(
		t->conn->conn, pier__doca_buf(t->dst),
		pier__doca_buf(t->result), t->first, t->second, &task->task);
}

const struct doca_task_kind pier__doca_rdma_cmp_swp = {
	.check = pier__doca_rdma_check_conn,
	.build = build,
	.reuse = pier__doca_rdma_reuse,
	.freed = pier__doca_rdma_task_freed,
};

doca_error_t
doca_rdma_cap_task_atomic_cmp_swp_is_supported(const struct doca_devinfo *info)
{
	return pier__doca_can_task(info, PIER_TASK_COMPARE_SWAP);
}

doca_error_t doca_rdma_task_atomic_cmp_swp_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_atomic_cmp_swp_completion_cb_t done,
	doca_rdma_task_atomic_cmp_swp_completion_cb_t failed, uint32_t count)
{
	return pier__doca_rdma_conf(rdma, PIER_TASK_COMPARE_SWAP,
				    (void (*)(void))done,
				    (void (*)(void))failed, count);
}

doca_error_t doca_rdma_task_atomic_cmp_swp_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *conn,
	struct doca_buf *dst, struct doca_buf *result, uint64_t compare,
	uint64_t swap, union doca_data data,
	struct doca_rdma_task_atomic_cmp_swp **task)
{
	struct doca_rdma_task *new;
	doca_error_t error;

	if (!task)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_rdma_take(rdma, PIER_TASK_COMPARE_SWAP, conn, data,
				     &new);
	if (error)
		return error;
	new->dst = dst;
	new->result = result;
	new->first = compare;
	new->second = swap;
	*task = (struct doca_rdma_task_atomic_cmp_swp *)new;
	return DOCA_SUCCESS;
}

struct doca_task *doca_rdma_task_atomic_cmp_swp_as_task(
	struct doca_rdma_task_atomic_cmp_swp *task)
{
	return &pier__doca_rdma_task(task)->task;
}

void doca_rdma_task_atomic_cmp_swp_set_rdma_connection(
	struct doca_rdma_task_atomic_cmp_swp *task,
	struct doca_rdma_connection *conn)
{
	pier__doca_rdma_set_conn(pier__doca_rdma_task(task), conn);
}

const struct doca_rdma_connection *
doca_rdma_task_atomic_cmp_swp_get_rdma_connection(
	const struct doca_rdma_task_atomic_cmp_swp *task)
{
	return pier__doca_rdma_task(task)->conn;
}

void doca_rdma_task_atomic_cmp_swp_set_dst_buf(
	struct doca_rdma_task_atomic_cmp_swp *task, struct doca_buf *dst)
{
	pier__doca_rdma_set_dst(pier__doca_rdma_task(task), dst);
}

struct doca_buf *doca_rdma_task_atomic_cmp_swp_get_dst_buf(
	const struct doca_rdma_task_atomic_cmp_swp *task)
{
	return pier__doca_rdma_task(task)->dst;
}

void doca_rdma_task_atomic_cmp_swp_set_result_buf(
	struct doca_rdma_task_atomic_cmp_swp *task, struct doca_buf *result)
{
	pier__doca_rdma_set_result(pier__doca_rdma_task(task), result);
}

struct doca_buf *doca_rdma_task_atomic_cmp_swp_get_result_buf(
	const struct doca_rdma_task_atomic_cmp_swp *task)
{
	return pier__doca_rdma_task(task)->result;
}

void doca_rdma_task_atomic_cmp_swp_set_cmp_data(
	struct doca_rdma_task_atomic_cmp_swp *task, uint64_t compare)
{
	struct doca_rdma_task *t = pier__doca_rdma_task(task);

	pier__doca_rdma_set_value(t, &t->first, compare);
}

uint64_t doca_rdma_task_atomic_cmp_swp_get_cmp_data(
	const struct doca_rdma_task_atomic_cmp_swp *task)
{
	return pier__doca_rdma_task(task)->first;
}

void doca_rdma_task_atomic_cmp_swp_set_swap_data(
	struct doca_rdma_task_atomic_cmp_swp *task, uint64_t swap)
{
	struct doca_rdma_task *t = pier__doca_rdma_task(task);

	pier__doca_rdma_set_value(t, &t->second, swap);
}

uint64_t doca_rdma_task_atomic_cmp_swp_get_swap_data(
	const struct doca_rdma_task_atomic_cmp_swp *task)
{
	return pier__doca_rdma_task(task)->second;
}
