/* SPDX-License-Identifier: BSD-2-Clause */
/* Regions by their attributes, and memory that the library allocates. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "dropin/dropin.h"
#include "dropin/real/real.h"

/* Of rdma-core from 59 on, whose headers may be older here. */
struct region_attr {			/* ibv_mr_init_attr */
	size_t length;
	int access;
	uint64_t mask;
	uint64_t iova;
	void *addr;
	int fd;
	uint64_t fd_offset;
	struct ibv_dmah *dmah;
	struct ibv_buf *buf;		/* since 64 */
};

enum {
	HAS_IOVA = 1 << 0,
	HAS_ADDR = 1 << 1,
	HAS_FD = 1 << 2,
	HAS_FD_OFFSET = 1 << 3,
	HAS_BUF = 1 << 5,
};

struct dropin_buf {
	const void *kind;		/* first: &soft_buf */
	struct ibv_pd *pd;
	void *addr;			/* owned */
	size_t size;
};

static const char soft_buf;

bool pier__dropin_buf_is_soft(const struct ibv_buf *buf)
{
	return ((const struct dropin_buf *)buf)->kind == &soft_buf;
}

void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **ret)
{
	struct dropin_buf *buf = calloc(1, sizeof(*buf));
	int err;

	if (!buf)
		return NULL;
	err = posix_memalign(&buf->addr, (size_t)sysconf(_SC_PAGESIZE), size);
	if (err) {
		free(buf);
		return pier__dropin_null(-err);
	}
	buf->kind = &soft_buf;
	buf->pd = pd;
	buf->size = size;
	*ret = (struct ibv_buf *)buf;
	return buf->addr;
}

void ibv_free_buf(struct ibv_buf *ibuf)
{
	struct dropin_buf *buf = (struct dropin_buf *)ibuf;

	free(buf->addr);
	free(buf);
}

/* Are @len bytes at @addr of @pd within @buf? */
static bool is_within(const struct dropin_buf *buf, const struct ibv_pd *pd,
		      const void *addr, size_t len)
{
	uintptr_t at = (uintptr_t)addr - (uintptr_t)buf->addr;

	return buf->pd == pd && (uintptr_t)addr >= (uintptr_t)buf->addr &&
	       at <= buf->size && len <= buf->size - at;
}

/* What soft devices do not have, as dma-bufs, fails. */
struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *init)
{
	const struct region_attr *attr = (const struct region_attr *)init;
	uint64_t mask = attr->mask;

	if (mask & ~(uint64_t)(HAS_IOVA | HAS_ADDR | HAS_FD | HAS_FD_OFFSET |
			       HAS_BUF))
		return pier__dropin_null(-EOPNOTSUPP);
	if (mask & HAS_FD && !(mask & (HAS_ADDR | HAS_BUF)))
		return pier__dropin_null(-EOPNOTSUPP);
	if (!(mask & HAS_ADDR) || mask & (HAS_FD | HAS_FD_OFFSET))
		return pier__dropin_null(-EINVAL);
	if (mask & HAS_BUF &&
	    !is_within((const struct dropin_buf *)attr->buf, pd, attr->addr,
		       attr->length))
		return pier__dropin_null(-EINVAL);
	return ibv_reg_mr_iova2(pd, attr->addr, attr->length,
				mask & HAS_IOVA ? attr->iova :
						  (uintptr_t)attr->addr,
				(unsigned int)attr->access);
}

struct ibv_mr *ibv_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *buf,
			      void *addr, size_t length, int access)
{
	struct region_attr attr = {
		.length = length,
		.access = access,
		.mask = HAS_ADDR | HAS_BUF,
		.addr = addr,
		.buf = buf,
	};

	return ibv_reg_mr_ex(pd, (struct ibv_mr_init_attr *)&attr);
}
