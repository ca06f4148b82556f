/* SPDX-License-Identifier: BSD-2-Clause */
/* Work requests posted. */
#include <errno.h>

#include "dropin/dropin.h"

/* All of the chain are to be signalled, which the program has not written. */
static int post_signalled(struct soft_qp *queue, struct ibv_send_wr *wr,
			  struct ibv_send_wr **bad)
{
	struct ibv_send_wr one, *one_bad;
	int err;

	for (; wr; wr = wr->next) {
		one = *wr;
		one.next = NULL;
		one.send_flags |= IBV_SEND_SIGNALED;
		err = pier__soft_qp_post(queue, &one, &one_bad);
		if (err) {
			*bad = wr;
			return err;
		}
	}
	return 0;
}

int pier__dropin_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
			   struct ibv_send_wr **bad)
{
	struct soft_chan *chan = dropin_chan(ibqp->context);
	struct dropin_qp *qp = (struct dropin_qp *)ibqp;
	int err;

	pier__soft_chan_begin(chan);
	err = qp->signal_all ? post_signalled(qp->queue, wr, bad) :
			       pier__soft_qp_post(qp->queue, wr, bad);
	pier__soft_ep_send_posted(chan->ep, true);
	pier__soft_chan_end(chan, 0);
	return pier__dropin_errno(err);
}

static int post_receives(struct soft_chan *chan, struct soft_srq *queue,
			 struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int err;

	pier__soft_chan_begin(chan);
	err = pier__soft_srq_post(queue, wr, bad);
	pier__soft_chan_end(chan, 0);
	return pier__dropin_errno(err);
}

int pier__dropin_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
			   struct ibv_recv_wr **bad)
{
	struct dropin_qp *qp = (struct dropin_qp *)ibqp;

	if (!qp->own || ibqp->state == IBV_QPS_RESET) {
		*bad = wr;
		return EINVAL;
	}
	return post_receives(dropin_chan(ibqp->context), qp->own, wr, bad);
}

int pier__dropin_post_srq(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			  struct ibv_recv_wr **bad)
{
	return post_receives(dropin_chan(srq->context),
			     ((struct dropin_srq *)srq)->queue, wr, bad);
}
