/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "core/fail.h"
#include "ops/rdma_build.h"
#include "ops/rdma_task.h"
#include "ops/sync_event_impl.h"

#define WORD_SIZE sizeof(uint64_t)

int pier__rdma_build_remote_get(struct pier__rdma_task *t)
{
	size_t tail = pier_buf_chain_tail_len(t->dst);

	if (tail < WORD_SIZE)
		return pier__fail(-EMSGSIZE, "%s: %zu bytes into a tail of %zu",
				  pier__rdma_name(t), WORD_SIZE, tail);
	return pier__rdma_build_read(t);
}

int pier__rdma_build_notify_set(struct pier__rdma_task *t)
{
	struct ibv_send_wr *wr = &t->wr.send;
	int n = pier__rdma_gather(t, t->src, WORD_SIZE);
	int err;

	if (n < 0)
		return n;
	if (t->len != WORD_SIZE)
		return pier__fail(-EINVAL, "%s: the source has %u bytes of "
				  "data, not %zu", pier__rdma_name(t), t->len,
				  WORD_SIZE);
	err = pier__rdma_remote_key(t, &wr->wr.rdma.rkey);
	wr->wr.rdma.remote_addr = t->dst->data;
	return err ? err : n;
}

static int check_event(const struct pier__task_type *type,
		       const struct pier_sync_event *event)
{
	if (!event || !event->inv)
		return pier__fail(-EINVAL, "%s: the sync event was not "
				  "imported for RDMA: use its own calls",
				  type->name);
	if (pier__sync_life(event) != PIER__SYNC_IMPORTED)
		return pier__fail(-ESHUTDOWN, "%s: the sync event is not "
				  "started, or was stopped", type->name);
	return 0;
}

/* @buf is the local buffer. */
static int take(struct pier_conn *conn, enum pier_task_type id,
		const struct pier_sync_event *event, struct pier_buf *buf,
		struct pier_task **ret)
{
	const struct pier__task_type *type = &pier__task_types[id];
	bool reads = type->src == PIER__BUF_REMOTE;
	int err = check_event(type, event);

	if (err)
		return err;
	return pier__rdma_take_send(conn, id, reads ? event->buf : buf,
				    reads ? buf : event->buf, 0, ret);
}

int pier_rdma_task_remote_get(struct pier_conn *conn,
			      const struct pier_sync_event *event,
			      struct pier_buf *dst, struct pier_task **ret)
{
	if (!conn)
		return pier__no_object(__func__);
	return take(conn, PIER_TASK_REMOTE_GET, event, dst, ret);
}

int pier_rdma_task_notify_set(struct pier_conn *conn,
			      const struct pier_sync_event *event,
			      struct pier_buf *src, struct pier_task **ret)
{
	if (!conn)
		return pier__no_object(__func__);
	return take(conn, PIER_TASK_NOTIFY_SET, event, src, ret);
}

int pier_rdma_task_notify_add(struct pier_conn *conn,
			      const struct pier_sync_event *event,
			      struct pier_buf *result, uint64_t add,
			      struct pier_task **ret)
{
	int err;

	if (!conn)
		return pier__no_object(__func__);
	err = take(conn, PIER_TASK_NOTIFY_ADD, event, result, ret);
	if (!err)
		pier__container_of(*ret, struct pier__rdma_task, task)
			->wr.send.wr.atomic.compare_add = add;
	return err;
}

int pier_rdma_task_set_event(struct pier_task *task,
			     const struct pier_sync_event *event,
			     struct pier_buf *buf)
{
	const struct pier__task_type *type;
	bool reads;
	int err;

	if (!task)
		return pier__no_object(__func__);
	type = &pier__task_types[task->type];
	reads = type->src == PIER__BUF_REMOTE;
	if (!type->event)
		return pier__fail(-EINVAL, "%s: not a task of a sync event of "
				  "a peer", type->name);
	err = check_event(type, event);
	return err ? err : pier__rdma_set_bufs(task, reads ? event->buf : buf,
					       reads ? buf : event->buf);
}

int pier_rdma_remote_get(struct pier_conn *conn,
			 const struct pier_sync_event *event,
			 struct pier_buf *dst, pier_task_fn *fn, void *arg)
{
	struct pier_task *task;
	int err = pier_rdma_task_remote_get(conn, event, dst, &task);

	return err ? err : pier__task_one_shot(task, fn, arg);
}

int pier_rdma_notify_set(struct pier_conn *conn,
			 const struct pier_sync_event *event,
			 struct pier_buf *src, pier_task_fn *fn, void *arg)
{
	struct pier_task *task;
	int err = pier_rdma_task_notify_set(conn, event, src, &task);

	return err ? err : pier__task_one_shot(task, fn, arg);
}

int pier_rdma_notify_add(struct pier_conn *conn,
			 const struct pier_sync_event *event,
			 struct pier_buf *result, uint64_t add,
			 pier_task_fn *fn, void *arg)
{
	struct pier_task *task;
	int err = pier_rdma_task_notify_add(conn, event, result, add, &task);

	return err ? err : pier__task_one_shot(task, fn, arg);
}
