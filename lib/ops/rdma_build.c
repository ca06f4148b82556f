/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "core/fail.h"
#include "ops/local_buf.h"
#include "ops/rdma_build.h"

/* The most bytes of one element that every device accepts. */
#define SGE_MAX (UINT32_C(1) << 31)

int pier__rdma_given_back(const struct pier__task_type *type, const char *name)
{
	return pier__fail(-EINVAL, "%s: the %s was given back by "
			  "pier_buf_put(): a task holds no buffer while it is "
			  "not submitted, keep a reference for it",
			  type->name, name);
}

/* Can a task still hold @buf?  NULL: there is none. */
static int check_one(const struct pier__task_type *type,
		     const struct pier_buf *buf, const char *name)
{
	if (buf && !buf->mmap)
		return pier__rdma_given_back(type, name);
	if (buf && buf->first != buf)
		return pier__fail(-EINVAL, "%s: the %s is not the first of its "
				  "chain", type->name, name);
	return 0;
}

static int check_held(const struct pier__rdma_task *t)
{
	const struct pier__task_type *type = pier__rdma_type(t);
	int err = check_one(type, t->src, "source");

	return err ? err : check_one(type, t->dst, "destination");
}

/* One element of the list: @len bytes at @addr of @buf's mmap. */
static int add_sge(struct pier__rdma_task *t, const struct pier_buf *buf,
		   uintptr_t addr, size_t len, uint32_t n)
{
	const struct pier_dev *dev = pier__rdma_of(t->task.ctx)->dev;

	if (n == t->chain)
		return pier__fail(-EINVAL, "%s: more than %u buffers in the "
				  "chain", pier__rdma_name(t), t->chain);
	if (!pier__mmap_lkey(buf->mmap, dev, &t->sge[n].lkey))
		return pier__mmap_lacks(buf->mmap, dev);
	t->sge[n].addr = addr;
	t->sge[n].length = (uint32_t)len;
	return 0;
}

int pier__rdma_gather(struct pier__rdma_task *t, const struct pier_buf *buf,
		      uint64_t limit)
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
		err = add_sge(t, buf, buf->data, buf->data_len, n++);
		if (err)
			return err;
	}
	t->len = (uint32_t)total;
	return (int)n;
}

/* The buffer of @t that is written to. */
static const char *written(const struct pier__rdma_task *t)
{
	return pier__rdma_type(t)->src_grows ? "result" : "destination";
}

int pier__rdma_scatter(struct pier__rdma_task *t, const struct pier_buf *buf,
		       uint64_t len)
{
	uint32_t n = 0;

	for (; buf && len; buf = buf->next) {
		uint64_t tail = pier__buf_tail_len(buf);
		uint64_t part = len < tail ? len : tail;
		int err;

		if (!part)
			continue;
		if (part > SGE_MAX)
			part = SGE_MAX;
		if (!pier__local_writable(buf->mmap))
			return pier__local_read_only(buf->mmap,
						     pier__rdma_name(t),
						     written(t));
		err = add_sge(t, buf, pier__buf_tail(buf), part, n++);
		if (err)
			return err;
		len -= part;
	}
	return (int)n;
}

int pier__rdma_granted(const struct pier__rdma_task *t)
{
	uint32_t granted = t->task.conn->remote.access;
	uint32_t need = pier__rdma_type(t)->access;
	char has[PIER__ACCESS_TEXT], lacks[PIER__ACCESS_TEXT];

	if (granted & need)
		return 0;
	return pier__fail(-EACCES, "%s: the peer grants %s on this "
			  "connection, this needs %s", pier__rdma_name(t),
			  pier__access_text(granted, has),
			  pier__access_text(need, lacks));
}

int pier__rdma_remote_key(struct pier__rdma_task *t, uint32_t *ret)
{
	const struct pier__task_type *type = pier__rdma_type(t);
	const struct pier_mmap *mmap = type->src == PIER__BUF_REMOTE ?
					       t->src->mmap : t->dst->mmap;
	char has[PIER__ACCESS_TEXT], lacks[PIER__ACCESS_TEXT];
	int err;

	if (!(mmap->cfg.access & type->access))
		return pier__fail(-EACCES, "%s: the peer's memory was exported "
				  "with %s, this needs %s", type->name,
				  pier__access_text(mmap->cfg.access, has),
				  pier__access_text(type->access, lacks));
	err = pier__rdma_granted(t);
	return err ? err : pier__conn_rkey(t->task.conn, mmap, ret);
}

int pier__rdma_fits(const struct pier__rdma_task *t, const struct pier_buf *dst)
{
	size_t tail = pier__buf_tail_len(dst);

	if (t->len > tail)
		return pier__fail(-EMSGSIZE, "%s: %u bytes into a tail of %zu "
				  "behind %zu bytes of data: remove those by "
				  "pier_buf_reset(), or name a longer range",
				  pier__rdma_name(t), t->len, tail,
				  pier_buf_data_len(dst));
	return 0;
}

uint64_t pier__rdma_message_limit(const struct pier__rdma_task *t)
{
	uint64_t ours = t->task.conn->queues->dev->info.port.limits.message;
	uint64_t theirs = t->task.conn->remote.message;

	return ours < theirs ? ours : theirs;
}

static void remember(struct pier__rdma_built *built, const struct pier_buf *buf)
{
	built->stamp = buf && !buf->next ? buf->stamp : 0;
	built->data_len = buf ? buf->data_len : 0;
}

/* The CPU copies what is inline. */
static bool may_inline(const struct pier__rdma_task *t)
{
	const struct pier_buf *buf = t->src;

	if (!pier__rdma_type(t)->may_inline ||
	    t->len > t->task.conn->qp->inline_size)
		return false;
	while (buf && buf->mmap->cpu)
		buf = buf->next;
	return !buf;
}

/*
 * @t has buffers, but nothing would be moved: only NULL means that, unless the
 * configuration has it otherwise.
 */
static int __attribute__((noinline, cold))
check_empty(const struct pier__rdma_task *t)
{
	const struct pier__task_type *type = pier__rdma_type(t);
	bool lacks_data = type->src && !pier_buf_chain_data_len(t->src);
	const struct pier_buf *buf = lacks_data ? t->src : t->dst;

	if (pier__rdma_of(t->task.ctx)->cfg.empty_bufs)
		return 0;
	if (lacks_data)
		return pier__fail(-EINVAL, "%s: the source has no data, only "
				  "%zu bytes of tail space: set its data by "
				  "pier_buf_set_data(), or use NULL as source "
				  "to move nothing", type->name,
				  pier_buf_chain_tail_len(buf));
	return pier__fail(-EINVAL, "%s: the destination has no tail space, "
			  "only %zu bytes of data: remove them by "
			  "pier_buf_reset(), or use NULL as %s to move nothing",
			  type->name,
			  pier_buf_chain_data_len(buf),
			  type->src ? "source" : "destination");
}

int pier__rdma_build(struct pier__rdma_task *t)
{
	const struct pier__task_type *type = pier__rdma_type(t);
	int n = check_held(t);

	if (!n)
		n = type->build(t);
	if (!n && (t->src || t->dst))
		n = check_empty(t);
	if (n < 0)
		return n;
	pier__buf_bind(t->src, pier__ctx_guard(t->task.ctx));
	pier__buf_bind(t->dst, pier__ctx_guard(t->task.ctx));
	remember(&t->src_built, t->src);
	remember(&t->dst_built, t->dst);
	if (type->receives) {
		t->wr.recv.num_sge = n;
		t->wr.recv.next = NULL;
		return 0;
	}
	t->wr.send.num_sge = n;
	t->wr.send.send_flags = may_inline(t) ? IBV_SEND_INLINE : 0;
	return 0;
}
