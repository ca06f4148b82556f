/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs: state and attributes. */
#include <errno.h>

#include "core/roce.h"
#include "dropin/cm.h"
#include "dropin/dropin.h"
#include "fabric/soft/io/fdev.h"

/* What of @attr @mask names, for a query. */
static void remember(struct ibv_qp_attr *to, const struct ibv_qp_attr *attr,
		     int mask)
{
	if (mask & IBV_QP_ACCESS_FLAGS)
		to->qp_access_flags = attr->qp_access_flags;
	if (mask & IBV_QP_PKEY_INDEX)
		to->pkey_index = attr->pkey_index;
	if (mask & IBV_QP_PORT)
		to->port_num = attr->port_num;
	if (mask & IBV_QP_AV)
		to->ah_attr = attr->ah_attr;
	if (mask & IBV_QP_PATH_MTU)
		to->path_mtu = attr->path_mtu;
	if (mask & IBV_QP_TIMEOUT)
		to->timeout = attr->timeout;
	if (mask & IBV_QP_RETRY_CNT)
		to->retry_cnt = attr->retry_cnt;
	if (mask & IBV_QP_RNR_RETRY)
		to->rnr_retry = attr->rnr_retry;
	if (mask & IBV_QP_RQ_PSN)
		to->rq_psn = attr->rq_psn;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IBV_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IBV_QP_SQ_PSN)
		to->sq_psn = attr->sq_psn;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	if (mask & IBV_QP_QKEY)
		to->qkey = attr->qkey;
	if (mask & IBV_QP_DEST_QPN)
		to->dest_qp_num = attr->dest_qp_num;
}

/* Our address. */
static int find_source(struct soft_chan *chan, const struct ibv_qp_attr *attr,
		       struct soft_addr *ret)
{
	if (!attr->ah_attr.is_global)
		return -EINVAL;
	return pier__soft_gid(chan->chan.fdev, attr->ah_attr.grh.sgid_index,
			      ret);
}

/*
 * The way to the peer, which has @udp_port.  Between begin and end.
 * Sockets that were opened stay open if the move fails.
 */
static int find_way(struct soft_chan *chan, const struct soft_addr *src,
		    uint16_t udp_port, struct soft_io **ret)
{
	int err = 0;

	if (udp_port == ROCE_UDP_PORT)
		err = pier__soft_chan_roce_port_hold(chan);
	if (!err)
		err = pier__soft_chan_bound(chan, &src->ip, ret);
	return err;
}

static int modify(struct soft_chan *chan, struct dropin_qp *qp,
		  struct ibv_qp_attr *attr, int mask, uint16_t udp_port)
{
	struct soft_addr src = { .port = chan->io->port };
	struct soft_qp *queue = qp->queue;
	bool connects = mask & IBV_QP_AV && queue->state == IBV_QPS_INIT;
	struct soft_io *io = chan->io;
	int err = 0;

	if (mask & IBV_QP_PORT && attr->port_num != 1)
		return -EINVAL;
	if (mask & IBV_QP_AV)
		err = find_source(chan, attr, &src);
	if (!err && connects)
		err = find_way(chan, &src, udp_port, &io);
	if (!err)
		err = pier__soft_qp_modify(queue, attr, mask, &src, udp_port);
	if (!err && connects) {
		pier__soft_qp_send_by(queue, io);
		pier__soft_chan_show_peer(qp->row, &src, attr, udp_port);
		pier__soft_chan_connected(chan, queue);
	}
	return err;
}

/*
 * A RoCE device sends datagrams to port 4791 only, and a program may receive
 * before it sends any, or has an address handle.
 */
static void receive_from_roce(struct soft_chan *chan, struct dropin_qp *qp)
{
	if (qp->qp.qp_type == IBV_QPT_UD && qp->qp.state == IBV_QPS_RTR)
		pier__soft_chan_roce_port_want(chan, &qp->roce_port);
}

int pier__dropin_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr,
			   int mask, uint16_t udp_port)
{
	struct soft_chan *chan = dropin_chan(ibqp->context);
	struct dropin_qp *qp = (struct dropin_qp *)ibqp;
	int err;

	pier__soft_chan_begin(chan);
	err = modify(chan, qp, attr, mask, udp_port);
	if (!err) {
		remember(&qp->attr, attr, mask);
		ibqp->state = qp->queue->state;
		receive_from_roce(chan, qp);
	}
	if (!err && ibqp->state == IBV_QPS_RESET) {
		pier__dropin_dropped(ibqp->send_cq);
		pier__dropin_dropped(ibqp->recv_cq);
	}
	pier__soft_chan_end(chan, 0);
	return err;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	const uint8_t *gid = attr->ah_attr.grh.dgid.raw;
	uint16_t udp_port = pier__dropin_port_of(attr->dest_qp_num, gid);

	return pier__dropin_errno(pier__dropin_modify_qp(qp, attr, mask,
							 udp_port));
}

int ibv_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init)
{
	struct soft_chan *chan = dropin_chan(ibqp->context);
	struct dropin_qp *qp = (struct dropin_qp *)ibqp;

	(void)mask;		/* all is known at once */
	pier__soft_chan_begin(chan);
	ibqp->state = qp->queue->state;
	*attr = qp->attr;
	pier__soft_chan_end(chan, 0);
	attr->qp_state = ibqp->state;
	attr->cur_qp_state = ibqp->state;
	attr->path_mig_state = IBV_MIG_MIGRATED;
	attr->cap = qp->cap;
	*init = (struct ibv_qp_init_attr){
		.qp_context = ibqp->qp_context,
		.send_cq = ibqp->send_cq,
		.recv_cq = ibqp->recv_cq,
		.srq = ibqp->srq,
		.cap = qp->cap,
		.qp_type = ibqp->qp_type,
		.sq_sig_all = qp->signal_all,
	};
	return 0;
}
