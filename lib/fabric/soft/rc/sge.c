/* SPDX-License-Identifier: BSD-2-Clause */
/* Scatter/gather lists: lists of keys and addresses as memory. */
#include <errno.h>
#include <string.h>

#include "core/device_access.h"
#include "core/landing.h"
#include "fabric/soft/rc/qp.h"

/* The same for verbs. */
static int copy_guarded(void *dst, const void *src, size_t len)
{
	uint64_t word;

	if (len == sizeof(word) && (uintptr_t)dst % sizeof(word) == 0) {
		memcpy(&word, src, sizeof(word));
		return pier__landing_store(dst, word);
	}
	return len ? pier__landing_copy(dst, src, len) : 0;
}

int pier__soft_readable(const struct soft_ep *ep, const struct iovec *iov,
			int count)
{
	int err = 0, i;

	for (i = 0; ep->verbs && !err && i < count; i++)
		err = pier__landing_read(iov[i].iov_base, iov[i].iov_len);
	return err;
}

int pier__soft_copy(const struct soft_ep *ep, void *dst, const void *src,
		    size_t len)
{
	uint64_t word;

	if (ep->verbs)
		return copy_guarded(dst, src, len);

	pier__device_access_begin();
	if (len == sizeof(word) && (uintptr_t)dst % sizeof(word) == 0) {
		memcpy(&word, src, sizeof(word));
		__atomic_store_n((uint64_t *)dst, word, __ATOMIC_RELEASE);
	} else if (len) {
		memcpy(dst, src, len);
	}
	pier__device_access_end();
	return 0;
}

/* Skip @off bytes.  Returns the entry; *@off is then the offset in it. */
static uint32_t sge_seek(const struct ibv_sge *sge, uint32_t sges,
			 uint32_t *off)
{
	uint32_t i = 0;

	while (i < sges && *off >= sge[i].length)
		*off -= sge[i++].length;
	return i;
}

void *pier__soft_memory(const struct soft_qp *qp, uint32_t rkey, uint64_t addr,
			size_t len, int access)
{
	const struct soft_mr *mr = pier__soft_mr_find(qp->ep->keys, rkey, addr,
						      len, access);

	if (!mr || !pier__soft_mr_is_for(mr, qp->pd, qp->qpn))
		return NULL;
	return (void *)(uintptr_t)(addr + mr->shift);
}

int pier__soft_sge_map(const struct soft_qp *qp, const struct ibv_sge *sge,
		       uint32_t sges, uint32_t off, uint32_t len, int access,
		       struct iovec *iov)
{
	uint32_t i = sge_seek(sge, sges, &off), part;
	const struct soft_mr *mr;
	uint64_t addr;
	int n = 0;

	for (; len && i < sges; i++, off = 0) {
		part = sge[i].length - off < len ? sge[i].length - off : len;
		if (!part)
			continue;
		addr = sge[i].addr + off;
		mr = pier__soft_mr_find(qp->ep->keys, sge[i].lkey, addr, part,
					access);
		if (!mr || !pier__soft_mr_is_for(mr, qp->pd, 0))
			return -EACCES;
		iov[n].iov_base = (void *)(uintptr_t)(addr + mr->shift);
		iov[n++].iov_len = part;
		len -= part;
	}
	return n;
}

int pier__soft_sge_fill(const struct soft_qp *qp, const struct ibv_sge *sge,
			uint32_t sges, uint32_t off, const void *src,
			uint32_t len)
{
	struct iovec iov[SOFT_RECV_SGE];
	const uint8_t *from = src;
	int i, n;

	n = pier__soft_sge_map(qp, sge, sges, off, len,
			       IBV_ACCESS_LOCAL_WRITE, iov);
	if (n < 0)
		return n;
	for (i = 0; i < n; i++) {
		if (pier__soft_copy(qp->ep, iov[i].iov_base, from,
				    iov[i].iov_len))
			return -EFAULT;
		from += iov[i].iov_len;
	}
	return 0;
}
