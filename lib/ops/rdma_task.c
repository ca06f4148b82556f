/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "core/fail.h"
#include "ops/rdma_build.h"
#include "ops/rdma_task.h"

/* @name is "source" or "destination"; NULL is allowed only if @optional. */
static int check_buf(const struct pier__task_type *type, const char *name,
		     const struct pier_buf *buf, enum pier__buf_place place,
		     bool optional)
{
	const char *what = type->name;
	bool remote = place == PIER__BUF_REMOTE;

	if (place == PIER__BUF_UNUSED || (!buf && optional))
		return 0;
	if (!buf)
		return pier__fail(-EINVAL, "%s: no %s", what, name);
	if (!buf->mmap)
		return pier__rdma_given_back(type, name);
	if (buf->first != buf)
		return pier__fail(-EINVAL, "%s: the %s is not the first of its "
				  "chain", what, name);
	if (buf->mmap->remote != remote)
		return pier__fail(-EINVAL, "%s: the %s is %s memory", what,
				  name, remote ? "local" : "remote");
	if (remote && buf->next)
		return pier__fail(-EINVAL, "%s: the remote %s is a chain", what,
				  name);
	return 0;
}

static int check_bufs(const struct pier__task_type *type,
		      const struct pier_buf *src, const struct pier_buf *dst)
{
	bool is_empty = type->empty && (!src || !type->src);
	int err = check_buf(type, "source", src, type->src, type->empty);

	if (err)
		return err;
	return check_buf(type, "destination", dst, type->dst, is_empty);
}

/* A buffer that is not used is not kept: the task holds no reference. */
static void set_bufs(struct pier__rdma_task *t, struct pier_buf *src,
		     struct pier_buf *dst)
{
	const struct pier__task_type *type = pier__rdma_type(t);
	bool is_empty = type->src && !src;
	const struct pier__rdma_kind *kind = is_empty ? type->empty :
							type->kind;

	t->task.op.done = kind->done;
	pier__task_set_ops(&t->task, &kind->ops);
	t->posted.succeed = kind->succeed;
	t->src = type->src ? src : NULL;
	t->dst = type->dst && !is_empty ? dst : NULL;
	t->grows = type->src_grows ? t->src : t->dst;
	if (type->none_grows)
		t->grows = NULL;
	t->src_built.stamp = 0;
	t->dst_built.stamp = 0;
	t->len = 0;
}

void pier__rdma_bufs(struct pier_task *task, struct pier_buf *ret[2])
{
	const struct pier__rdma_task *t =
		pier__container_of(task, struct pier__rdma_task, task);

	ret[0] = t->src;
	ret[1] = t->dst;
}

static int all_taken(const struct pier__task_pool *pool, enum pier_task_type id)
{
	const struct pier__task_type *type = &pier__task_types[id];

	if (!pool)
		return pier__fail(-ENOBUFS, "%s: there are no tasks before "
				  "the context is started", type->name);
	return pier__task_pool_empty(pool, id, type->name, type->receives ?
				     "recv_tasks" : "send_tasks");
}

static int take(struct pier_rdma *rdma, struct pier_conn *conn,
		enum pier_task_type id, struct pier_buf *src,
		struct pier_buf *dst, struct pier__rdma_task **ret)
{
	const struct pier__task_type *type = &pier__task_types[id];
	struct pier__task_pool *pool;
	struct pier__rdma_task *t;
	struct pier_task *task;
	int err = check_bufs(type, src, dst);

	if (err)
		return err;
	if (!rdma)
		return pier__fail(-EINVAL, "%s: the connection is not one of "
				  "an RDMA context", type->name);
	if (!pier__task_type_fits(type, &rdma->dev->info.port.limits))
		return pier__task_type_lacks(type, &rdma->dev->info.port);
	pool = type->receives ? rdma->recvs : rdma->sends;
	task = pool ? pier__task_pool_take(pool, id) : NULL;
	if (!task)
		return all_taken(pool, id);
	t = pier__container_of(task, struct pier__rdma_task, task);
	pier__list_init(&t->posted.link);
	t->chain = type->receives ? rdma->cfg.recv_chain :
				    rdma->cfg.send_chain;
	t->task.ctx = &rdma->ctx;
	t->task.conn = conn;
	t->posted.op = &t->task.op;
	set_bufs(t, src, dst);
	t->received = t->imm = t->vendor_error = 0;
	t->verbs_status = -1;
	if (conn)
		pier__conn_hold(conn);
	*ret = t;
	return 0;
}

int pier__rdma_take(struct pier_rdma *rdma, struct pier_conn *conn,
		    enum pier_task_type id, struct pier_buf *src,
		    struct pier_buf *dst, struct pier__rdma_task **ret)
{
	struct pier__guard *guard = rdma ? pier__ctx_guard(&rdma->ctx) : NULL;
	int err = pier__guard_enter(guard, "a call that takes a task");

	if (err)
		return err;
	err = take(rdma, conn, id, src, dst, ret);
	pier__guard_leave(guard);
	return err;
}

int pier__rdma_take_send(struct pier_conn *conn, enum pier_task_type type,
			 struct pier_buf *src, struct pier_buf *dst,
			 uint32_t imm, struct pier_task **ret)
{
	struct pier__rdma_task *t;
	int err = pier__rdma_take(pier_conn_rdma(conn), conn, type, src, dst,
				  &t);

	if (err)
		return err;
	memset(&t->wr.send, 0, sizeof(t->wr.send));
	t->wr.send.wr_id = (uintptr_t)&t->task.op;
	t->wr.send.opcode = pier__task_types[type].opcode;
	t->wr.send.sg_list = t->sge;
	t->wr.send.imm_data = imm;
	*ret = &t->task;
	return 0;
}

int pier__rdma_set_bufs(struct pier_task *task, struct pier_buf *src,
			struct pier_buf *dst)
{
	struct pier__rdma_task *t =
		pier__container_of(task, struct pier__rdma_task, task);
	const struct pier__task_type *type = pier__rdma_type(t);
	int err;

	if (!type->kind)
		return pier__fail(-EINVAL, "%s: not a task of an RDMA context",
				  type->name);
	err = pier__task_may_change(task);
	if (!err)
		err = check_bufs(type, src, dst);
	if (err)
		return err;
	set_bufs(t, src, dst);
	if (type->src && !src) {	/* of nothing, without a builder */
		t->wr.send.num_sge = 0;
		t->wr.send.wr.rdma.remote_addr = 0;
		t->wr.send.wr.rdma.rkey = 0;
	}
	return 0;
}

int pier_rdma_task_set_bufs(struct pier_task *task, struct pier_buf *src,
			    struct pier_buf *dst)
{
	const struct pier__task_type *type;

	if (!task)
		return pier__no_object(__func__);
	type = &pier__task_types[task->type];
	if (type->event)
		return pier__fail(-EINVAL, "%s: pier_rdma_task_set_event() "
				  "changes its buffer", type->name);
	return pier__rdma_set_bufs(task, src, dst);
}
