/* SPDX-License-Identifier: BSD-2-Clause */
/* Work requests posted. */
#include <errno.h>

#include "core/roce.h"
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
		err = pier__dropin_is_local(wr) ?
			      pier__dropin_post_local(queue, &one) :
			      pier__soft_qp_post(queue, &one, &one_bad);
		if (err) {
			*bad = wr;
			return err;
		}
	}
	return 0;
}

/* The chain, in which local requests are rare. */
static int post_chain(struct soft_qp *queue, struct ibv_send_wr *wr,
		      struct ibv_send_wr **bad)
{
	int err = pier__soft_qp_post(queue, wr, bad);

	while (err && pier__dropin_is_local(*bad)) {
		err = pier__dropin_post_local(queue, *bad);
		if (err)
			break;
		/* Also without a request behind it: what waits for one goes. */
		err = pier__soft_qp_post(queue, (*bad)->next, bad);
	}
	return err;
}

/* To a RoCE device, whose replies come to its UDP port. */
static int send_datagram(struct soft_chan *chan, const struct dropin_qp *qp,
			 const struct ibv_send_wr *wr)
{
	const struct dropin_ah *ah = (const struct dropin_ah *)wr->wr.ud.ah;
	uint16_t udp_port;
	int err = 0;

	if (!ah || ah->ah.context != qp->qp.context)
		return -EINVAL;
	udp_port = pier__dropin_port_of(wr->wr.ud.remote_qpn,
					ah->way.dst.s6_addr);
	if (udp_port == ROCE_UDP_PORT)
		err = pier__soft_chan_roce_port_hold(chan);
	return err ? err : pier__soft_ud_send(qp->queue, wr, &ah->way,
					      udp_port);
}

static int post_datagrams(struct soft_chan *chan, struct dropin_qp *qp,
			  struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct ibv_send_wr one;
	int err;

	for (; wr; wr = wr->next) {
		one = *wr;
		if (qp->signal_all)
			one.send_flags |= IBV_SEND_SIGNALED;
		err = send_datagram(chan, qp, &one);
		if (err) {
			*bad = wr;
			return err;
		}
	}
	return 0;
}

static int post(struct soft_chan *chan, struct dropin_qp *qp,
		struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	if (qp->qp.qp_type == IBV_QPT_UD)
		return post_datagrams(chan, qp, wr, bad);
	return qp->signal_all ? post_signalled(qp->queue, wr, bad) :
				post_chain(qp->queue, wr, bad);
}

int pier__dropin_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
			   struct ibv_send_wr **bad)
{
	struct soft_chan *chan = dropin_chan(ibqp->context);
	struct dropin_qp *qp = (struct dropin_qp *)ibqp;
	int err;

	pier__soft_chan_begin(chan);
	err = post(chan, qp, wr, bad);
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
