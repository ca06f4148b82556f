/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory windows. */
#include <errno.h>
#include <stdlib.h>

#include "dropin/dropin.h"
#include "fabric/soft/rc/window.h"

struct dropin_mw {
	struct ibv_mw mw;		/* first */
	struct soft_window *window;	/* owned */
};

static struct dropin_mw *mw_of(struct ibv_mw *mw)
{
	return (struct dropin_mw *)mw;
}

struct ibv_mw *pier__dropin_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct soft_chan *chan = dropin_chan(pd->context);
	struct dropin_mw *mw;
	int err;

	if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2)
		return pier__dropin_null(-EINVAL);
	mw = calloc(1, sizeof(*mw));
	if (!mw)
		return pier__dropin_null(-ENOMEM);
	pier__soft_chan_begin(chan);
	err = pier__soft_window_create(chan->ep, pier__dropin_pd_of(pd),
				       &mw->window);
	pier__soft_chan_end(chan, 0);
	if (err) {
		free(mw);
		return pier__dropin_null(err);
	}

	mw->mw.context = pd->context;
	mw->mw.pd = pd;
	mw->mw.type = type;
	mw->mw.rkey = pier__soft_window_key(mw->window);
	pier__dropin_pd_count(pd, 1);
	return &mw->mw;
}

int pier__dropin_dealloc_mw(struct ibv_mw *mw)
{
	struct soft_chan *chan = dropin_chan(mw->context);

	if (pier__dropin_inherited(mw->context))
		return 0;
	pier__soft_chan_begin(chan);
	pier__soft_window_destroy(chan->ep, mw_of(mw)->window);
	pier__soft_chan_end(chan, 0);
	pier__dropin_pd_count(mw->pd, -1);
	free(mw);
	return 0;
}

static struct soft_binding binding(const struct ibv_mw_bind_info *info,
				   bool by_qp)
{
	struct soft_binding to = {
		.addr = info->addr,
		.len = info->length,
		.access = (int)info->mw_access_flags,
		.by_qp = by_qp,
	};

	if (info->mr)
		to.region = (struct soft_mr *)
			    ((struct dropin_mr *)info->mr)->region;
	return to;
}

bool pier__dropin_is_local(const struct ibv_send_wr *wr)
{
	return wr->opcode == IBV_WR_LOCAL_INV || wr->opcode == IBV_WR_BIND_MW;
}

int pier__dropin_post_local(struct soft_qp *queue,
			    const struct ibv_send_wr *wr)
{
	struct soft_local op = {
		.wr_id = wr->wr_id,
		.flags = wr->send_flags,
	};

	if (wr->opcode == IBV_WR_LOCAL_INV) {
		op.key = wr->invalidate_rkey;
		return pier__soft_local_post(queue, &op);
	}
	if (!wr->bind_mw.mw || wr->bind_mw.mw->type != IBV_MW_TYPE_2)
		return -EINVAL;
	op.window = mw_of(wr->bind_mw.mw)->window;
	op.to = binding(&wr->bind_mw.bind_info, true);
	op.key = wr->bind_mw.rkey;
	return pier__soft_local_post(queue, &op);
}

/* The new key is known when the call returns. */
int pier__dropin_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw,
			 struct ibv_mw_bind *bind)
{
	struct soft_chan *chan = dropin_chan(ibqp->context);
	struct dropin_qp *qp = (struct dropin_qp *)ibqp;
	struct soft_local op = {
		.wr_id = bind->wr_id,
		.flags = bind->send_flags |
			 (qp->signal_all ? IBV_SEND_SIGNALED : 0),
		.window = mw_of(mw)->window,
		.to = binding(&bind->bind_info, false),
	};
	int err;

	if (bind->bind_info.length && !bind->bind_info.mr)
		return EINVAL;
	if (mw->pd != ibqp->pd)
		return EPERM;
	pier__soft_chan_begin(chan);
	err = pier__soft_local_post(qp->queue, &op);
	mw->rkey = pier__soft_window_key(op.window);
	pier__soft_chan_end(chan, 0);
	return pier__dropin_errno(err);
}
