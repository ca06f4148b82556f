/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "core/fail.h"
#include "ops/rdma_build.h"
#include "ops/rdma_task.h"

#define ATOMIC_SIZE 8u

/* @src is where the old value goes, @dst the remote word. */
int pier__rdma_build_atomic(struct pier__rdma_task *t)
{
	const struct pier_buf *dst = t->dst;
	size_t len = dst->len - (size_t)(dst->data - dst->head);
	int err = 0;

	t->len = ATOMIC_SIZE;
	if (dst->data % ATOMIC_SIZE || len < ATOMIC_SIZE)
		err = pier__fail(-EINVAL, "%s: needs %u aligned bytes, has %zu "
				 "at 0x%zx", pier__rdma_name(t), ATOMIC_SIZE,
				 len, (size_t)dst->data);
	if (!err)
		err = pier__rdma_fits(t, t->src);
	if (!err)
		err = pier__rdma_remote_key(t, &t->wr.send.wr.atomic.rkey);
	if (err)
		return err;
	t->wr.send.wr.atomic.remote_addr = dst->data;
	return pier__rdma_scatter(t, t->src, ATOMIC_SIZE);
}

static int take_atomic(struct pier_conn *conn, enum pier_task_type type,
		       struct pier_buf *dst, struct pier_buf *result,
		       uint64_t compare_add, uint64_t swap,
		       struct pier_task **ret)
{
	struct pier_task *task;
	struct ibv_send_wr *wr;
	int err = pier__rdma_take_send(conn, type, result, dst, 0, &task);

	if (err)
		return err;
	wr = &pier__container_of(task, struct pier__rdma_task, task)->wr.send;
	wr->wr.atomic.compare_add = compare_add;
	wr->wr.atomic.swap = swap;
	*ret = task;
	return 0;
}

int pier_rdma_task_compare_swap(struct pier_conn *conn, struct pier_buf *dst,
				struct pier_buf *result, uint64_t compare,
				uint64_t swap, struct pier_task **ret)
{
	if (!conn)
		return pier__no_object(__func__);
	return take_atomic(conn, PIER_TASK_COMPARE_SWAP, dst, result, compare,
			   swap, ret);
}

int pier_rdma_task_fetch_add(struct pier_conn *conn, struct pier_buf *dst,
			     struct pier_buf *result, uint64_t add,
			     struct pier_task **ret)
{
	if (!conn)
		return pier__no_object(__func__);
	return take_atomic(conn, PIER_TASK_FETCH_ADD, dst, result, add, 0, ret);
}

int pier_rdma_compare_swap(struct pier_conn *conn, struct pier_buf *dst,
			   struct pier_buf *result, uint64_t compare,
			   uint64_t swap, pier_task_fn *fn, void *arg)
{
	struct pier_task *task;
	int err = pier_rdma_task_compare_swap(conn, dst, result, compare, swap,
					      &task);

	return err ? err : pier__task_one_shot(task, fn, arg);
}

int pier_rdma_fetch_add(struct pier_conn *conn, struct pier_buf *dst,
			struct pier_buf *result, uint64_t add,
			pier_task_fn *fn, void *arg)
{
	struct pier_task *task;
	int err = pier_rdma_task_fetch_add(conn, dst, result, add, &task);

	return err ? err : pier__task_one_shot(task, fn, arg);
}
