/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that the peer writes by its offset: riomap(3), riowrite(3). */
#include <errno.h>
#include <sys/mman.h>

#include "dropin/rsocket/rs.h"

static int free_place(const struct rs *rs)
{
	uint32_t i, count = rs->peer_iomaps < RS_IOMAPS ? rs->peer_iomaps :
							  RS_IOMAPS;

	for (i = 0; i < count; i++)
		if (!rs->mapped[i].mr)
			return (int)i;
	return -1;
}

off_t riomap(int fd, void *buf, size_t len, int prot, int flags, off_t offset)
{
	int access = IBV_ACCESS_LOCAL_WRITE |
		     (prot & PROT_WRITE ? IBV_ACCESS_REMOTE_WRITE : 0);
	struct rs *rs = pier__rs_find(fd);
	struct rs_mapped *mapped;
	off_t ret = -1;
	int i;

	if (!rs)
		return -1;
	if (rs->datagram || flags || len > UINT32_MAX ||
	    prot & ~(PROT_WRITE | PROT_NONE)) {
		errno = EINVAL;
		return -1;
	}
	if (pier__rs_lock(rs, fd))
		return -1;
	i = rs->cq ? free_place(rs) : -1;
	errno = rs->cq ? ENOBUFS : EINVAL;
	mapped = i < 0 ? NULL : &rs->mapped[i];
	if (mapped)
		mapped->mr = ibv_reg_mr(rs->id->pd, buf, len, access);
	if (mapped && mapped->mr) {
		mapped->buf = buf;
		mapped->len = len;
		mapped->offset = offset >= 0 ? (uint64_t)offset :
					       (uintptr_t)buf;
		mapped->pending = true;
		rs->any_pending = true;
		ret = (off_t)mapped->offset;
	}
	pier__rs_unlock(rs);
	return ret;
}

int riounmap(int fd, void *buf, size_t len)
{
	struct rs *rs = pier__rs_find(fd);
	int i, ret = -1;

	if (!rs)
		return -1;
	if (pier__rs_lock(rs, fd))
		return -1;
	errno = EINVAL;
	for (i = 0; i < RS_IOMAPS && ret; i++) {
		if (!rs->mapped[i].mr || rs->mapped[i].buf != buf ||
		    rs->mapped[i].len != len)
			continue;
		ibv_dereg_mr(rs->mapped[i].mr);
		rs->mapped[i].mr = NULL;
		rs->mapped[i].pending = false;
		ret = 0;
	}
	pier__rs_unlock(rs);
	return ret;
}

static int send_iomap(struct rs *rs, uint32_t i)
{
	const struct rs_mapped *mapped = &rs->mapped[i];
	struct rs_iomap iomap = {
		.offset = mapped->offset,
		.range = { (uintptr_t)mapped->buf, mapped->mr->rkey,
			   (uint32_t)mapped->len },
	};
	uint64_t to = rs->peer_table.addr +
		      rs->peer_table.len * sizeof(struct rs_range) +
		      i * sizeof(iomap);

	if (rs->swap)
		iomap = (struct rs_iomap){
			__builtin_bswap64(iomap.offset),
			{ __builtin_bswap64(iomap.range.addr),
			  __builtin_bswap32(iomap.range.key),
			  __builtin_bswap32(iomap.range.len) },
		};
	rs->seq++;
	return pier__rs_post(rs, RS_IOMAP, i, &iomap, sizeof(iomap), to,
			     rs->peer_table.key);
}

int pier__rs_send_iomaps(struct rs *rs)
{
	uint32_t i;

	for (i = 0; i < RS_IOMAPS; i++) {
		if (!rs->mapped[i].pending)
			continue;
		if (pier__rs_wait(rs, pier__rs_can_send, false))
			return -1;
		if (rs->state != RS_CONNECTED || !rs->writable) {
			errno = pier__rs_cannot_send(rs);
			return -1;
		}
		if (send_iomap(rs, i))
			return -1;
		rs->mapped[i].pending = false;
	}
	rs->any_pending = false;
	return 0;
}

static struct rs_iomap native(const struct rs *rs, uint32_t i)
{
	struct rs_iomap ret = rs->table->iomap[i];

	if (rs->swap)
		ret = (struct rs_iomap){
			__builtin_bswap64(ret.offset),
			{ __builtin_bswap64(ret.range.addr),
			  __builtin_bswap32(ret.range.key),
			  __builtin_bswap32(ret.range.len) },
		};
	return ret;
}

/* Where @offset is at the peer, and what follows.  Returns false: nowhere. */
static bool find(const struct rs *rs, uint64_t offset, struct rs_range *ret)
{
	struct rs_iomap iomap;
	uint64_t within;
	uint32_t i;

	for (i = 0; i < rs->iomaps; i++) {
		iomap = native(rs, i);
		within = offset - iomap.offset;
		if (offset < iomap.offset || within >= iomap.range.len)
			continue;
		*ret = iomap.range;
		ret->addr += within;
		ret->len -= (uint32_t)within;
		return true;
	}
	errno = EFAULT;
	return false;
}

static bool can_write(const struct rs *rs)
{
	if (rs->state == RS_CONNECTING)
		return false;
	return rs->state != RS_CONNECTED || !rs->writable ||
	       (rs->sends && rs->send_free);
}

/* Returns how many bytes, or -1 with errno. */
static ssize_t write_some(struct rs *rs, const uint8_t *src, size_t len,
			  uint64_t offset, bool now)
{
	struct rs_range to;
	uint8_t *staged;
	uint32_t n;

	if (pier__rs_wait(rs, can_write, now))
		return -1;
	if (rs->state != RS_CONNECTED || !rs->writable) {
		errno = pier__rs_cannot_send(rs);
		return -1;
	}
	if (!find(rs, offset, &to))
		return -1;
	n = pier__rs_stage(rs, src, len < to.len ? len : to.len, &staged);
	if (pier__rs_post(rs, RS_WRITE, 0, staged, n, to.addr, to.key))
		return -1;
	return n;
}

size_t riowrite(int fd, const void *buf, size_t count, off_t offset, int flags)
{
	struct rs *rs = pier__rs_find(fd);
	size_t done = 0;
	ssize_t n = 0;

	if (!rs)
		return (size_t)-1;
	if (rs->datagram) {
		errno = EOPNOTSUPP;
		return (size_t)-1;
	}
	if (pier__rs_lock(rs, fd))
		return (size_t)-1;
	if (rs->any_pending)
		n = pier__rs_send_iomaps(rs);
	while (n >= 0 && done < count) {
		n = write_some(rs, (const uint8_t *)buf + done, count - done,
			       (uint64_t)offset + done, flags & MSG_DONTWAIT);
		if (n > 0)
			done += (size_t)n;
	}
	pier__rs_unlock(rs);
	return done || !count ? done : (size_t)-1;
}
