/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "cm/rdmacm/rdmacm.h"
#include "core/clock.h"
#include "core/fail.h"

/* The passive side: a request is presented, then accepted or rejected. */

/* How often to check whether the client has given up a request. */
#define LOOK_MS 250

/* Send a REJ, with pier's reason if the peer is pier. */
static int send_rej(struct pier__rdmacm *rdmacm, struct pier__cm_id *id,
		    bool foreign, const struct pier__cm_reject *reject)
{
	uint8_t field[PIER__CM_REJ_DATA];
	int len;

	if (foreign)
		return rdmacm->fab->reject(id, reject->data, reject->len);
	len = pier__cm_reject_encode(reject, field, sizeof(field));
	return len < 0 ? len : rdmacm->fab->reject(id, field, (size_t)len);
}

static void reject_request(struct pier_conn *conn,
			   enum pier__reject_reason reason)
{
	struct pier__cm_reject reject = { .reason = reason };

	send_rej(conn->queues->rdmacm, conn->cm->id, conn->cm->foreign,
		 &reject);
	pier_conn_destroy(conn);
}

void pier__request_reject(struct pier__rdmacm *rdmacm,
			  const struct pier__cm_event *ev,
			  enum pier__reject_reason reason)
{
	struct pier__cm_reject reject = { .reason = reason };
	struct pier__cm_frame frame;
	int err = pier__cm_frame_decode(ev->data, ev->len, &frame);

	send_rej(rdmacm, ev->id, err == -ENOENT, &reject);
	rdmacm->fab->release(ev->id);
}

/* The reason in the REJ if creating the connection failed with @err. */
static enum pier__reject_reason reject_reason_of(int err)
{
	switch (err) {
	case -ENOSPC:
		return PIER__REJECT_FULL;
	case -PIER_EVERSION:
		return PIER__REJECT_VERSION;
	case -PIER_EDESC:
		return PIER__REJECT_MALFORMED;
	case -ENOMEM:
		return PIER__REJECT_BUSY;
	default:
		return PIER__REJECT_CLOSING;
	}
}

static void present(struct pier_conn *conn, struct pier_listener *listener)
{
	pier_conn_fn *fn = conn->owner->callbacks.request;

	if (listener->request) {
		listener->request(conn, listener->arg);
		return;
	}
	if (!fn) {
		reject_request(conn, PIER__REJECT_CLOSING);
		return;
	}
	pier__pe_event(conn->queues->pe);
	fn(conn, conn->user_data, pier_ctx_user_data(conn->owner->ctx));
}

void pier__passive_request(struct pier__rdmacm *rdmacm,
			   struct pier_listener *listener,
			   const struct pier__cm_event *ev)
{
	struct pier__queues *queues = rdmacm->queues;
	struct pier__rdmacm_conn *cm;
	struct pier_conn *conn;
	int err = pier__rdmacm_conn_create(queues, &pier__flow_passive, &conn);

	if (err) {
		pier__request_reject(rdmacm, ev, reject_reason_of(err));
		return;
	}
	cm = conn->cm;
	cm->id = ev->id;
	cm->id->owner = conn;
	pier__sockaddr_text((const void *)&ev->id->local, cm->local);
	pier__rdmacm_set_peer(conn, (const void *)&ev->id->peer);
	pier__rdmacm_gid_bound(conn);
	pier__conn_transition(conn, PIER__CONN_REQ_RCVD);
	conn->deadline = pier__pe_now(queues->pe) +
			 queues->cfg->connect_timeout_ms * PIER__MS;
	err = pier__handshake_decode(conn, ev);
	if (err)
		reject_request(conn, reject_reason_of(err));
	else
		present(conn, listener);
}

static int abandoned(struct pier_conn *conn, const char *stage)
{
	return pier__rdmacm_fail(conn, -ECONNABORTED, stage, "the client has "
				 "given up");
}

/*
 * The kernel's connection manager reports the end of a request only to the
 * call that answers it or queries its attributes: query them now and then.
 */
bool pier__request_is_abandoned(struct pier__rdmacm *rdmacm,
				struct pier__cm_id *id)
{
	struct ibv_qp_attr attr;
	uint16_t udp_port;
	int mask;

	return rdmacm->fab->qp_attr(id, IBV_QPS_INIT, &attr, &mask,
				    &udp_port) == -ECONNABORTED;
}

uint64_t pier__passive_step(struct pier_conn *conn, uint64_t now)
{
	struct pier__rdmacm_conn *cm = conn->cm;

	if (now >= conn->deadline) {
		int err = pier__rdmacm_fail(conn, -ETIMEDOUT,
					    "connection request",
					    "the program did not accept it in "
					    "time");
		struct pier__cm_reject late = { .reason = PIER__REJECT_LATE };

		send_rej(conn->queues->rdmacm, cm->id, cm->foreign, &late);
		pier__conn_fail(conn, err);
		return now;
	}
	if (pier__request_is_abandoned(conn->queues->rdmacm, cm->id)) {
		pier__conn_fail(conn, abandoned(conn, "connection request"));
		return now;
	}
	return now + LOOK_MS * PIER__MS < conn->deadline ?
	       now + LOOK_MS * PIER__MS : conn->deadline;
}

void pier__passive_event(struct pier_conn *conn,
			 const struct pier__cm_event *ev)
{
	int err;

	if (ev->kind == PIER__CM_ESTABLISHED) {
		if (conn->state == PIER__CONN_ACCEPTED)
			pier__conn_transition(conn, PIER__CONN_HELLO);
		return;
	}
	if (!pier__conn_is_connecting(conn))
		return;
	if (ev->kind == PIER__CM_REJECTED)
		err = conn->state == PIER__CONN_REQ_RCVD ?
			      abandoned(conn, "connection request") :
			      pier__rdmacm_rejected(conn, ev);
	else
		err = pier__rdmacm_fail(conn, ev->error, "handshake",
					"%s: has the peer ended?",
					pier_strerror(ev->error));
	pier__conn_fail(conn, err);
}

/* Why a request can no longer be answered. */
static const char *ended(const struct pier_conn *conn)
{
	if (conn->error)
		return pier_conn_error_text(conn);
	if (conn->queues && !conn->queues->stopping)
		return "this program has disconnected it";
	return "the context stops";
}

static int check_request(const struct pier_conn *conn)
{
	if (conn->flow != &pier__flow_passive)
		return pier__fail(-EINVAL, "accept or reject: this is "
				  "not a request from a peer");
	if (conn->state == PIER__CONN_REQ_RCVD)
		return 0;
	if (conn->local.qpn)
		return pier__fail(-EINVAL, "accept or reject: the request is "
				  "answered already");
	return pier__fail(-ECONNABORTED, "accept or reject: the request has "
			  "ended: %s", ended(conn));
}

/* Create the QP, send a REP.  After an error the QP may remain. */
static int send_rep(struct pier_conn *conn)
{
	uint8_t field[PIER__CM_REP_DATA];
	struct pier__cm_param param = { .data = field };
	int len, err;

	err = pier__rdmacm_qp_create(conn);
	if (!err)
		err = pier__rdmacm_qp_ready(conn);
	if (err)
		return err;
	len = pier__handshake_encode(conn, field, sizeof(field));
	if (len < 0)
		return len;
	param.len = (size_t)len;
	pier__rdmacm_param(conn, &param);
	return conn->queues->rdmacm->fab->accept(conn->cm->id, &param);
}

static int accept_request(struct pier_conn *conn, const void *data, size_t len)
{
	struct pier__rdmacm_conn *cm = conn->cm;
	int err = check_request(conn);

	if (err)
		return err;
	err = pier__handshake_data(conn, data, len, cm->foreign ?
				   PIER__CM_REP_DATA : PIER_PRIVATE_DATA_MAX);
	if (!err)
		err = send_rep(conn);
	if (err) {
		pier__conn_destroy_qp(conn);
		conn->local.qpn = 0;	/* it is not answered */
		pier__blob_drop(conn->queues, &cm->own);
		return err == -ECONNABORTED ?
			       abandoned(conn, "accepting") : err;
	}
	pier__conn_transition(conn, PIER__CONN_ACCEPTED);
	conn->deadline = pier__now() +
			 conn->queues->cfg->connect_timeout_ms * PIER__MS;
	return 0;
}

int pier_conn_accept(struct pier_conn *conn, const void *data, size_t len)
{
	struct pier__guard *guard;
	int err;

	if (!conn)
		return pier__no_object(__func__);
	guard = pier__ctx_guard(conn->owner->ctx);
	err = pier__guard_enter(guard, "pier_conn_accept");
	if (err)
		return err;
	err = accept_request(conn, data, len);
	pier__guard_leave(guard);
	return err;
}

static int reject_by_program(struct pier_conn *conn, const void *data,
			     size_t len)
{
	struct pier__cm_reject reject = {
		.reason = PIER__REJECT_BY_PROGRAM,
		.data = data,
		.len = len,
	};
	int err = check_request(conn);
	size_t most;

	if (err)
		return err;
	most = PIER__CM_REJ_DATA;
	if (!conn->cm->foreign)
		most -= PIER__CM_FRAME_REJ;
	err = pier__handshake_check(data, len, most);
	if (err)
		return err;
	err = send_rej(conn->queues->rdmacm, conn->cm->id, conn->cm->foreign,
		       &reject);
	if (err)
		return err == -ECONNABORTED ?
			       abandoned(conn, "rejecting") : err;
	pier_conn_destroy(conn);
	return 0;
}

int pier_conn_reject(struct pier_conn *conn, const void *data, size_t len)
{
	struct pier__guard *guard;
	int err;

	if (!conn)
		return pier__no_object(__func__);
	guard = pier__ctx_guard(conn->owner->ctx);
	err = pier__guard_enter(guard, "pier_conn_reject");
	if (err)
		return err;
	err = reject_by_program(conn, data, len);
	pier__guard_leave(guard);
	return err;
}
