/* SPDX-License-Identifier: BSD-2-Clause */
/* Protection domains and memory regions. */
#include <errno.h>
#include <stdlib.h>

#include "dropin/dropin.h"
#include "fabric/soft/soft.h"

#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct dropin_pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return pier__dropin_null(-ENOMEM);
	pd->pd.context = context;
	return &pd->pd;
}

int ibv_dealloc_pd(struct ibv_pd *ibpd)
{
	struct dropin_pd *pd = (struct dropin_pd *)ibpd;

	if (atomic_load(&pd->objects))
		return EBUSY;
	free(pd);
	return 0;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			  int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr,
				(unsigned int)access);
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length,
			       uint64_t iova, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, iova, (unsigned int)access);
}

/* A device may ignore flags of the optional range. */
struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
				uint64_t iova, unsigned int access)
{
	struct dropin_context *ctx = dropin_of(pd->context);
	struct dropin_mr *mr;
	int err;

	access &= ~IBV_ACCESS_OPTIONAL_RANGE;
	if (iova != (uintptr_t)addr || access & ~(unsigned int)ACCESS)
		return pier__dropin_null(-EOPNOTSUPP);
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return pier__dropin_null(-ENOMEM);
	err = pier__soft_dev.reg(ctx->fdev, addr, length, (int)access,
				 &mr->region);
	if (err) {
		free(mr);
		return pier__dropin_null(err);
	}

	mr->mr.context = pd->context;
	mr->mr.pd = pd;
	mr->mr.addr = addr;
	mr->mr.length = length;
	mr->mr.lkey = mr->region->lkey;
	mr->mr.rkey = mr->region->rkey;
	atomic_fetch_add(&((struct dropin_pd *)pd)->objects, 1);
	return &mr->mr;
}

int ibv_dereg_mr(struct ibv_mr *ibmr)
{
	struct dropin_mr *mr = (struct dropin_mr *)ibmr;

	pier__soft_dev.dereg(mr->region);
	atomic_fetch_sub(&((struct dropin_pd *)ibmr->pd)->objects, 1);
	free(mr);
	return 0;
}
