/* SPDX-License-Identifier: BSD-2-Clause */
/* The passive side of a connection: listeners, REQ, accept, reject, RTU. */
#include <errno.h>
#include <string.h>

#include "core/clock.h"
#include "core/fail.h"
#include "core/roce.h"
#include "fabric/soft/cm/cm_conn.h"
#include "fabric/soft/rc/qp.h"
#include "fabric/soft/stats/recorder.h"

#define ACK_DELAY 15		/* code, as Linux: 134 ms */
#define LEFT_WAIT (1000 * PIER__MS)	/* for a port's next listener */

void pier__soft_cm_listen(struct soft_cm *cm, struct soft_cm_listener *listener)
{
	listener->waiting = 0;
	pier__list_add(&cm->listeners, &listener->link);
	if (!listener->roce_port && !listener->no_roce_port)
		pier__soft_cm_want_roce_port(cm);
}

void pier__soft_cm_unlisten(struct soft_cm *cm,
			    struct soft_cm_listener *listener)
{
	struct pier__list *pos, *tmp;
	struct soft_cm_id *id;

	pier__list_del(&listener->link);
	cm->left_port = listener->listener.port;
	cm->left_at = pier__soft_cm_now(cm);
	PIER__LIST_EACH(pos, tmp, &cm->events) {
		id = pier__container_of(pos, struct soft_cm_id, link);
		if (id->listener != listener)
			continue;
		id->listener = NULL;
		pier__soft_cm_abandon(id->conn);
		pier__soft_cm_id_free(id);
	}
}

/* Where the client of @rx would reach a listener of the service of @req. */
static bool instead(const struct soft_cm *cm, const struct soft_mad *req,
		    const struct soft_rx *rx, struct in6_addr *ret)
{
	const struct soft_cm_host_ops *ops = cm->host->ops;
	const struct soft_cm_listener *listener =
		pier__soft_cm_service(cm, req, &in6addr_any, false);

	if (listener && !IN6_IS_ADDR_UNSPECIFIED(&listener->ip)) {
		*ret = listener->ip;
		return true;
	}
	return ops->instead && ops->instead(cm->host, &rx->dst.ip, ret);
}

/*
 * The user of the client reads where the listener is: as additional information
 * by IBTA, and as private data, for librdmacm passes no other to programs.
 */
static void put_instead(const struct soft_cm *cm, const struct soft_mad *req,
			const struct soft_rx *rx, struct soft_mad *mad,
			uint8_t data[PIER__CM_ELSEWHERE])
{
	struct in6_addr ip;

	if (!instead(cm, req, rx, &ip))
		return;
	mad->info_len = sizeof(ip);
	memcpy(mad->info, &ip, sizeof(ip));
	if (!cm->owner)
		return;
	mad->data = data;
	mad->len = pier__cm_elsewhere(cm->owner, req->data + SOFT_MAD_IP_LEN,
				      PIER__CM_REQ_DATA, ip.s6_addr, data);
}

/* Send REJ for a REQ without a record. */
static void send_rej(struct soft_cm *cm, const struct soft_mad *req,
		     const struct soft_rx *rx, enum roce_rej_reason reason)
{
	uint8_t data[PIER__CM_ELSEWHERE];
	struct soft_mad mad = {
		.attr = SOFT_MAD_REJ, .tid = req->tid,
		.remote_id = req->local_id, .message = SOFT_MAD_OF_REQ,
		.reason = (uint16_t)reason,
	};

	/* Soft peers read this and send REQ with our MTU. */
	if (reason == ROCE_REJ_MTU) {
		mad.info_len = 1;
		mad.info[0] = cm->host->mtu;
	}
	if (reason == ROCE_REJ_GID)
		put_instead(cm, req, rx, &mad, data);
	pier__soft_add(cm->ep->counters, SOFT_COUNTER(cm_refused), 1);
	pier__soft_cm_answer(cm, rx, pier__soft_cm_guid_port(req->guid), &mad);
}

/*
 * The backlog is full.  A soft client gets an MRA with a service time of 0.  It
 * then ignores a REJ from our port 4791, because there is a listener, and
 * sends REQ again soon.
 */
static void put_off(struct soft_cm *cm, const struct soft_mad *req,
		    const struct soft_rx *rx)
{
	uint16_t port = pier__soft_cm_guid_port(req->guid);
	struct soft_mad mad = {
		.attr = SOFT_MAD_MRA, .tid = req->tid,
		.remote_id = req->local_id, .message = SOFT_MAD_OF_REQ,
	};

	if (port != ROCE_UDP_PORT)
		pier__soft_cm_answer(cm, rx, port, &mad);
}

static bool overlap(const struct in6_addr *a, const struct in6_addr *b)
{
	return IN6_IS_ADDR_UNSPECIFIED(a) || IN6_IS_ADDR_UNSPECIFIED(b) ||
	       IN6_ARE_ADDR_EQUAL(a, b);
}

struct soft_cm_listener *
pier__soft_cm_listener(const struct soft_cm *cm, uint16_t port,
		       const struct in6_addr *ip, enum pier__cm_space space)
{
	struct pier__list *pos, *tmp;
	struct soft_cm_listener *listener;

	PIER__LIST_EACH(pos, tmp, &cm->listeners) {
		listener = pier__container_of(pos, struct soft_cm_listener,
					      link);
		if (listener->listener.port == port &&
		    listener->space == space &&
		    overlap(&listener->ip, ip))
			return listener;
	}
	return NULL;
}

/* Those of rdma_cm, above the port in a service ID. */
static const uint16_t space_ids[PIER__CM_SPACES] = {
	[PIER__CM_TCP] = 0x0106,
	[PIER__CM_UDP] = 0x0111,
	[PIER__CM_IB] = 0x013f,
	[PIER__CM_IB_UD] = 0x013f,
};

uint64_t pier__soft_cm_service_id(const struct soft_cm_conn *conn)
{
	return (uint64_t)space_ids[conn->handshake->space] << 16 |
	       conn->handshake->service_port;
}

struct soft_cm_listener *pier__soft_cm_service(const struct soft_cm *cm,
					       const struct soft_mad *mad,
					       const struct in6_addr *ip,
					       bool datagram)
{
	int i;

	for (i = 0; i < PIER__CM_SPACES; i++)
		if (space_ids[i] == mad->service_id >> 16 &&
		    pier__cm_is_datagram((enum pier__cm_space)i) == datagram)
			return pier__soft_cm_listener(cm,
						      (uint16_t)mad->service_id,
						      ip,
						      (enum pier__cm_space)i);
	return NULL;
}

bool pier__soft_cm_addresses_ok(const struct soft_mad *mad,
				const struct soft_rx *rx)
{
	struct soft_mad_ip ip;

	return pier__soft_mad_ip_decode(mad->data, mad->len, &ip) &&
	       IN6_ARE_ADDR_EQUAL(&ip.dst, &rx->dst.ip);
}

/* Is there a listener on @ip and @listener's port? */
static bool has_address(const struct soft_cm *cm,
			const struct soft_cm_listener *listener,
			const struct in6_addr *ip)
{
	return pier__soft_cm_listener(cm, listener->listener.port, ip,
				      listener->space) &&
	       cm->host->ops->gid(cm->host, ip) >= 0;
}

/*
 * The reason to reject @mad, of which @listener is a listener on its port; 0:
 * none.
 */
static int objection(const struct soft_cm *cm,
		     const struct soft_cm_listener *listener,
		     const struct soft_mad *mad, const struct soft_rx *rx)
{
	if (!listener)
		return ROCE_REJ_SERVICE_ID;
	if (!pier__soft_cm_addresses_ok(mad, rx))
		return ROCE_REJ_CONSUMER;
	if (!has_address(cm, listener, &rx->dst.ip))
		return ROCE_REJ_GID;	/* another address may be accepted */
	if (mad->transport || mad->ext_transport)
		return ROCE_REJ_TRANSPORT;
	if (!mad->mtu || mad->mtu > cm->host->mtu)
		return ROCE_REJ_MTU;
	if (!pier__roce_qpn_is_rc(mad->qpn))
		return ROCE_REJ_UNSUPPORTED;
	return 0;
}

static void req_take(struct soft_cm_conn *conn, const struct soft_mad *mad,
		     const struct soft_rx *rx)
{
	struct soft_cm_handshake *handshake = conn->handshake;

	conn->passive = true;
	conn->peer_known = true;
	conn->state = SOFT_CM_REQ_RCVD;
	conn->src = rx->dst.ip;
	conn->dst = rx->src.ip;
	conn->tid = mad->tid;
	conn->remote_id = mad->local_id;
	conn->guid = mad->guid;
	conn->dest_qpn = mad->qpn;
	conn->port = pier__soft_cm_guid_port(mad->guid);
	conn->sq_psn = mad->psn;
	conn->mtu = mad->mtu;
	conn->ack_timeout = mad->primary.ack_timeout;
	conn->tclass = mad->primary.tclass & SOFT_TCLASS_DSCP;
	conn->timeout = mad->local_timeout;
	conn->max_retries = mad->max_retries;
	conn->retry_count = mad->retry_count;
	conn->rnr_retry = mad->rnr_retry;
	conn->peer_responder_resources = mad->responder_resources;
	conn->peer_initiator_depth = mad->initiator_depth;
	handshake->req_port = rx->dst.port;
	handshake->req_at = pier__soft_cm_now(conn->cm);
	handshake->len = PIER__CM_REQ_DATA;
	memcpy(handshake->data, mad->data + SOFT_MAD_IP_LEN, handshake->len);
	pier__soft_cm_index(conn, SOFT_CM_BY_PEER);
	pier__soft_cm_index(conn, SOFT_CM_BY_QPN);
}

bool pier__soft_cm_has_place(const struct soft_cm_listener *listener)
{
	return listener->waiting + listener->listener.held <
	       listener->backlog;
}

bool pier__soft_cm_request(struct soft_cm_conn *conn,
			   struct soft_cm_listener *listener,
			   const struct soft_mad *mad)
{
	struct soft_mad_ip ip = { 0 };
	struct soft_cm_id *id;

	pier__soft_cm_grant(conn);
	pier__soft_mad_ip_decode(mad->data, mad->len, &ip);
	id = pier__soft_cm_id_new(conn, listener->listener.port, ip.src_port);
	if (!id) {
		pier__soft_cm_conn_free(conn);
		return false;
	}
	id->listener = listener;
	listener->waiting++;
	pier__soft_cm_notify(conn->cm, id, PIER__CM_REQUEST);
	return true;
}

/* Returns false: no memory. */
static bool req_new(struct soft_cm *cm, struct soft_cm_listener *listener,
		    const struct soft_mad *mad, const struct soft_rx *rx)
{
	struct soft_cm_conn *conn = pier__soft_cm_conn_new(cm);

	if (!conn)
		return false;
	req_take(conn, mad, rx);
	return pier__soft_cm_request(conn, listener, mad);
}

/*
 * A duplicate REQ.  The active side may send the same REQ to port 4791 and to
 * the service's port: a copy on the other port is no retransmission.
 */
static void req_again(struct soft_cm_conn *conn, const struct soft_rx *rx)
{
	if (!IN6_ARE_ADDR_EQUAL(&conn->dst, &rx->src.ip))
		return;
	pier__soft_cm_grant(conn);
	if (!conn->handshake)
		return;
	if (conn->state == SOFT_CM_TIMEWAIT)
		pier__soft_cm_send(conn, conn->handshake->mad);
	else if (conn->handshake->req_port != rx->dst.port)
		return;
	else if (conn->state == SOFT_CM_REQ_RCVD)
		pier__soft_cm_send_mra(conn, SOFT_MAD_OF_REQ);
	else if (conn->state == SOFT_CM_REP_SENT)
		pier__soft_cm_send(conn, conn->handshake->mad);
}

/*
 * Programs for rdma_cm, such as perftest, listen twice on one port, and their
 * clients crash if they are rejected in between.  A REQ that is dropped comes
 * again.
 */
static bool listens_again_soon(const struct soft_cm *cm,
			       const struct soft_mad *mad)
{
	return cm->reports_timewait &&
	       (uint16_t)mad->service_id == cm->left_port &&
	       pier__soft_cm_now(cm) < cm->left_at + LEFT_WAIT;
}

void pier__soft_cm_req(struct soft_cm *cm, const struct soft_mad *mad,
		       const struct soft_rx *rx)
{
	struct soft_cm_listener *listener;
	struct soft_cm_conn *conn;
	int reason;

	/* The GIDs must be those of the packet: no NAT. */
	if (memcmp(mad->primary.local_gid, &rx->src.ip, 16) ||
	    memcmp(mad->primary.remote_gid, &rx->dst.ip, 16)) {
		pier__soft_add(cm->ep->counters, SOFT_COUNTER(dropped), 1);
		return;
	}
	conn = pier__soft_cm_by_peer(cm, mad->guid, mad->local_id);
	if (conn) {
		req_again(conn, rx);
		return;
	}
	listener = pier__soft_cm_service(cm, mad, &in6addr_any, false);
	reason = objection(cm, listener, mad, rx);
	conn = pier__soft_cm_by_qpn(cm, mad->guid, mad->qpn);
	if (!reason && conn)
		reason = ROCE_REJ_STALE;
	if (reason == ROCE_REJ_SERVICE_ID && listens_again_soon(cm, mad)) {
		pier__soft_add(cm->ep->counters, SOFT_COUNTER(dropped), 1);
		return;
	}
	if (reason) {
		send_rej(cm, mad, rx, (enum roce_rej_reason)reason);
		if (reason == ROCE_REJ_STALE &&
		    IN6_ARE_ADDR_EQUAL(&conn->dst, &rx->src.ip))
			pier__soft_cm_doubt(conn);
		return;
	}
	listener = pier__soft_cm_service(cm, mad, &rx->dst.ip, false);
	/* Without space the REQ is dropped: the client sends it again. */
	if (pier__soft_cm_has_place(listener) && req_new(cm, listener, mad, rx))
		return;
	pier__soft_add(cm->ep->counters, SOFT_COUNTER(cm_overflows), 1);
	put_off(cm, mad, rx);
}

static void rep_build(struct soft_cm_conn *conn,
		      const struct pier__cm_param *param)
{
	struct soft_mad mad = {
		.attr = SOFT_MAD_REP, .tid = conn->tid, .guid = conn->cm->guid,
		.local_id = conn->local_id, .remote_id = conn->remote_id,
		.qpn = conn->qpn, .psn = conn->rq_psn,
		.responder_resources = conn->responder_resources,
		.initiator_depth = conn->initiator_depth,
		.ack_delay = ACK_DELAY, .srq = 1,
		.rnr_retry = param->rnr_retry,
		.data = param->data, .len = param->len,
	};

	pier__soft_mad_encode(&mad, conn->handshake->mad);
}

int pier__soft_cm_undecided(const struct soft_cm_id *id)
{
	if (!id->conn)
		return pier__fail(-ECONNABORTED, "the request has ended: its "
				  "sender has given up");
	if (id->conn->state != SOFT_CM_REQ_RCVD)
		return pier__fail(-EINVAL, "only a request can be accepted or "
				  "rejected, once");
	return 0;
}

int pier__soft_cm_accept(struct pier__cm_id *pid,
			 const struct pier__cm_param *param)
{
	struct soft_cm_id *id = (struct soft_cm_id *)pid;
	struct soft_cm_conn *conn = id->conn;
	struct soft_qp *qp;
	int err = pier__soft_cm_undecided(id);

	if (err)
		return err;
	if (conn->datagram)
		return pier__soft_cm_sidr_accept(id, param);
	if (param->len > PIER__CM_REP_DATA || param->rnr_retry > 7)
		return pier__fail(-EINVAL, "%zu bytes of private data, retry "
				  "count %u: at most %u and 7", param->len,
				  param->rnr_retry, PIER__CM_REP_DATA);

	conn->qpn = param->qpn;
	conn->responder_resources = param->responder_resources;
	conn->initiator_depth = param->initiator_depth;
	conn->state = SOFT_CM_REP_SENT;
	rep_build(conn, param);
	pier__soft_ep_note_at(conn->cm->ep, conn->qpn, SOFT_EVENT_CM_RECEIVED,
			      SOFT_MAD_REQ, conn->handshake->req_at);
	qp = pier__soft_table_find(conn->cm->ep, conn->qpn);
	if (qp)
		qp->cm_id = conn->local_id;
	pier__soft_cm_retry_start(conn);
	pier__soft_cm_send(conn, conn->handshake->mad);
	return 0;
}

int pier__soft_cm_reject(struct pier__cm_id *pid, const void *data, size_t len)
{
	struct soft_cm_id *id = (struct soft_cm_id *)pid;
	struct soft_cm_conn *conn = id->conn;
	int err = pier__soft_cm_undecided(id);

	if (err)
		return err;
	if (conn->datagram)
		return pier__soft_cm_sidr_reject(id, data, len);
	if (len > PIER__CM_REJ_DATA)
		return pier__fail(-EINVAL, "%zu bytes of private data: at most"
				  " %u", len, PIER__CM_REJ_DATA);
	conn->id = NULL;
	id->conn = NULL;
	pier__soft_cm_send_rej(conn, SOFT_MAD_OF_REQ, ROCE_REJ_CONSUMER, data,
			       len);
	pier__soft_cm_timewait(conn);
	return 0;
}

void pier__soft_cm_rtu(struct soft_cm_conn *conn)
{
	if (conn->state == SOFT_CM_TIMEWAIT && conn->handshake)
		pier__soft_cm_send(conn, conn->handshake->mad);
	if (conn->state != SOFT_CM_REP_SENT)
		return;
	conn->state = SOFT_CM_ESTABLISHED;
	conn->proven = true;
	pier__soft_cm_doubt_end(conn);
	pier__soft_cm_handshake_free(conn);
	pier__soft_cm_notify(conn->cm, conn->id, PIER__CM_ESTABLISHED);
}

/* The answer to a probe does not show that the peer has received our RTU. */
static bool established_data(struct soft_cm_conn *conn, enum soft_shown shown)
{
	if (shown > SOFT_SHOWN_QP)
		conn->rtu_unseen = false;
	if (conn->doubted || !conn->rtu_unseen)
		pier__soft_cm_doubt_end(conn);
	return !conn->rtu_unseen;
}

/*
 * The sender of a forged REQ has chosen the PSNs of responses to us; the PSN of
 * the next request is ours.
 */
bool pier__soft_cm_data(struct soft_gsi *gsi, uint32_t local_id,
			enum soft_shown shown)
{
	struct soft_cm *cm = (struct soft_cm *)gsi;
	struct soft_cm_conn *conn = pier__soft_cm_by_local(cm, local_id);

	if (conn && conn->state == SOFT_CM_ESTABLISHED)
		return established_data(conn, shown);
	if (!conn || !conn->passive)
		return true;
	if (shown == SOFT_SHOWN_REQUEST)
		pier__soft_cm_rtu(conn);
	return shown == SOFT_SHOWN_REQUEST;
}
