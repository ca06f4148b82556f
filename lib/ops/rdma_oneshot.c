/* SPDX-License-Identifier: BSD-2-Clause */
#include <pier/rdma.h>

#include "engine/task_impl.h"

/* One shot: take, submit, free after the callback. */

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

int pier_rdma_read(struct pier_conn *conn, struct pier_buf *src,
		   struct pier_buf *dst, pier_task_fn *fn, void *arg)
{
	struct pier_task *task;
	int err = pier_rdma_task_read(conn, src, dst, &task);

	return err ? err : pier__task_one_shot(task, fn, arg);
}

int pier_rdma_write(struct pier_conn *conn, struct pier_buf *src,
		    struct pier_buf *dst, pier_task_fn *fn, void *arg)
{
	struct pier_task *task;
	int err = pier_rdma_task_write(conn, src, dst, &task);

	return err ? err : pier__task_one_shot(task, fn, arg);
}

int pier_rdma_write_imm(struct pier_conn *conn, struct pier_buf *src,
			struct pier_buf *dst, uint32_t imm, pier_task_fn *fn,
			void *arg)
{
	struct pier_task *task;
	int err = pier_rdma_task_write_imm(conn, src, dst, imm, &task);

	return err ? err : pier__task_one_shot(task, fn, arg);
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

int pier_rdma_receive(struct pier_rdma *rdma, struct pier_buf *dst,
		      pier_task_fn *fn, void *arg)
{
	struct pier_task *task;
	int err = pier_rdma_task_receive(rdma, dst, &task);

	return err ? err : pier__task_one_shot(task, fn, arg);
}
