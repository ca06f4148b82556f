/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "core/fail.h"
#include "ops/rdma_build.h"
#include "ops/rdma_task.h"

/* As much as @src has, or as fits into the tails of @dst. */
int pier__rdma_build_read(struct pier__rdma_task *t)
{
	struct ibv_send_wr *wr = &t->wr.send;
	uint64_t limit = pier__rdma_message_limit(t);
	size_t tail = pier_buf_chain_tail_len(t->dst);
	size_t len = t->src->data_len < tail ? t->src->data_len : tail;
	int err;

	if (len > limit)
		return pier__fail(-EMSGSIZE, "%s: %zu bytes, at most %llu",
				  pier__rdma_name(t), len,
				  (unsigned long long)limit);
	t->len = (uint32_t)len;
	err = pier__rdma_remote_key(t, &wr->wr.rdma.rkey);
	if (err)
		return err;
	wr->wr.rdma.remote_addr = t->src->data;
	return pier__rdma_scatter(t, t->dst, t->len);
}

int pier_rdma_task_read(struct pier_conn *conn, struct pier_buf *src,
			struct pier_buf *dst, struct pier_task **ret)
{
	if (!conn)
		return pier__no_object(__func__);
	return pier__rdma_take_send(conn, PIER_TASK_READ, src, dst, 0, ret);
}

int pier_rdma_read(struct pier_conn *conn, struct pier_buf *src,
		   struct pier_buf *dst, pier_task_fn *fn, void *arg)
{
	struct pier_task *task;
	int err = pier_rdma_task_read(conn, src, dst, &task);

	return err ? err : pier__task_one_shot(task, fn, arg);
}

uint32_t pier_read_len(const struct pier_task *task)
{
	if (!task)
		return 0;
	return ((const struct pier__rdma_task *)task)->len;
}
