/* SPDX-License-Identifier: BSD-2-Clause */
/* Protection domains, thread domains and parents of both. */
#include <errno.h>
#include <stdlib.h>

#include "dropin/dropin.h"

static struct dropin_pd *pd_of(struct ibv_pd *pd)
{
	return (struct dropin_pd *)pd;
}

const void *pier__dropin_pd_of(struct ibv_pd *pd)
{
	return pd_of(pd)->parent ? pd_of(pd)->parent : pd_of(pd);
}

void pier__dropin_pd_count(struct ibv_pd *pd, int change)
{
	atomic_fetch_add(&pd_of(pd)->objects, change);
}

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
	struct dropin_pd *pd = pd_of(ibpd);

	if (pier__dropin_inherited(ibpd->context))
		return 0;
	if (atomic_load(&pd->objects))
		return EBUSY;
	if (pd->parent)
		pier__dropin_pd_count(&pd->parent->pd, -1);
	free(pd);
	return 0;
}

/* All objects of a device share a lock: these change nothing. */
struct ibv_td *pier__dropin_alloc_td(struct ibv_context *context,
				     struct ibv_td_init_attr *attr)
{
	struct ibv_td *td;

	if (attr->comp_mask)
		return pier__dropin_null(-EOPNOTSUPP);
	td = calloc(1, sizeof(*td));
	if (!td)
		return pier__dropin_null(-ENOMEM);
	td->context = context;
	return td;
}

int pier__dropin_dealloc_td(struct ibv_td *td)
{
	free(td);
	return 0;
}

/* Queues are memory of the device's own: no program can allocate it. */
struct ibv_pd *
pier__dropin_alloc_parent_domain(struct ibv_context *context,
				 struct ibv_parent_domain_init_attr *attr)
{
	struct ibv_pd *pd;

	if (attr->comp_mask & ~(uint32_t)IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)
		return pier__dropin_null(-EOPNOTSUPP);
	if (!attr->pd)
		return pier__dropin_null(-EINVAL);
	pd = ibv_alloc_pd(context);
	if (!pd)
		return NULL;
	pd_of(pd)->parent = (struct dropin_pd *)pier__dropin_pd_of(attr->pd);
	pier__dropin_pd_count(&pd_of(pd)->parent->pd, 1);
	return pd;
}
