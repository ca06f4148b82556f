/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "cm/rdmacm/rdmacm.h"
#include "core/clock.h"
#include "core/fail.h"

/* The passive side: a request is told, then accepted or rejected. */

/* How often an open request is looked at, whether it is still one. */
#define LOOK_MS 250

/* REJ, with pier's reason if the peer reads such. */
static int refuse(struct pier__room *room, struct pier__cm_id *id,
		  bool foreign, const struct pier__refused *refused)
{
	uint8_t field[PIER__CM_REJ_DATA];
	int len;

	if (foreign)
		return room->fab->reject(id, refused->data, refused->len);
	len = pier__refused_encode(refused, field, sizeof(field));
	return len < 0 ? len : room->fab->reject(id, field, (size_t)len);
}

/* A request is answered with "no", and gone. */
static void bury(struct pier_conn *conn)
{
	conn->side->answered = true;
	pier_conn_destroy(conn);
}

void pier__passive_refuse(struct pier_conn *conn, enum pier__refusal why)
{
	struct pier__refused refused = { .why = why };

	refuse(conn->qset->cm, conn->side->id, conn->side->foreign,
	       &refused);
	bury(conn);
}

void pier__passive_turn_away(struct pier__room *room,
			     const struct pier__cm_event *ev,
			     enum pier__refusal why)
{
	struct pier__refused refused = { .why = why };
	struct pier__frame frame;
	int err = pier__frame_decode(ev->data, ev->len, &frame);

	refuse(room, ev->id, err == -ENOENT, &refused);
	room->fab->release(ev->id);
}

/* What the client is told where a request of its came to @err here. */
static enum pier__refusal refusal_of(int err)
{
	switch (err) {
	case -ENOSPC:
		return PIER__REFUSED_FULL;
	case -PIER_EVERSION:
		return PIER__REFUSED_VERSION;
	case -PIER_EDESC:
		return PIER__REFUSED_MALFORMED;
	case -ENOMEM:
		return PIER__REFUSED_BUSY;
	default:
		return PIER__REFUSED_CLOSING;
	}
}

static void tell(struct pier_conn *conn, struct pier_listener *listener)
{
	pier_conn_fn *fn = conn->qset->kept->fns.request;

	if (listener->request) {
		listener->request(conn, listener->arg);
		return;
	}
	if (!fn) {
		pier__passive_refuse(conn, PIER__REFUSED_CLOSING);
		return;
	}
	pier__pe_event(conn->qset->pe);
	fn(conn, conn->user_data,
	   pier_ctx_user_data(pier_rdma_ctx(conn->rdma)));
}

void pier__passive_request(struct pier__room *room,
			   struct pier_listener *listener,
			   const struct pier__cm_event *ev)
{
	struct pier__qset *qset = room->qset;
	struct pier__side *side;
	struct pier_conn *conn;
	int err = pier__side_create(qset, false, &conn);

	if (err) {
		pier__passive_turn_away(room, ev, refusal_of(err));
		return;
	}
	side = conn->side;
	side->id = ev->id;
	side->id->owner = conn;
	pier__sockaddr_text((const void *)&ev->id->local, side->local);
	pier__sockaddr_text((const void *)&ev->id->peer, side->peer);
	pier__side_house(conn);
	conn->phase = PIER__CONN_REQUEST;
	conn->deadline = pier__pe_now(qset->pe) +
			 qset->cfg->connect_timeout_ms * PIER__MS;
	pier__conn_kick(conn);
	err = pier__handshake_hear(conn, ev);
	if (err)
		pier__passive_refuse(conn, refusal_of(err));
	else
		tell(conn, listener);
}

static int dead(struct pier_conn *conn, const char *stage)
{
	return pier__side_why(conn, -ECONNABORTED, stage, "the client has "
			      "given up");
}

/*
 * The kernel's connection manager tells of a request's end only when it is
 * answered, or when its attributes are asked for: do that now and then.
 */
bool pier__passive_is_void(struct pier__room *room, struct pier__cm_id *id)
{
	struct ibv_qp_attr attr;
	uint16_t udp_port;
	int mask;

	return room->fab->qp_attr(id, IBV_QPS_INIT, &attr, &mask,
				  &udp_port) == -ECONNABORTED;
}

uint64_t pier__passive_step(struct pier_conn *conn, uint64_t now)
{
	struct pier__side *side = conn->side;

	if (now >= conn->deadline) {
		int err = pier__side_why(conn, -ETIMEDOUT, "waiting",
					 "the program did not accept it in "
					 "time");
		struct pier__refused late = { .why = PIER__REFUSED_LATE };

		refuse(conn->qset->cm, side->id, side->foreign, &late);
		pier__conn_fail(conn, err);
		return now;
	}
	if (pier__passive_is_void(conn->qset->cm, side->id)) {
		pier__conn_fail(conn, dead(conn, "waiting"));
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
		conn->side->established = true;
		return;
	}
	if (conn->phase > PIER__CONN_HELLO)
		return;
	if (ev->kind == PIER__CM_REJECTED)
		err = pier__side_rejected(conn, ev);
	else
		err = pier__side_why(conn, ev->error, "waiting for the peer "
				     "to go on", "%s: is it gone?",
				     pier_strerror(ev->error));
	pier__conn_fail(conn, err);
}

/* Why a request can no longer be answered. */
static const char *ended(const struct pier_conn *conn)
{
	if (conn->error)
		return pier_conn_error_text(conn);
	if (conn->qset && !conn->qset->stopping)
		return "this program has disconnected it";
	return "the context stops";
}

static int check_request(const struct pier_conn *conn)
{
	const struct pier__side *side = conn->side;

	if (!side || side->active)
		return pier__fail(-EINVAL, "accept or reject: this is no "
				  "request of a peer's");
	if (conn->phase == PIER__CONN_REQUEST && !side->answered &&
	    !conn->destroyed)
		return 0;
	if (side->answered)
		return pier__fail(-EINVAL, "accept or reject: the request is "
				  "answered already");
	return pier__fail(-ECONNABORTED, "accept or reject: the request has "
			  "ended: %s", ended(conn));
}

/* QP, REP.  What fails leaves the QP behind. */
static int answer(struct pier_conn *conn)
{
	uint8_t field[PIER__CM_REP_DATA];
	struct pier__cm_param param = { .data = field };
	int len, err;

	err = pier__side_qp_create(conn);
	if (!err)
		err = pier__side_qp_ready(conn);
	if (err)
		return err;
	len = pier__handshake_say(conn, field, sizeof(field));
	if (len < 0)
		return len;
	param.len = (size_t)len;
	pier__side_param(conn, &param);
	return conn->qset->cm->fab->accept(conn->side->id, &param);
}

int pier_conn_accept(struct pier_conn *conn, const void *data, size_t len)
{
	struct pier__side *side = conn->side;
	int err = check_request(conn);

	if (err)
		return err;
	err = pier__handshake_data(conn, data, len, side->foreign ?
				   PIER__CM_REP_DATA : PIER_PRIVATE_DATA_MAX);
	if (!err)
		err = answer(conn);
	if (err) {
		pier__side_qp_destroy(conn);
		pier__blob_drop(conn->qset, &side->own);
		return err == -ECONNABORTED ? dead(conn, "accepting") : err;
	}
	side->answered = true;
	conn->phase = PIER__CONN_HELLO;
	conn->deadline = pier__now() +
			 conn->qset->cfg->connect_timeout_ms * PIER__MS;
	pier__conn_kick(conn);
	return 0;
}

int pier_conn_reject(struct pier_conn *conn, const void *data, size_t len)
{
	struct pier__refused refused = {
		.why = PIER__REFUSED_BY_PROGRAM,
		.data = data,
		.len = len,
	};
	int err = check_request(conn);
	size_t most;

	if (err)
		return err;
	most = PIER__CM_REJ_DATA;
	if (!conn->side->foreign)
		most -= PIER__FRAME_REJ;
	err = pier__handshake_check(data, len, most);
	if (err)
		return err;
	err = refuse(conn->qset->cm, conn->side->id, conn->side->foreign,
		     &refused);
	if (err)
		return err == -ECONNABORTED ? dead(conn, "rejecting") : err;
	bury(conn);
	return 0;
}
