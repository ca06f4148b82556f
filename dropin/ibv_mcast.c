/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast groups of datagrams, which are those of IP. */
#include <errno.h>
#include <string.h>

#include "dropin/dropin.h"

int ibv_attach_mcast(struct ibv_qp *ibqp, const union ibv_gid *gid,
		     uint16_t lid)
{
	struct soft_chan *chan = dropin_chan(ibqp->context);
	struct dropin_qp *qp = (struct dropin_qp *)ibqp;
	struct in6_addr group;
	int err;

	(void)lid;		/* RoCE has none */
	if (ibqp->qp_type != IBV_QPT_UD)
		return EINVAL;
	memcpy(&group, gid, sizeof(group));
	pier__soft_chan_begin(chan);
	err = pier__soft_chan_join(chan, qp->queue, &group);
	pier__soft_chan_end(chan, 0);
	return pier__dropin_errno(err);
}

int ibv_detach_mcast(struct ibv_qp *ibqp, const union ibv_gid *gid,
		     uint16_t lid)
{
	struct soft_chan *chan = dropin_chan(ibqp->context);
	struct dropin_qp *qp = (struct dropin_qp *)ibqp;
	struct in6_addr group;
	bool was;

	(void)lid;
	memcpy(&group, gid, sizeof(group));
	pier__soft_chan_begin(chan);
	was = pier__soft_chan_leave(chan, qp->queue, &group);
	pier__soft_chan_end(chan, 0);
	return was ? 0 : EINVAL;
}
