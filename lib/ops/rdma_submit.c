/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "core/fail.h"
#include "ops/rdma_submit.h"

#define ATOMIC_SIZE 8u
#define SGE_MAX (UINT32_C(1) << 31)

static struct pier__rdma_task *rdma_task(struct pier_task *task)
{
	return pier__container_of(task, struct pier__rdma_task, task);
}

static const char *name_of(const struct pier__rdma_task *t)
{
	return pier_task_type_name(t->task.type);
}

/* One element of the list: @len bytes at @addr of @buf's mmap. */
static int add_sge(struct pier__rdma_task *t, const struct pier_dev *dev,
		   const struct pier_buf *buf, uintptr_t addr, size_t len,
		   uint32_t n)
{
	if (n == t->pool->chain)
		return pier__fail(-EINVAL, "%s: more than %u buffers in the "
				  "chain", name_of(t), t->pool->chain);
	if (!pier__mmap_lkey(buf->mmap, dev, &t->sge[n].lkey))
		return pier__fail(-EINVAL, "%s: the buffer's memory is not "
				  "registered on %s", name_of(t),
				  dev->info.port.name);
	t->sge[n].addr = addr;
	t->sge[n].length = (uint32_t)len;
	return 0;
}

/* The data of the chain @buf.  Returns how many elements. */
static int gather(struct pier__rdma_task *t, const struct pier_dev *dev,
		  const struct pier_buf *buf, uint64_t limit)
{
	uint64_t total = 0;
	uint32_t n = 0;
	int err;

	for (; buf; buf = buf->next) {
		total += buf->data_len;
		if (!buf->data_len)
			continue;
		if (total > limit)
			return pier__fail(-EMSGSIZE, "%s: %llu bytes or more, "
					  "at most %llu", name_of(t),
					  (unsigned long long)total,
					  (unsigned long long)limit);
		err = add_sge(t, dev, buf, buf->data, buf->data_len, n++);
		if (err)
			return err;
	}
	t->len = (uint32_t)total;
	return (int)n;
}

/* The tails of the chain @buf, for at most @len bytes. */
static int scatter(struct pier__rdma_task *t, const struct pier_dev *dev,
		   const struct pier_buf *buf, uint64_t len)
{
	uint32_t n = 0;

	for (; buf && len; buf = buf->next) {
		uint64_t room = pier__buf_tail_len(buf);
		uint64_t part = len < room ? len : room;
		int err;

		if (!part)
			continue;
		if (part > SGE_MAX)
			part = SGE_MAX;
		err = add_sge(t, dev, buf, pier__buf_tail(buf), part, n++);
		if (err)
			return err;
		len -= part;
	}
	return (int)n;
}

static int check_access(struct pier__rdma_task *t, uint32_t need)
{
	const struct pier_buf *remote = need == PIER_REMOTE_READ ? t->src :
								   t->dst;

	if (!(remote->mmap->cfg.access & need))
		return pier__fail(-EACCES, "%s: the peer's memory was exported "
				  "with access 0x%x, this needs 0x%x",
				  name_of(t), remote->mmap->cfg.access, need);
	if (!(t->task.conn->them.access & need))
		return pier__fail(-EACCES, "%s: the peer grants access 0x%x on "
				  "this connection, this needs 0x%x",
				  name_of(t), t->task.conn->them.access, need);
	return 0;
}

static int room_for(struct pier__rdma_task *t, size_t room)
{
	if (t->len > room)
		return pier__fail(-EMSGSIZE, "%s: %u bytes into a tail room of "
				  "%zu", name_of(t), t->len, room);
	return 0;
}

static uint64_t message_limit(const struct pier__rdma_task *t)
{
	uint64_t ours = t->task.conn->qset->dev->info.port.limits.message;
	uint64_t theirs = t->task.conn->them.message;

	return ours < theirs ? ours : theirs;
}

static int build_send(struct pier__rdma_task *t)
{
	return gather(t, t->task.conn->qset->dev, t->src, message_limit(t));
}

static int build_write(struct pier__rdma_task *t)
{
	struct ibv_send_wr *wr = &t->wr.send;
	int n = gather(t, t->task.conn->qset->dev, t->src, message_limit(t));
	int err = n < 0 ? n : room_for(t, pier__buf_tail_len(t->dst));

	if (!err)
		err = check_access(t, PIER_REMOTE_WRITE);
	if (!err)
		err = pier__conn_rkey(t->task.conn, t->dst->mmap,
				      &wr->wr.rdma.rkey);
	wr->wr.rdma.remote_addr = pier__buf_tail(t->dst);
	return err ? err : n;
}

static int build_read(struct pier__rdma_task *t)
{
	struct ibv_send_wr *wr = &t->wr.send;
	uint64_t limit = message_limit(t);
	int err;

	if (t->src->data_len > limit)
		return pier__fail(-EMSGSIZE, "%s: %zu bytes, at most %llu",
				  name_of(t), t->src->data_len,
				  (unsigned long long)limit);
	t->len = (uint32_t)t->src->data_len;
	err = room_for(t, pier_buf_chain_tail_len(t->dst));
	if (!err)
		err = check_access(t, PIER_REMOTE_READ);
	if (!err)
		err = pier__conn_rkey(t->task.conn, t->src->mmap,
				      &wr->wr.rdma.rkey);
	if (err)
		return err;
	wr->wr.rdma.remote_addr = t->src->data;
	return scatter(t, t->task.conn->qset->dev, t->dst, t->len);
}

/* @src is where the old value goes, @dst the remote word. */
static int build_atomic(struct pier__rdma_task *t)
{
	const struct pier_buf *dst = t->dst;
	size_t room = dst->len - (size_t)(dst->data - dst->head);
	int err = 0;

	t->len = ATOMIC_SIZE;
	if (dst->data % ATOMIC_SIZE || room < ATOMIC_SIZE)
		err = pier__fail(-EINVAL, "%s: needs %u aligned bytes, has %zu "
				 "at 0x%zx", name_of(t), ATOMIC_SIZE, room,
				 (size_t)dst->data);
	if (!err)
		err = room_for(t, pier__buf_tail_len(t->src));
	if (!err)
		err = check_access(t, PIER_REMOTE_ATOMIC);
	if (!err)
		err = pier__conn_rkey(t->task.conn, dst->mmap,
				      &t->wr.send.wr.atomic.rkey);
	if (err)
		return err;
	t->wr.send.wr.atomic.remote_addr = dst->data;
	return scatter(t, t->task.conn->qset->dev, t->src, ATOMIC_SIZE);
}

static int build(struct pier__rdma_task *t)
{
	switch (t->task.type) {
	case PIER_TASK_READ:
		return build_read(t);
	case PIER_TASK_WRITE:
	case PIER_TASK_WRITE_IMM:
		return build_write(t);
	case PIER_TASK_COMPARE_SWAP:
	case PIER_TASK_FETCH_ADD:
		return build_atomic(t);
	default:
		return build_send(t);
	}
}

/* Only what is copied at post is inline, and only if it fits. */
static bool inlined(const struct pier__rdma_task *t)
{
	return t->len <= t->task.conn->qp->inline_size &&
	       t->task.type != PIER_TASK_READ &&
	       t->task.type != PIER_TASK_COMPARE_SWAP &&
	       t->task.type != PIER_TASK_FETCH_ADD;
}

/* Is @buf as it was when the work request was built? */
static inline bool same(const struct pier__rdma_built *built,
			const struct pier_buf *buf)
{
	return !buf || (built->taken == buf->taken &&
			built->data == buf->data &&
			built->data_len == buf->data_len && !buf->next);
}

static void remember(struct pier__rdma_built *built,
		     const struct pier_buf *buf)
{
	built->taken = buf && !buf->next ? buf->taken : 0;
	if (!buf)
		return;
	built->data = buf->data;
	built->data_len = buf->data_len;
}

static int build_anew(struct pier__rdma_task *t)
{
	int n = build(t);

	if (n < 0)
		return n;
	t->wr.send.num_sge = n;
	t->flags = inlined(t) ? IBV_SEND_INLINE : 0;
	remember(&t->src_built, t->src);
	remember(&t->dst_built, t->dst);
	return 0;
}

static int __attribute__((noinline, cold)) not_up(struct pier__rdma_task *t)
{
	return pier__fail(-ENOTCONN, "%s: the connection is in state %s",
			  name_of(t),
			  pier_conn_state_name(t->task.conn->state));
}

/* Buffers stay as long as the request that uses them. */
static inline void hold(struct pier_buf *buf)
{
	if (buf)
		buf->refs++;
}

static inline void drop(struct pier_buf *buf)
{
	if (buf && --buf->refs == 0)
		pier__buf_free_chain(buf);
}

/* Its work request is as it was built: put it on the queue. */
static inline int post(struct pier__rdma_task *t, unsigned int flags)
{
	int err;

	t->wr.send.send_flags = t->flags;
	err = pier__conn_post(t->task.conn, &t->posted, &t->wr.send,
			      flags & PIER_SUBMIT_MORE);
	if (err)
		return err;
	hold(t->src);
	hold(t->dst);
	return 0;
}

static int __attribute__((noinline)) submit_anew(struct pier__rdma_task *t,
						 unsigned int flags)
{
	int err = build_anew(t);

	return err ? err : post(t, flags);
}

static int send_submit(struct pier_task *task, unsigned int flags)
{
	struct pier__rdma_task *t = rdma_task(task);

	if (task->conn->phase != PIER__CONN_UP)
		return not_up(t);
	if (!same(&t->src_built, t->src) || !same(&t->dst_built, t->dst))
		return submit_anew(t, flags);
	return post(t, flags);
}

/* Keep what the device said of a failure. */
static int failed(struct pier__rdma_task *t, const struct ibv_wc *wc)
{
	struct ibv_wc means = *wc;

	t->verbs_status = (int)wc->status;
	t->vendor_error = wc->vendor_err;
	/*
	 * Soft-RoCE says "local operation" of a message that is too long for
	 * its receive, whose memory was checked when it was posted.
	 */
	if (t->task.type == PIER_TASK_RECEIVE &&
	    wc->status == IBV_WC_LOC_QP_OP_ERR)
		means.status = IBV_WC_LOC_LEN_ERR;
	return pier__conn_failed(t->task.conn, name_of(t), &means);
}

static inline void finish(struct pier__rdma_task *t, int status)
{
	drop(t->src);
	drop(t->dst);
	pier__task_finish(&t->task, status);
}

static void finish_failed(struct pier__rdma_task *t, int status)
{
	struct pier_rdma *rdma = pier__rdma_of(t->task.ctx);
	bool stop = status != -ECANCELED && rdma->cfg.stop_on_task_error;

	finish(t, status);
	if (stop && rdma->ctx.state == PIER_CTX_RUNNING)
		pier_ctx_stop(&rdma->ctx);
}

static inline void succeed(struct pier__rdma_task *t)
{
	struct pier_buf *dst = t->grows;

	if (dst && !dst->next)
		dst->data_len += t->len;
	else if (dst)
		pier__buf_grow(dst, t->len);
	finish(t, 0);
}

void pier__rdma_send_succeed(struct pier__posted *posted)
{
	succeed(pier__container_of(posted, struct pier__rdma_task, posted));
}

void pier__rdma_send_done(struct pier__op *op, const struct ibv_wc *wc)
{
	struct pier__rdma_task *t =
		pier__container_of(op, struct pier__rdma_task, task.op);

	if (!pier__conn_done(t->task.conn, &t->posted, wc))
		return;
	if (wc->status == IBV_WC_SUCCESS)
		succeed(t);
	else
		finish_failed(t, failed(t, wc));
}

/* A finished receive holds the connection that it tells of. */
static void forget_conn(struct pier_task *task)
{
	if (task->conn)
		pier__conn_drop(task->conn);
	task->conn = NULL;
}

static int recv_submit(struct pier_task *task, unsigned int flags)
{
	struct pier__rdma_task *t = rdma_task(task);
	struct pier_rdma *rdma = pier__rdma_of(task->ctx);
	struct ibv_recv_wr *wr = &t->wr.recv;
	int n, err;

	(void)flags;
	n = scatter(t, rdma->dev, t->dst, UINT64_MAX);
	if (n < 0)
		return n;
	wr->num_sge = n;
	wr->next = NULL;
	err = pier__qset_post_recv(rdma->qset, &t->posted, wr);
	if (err)
		return err;
	hold(t->dst);
	forget_conn(task);
	return 0;
}

static void took(struct pier__rdma_task *t, const struct ibv_wc *wc)
{
	t->received = wc->byte_len;
	t->imm = wc->wc_flags & IBV_WC_WITH_IMM ? wc->imm_data : 0;
	if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
		t->opcode = PIER_RECV_WRITE_IMM;
		return;
	}
	t->opcode = wc->wc_flags & IBV_WC_WITH_IMM ? PIER_RECV_SEND_IMM :
						     PIER_RECV_SEND;
	if (t->dst)
		pier__buf_grow(t->dst, wc->byte_len);
}

void pier__rdma_recv_done(struct pier__op *op, const struct ibv_wc *wc)
{
	struct pier__rdma_task *t =
		pier__container_of(op, struct pier__rdma_task, task.op);
	struct pier_rdma *rdma = pier__rdma_of(t->task.ctx);

	pier__list_del(&t->posted.link);
	t->task.conn = pier__qset_conn(rdma->qset, wc->qp_num);
	if (t->task.conn)
		pier__conn_hold(t->task.conn);
	if (wc->status == IBV_WC_SUCCESS) {
		took(t, wc);
		if (t->task.conn)
			pier__conn_heard(t->task.conn);
		finish(t, 0);
	} else if (t->task.conn) {
		finish_failed(t, failed(t, wc));
	} else {
		finish(t, pier__fail(-ECANCELED, "receive cancelled: the "
				     "context stops"));
	}
}

static void release_send(struct pier_task *task)
{
	struct pier_conn *conn = task->conn;

	pier__rdma_pool_give(rdma_task(task));
	pier__conn_drop(conn);
}

static void release_recv(struct pier_task *task)
{
	forget_conn(task);
	pier__rdma_pool_give(rdma_task(task));
}

static void tell_error(const struct pier_task *task,
		       struct pier_task_error *ret)
{
	const struct pier__rdma_task *t = pier__container_of(
		(struct pier_task *)(uintptr_t)task, struct pier__rdma_task,
		task);

	ret->verbs_status = t->verbs_status;
	ret->vendor_error = t->vendor_error;
	if (!task->conn)
		return;
	for (int i = 0; i < 16; i++)
		ret->peer_gid[i] = task->conn->path_them.raw[i];
	ret->peer_qpn = task->conn->them.qpn;
}

const struct pier__task_ops pier__rdma_send_ops = {
	.submit = send_submit,
	.release = release_send,
	.error = tell_error,
};

const struct pier__task_ops pier__rdma_recv_ops = {
	.submit = recv_submit,
	.release = release_recv,
	.error = tell_error,
};
