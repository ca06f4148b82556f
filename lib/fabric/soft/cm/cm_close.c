/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of a connection: DREQ, DREP, REJ, release, timeout. */
#include <errno.h>
#include <string.h>

#include "core/clock.h"
#include "core/fail.h"
#include "core/roce.h"
#include "fabric/soft/cm/cm_conn.h"

uint64_t pier__soft_cm_dreq_tid(const struct soft_cm_conn *conn)
{
	return ~conn->tid;
}

void pier__soft_cm_dreq_send(struct soft_cm_conn *conn)
{
	struct soft_mad mad = {
		.attr = SOFT_MAD_DREQ, .tid = pier__soft_cm_dreq_tid(conn),
		.local_id = conn->local_id, .remote_id = conn->remote_id,
		.qpn = conn->dest_qpn,
	};
	uint8_t bytes[SOFT_MAD_LEN];

	pier__soft_mad_encode(&mad, bytes);
	pier__soft_cm_send(conn, bytes);
}

void pier__soft_cm_dreq_begin(struct soft_cm_conn *conn)
{
	/* Acknowledge all that has arrived first. */
	pier__soft_ep_send_all(conn->cm->ep);
	conn->state = SOFT_CM_DREQ_SENT;
	pier__soft_cm_retry_start(conn);
	pier__soft_cm_dreq_send(conn);
}

void pier__soft_cm_report_timewait(struct soft_cm *cm)
{
	cm->reports_timewait = true;
}

static void goodbye(struct soft_cm_conn *conn)
{
	if (conn->state == SOFT_CM_ESTABLISHED)
		pier__soft_cm_dreq_begin(conn);
}

void pier__soft_cm_disconnect_all(struct soft_cm *cm)
{
	pier__soft_cm_each(cm, goodbye);
}

static void ended(struct soft_cm_conn *conn)
{
	if (conn->id && conn->cm->reports_timewait) {
		conn->ended = conn->id;
		conn->ended->timewait = conn;
	}
	pier__soft_cm_handshake_free(conn);
	pier__soft_cm_timewait(conn);
	pier__soft_cm_finish(conn, PIER__CM_DISCONNECTED, 0, 0);
}

void pier__soft_cm_dreq(struct soft_cm_conn *conn, const struct soft_mad *mad)
{
	if (mad->qpn != conn->qpn)
		return;
	switch (conn->state) {
	case SOFT_CM_REP_SENT:
		pier__soft_cm_rtu(conn);	/* it was lost */
		break;
	case SOFT_CM_ESTABLISHED:
	case SOFT_CM_DREQ_SENT:
	case SOFT_CM_TIMEWAIT:
		break;
	default:
		return;
	}
	pier__soft_cm_send_drep(conn, mad->tid);
	if (conn->state != SOFT_CM_TIMEWAIT)
		ended(conn);
}

void pier__soft_cm_drep(struct soft_cm_conn *conn)
{
	if (conn->state == SOFT_CM_DREQ_SENT)
		ended(conn);
}

static void rejected(struct soft_cm_conn *conn, uint16_t reason)
{
	pier__soft_cm_finish(conn, PIER__CM_REJECTED, 0, reason);
	pier__soft_cm_conn_free(conn);
}

void pier__soft_cm_rej(struct soft_cm_conn *conn, const struct soft_mad *mad)
{
	struct soft_cm_handshake *handshake = conn->handshake;

	switch (conn->state) {
	case SOFT_CM_REQ_SENT:
		if (mad->reason == ROCE_REJ_SERVICE_ID &&
		    !pier__soft_cm_find_is_rejected(conn))
			return;
		if (mad->reason == ROCE_REJ_MTU &&
		    pier__soft_cm_shrink(conn, mad))
			return;
		break;
	case SOFT_CM_REP_RCVD:
	case SOFT_CM_REQ_RCVD:
	case SOFT_CM_REP_SENT:
		break;
	case SOFT_CM_ESTABLISHED:
	case SOFT_CM_DREQ_SENT:
		ended(conn);
		return;
	default:
		return;
	}
	if (conn->id && mad->reason == ROCE_REJ_GID &&
	    mad->info_len == sizeof(conn->id->instead))
		memcpy(conn->id->instead, mad->info, mad->info_len);
	memcpy(handshake->data, mad->data, mad->len);
	handshake->len = (uint16_t)mad->len;
	rejected(conn, mad->reason);
}

void pier__soft_cm_timed_out(struct soft_cm_conn *conn)
{
	bool asked = conn->state == SOFT_CM_REQ_SENT;
	bool refused = asked && conn->handshake->find.rejected_until;
	int err;

	if (conn->datagram) {
		pier__soft_cm_sidr_timed_out(conn);
		return;
	}
	if (conn->state == SOFT_CM_DREQ_SENT) {
		ended(conn);
		return;
	}
	err = asked && !refused ? pier__soft_cm_find_error(conn) : -ETIMEDOUT;
	conn->handshake->len = 0;
	/* Send a REJ to a peer that was too slow. */
	pier__soft_cm_send_rej(conn, SOFT_MAD_OF_NONE, ROCE_REJ_TIMEOUT, NULL,
			       0);
	pier__soft_cm_timewait(conn);
	if (refused)
		pier__soft_cm_finish(conn, PIER__CM_REJECTED, 0,
				     ROCE_REJ_SERVICE_ID);
	else
		pier__soft_cm_finish(conn, PIER__CM_UNREACHABLE, err, 0);
}

void pier__soft_cm_abandon(struct soft_cm_conn *conn)
{
	enum soft_mad_message message = SOFT_MAD_OF_NONE;
	enum roce_rej_reason reason = ROCE_REJ_CONSUMER;

	conn->id = NULL;
	if (conn->datagram) {
		pier__soft_cm_sidr_abandon(conn);
		return;
	}
	switch (conn->state) {
	case SOFT_CM_IDLE:
		pier__soft_cm_conn_free(conn);
		return;
	case SOFT_CM_ESTABLISHED:
		pier__soft_cm_dreq_begin(conn);
		return;
	case SOFT_CM_REQ_SENT:
		reason = ROCE_REJ_TIMEOUT;
		break;
	case SOFT_CM_REP_RCVD:
		message = SOFT_MAD_OF_REP;
		break;
	case SOFT_CM_REQ_RCVD:
		message = SOFT_MAD_OF_REQ;
		break;
	case SOFT_CM_REP_SENT:
		break;
	default:
		return;
	}
	pier__soft_cm_send_rej(conn, message, reason, NULL, 0);
	pier__soft_cm_timewait(conn);
}

int pier__soft_cm_disconnect(struct pier__cm_id *pid)
{
	struct soft_cm_conn *conn = ((struct soft_cm_id *)pid)->conn;

	if (!conn || conn->state == SOFT_CM_DREQ_SENT)
		return 0;	/* it is over or ending */
	if (conn->state != SOFT_CM_ESTABLISHED)
		return pier__fail(-ENOTCONN, "not connected: an attempt is "
				  "ended by its release");
	pier__soft_cm_dreq_begin(conn);
	return 0;
}

void pier__soft_cm_release(struct pier__cm_id *pid)
{
	struct soft_cm_id *id = (struct soft_cm_id *)pid;

	if (id->conn)
		pier__soft_cm_abandon(id->conn);
	pier__soft_cm_id_free(id);
}
