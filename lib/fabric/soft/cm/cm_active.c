/* SPDX-License-Identifier: BSD-2-Clause */
/* The active side of a connection: resolve, REQ, REP, establish. */
#include <errno.h>
#include <string.h>

#include "core/clock.h"
#include "core/fail.h"
#include "core/roce.h"
#include "fabric/soft/cm/cm_conn.h"
#include "fabric/soft/rc/qp.h"

/*
 * The times in REQ.  The peer's response may take as long as that of a kernel;
 * ours is longer than the usual time between two calls of a program, and
 * shorter than that of Linux.
 */
#define PEER_TIMEOUT 20		/* code: 4.3 s for the peer's answer */
#define OUR_TIMEOUT 17		/* 537 ms for ours: how often REP comes */
#define ACK_TIMEOUT 16		/* 268 ms, of packets */
#define MAX_RETRIES 15
#define HOP_LIMIT 64
#define LID_NONE 0xffff

int pier__soft_cm_resolved(struct soft_cm *cm, const struct soft_addr *src,
			   const struct soft_addr *dst, void *owner,
			   struct pier__cm_id **ret)
{
	struct soft_cm_conn *conn = pier__soft_cm_conn_new(cm);
	struct soft_cm_id *id;

	if (!conn)
		return pier__fail(-ENOMEM, "no memory for a connection");
	conn->src = src->ip;
	conn->dst = dst->ip;
	conn->tid = (uint64_t)cm->tid << 32 | conn->local_id;
	conn->mtu = cm->host->mtu;
	conn->ack_timeout = ACK_TIMEOUT;
	conn->timeout = PEER_TIMEOUT;
	conn->max_retries = MAX_RETRIES;
	conn->handshake->service_port = dst->port;
	id = pier__soft_cm_id_new(conn, cm->ep->io->port, dst->port);
	if (!id) {
		pier__soft_cm_conn_free(conn);
		return pier__fail(-ENOMEM, "no memory for a connection");
	}

	id->id.owner = owner;
	pier__soft_cm_notify(cm, id, PIER__CM_RESOLVED);
	*ret = &id->id;
	return 0;
}

/* The flow label of both directions, as Linux computes it. */
static uint32_t flow_label(uint16_t src_port, uint16_t dst_port)
{
	return (src_port * 31u + dst_port) & 0xfffff;
}

static void req_build(struct soft_cm_conn *conn,
		      const struct pier__cm_param *param)
{
	struct soft_cm_handshake *handshake = conn->handshake;
	uint8_t data[SOFT_MAD_IP_LEN + PIER__CM_REQ_DATA];
	struct soft_mad_ip ip = {
		.src = conn->src, .dst = conn->dst,
		.src_port = conn->cm->ep->io->port,
	};
	struct soft_mad mad = {
		.attr = SOFT_MAD_REQ, .tid = conn->tid,
		.local_id = conn->local_id, .guid = conn->cm->guid,
		.service_id = pier__soft_cm_service_id(conn),
		.qpn = conn->qpn, .psn = conn->rq_psn,
		.pkey = ROCE_PKEY_DEFAULT,
		.responder_resources = conn->responder_resources,
		.initiator_depth = conn->initiator_depth,
		.remote_timeout = PEER_TIMEOUT, .local_timeout = OUR_TIMEOUT,
		.max_retries = MAX_RETRIES, .srq = 1, .mtu = conn->mtu,
		.retry_count = conn->retry_count, .rnr_retry = param->rnr_retry,
		.primary = {
			.local_lid = LID_NONE, .remote_lid = LID_NONE,
			.flow_label = flow_label(conn->cm->ep->io->port,
						 handshake->service_port),
			.tclass = param->tclass, .hop_limit = HOP_LIMIT,
			.ack_timeout = ACK_TIMEOUT,
		},
		.data = data, .len = SOFT_MAD_IP_LEN + param->len,
	};

	memcpy(mad.primary.local_gid, &conn->src, 16);
	memcpy(mad.primary.remote_gid, &conn->dst, 16);
	pier__soft_mad_ip_encode(&ip, data);
	if (param->len)
		memcpy(data + SOFT_MAD_IP_LEN, param->data, param->len);
	pier__soft_mad_encode(&mad, handshake->mad);
}

static int param_check(const struct pier__cm_param *param, size_t max)
{
	if (param->len > max)
		return pier__fail(-EINVAL, "%zu bytes of private data: at most"
				  " %zu", param->len, max);
	if (param->retry_count > 7 || param->rnr_retry > 7)
		return pier__fail(-EINVAL, "retry counts %u and %u: at most 7",
				  param->retry_count, param->rnr_retry);
	return 0;
}

int pier__soft_cm_connect(struct pier__cm_id *pid,
			  const struct pier__cm_param *param)
{
	struct soft_cm_conn *conn = ((struct soft_cm_id *)pid)->conn;
	bool datagram = pier__cm_is_datagram(param->space);
	int err = param_check(param, datagram ? PIER__CM_SIDR_REQ_DATA :
						PIER__CM_REQ_DATA);

	if (err)
		return err;
	if (!conn || conn->state != SOFT_CM_IDLE)
		return pier__fail(-EINVAL, "connect() may be called only once");

	conn->handshake->space = (uint8_t)param->space;
	conn->tclass = param->tclass & SOFT_TCLASS_DSCP;
	if (datagram)
		return pier__soft_cm_sidr_connect(conn, param);
	conn->qpn = param->qpn;
	conn->responder_resources = param->responder_resources;
	conn->initiator_depth = param->initiator_depth;
	conn->retry_count = param->retry_count;
	conn->state = SOFT_CM_REQ_SENT;
	req_build(conn, param);
	pier__soft_cm_retry_start(conn);
	pier__soft_cm_find_send(conn);
	return 0;
}

/*
 * A soft listener names the MTU that it accepts; with another one smaller MTUs
 * are tried.  A REJ with an MTU not below ours answers an earlier REQ.
 */
bool pier__soft_cm_shrink(struct soft_cm_conn *conn, const struct soft_mad *rej)
{
	uint8_t mtu = rej->info_len ? rej->info[0] : 0;
	uint8_t bytes[SOFT_MAD_LEN];
	struct soft_mad mad;

	if (mtu >= conn->mtu && mtu <= IBV_MTU_4096)
		return true;
	if (conn->mtu <= IBV_MTU_256 ||
	    !pier__soft_mad_decode(conn->handshake->mad, SOFT_MAD_LEN, &mad))
		return false;
	conn->mtu = mtu >= IBV_MTU_256 && mtu < conn->mtu ? mtu : conn->mtu - 1;
	mad.mtu = conn->mtu;
	pier__soft_mad_encode(&mad, bytes);
	memcpy(conn->handshake->mad, bytes, SOFT_MAD_LEN);
	pier__soft_cm_retry_start(conn);
	pier__soft_cm_find_send(conn);
	return true;
}

/* REP has arrived: the peer's port is known, and whether it needs our 4791. */
static void peer_set(struct soft_cm_conn *conn, const struct soft_mad *mad)
{
	conn->remote_id = mad->local_id;
	conn->peer_known = true;
	conn->guid = mad->guid;
	conn->dest_qpn = mad->qpn;
	conn->port = pier__soft_cm_guid_port(mad->guid);
	pier__soft_cm_index(conn, SOFT_CM_BY_QPN);
	if (conn->port == ROCE_UDP_PORT)
		conn->cm->last_roce_peer = conn->dst;
	else
		pier__soft_cm_find_end(conn);
}

static void rep_take(struct soft_cm_conn *conn, const struct soft_mad *mad)
{
	struct soft_cm_handshake *handshake = conn->handshake;

	peer_set(conn, mad);
	conn->sq_psn = mad->psn;
	conn->peer_responder_resources = mad->responder_resources;
	conn->peer_initiator_depth = mad->initiator_depth;
	conn->rnr_retry = mad->rnr_retry;
	memcpy(handshake->data, mad->data, mad->len);
	handshake->len = (uint16_t)mad->len;
	conn->state = SOFT_CM_REP_RCVD;
	pier__soft_cm_timer_set(conn, PIER__NEVER);
	pier__soft_cm_notify(conn->cm, conn->id, PIER__CM_RESPONSE);
}

/* The QPN is that of another connection, which the peer has lost. */
static void rep_stale(struct soft_cm_conn *conn, const struct soft_mad *mad)
{
	conn->remote_id = mad->local_id;
	conn->peer_known = true;
	conn->port = pier__soft_cm_guid_port(mad->guid);
	pier__soft_cm_send_rej(conn, SOFT_MAD_OF_REP, ROCE_REJ_STALE, NULL, 0);
	conn->handshake->len = 0;
	pier__soft_cm_timewait(conn);
	pier__soft_cm_finish(conn, PIER__CM_UNREACHABLE, -ECONNRESET, 0);
}

void pier__soft_cm_rep(struct soft_cm_conn *conn, const struct soft_mad *mad)
{
	switch (conn->state) {
	case SOFT_CM_REQ_SENT:
		if (!pier__roce_qpn_is_rc(mad->qpn))
			return;
		if (pier__soft_cm_by_qpn(conn->cm, mad->guid, mad->qpn))
			rep_stale(conn, mad);
		else
			rep_take(conn, mad);
		break;
	case SOFT_CM_REP_RCVD:
		pier__soft_cm_send_mra(conn, SOFT_MAD_OF_REP);
		break;
	case SOFT_CM_ESTABLISHED:
		if (!conn->passive)
			pier__soft_cm_send_rtu(conn);
		break;
	case SOFT_CM_TIMEWAIT:
		/* The attempt is over: send REJ again. */
		if (!conn->handshake)
			break;
		if (!conn->peer_known)
			conn->port = pier__soft_cm_guid_port(mad->guid);
		pier__soft_cm_send(conn, conn->handshake->mad);
		break;
	default:
		break;
	}
}

/*
 * A soft listener sends few REPs to a client that it has not received a second
 * message from, so that RTU is sent again until the peer's QP sends something.
 */
void pier__soft_cm_rtu_again(struct soft_cm_conn *conn)
{
	struct soft_qp *qp = pier__soft_table_find(conn->cm->ep, conn->qpn);

	conn->rtu_unseen = true;
	if (qp)
		qp->cm_id = conn->local_id;
	pier__soft_cm_retry_start(conn);
}

int pier__soft_cm_establish(struct pier__cm_id *pid)
{
	struct soft_cm_conn *conn = ((struct soft_cm_id *)pid)->conn;

	if (!conn)
		return pier__fail(-ECONNABORTED, "the peer has given up");
	if (conn->state != SOFT_CM_REP_RCVD || conn->datagram)
		return pier__fail(-EINVAL, "only what was accepted can be "
				  "established, once");
	conn->state = SOFT_CM_ESTABLISHED;
	pier__soft_cm_handshake_free(conn);
	pier__soft_cm_send_rtu(conn);
	if (conn->port != ROCE_UDP_PORT)
		pier__soft_cm_rtu_again(conn);
	return 0;
}
