/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "core/fail.h"
#include "ops/rdma_submit.h"

/* From a task's buffers to its work request. */

#define ATOMIC_SIZE 8u
#define SGE_MAX (UINT32_C(1) << 31)

int pier__rdma_given_back(enum pier_task_type type, const char *name)
{
	return pier__fail(-EINVAL, "%s: the %s was given back by "
			  "pier_buf_put(): a task holds no buffer while it is "
			  "not submitted, keep a reference for it",
			  pier_task_type_name(type), name);
}

/* Are its buffers still somebody's? */
static int check_held(const struct pier__rdma_task *t)
{
	if (t->src && !t->src->mmap)
		return pier__rdma_given_back(t->task.type, "source");
	if (t->dst && !t->dst->mmap)
		return pier__rdma_given_back(t->task.type, "destination");
	return 0;
}

/* One element of the list: @len bytes at @addr of @buf's mmap. */
static int add_sge(struct pier__rdma_task *t, const struct pier_dev *dev,
		   const struct pier_buf *buf, uintptr_t addr, size_t len,
		   uint32_t n)
{
	if (n == t->pool->chain)
		return pier__fail(-EINVAL, "%s: more than %u buffers in the "
				  "chain", pier__rdma_name(t), t->pool->chain);
	if (!pier__mmap_lkey(buf->mmap, dev, &t->sge[n].lkey))
		return pier__fail(-EINVAL, "%s: the buffer's memory is not "
				  "registered on %s", pier__rdma_name(t),
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
					  "at most %llu", pier__rdma_name(t),
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

static int check_granted(struct pier__rdma_task *t, uint32_t need)
{
	if (!(t->task.conn->remote.access & need))
		return pier__fail(-EACCES, "%s: the peer grants access 0x%x on "
				  "this connection, this needs 0x%x",
				  pier__rdma_name(t),
				  t->task.conn->remote.access, need);
	return 0;
}

static int check_access(struct pier__rdma_task *t, uint32_t need)
{
	const struct pier_buf *remote = need == PIER_REMOTE_READ ? t->src :
								   t->dst;

	if (!(remote->mmap->cfg.access & need))
		return pier__fail(-EACCES, "%s: the peer's memory was exported "
				  "with access 0x%x, this needs 0x%x",
				  pier__rdma_name(t),
				  remote->mmap->cfg.access, need);
	return check_granted(t, need);
}

int pier__rdma_check_nothing(struct pier__rdma_task *t)
{
	return check_granted(t, t->task.type == PIER_TASK_READ ?
					PIER_REMOTE_READ : PIER_REMOTE_WRITE);
}

static int room_for(struct pier__rdma_task *t, size_t room)
{
	if (t->len > room)
		return pier__fail(-EMSGSIZE, "%s: %u bytes into a tail room of "
				  "%zu", pier__rdma_name(t), t->len, room);
	return 0;
}

static uint64_t message_limit(const struct pier__rdma_task *t)
{
	uint64_t ours = t->task.conn->queues->dev->info.port.limits.message;
	uint64_t theirs = t->task.conn->remote.message;

	return ours < theirs ? ours : theirs;
}

static int build_send(struct pier__rdma_task *t)
{
	return gather(t, t->task.conn->queues->dev, t->src, message_limit(t));
}

static int build_write(struct pier__rdma_task *t)
{
	struct ibv_send_wr *wr = &t->wr.send;
	int n = gather(t, t->task.conn->queues->dev, t->src, message_limit(t));
	int err = n < 0 ? n : room_for(t, pier__buf_tail_len(t->dst));

	if (!err)
		err = check_access(t, PIER_REMOTE_WRITE);
	if (!err)
		err = pier__conn_rkey(t->task.conn, t->dst->mmap,
				      &wr->wr.rdma.rkey);
	wr->wr.rdma.remote_addr = pier__buf_tail(t->dst);
	return err ? err : n;
}

/* As much as there is, or as there is room for. */
static int build_read(struct pier__rdma_task *t)
{
	struct ibv_send_wr *wr = &t->wr.send;
	uint64_t limit = message_limit(t);
	size_t room = pier_buf_chain_tail_len(t->dst);
	size_t len = t->src->data_len < room ? t->src->data_len : room;
	int err;

	if (len > limit)
		return pier__fail(-EMSGSIZE, "%s: %zu bytes, at most %llu",
				  pier__rdma_name(t), len,
				  (unsigned long long)limit);
	t->len = (uint32_t)len;
	err = check_access(t, PIER_REMOTE_READ);
	if (!err)
		err = pier__conn_rkey(t->task.conn, t->src->mmap,
				      &wr->wr.rdma.rkey);
	if (err)
		return err;
	wr->wr.rdma.remote_addr = t->src->data;
	return scatter(t, t->task.conn->queues->dev, t->dst, t->len);
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
				 "at 0x%zx", pier__rdma_name(t), ATOMIC_SIZE,
				 room, (size_t)dst->data);
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
	return scatter(t, t->task.conn->queues->dev, t->src, ATOMIC_SIZE);
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

static void remember(struct pier__rdma_built *built,
		     const struct pier_buf *buf)
{
	built->stamp = buf && !buf->next ? buf->stamp : 0;
	built->data_len = buf ? buf->data_len : 0;
}

int pier__rdma_build(struct pier__rdma_task *t)
{
	int n = check_held(t);

	if (!n)
		n = build(t);
	if (n < 0)
		return n;
	t->wr.send.num_sge = n;
	t->wr.send.send_flags = inlined(t) ? IBV_SEND_INLINE : 0;
	remember(&t->src_built, t->src);
	remember(&t->dst_built, t->dst);
	return 0;
}

int pier__rdma_build_recv(struct pier__rdma_task *t)
{
	const struct pier_rdma *rdma = pier__rdma_of(t->task.ctx);
	int n = check_held(t);

	if (!n)
		n = scatter(t, rdma->dev, t->dst, UINT64_MAX);
	if (n < 0)
		return n;
	t->wr.recv.num_sge = n;
	t->wr.recv.next = NULL;
	return 0;
}
