/* SPDX-License-Identifier: BSD-2-Clause */
/* State transitions of queue pairs, as ibv_modify_qp(3). */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "core/fail.h"
#include "core/roce.h"
#include "core/sockaddr.h"
#include "fabric/soft/rc/post_direct.h"
#include "fabric/soft/rc/qp.h"
#include "fabric/soft/rc/window.h"

#define TO_INIT (IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define TO_RTR (IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | \
		IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | \
		IBV_QP_MIN_RNR_TIMER)
#define TO_RTS (IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | \
		IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC)
#define UD_TO_INIT (IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY)
#define LATER (IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | \
	       IBV_QP_PATH_MIG_STATE)
#define DRAINED (IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_AV | \
		 IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | \
		 IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC)

/* The transitions of an RC QP; RESET and ERR are reached from all states. */
static const struct move {
	enum ibv_qp_state from, to;
	int must, may;
} moves[] = {
	{ IBV_QPS_RESET, IBV_QPS_INIT, TO_INIT, 0 },
	{ IBV_QPS_INIT, IBV_QPS_INIT, 0, TO_INIT },
	{ IBV_QPS_INIT, IBV_QPS_RTR, TO_RTR,
	  IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS },
	{ IBV_QPS_RTR, IBV_QPS_RTS, TO_RTS, LATER },
	{ IBV_QPS_RTS, IBV_QPS_RTS, 0, LATER },
	{ IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY },
	{ IBV_QPS_SQD, IBV_QPS_SQD, 0, LATER | DRAINED },
	{ IBV_QPS_SQD, IBV_QPS_RTS, 0, LATER },
};

/*
 * The same of a UD QP, which sends at once: it has nothing to drain, and after
 * an error it is in ERR, not in SQE.
 */
static const struct move ud_moves[] = {
	{ IBV_QPS_RESET, IBV_QPS_INIT, UD_TO_INIT, 0 },
	{ IBV_QPS_INIT, IBV_QPS_INIT, 0, UD_TO_INIT },
	{ IBV_QPS_INIT, IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY },
	{ IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_QKEY },
	{ IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_QKEY },
	{ IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY },
	{ IBV_QPS_SQD, IBV_QPS_SQD, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY },
	{ IBV_QPS_SQD, IBV_QPS_RTS, 0, IBV_QP_QKEY },
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static int move_check(const struct soft_qp *qp, enum ibv_qp_state to, int mask)
{
	const struct move *move = qp->ud ? ud_moves : moves;
	const struct move *end = move + (qp->ud ? COUNT(ud_moves) :
						  COUNT(moves));

	mask &= ~(IBV_QP_STATE | IBV_QP_CUR_STATE);
	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		return 0;
	for (; move < end; move++) {
		if (move->from != qp->state || move->to != to)
			continue;
		if ((mask & move->must) != move->must ||
		    mask & ~(move->must | move->may))
			return pier__fail(-EINVAL, "QP %u from state %d to "
					  "%d with attributes %#x: needs %#x, "
					  "takes %#x", qp->qpn, qp->state, to,
					  mask, move->must, move->may);
		return 0;
	}
	return pier__fail(-EINVAL, "QP %u cannot go from state %d to %d",
			  qp->qpn, qp->state, to);
}

/* Of the numbers that @mask names. */
static int limits_check(const struct ibv_qp_attr *attr, int mask)
{
	const struct {
		int bit;
		const char *what;
		uint32_t value, max;
	} limits[] = {
		{ IBV_QP_PKEY_INDEX, "P_Key index", attr->pkey_index, 0 },
		{ IBV_QP_MIN_RNR_TIMER, "min_rnr_timer", attr->min_rnr_timer,
		  31 },
		{ IBV_QP_DEST_QPN, "QPN", attr->dest_qp_num, SOFT_PSN_MASK },
		{ IBV_QP_RQ_PSN, "PSN", attr->rq_psn, SOFT_PSN_MASK },
		{ IBV_QP_MAX_DEST_RD_ATOMIC, "max_dest_rd_atomic",
		  attr->max_dest_rd_atomic, SOFT_RD_ATOMIC },
		{ IBV_QP_SQ_PSN, "PSN", attr->sq_psn, SOFT_PSN_MASK },
		{ IBV_QP_TIMEOUT, "timeout", attr->timeout, 31 },
		{ IBV_QP_RETRY_CNT, "retry_cnt", attr->retry_cnt, 7 },
		{ IBV_QP_RNR_RETRY, "rnr_retry", attr->rnr_retry, 7 },
		{ IBV_QP_MAX_QP_RD_ATOMIC, "max_rd_atomic",
		  attr->max_rd_atomic, SOFT_RD_ATOMIC },
	};

	for (size_t i = 0; i < COUNT(limits); i++)
		if (mask & limits[i].bit && limits[i].value > limits[i].max)
			return pier__fail(-EINVAL, "%s %u: at most %u",
					  limits[i].what, limits[i].value,
					  limits[i].max);
	return 0;
}

static int peer_check(const struct ibv_qp_attr *attr,
		      const struct soft_addr *src, uint16_t udp_port)
{
	char text[INET6_ADDRSTRLEN];
	struct in6_addr ip;

	memcpy(&ip, attr->ah_attr.grh.dgid.raw, sizeof(ip));
	if (!pier__sockaddr_is_host(&ip))
		return pier__fail(-EINVAL, "the peer's GID %s is no address "
				  "of a host", inet_ntop(AF_INET6, &ip, text,
							 sizeof(text)));
	if (!src || IN6_IS_ADDR_V4MAPPED(&ip) != IN6_IS_ADDR_V4MAPPED(&src->ip))
		return pier__fail(-EINVAL, "the peer's GID and ours are "
				  "not both of IPv4 or both of IPv6");
	if (!udp_port)
		return pier__fail(-EINVAL, "the peer's UDP port is 0");
	return 0;
}

static int rtr_check(const struct ibv_qp_attr *attr,
		     const struct soft_addr *src, uint16_t udp_port)
{
	if (attr->path_mtu < IBV_MTU_256 || attr->path_mtu > IBV_MTU_4096)
		return pier__fail(-EINVAL, "path MTU code %d: 1 to 5",
				  attr->path_mtu);
	return peer_check(attr, src, udp_port);
}

/* A QP keeps its addresses, which its peer compares with those of packets. */
static int same_peer(const struct soft_qp *qp, const struct ibv_qp_attr *attr,
		     const struct soft_addr *src)
{
	struct in6_addr ip;

	memcpy(&ip, attr->ah_attr.grh.dgid.raw, sizeof(ip));
	if (src && IN6_ARE_ADDR_EQUAL(&src->ip, &qp->src.ip) &&
	    IN6_ARE_ADDR_EQUAL(&ip, &qp->cwnd->addr.ip))
		return 0;
	return pier__fail(-EOPNOTSUPP, "QP %u in SQD: its address and that of "
			  "its peer cannot be changed", qp->qpn);
}

/* Requests that wait in SQD may need what is changed. */
static int sqd_check(const struct soft_qp *qp, const struct ibv_qp_attr *attr,
		     int mask, const struct soft_addr *src)
{
	if (mask & DRAINED && !pier__soft_req_is_drained(qp))
		return pier__fail(-EBUSY, "QP %u is not drained yet", qp->qpn);
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC && !attr->max_rd_atomic &&
	    qp->req.head)
		return pier__fail(-EINVAL, "max_rd_atomic 0 of QP %u, which "
				  "has requests", qp->qpn);
	return mask & IBV_QP_AV ? same_peer(qp, attr, src) : 0;
}

static int attr_check(const struct soft_qp *qp, const struct ibv_qp_attr *attr,
		      int mask, enum ibv_qp_state to,
		      const struct soft_addr *src, uint16_t udp_port)
{
	int err;

	if (mask & IBV_QP_CUR_STATE && attr->cur_qp_state != qp->state)
		return pier__fail(-EINVAL, "QP %u is in state %d, not %d",
				  qp->qpn, qp->state, attr->cur_qp_state);
	if (qp->ud)
		return limits_check(attr, mask & IBV_QP_PKEY_INDEX);
	err = limits_check(attr, mask);
	if (!err && mask & IBV_QP_PATH_MIG_STATE &&
	    attr->path_mig_state != IBV_MIG_MIGRATED)
		err = pier__fail(-EINVAL, "path_mig_state %d: there is no "
				 "alternate path", attr->path_mig_state);
	if (!err && to == IBV_QPS_RTR)
		err = rtr_check(attr, src, udp_port);
	if (!err && to == IBV_QPS_SQD && qp->state == IBV_QPS_SQD)
		err = sqd_check(qp, attr, mask, src);
	return err;
}

static void set_header(struct soft_qp *qp, const struct ibv_qp_attr *attr)
{
	qp->tclass = (attr->ah_attr.grh.traffic_class & SOFT_TCLASS_DSCP) |
		     SOFT_TCLASS_ECT;
	qp->hop_limit = attr->ah_attr.grh.hop_limit;
}

/* To RTR.  Errors: -ENOMEM. */
static int connect_peer(struct soft_qp *qp, const struct ibv_qp_attr *attr,
			const struct soft_addr *src, uint16_t udp_port)
{
	struct soft_addr dst = { .port = udp_port };
	struct soft_cwnd *cwnd;

	memcpy(&dst.ip, attr->ah_attr.grh.dgid.raw, sizeof(dst.ip));
	cwnd = pier__soft_cwnd_get(qp->ep, &dst);
	if (!cwnd)
		return pier__fail(-ENOMEM, "no memory for a destination");
	qp->cwnd = cwnd;
	qp->src = *src;
	if (!qp->src.port)
		qp->src.port = qp->ep->io->port;
	set_header(qp, attr);
	qp->dest_qpn = attr->dest_qp_num;
	qp->mtu = 128u << attr->path_mtu;
	cwnd->packet = qp->mtu + SOFT_PACKET_COST;
	qp->selective = udp_port != ROCE_UDP_PORT;
	pier__soft_resp_init(&qp->resp, attr->rq_psn);
	qp->resp.rd_max = attr->max_dest_rd_atomic;
	return 0;
}

static void set_requester(struct soft_req *req, const struct ibv_qp_attr *attr,
			  int mask)
{
	if (mask & IBV_QP_TIMEOUT)
		req->timeout = attr->timeout;
	if (mask & IBV_QP_RETRY_CNT)
		req->retry_cnt = attr->retry_cnt;
	if (mask & IBV_QP_RNR_RETRY) {
		req->rnr_retry = attr->rnr_retry;
		req->rnr_left = attr->rnr_retry;
	}
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		req->rd_max = attr->max_rd_atomic;
}

static void set_drained(struct soft_qp *qp, const struct ibv_qp_attr *attr,
			int mask)
{
	set_requester(&qp->req, attr, mask);
	if (mask & IBV_QP_AV)
		set_header(qp, attr);
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		qp->resp.rd_max = attr->max_dest_rd_atomic;
}

/*
 * SQD: requests that were partly sent, or executed, are completed; others wait.
 */
static void drain(struct soft_qp *qp, bool notify)
{
	struct soft_req *req = &qp->req;
	const struct soft_wqe *wqe;

	pier__soft_waiting_queue_begun(qp);
	req->drain_end = req->max;
	for (wqe = req->head; wqe; wqe = wqe->next)
		if (wqe->first < req->max || wqe->direct)
			req->drain_end = wqe->first + wqe->packets;
	/* In incast the QPs behind it wait for its timer. */
	pier__soft_cwnd_release(qp->ep, qp->cwnd, 0, false);
	req->notify_drained = notify;
	if (notify)
		pier__soft_req_drained(qp);
}

/* Is the program to be notified when the QP is drained? */
static bool notifies(const struct ibv_qp_attr *attr, int mask)
{
	return mask & IBV_QP_EN_SQD_ASYNC_NOTIFY && attr->en_sqd_async_notify;
}

static void go_on(struct soft_qp *qp)
{
	qp->req.drain_end = pier__soft_local_barrier(qp);
	if (qp->req.cur)
		pier__soft_cwnd_schedule(qp->ep, qp);
}

/* The state of an RC QP was @from and is now another one, or the same. */
static void moved(struct soft_qp *qp, enum ibv_qp_state from,
		  const struct ibv_qp_attr *attr, int mask)
{
	enum ibv_qp_state to = qp->state;

	if (from == IBV_QPS_RTR && to == IBV_QPS_RTS) {
		pier__soft_req_init(&qp->req, attr->sq_psn);
		set_requester(&qp->req, attr, mask);
	} else if (from == IBV_QPS_RTS && to == IBV_QPS_SQD) {
		drain(qp, notifies(attr, mask));
	} else if (from == IBV_QPS_SQD && to == IBV_QPS_SQD) {
		set_drained(qp, attr, mask);
	} else if (from == IBV_QPS_SQD && to == IBV_QPS_RTS) {
		go_on(qp);
	}
}

static void ud_moved(struct soft_qp *qp, const struct ibv_qp_attr *attr,
		     int mask)
{
	pier__soft_ud_modify(qp, attr, mask);
	if (qp->state == IBV_QPS_SQD && notifies(attr, mask))
		pier__soft_async(qp->ep, IBV_EVENT_SQ_DRAINED, qp->async);
}

int pier__soft_qp_modify(struct soft_qp *qp, struct ibv_qp_attr *attr, int mask,
			 const struct soft_addr *src, uint16_t udp_port)
{
	enum ibv_qp_state from = qp->state;
	enum ibv_qp_state to = mask & IBV_QP_STATE ? attr->qp_state : from;
	int err;

	err = move_check(qp, to, mask);
	if (!err)
		err = attr_check(qp, attr, mask, to, src, udp_port);
	if (!err && !qp->ud && from == IBV_QPS_INIT && to == IBV_QPS_RTR)
		err = connect_peer(qp, attr, src, udp_port);
	if (err)
		return err;

	if (to == IBV_QPS_RESET) {
		pier__soft_qp_reset(qp);
		return 0;
	}
	if (to == IBV_QPS_ERR) {
		pier__soft_early_clear(qp);
		pier__soft_reply_final_ack(qp);
		pier__soft_qp_fail(qp, IBV_WC_WR_FLUSH_ERR);
		return 0;
	}
	if (mask & IBV_QP_ACCESS_FLAGS)
		qp->access = attr->qp_access_flags & 0xff;
	if (mask & IBV_QP_MIN_RNR_TIMER)
		qp->resp.min_rnr_timer = attr->min_rnr_timer;
	if (qp->state != to)
		pier__soft_note(qp, SOFT_EVENT_STATE, to);
	qp->state = to;
	if (qp->ud)
		ud_moved(qp, attr, mask);
	else
		moved(qp, from, attr, mask);
	return 0;
}
