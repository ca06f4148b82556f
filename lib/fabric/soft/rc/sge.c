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

/* For the keys of @pd. */
static inline int map(const struct soft_ep *ep, const void *pd,
		      const struct ibv_sge *sge, uint32_t sges, uint32_t off,
		      uint32_t len, int access, struct iovec *iov)
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
		mr = pier__soft_mr_find(ep->keys, sge[i].lkey, addr, part,
					access);
		if (!mr || !pier__soft_mr_is_for(mr, pd, 0))
			return -EACCES;
		iov[n].iov_base = (void *)(uintptr_t)(addr + mr->shift);
		iov[n++].iov_len = part;
		len -= part;
	}
	return n;
}

int pier__soft_sge_map(const struct soft_qp *qp, const struct ibv_sge *sge,
		       uint32_t sges, uint32_t off, uint32_t len, int access,
		       struct iovec *iov)
{
	return map(qp->ep, qp->pd, sge, sges, off, len, access, iov);
}

/* To the @n pieces of memory.  Errors: -EFAULT. */
static inline int fill(const struct soft_ep *ep, const struct iovec *iov,
		       int n, const uint8_t *from)
{
	int i;

	for (i = 0; i < n; i++) {
		if (pier__soft_copy(ep, iov[i].iov_base, from, iov[i].iov_len))
			return -EFAULT;
		from += iov[i].iov_len;
	}
	return 0;
}

int pier__soft_sge_fill(const struct soft_qp *qp, const struct ibv_sge *sge,
			uint32_t sges, uint32_t off, const void *src,
			uint32_t len)
{
	struct iovec iov[SOFT_RECV_SGE];
	int n;

	n = map(qp->ep, qp->pd, sge, sges, off, len, IBV_ACCESS_LOCAL_WRITE,
		iov);
	return n < 0 ? n : fill(qp->ep, iov, n, src);
}

int pier__soft_rwqe_fill(const struct soft_qp *qp,
			 const struct soft_rwqe *rwqe, uint32_t off,
			 const void *src, uint32_t len)
{
	struct iovec iov[SOFT_RECV_SGE];
	int n;

	n = map(qp->ep, qp->srq->pd, rwqe->sge, rwqe->sges, off, len,
		IBV_ACCESS_LOCAL_WRITE, iov);
	return n < 0 ? n : fill(qp->ep, iov, n, src);
}

int pier__soft_rwqe_take(const struct soft_qp *qp,
			 const struct soft_rwqe *rwqe, uint32_t off,
			 const struct soft_packet *in)
{
	const struct soft_pull *pull = in->pull;
	struct iovec iov[SOFT_RECV_SGE];
	int n;

	if (!pull)
		return pier__soft_rwqe_fill(qp, rwqe, off, in->data, in->len);
	n = map(qp->ep, qp->srq->pd, rwqe->sge, rwqe->sges, off, in->len,
		IBV_ACCESS_LOCAL_WRITE, iov);
	return n < 0 ? n : pull->io->ops->pull(pull->io, iov, n, pull);
}

int pier__soft_take(const struct soft_qp *qp, void *to,
		    const struct soft_packet *in)
{
	const struct soft_pull *pull = in->pull;
	const struct iovec iov = { to, in->len };

	if (!pull)
		return pier__soft_copy(qp->ep, to, in->data, in->len);
	return pull->io->ops->pull(pull->io, &iov, 1, pull);
}
