/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory regions. */
#include <errno.h>
#include <stdlib.h>

#include "dropin/dropin.h"
#include "fabric/soft/soft.h"

#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | \
		IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED | \
		IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB)
/* What a program can have mapped without asking for more. */
#ifdef __x86_64__
#define ALL_MEMORY (UINT64_C(1) << 47)
#else
#define ALL_MEMORY (UINT64_C(1) << 52)
#endif

static struct soft_mr *region_of(struct ibv_mr *mr)
{
	return (struct soft_mr *)((struct dropin_mr *)mr)->region;
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
	if (access & ~(unsigned int)ACCESS)
		return pier__dropin_null(-EOPNOTSUPP);
	/* All that is mapped, at any time. */
	if (!addr && length == SIZE_MAX && access & IBV_ACCESS_ON_DEMAND)
		length = ALL_MEMORY;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return pier__dropin_null(-ENOMEM);
	err = pier__soft_reg_in(ctx->fdev, pier__dropin_pd_of(pd), addr,
				length,
				access & IBV_ACCESS_ZERO_BASED ? 0 : iova,
				(int)access, &mr->region);
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
	pier__dropin_pd_count(pd, 1);
	return &mr->mr;
}

/*
 * Windows that are bound have its keys: then it stays.  Otherwise none is bound
 * any more, by other threads.  Returns false: there are some.
 */
static bool close_for_windows(struct ibv_mr *mr)
{
	struct soft_chan *chan = dropin_chan(mr->context);
	struct soft_mr *region = region_of(mr);
	bool ret;

	pier__soft_chan_begin(chan);
	ret = !region->windows;
	if (ret)
		region->access &= ~IBV_ACCESS_MW_BIND;
	pier__soft_chan_end(chan, 0);
	return ret;
}

int ibv_dereg_mr(struct ibv_mr *ibmr)
{
	struct dropin_mr *mr = (struct dropin_mr *)ibmr;

	if (pier__dropin_inherited(ibmr->context))
		return 0;
	if (!close_for_windows(ibmr))
		return EBUSY;
	pier__soft_dev.dereg(mr->region);
	pier__dropin_pd_count(ibmr->pd, -1);
	free(mr);
	return 0;
}

static int input_error(int number)
{
	errno = number;
	return IBV_REREG_MR_ERR_INPUT;
}

/* What @flags names changes at once, for requests that are posted, too. */
static void change(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr,
		   size_t length, int access)
{
	struct soft_mr *region = region_of(mr);

	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
		region->addr = (uintptr_t)addr;
		region->shift = 0;
		region->len = length;
		mr->addr = addr;
		mr->length = length;
	}
	if (flags & IBV_REREG_MR_CHANGE_ACCESS)
		region->access = access;
	if (!(flags & IBV_REREG_MR_CHANGE_PD))
		return;
	region->pd = pier__dropin_pd_of(pd);
	pier__dropin_pd_count(mr->pd, -1);
	pier__dropin_pd_count(pd, 1);
	mr->pd = pd;
}

/* The keys stay the same.  If it fails, the region stays as it was. */
int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr,
		 size_t length, int access)
{
	struct soft_chan *chan = dropin_chan(mr->context);
	struct soft_mr *region = region_of(mr);
	int err;

	if (flags & ~IBV_REREG_MR_FLAGS_SUPPORTED || !flags)
		return input_error(EINVAL);
	if (flags & IBV_REREG_MR_CHANGE_PD &&
	    (!pd || pd->context != mr->context))
		return input_error(EINVAL);
	access &= (int)~(unsigned int)IBV_ACCESS_OPTIONAL_RANGE;
	if (flags & IBV_REREG_MR_CHANGE_ACCESS && access & ~ACCESS)
		return input_error(EOPNOTSUPP);
	err = pier__soft_reg_check(
		flags & IBV_REREG_MR_CHANGE_TRANSLATION ? addr : mr->addr,
		flags & IBV_REREG_MR_CHANGE_TRANSLATION ? length : mr->length,
		flags & IBV_REREG_MR_CHANGE_ACCESS ? access : region->access);
	if (err)
		return input_error(-err);
	pier__soft_chan_begin(chan);
	if (region->windows)
		err = EBUSY;
	else
		change(mr, flags, pd, addr, length, access);
	pier__soft_chan_end(chan, 0);
	return err ? input_error(err) : 0;
}

/* Memory is there when it is used.  The keys and ranges are checked. */
int pier__dropin_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice,
			   uint32_t flags, struct ibv_sge *sge, uint32_t count)
{
	struct soft_chan *chan = dropin_chan(pd->context);
	bool writes = advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	const struct soft_mr *region;
	int err = 0;
	uint32_t i;

	if (flags & ~(uint32_t)IBV_ADVISE_MR_FLAG_FLUSH || !count)
		return EINVAL;
	if (advice > IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return EOPNOTSUPP;
	pier__soft_chan_begin(chan);
	for (i = 0; i < count && !err; i++) {
		region = pier__soft_mr_find(chan->ep->keys, sge[i].lkey,
					    sge[i].addr, sge[i].length,
					    writes ? IBV_ACCESS_LOCAL_WRITE :
						     0);
		if (!region || !(region->access & IBV_ACCESS_ON_DEMAND) ||
		    !pier__soft_mr_is_for(region, pier__dropin_pd_of(pd), 0))
			err = EINVAL;
	}
	pier__soft_chan_end(chan, 0);
	return err;
}
