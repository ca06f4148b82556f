/* SPDX-License-Identifier: BSD-2-Clause */
/* The shared receive queue of an id. */
#include <errno.h>

#include <rdma/rdma_verbs.h>

#include "dropin/cma/cma.h"
#include "dropin/cma/cma_real.h"

int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd,
		    struct ibv_srq_init_attr *attr)
{
	if (id && cma_of(id)->real)
		return pier__cma_real_create_srq(cma_of(id), pd, attr);
	if (!id || !id->verbs || id->srq || !attr)
		return pier__cma_result(-EINVAL);
	if (!pd)
		pd = id->pd;
	if (pd->context != id->verbs)
		return pier__cma_result(-EINVAL);
	id->srq = ibv_create_srq(pd, attr);
	if (!id->srq)
		return -1;
	id->pd = pd;
	return 0;
}

/* Basic ones; others have what soft devices do not. */
int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr)
{
	struct ibv_srq_init_attr basic;
	struct ibv_pd *pd = NULL;
	int err;

	if (!id || !attr)
		return pier__cma_result(-EINVAL);
	if (attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE &&
	    attr->srq_type != IBV_SRQT_BASIC)
		return pier__cma_result(-EOPNOTSUPP);
	if (attr->comp_mask & IBV_SRQ_INIT_ATTR_PD)
		pd = attr->pd;
	basic.srq_context = attr->srq_context;
	basic.attr = attr->attr;
	err = rdma_create_srq(id, pd, &basic);
	if (!err)
		attr->attr = basic.attr;
	return err;
}

void rdma_destroy_srq(struct rdma_cm_id *id)
{
	if (cma_of(id)->real) {
		pier__cma_real_destroy_srq(cma_of(id));
		return;
	}
	if (id->srq)
		ibv_destroy_srq(id->srq);
	id->srq = NULL;
}
