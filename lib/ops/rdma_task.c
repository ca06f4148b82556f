/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "core/fail.h"
#include "ops/rdma_submit.h"

static const enum ibv_wr_opcode opcodes[] = {
	[PIER_TASK_SEND] = IBV_WR_SEND,
	[PIER_TASK_SEND_IMM] = IBV_WR_SEND_WITH_IMM,
	[PIER_TASK_READ] = IBV_WR_RDMA_READ,
	[PIER_TASK_WRITE] = IBV_WR_RDMA_WRITE,
	[PIER_TASK_WRITE_IMM] = IBV_WR_RDMA_WRITE_WITH_IMM,
	[PIER_TASK_COMPARE_SWAP] = IBV_WR_ATOMIC_CMP_AND_SWP,
	[PIER_TASK_FETCH_ADD] = IBV_WR_ATOMIC_FETCH_AND_ADD,
};

/* From memory to memory: nothing at all without a source. */
static bool moves(enum pier_task_type type)
{
	return type == PIER_TASK_READ || type == PIER_TASK_WRITE ||
	       type == PIER_TASK_WRITE_IMM;
}

static bool sends(enum pier_task_type type)
{
	return type == PIER_TASK_SEND || type == PIER_TASK_SEND_IMM;
}

/* Which side of @type is remote: of the source, of the destination. */
static bool src_remote(enum pier_task_type type)
{
	return type == PIER_TASK_READ;
}

static bool dst_remote(enum pier_task_type type)
{
	return type != PIER_TASK_READ && type != PIER_TASK_RECEIVE;
}

/* @name is "source" or "destination"; NULL is allowed only if @optional. */
static int check_buf(enum pier_task_type type, const char *name,
		     const struct pier_buf *buf, bool remote, bool optional)
{
	const char *what = pier_task_type_name(type);

	if (!buf)
		return optional ? 0 :
				  pier__fail(-EINVAL, "%s: no %s", what, name);
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

static int check_bufs(enum pier_task_type type, const struct pier_buf *src,
		      const struct pier_buf *dst)
{
	int err = 0;

	if (type != PIER_TASK_RECEIVE)
		err = check_buf(type, "source", src, src_remote(type),
				sends(type) || moves(type));
	if (!err && !sends(type))
		err = check_buf(type, "destination", dst, dst_remote(type),
				type == PIER_TASK_RECEIVE ||
					(moves(type) && !src));
	return err;
}

static const struct pier__rdma_kind *kind_of(enum pier_task_type type,
					     const struct pier_buf *src)
{
	if (type == PIER_TASK_RECEIVE)
		return &pier__rdma_recv;
	if (sends(type))
		return &pier__rdma_send;
	return src ? &pier__rdma_copy : &pier__rdma_nothing;
}

/* Buffers that its kind has no use for are not kept: nobody holds them. */
static void set_bufs(struct pier__rdma_task *t, struct pier_buf *src,
		     struct pier_buf *dst)
{
	enum pier_task_type type = t->task.type;
	const struct pier__rdma_kind *kind = kind_of(type, src);
	bool atomic = type == PIER_TASK_COMPARE_SWAP ||
		      type == PIER_TASK_FETCH_ADD;
	bool has_dst = kind == &pier__rdma_copy || kind == &pier__rdma_recv;

	t->task.op.done = kind->done;
	t->task.ops = &kind->ops;
	t->posted.succeed = kind->succeed;
	t->src = kind == &pier__rdma_recv ? NULL : src;
	t->dst = has_dst ? dst : NULL;
	t->grows = atomic ? t->src : t->dst;
	t->src_built.stamp = 0;
	t->dst_built.stamp = 0;
	t->len = 0;
}

static int all_taken(const struct pier__rdma_pool *pool,
		     enum pier_task_type type)
{
	const char *what = pier_task_type_name(type);

	if (!pool)
		return pier__fail(-ENOBUFS, "%s: there are no tasks before "
				  "the context is started", what);
	return pier__fail(-ENOBUFS, "%s: all %u tasks are taken: let some "
			  "finish and free them, or raise %s", what,
			  pool->count, type == PIER_TASK_RECEIVE ?
				  "recv_tasks" : "send_tasks");
}

/* One of the pool of @rdma with everything preformatted. */
static int take(struct pier_rdma *rdma, struct pier_conn *conn,
		enum pier_task_type type, struct pier_buf *src,
		struct pier_buf *dst, struct pier__rdma_task **ret)
{
	bool recv = type == PIER_TASK_RECEIVE;
	struct pier__rdma_pool *pool = recv ? rdma->recvs : rdma->sends;
	struct pier__rdma_task *t;
	int err = check_bufs(type, src, dst);

	if (err)
		return err;
	t = pool ? pier__rdma_pool_take(pool) : NULL;
	if (!t)
		return all_taken(pool, type);
	t->task.ctx = &rdma->ctx;
	t->task.conn = conn;
	t->task.type = type;
	t->posted.op = &t->task.op;
	set_bufs(t, src, dst);
	t->received = t->imm = t->vendor_error = 0;
	t->verbs_status = -1;
	if (conn)
		pier__conn_hold(conn);
	*ret = t;
	return 0;
}

static int take_send(struct pier_conn *conn, enum pier_task_type type,
		     struct pier_buf *src, struct pier_buf *dst, uint32_t imm,
		     struct pier_task **ret)
{
	struct pier__rdma_task *t;
	int err = take(conn->rdma, conn, type, src, dst, &t);

	if (err)
		return err;
	memset(&t->wr.send, 0, sizeof(t->wr.send));
	t->wr.send.wr_id = (uintptr_t)&t->task.op;
	t->wr.send.opcode = opcodes[type];
	t->wr.send.sg_list = t->sge;
	t->wr.send.imm_data = imm;
	*ret = &t->task;
	return 0;
}

int pier_rdma_task_send(struct pier_conn *conn, struct pier_buf *src,
			struct pier_task **ret)
{
	return take_send(conn, PIER_TASK_SEND, src, NULL, 0, ret);
}

int pier_rdma_task_send_imm(struct pier_conn *conn, struct pier_buf *src,
			    uint32_t imm, struct pier_task **ret)
{
	return take_send(conn, PIER_TASK_SEND_IMM, src, NULL, imm, ret);
}

int pier_rdma_task_read(struct pier_conn *conn, struct pier_buf *src,
			struct pier_buf *dst, struct pier_task **ret)
{
	return take_send(conn, PIER_TASK_READ, src, dst, 0, ret);
}

int pier_rdma_task_write(struct pier_conn *conn, struct pier_buf *src,
			 struct pier_buf *dst, struct pier_task **ret)
{
	return take_send(conn, PIER_TASK_WRITE, src, dst, 0, ret);
}

int pier_rdma_task_write_imm(struct pier_conn *conn, struct pier_buf *src,
			     struct pier_buf *dst, uint32_t imm,
			     struct pier_task **ret)
{
	return take_send(conn, PIER_TASK_WRITE_IMM, src, dst, imm, ret);
}

static int take_atomic(struct pier_conn *conn, enum pier_task_type type,
		       struct pier_buf *dst, struct pier_buf *result,
		       uint64_t compare_add, uint64_t swap,
		       struct pier_task **ret)
{
	struct pier_task *task;
	struct ibv_send_wr *wr;
	int err = take_send(conn, type, result, dst, 0, &task);

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
	return take_atomic(conn, PIER_TASK_COMPARE_SWAP, dst, result, compare,
			   swap, ret);
}

int pier_rdma_task_fetch_add(struct pier_conn *conn, struct pier_buf *dst,
			     struct pier_buf *result, uint64_t add,
			     struct pier_task **ret)
{
	return take_atomic(conn, PIER_TASK_FETCH_ADD, dst, result, add, 0,
			   ret);
}

int pier_rdma_task_receive(struct pier_rdma *rdma, struct pier_buf *dst,
			   struct pier_task **ret)
{
	struct pier__rdma_task *t;
	int err = take(rdma, NULL, PIER_TASK_RECEIVE, NULL, dst, &t);

	if (err)
		return err;
	memset(&t->wr.recv, 0, sizeof(t->wr.recv));
	t->wr.recv.wr_id = (uintptr_t)&t->task.op;
	t->wr.recv.sg_list = t->sge;
	*ret = &t->task;
	return 0;
}

int pier_rdma_task_set_bufs(struct pier_task *task, struct pier_buf *src,
			    struct pier_buf *dst)
{
	struct pier__rdma_task *t =
		pier__container_of(task, struct pier__rdma_task, task);
	int err;

	if (pier__task_busy(task))
		return pier__fail(-EBUSY, "%s: buffers changed while submitted",
				  pier_task_type_name(task->type));
	err = check_bufs(task->type, src, dst);
	if (err)
		return err;
	set_bufs(t, src, dst);
	if (!src && task->type != PIER_TASK_RECEIVE) {
		/* nothing: it is built of nothing */
		t->wr.send.num_sge = 0;
		t->wr.send.wr.rdma.remote_addr = 0;
		t->wr.send.wr.rdma.rkey = 0;
	}
	return 0;
}

enum pier_recv_opcode pier_recv_opcode(const struct pier_task *task)
{
	return ((const struct pier__rdma_task *)task)->opcode;
}

uint32_t pier_recv_imm(const struct pier_task *task)
{
	return ((const struct pier__rdma_task *)task)->imm;
}

uint32_t pier_recv_len(const struct pier_task *task)
{
	return ((const struct pier__rdma_task *)task)->received;
}
