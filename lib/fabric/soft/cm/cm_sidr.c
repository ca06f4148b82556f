/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagram services: SIDR_REQ, and SIDR_REP with a QPN and its Q_Key. */
#include <errno.h>
#include <string.h>

#include "core/clock.h"
#include "core/fail.h"
#include "core/roce.h"
#include "fabric/soft/cm/cm_conn.h"

/* The status of SIDR_REP, as IBTA numbers it. */
#define SIDR_VALID 0
#define SIDR_NO_SERVICE 1
#define SIDR_REJECTED 2

static void req_build(struct soft_cm_conn *conn,
		      const struct pier__cm_param *param)
{
	struct soft_cm_handshake *handshake = conn->handshake;
	uint8_t data[SOFT_MAD_IP_LEN + PIER__CM_SIDR_REQ_DATA];
	struct soft_mad_ip ip = {
		.src = conn->src, .dst = conn->dst,
		.src_port = conn->cm->ep->io->port,
	};
	struct soft_mad mad = {
		.attr = SOFT_MAD_SIDR_REQ, .tid = conn->tid,
		.local_id = conn->local_id, .pkey = ROCE_PKEY_DEFAULT,
		.service_id = pier__soft_cm_service_id(conn),
		.data = data, .len = SOFT_MAD_IP_LEN + param->len,
	};

	pier__soft_mad_ip_encode(&ip, data);
	if (param->len)
		memcpy(data + SOFT_MAD_IP_LEN, param->data, param->len);
	pier__soft_mad_encode(&mad, handshake->mad);
}

int pier__soft_cm_sidr_connect(struct soft_cm_conn *conn,
			       const struct pier__cm_param *param)
{
	conn->datagram = true;
	conn->state = SOFT_CM_REQ_SENT;
	req_build(conn, param);
	pier__soft_cm_retry_start(conn);
	pier__soft_cm_find_send(conn);
	return 0;
}

/*
 * SIDR_REQ has no GUID: its sender is an address and a UDP port.  Senders that
 * look the same share their request IDs, no more.
 */
static uint64_t sender(const struct soft_rx *rx)
{
	uint64_t half[2];

	memcpy(half, &rx->src.ip, sizeof(half));
	return half[0] ^ half[1] ^ pier__soft_cm_port_of(rx);
}

static void answer(struct soft_cm *cm, const struct soft_mad *req,
		   const struct soft_rx *rx, uint8_t status)
{
	struct soft_mad mad = {
		.attr = SOFT_MAD_SIDR_REP, .tid = req->tid,
		.local_id = req->local_id, .service_id = req->service_id,
		.result = status,
	};

	pier__soft_add(cm->ep->counters, SOFT_COUNTER(cm_refused), 1);
	pier__soft_cm_answer(cm, rx, pier__soft_cm_port_of(rx), &mad);
}

static void req_take(struct soft_cm_conn *conn, const struct soft_mad *mad,
		     const struct soft_rx *rx)
{
	struct soft_cm_handshake *handshake = conn->handshake;

	conn->datagram = true;
	conn->passive = true;
	conn->peer_known = true;
	conn->state = SOFT_CM_REQ_RCVD;
	conn->src = rx->dst.ip;
	conn->dst = rx->src.ip;
	conn->tid = mad->tid;
	conn->remote_id = mad->local_id;
	conn->guid = sender(rx);
	conn->port = pier__soft_cm_port_of(rx);
	handshake->service_port = (uint16_t)mad->service_id;
	handshake->len = PIER__CM_SIDR_REQ_DATA;
	memcpy(handshake->data, mad->data + SOFT_MAD_IP_LEN, handshake->len);
	pier__soft_cm_index(conn, SOFT_CM_BY_PEER);
}

/* A duplicate: what was sent is sent again. */
static void req_again(struct soft_cm_conn *conn, const struct soft_rx *rx)
{
	if (!conn->datagram || !IN6_ARE_ADDR_EQUAL(&conn->dst, &rx->src.ip))
		return;
	pier__soft_cm_grant(conn);
	if (conn->state == SOFT_CM_TIMEWAIT)
		pier__soft_cm_send(conn, conn->handshake->mad);
}

void pier__soft_cm_sidr_req(struct soft_cm *cm, const struct soft_mad *mad,
			    const struct soft_rx *rx)
{
	struct soft_cm_listener *listener =
		pier__soft_cm_service(cm, mad, &rx->dst.ip, true);
	struct soft_cm_conn *conn;

	conn = pier__soft_cm_by_peer(cm, sender(rx), mad->local_id);
	if (conn) {
		req_again(conn, rx);
		return;
	}
	if (!listener || !pier__soft_cm_addresses_ok(mad, rx) ||
	    cm->host->ops->gid(cm->host, &rx->dst.ip) < 0) {
		answer(cm, mad, rx, listener ? SIDR_REJECTED :
					       SIDR_NO_SERVICE);
		return;
	}
	/* Without space it is dropped: the client sends it again. */
	conn = pier__soft_cm_has_place(listener) ? pier__soft_cm_conn_new(cm) :
						   NULL;
	if (!conn) {
		pier__soft_add(cm->ep->counters, SOFT_COUNTER(cm_overflows), 1);
		return;
	}
	req_take(conn, mad, rx);
	conn->handshake->space = (uint8_t)listener->space;
	pier__soft_cm_request(conn, listener, mad);
}

/* The response to @conn, which is then over for the program. */
static void respond(struct soft_cm_conn *conn, struct soft_mad *mad)
{
	mad->attr = SOFT_MAD_SIDR_REP;
	mad->tid = conn->tid;
	mad->local_id = conn->remote_id;
	mad->service_id = pier__soft_cm_service_id(conn);
	pier__soft_mad_encode(mad, conn->handshake->mad);
	pier__soft_cm_send(conn, conn->handshake->mad);
	if (conn->id)
		conn->id->conn = NULL;
	conn->id = NULL;
	pier__soft_cm_timewait(conn);
}

int pier__soft_cm_sidr_accept(struct soft_cm_id *id,
			      const struct pier__cm_param *param)
{
	struct soft_mad mad = {
		.result = SIDR_VALID, .qpn = param->qpn, .qkey = param->qkey,
		.data = param->data, .len = param->len,
	};

	if (param->len > PIER__CM_SIDR_REP_DATA)
		return pier__fail(-EINVAL, "%zu bytes of private data: at most"
				  " %u", param->len, PIER__CM_SIDR_REP_DATA);
	respond(id->conn, &mad);
	return 0;
}

int pier__soft_cm_sidr_reject(struct soft_cm_id *id, const void *data,
			      size_t len)
{
	struct soft_mad mad = {
		.result = SIDR_REJECTED, .data = data, .len = len,
	};

	if (len > PIER__CM_SIDR_REP_DATA)
		return pier__fail(-EINVAL, "%zu bytes of private data: at most"
				  " %u", len, PIER__CM_SIDR_REP_DATA);
	respond(id->conn, &mad);
	return 0;
}

void pier__soft_cm_sidr_abandon(struct soft_cm_conn *conn)
{
	struct soft_mad mad = { .result = SIDR_REJECTED };

	if (conn->state == SOFT_CM_REQ_RCVD)
		respond(conn, &mad);
	else if (conn->state != SOFT_CM_TIMEWAIT)
		pier__soft_cm_conn_free(conn);
}

void pier__soft_cm_sidr_timed_out(struct soft_cm_conn *conn)
{
	bool refused = conn->handshake->find.rejected_until;
	int err = refused ? 0 : pier__soft_cm_find_error(conn);

	conn->handshake->len = 0;
	pier__soft_cm_finish(conn, refused ? PIER__CM_REJECTED :
					     PIER__CM_UNREACHABLE, err,
			     SIDR_NO_SERVICE);
	pier__soft_cm_conn_free(conn);
}

/* The request that @mad responds to. */
static struct soft_cm_conn *request_of(const struct soft_cm *cm,
				       const struct soft_mad *mad,
				       const struct soft_rx *rx)
{
	struct soft_cm_conn *conn = pier__soft_cm_by_local(cm, mad->local_id);

	if (!conn || !conn->datagram || conn->state != SOFT_CM_REQ_SENT ||
	    mad->tid != conn->tid ||
	    !IN6_ARE_ADDR_EQUAL(&conn->dst, &rx->src.ip) ||
	    !IN6_ARE_ADDR_EQUAL(&conn->src, &rx->dst.ip))
		return NULL;
	return conn;
}

static void rep_take(struct soft_cm_conn *conn, const struct soft_mad *mad,
		     const struct soft_rx *rx)
{
	conn->peer_known = true;
	conn->port = pier__soft_cm_port_of(rx);
	conn->dest_qpn = mad->qpn;
	conn->qkey = mad->qkey;
	conn->state = SOFT_CM_REP_RCVD;
	if (conn->port == ROCE_UDP_PORT)
		conn->cm->last_roce_peer = conn->dst;
	pier__soft_cm_find_end(conn);
	pier__soft_cm_timer_set(conn, PIER__NEVER);
	pier__soft_cm_notify(conn->cm, conn->id, PIER__CM_RESPONSE);
}

void pier__soft_cm_sidr_rep(struct soft_cm *cm, const struct soft_mad *mad,
			    const struct soft_rx *rx)
{
	struct soft_cm_conn *conn = request_of(cm, mad, rx);

	if (!conn) {
		pier__soft_add(cm->ep->counters, SOFT_COUNTER(dropped), 1);
		return;
	}
	if (mad->result == SIDR_NO_SERVICE &&
	    !pier__soft_cm_find_is_rejected(conn))
		return;
	memcpy(conn->handshake->data, mad->data, mad->len);
	conn->handshake->len = (uint16_t)mad->len;
	if (mad->result == SIDR_VALID) {
		rep_take(conn, mad, rx);
		return;
	}
	pier__soft_cm_finish(conn, PIER__CM_REJECTED, 0, mad->result);
	pier__soft_cm_conn_free(conn);
}
