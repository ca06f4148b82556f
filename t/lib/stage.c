/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include <pier/counters.h>

#include "cm/conn_impl.h"
#include "cm/rdmacm/rdmacm.h"
#include "t/lib/pair.h"
#include "t/lib/peer.h"
#include "t/lib/stage.h"

/* Has @conn come to @state, or beyond, without failing on its way? */
static bool has_reached(const struct pier_conn *conn,
			enum pier__conn_state state)
{
	return conn->state >= state &&
	       conn->state != PIER__CONN_CANCELLING &&
	       conn->state != PIER__CONN_CANCELLED &&
	       pier_conn_state(conn) != PIER_CONN_ERROR;
}

static bool reaches(const struct pier_conn *conn, enum pier__conn_state state)
{
	long long limit = limit_from_now();

	while (conn->state < state && peer_step(limit))
		;
	return has_reached(conn, state);
}

static bool has_passed(const struct pier_conn *conn, enum handshake_stage stage)
{
	switch (stage) {
	case STAGE_LOOKUP:
		return conn->state >= PIER__CONN_LOOKUP;
	case STAGE_REQ_SENT:
		return conn->state >= PIER__CONN_REQ_SENT;
	case STAGE_ACCEPTED:
		return conn->state >= PIER__CONN_ACCEPTED;
	case STAGE_READ:
		return conn->ctl_kind == PIER__CTL_READ ||
		       pier__was_read(conn->cm);
	case STAGE_HELLO:
		return conn->ctl_kind == PIER__CTL_HELLO || conn->hello_acked;
	case STAGE_UP:
		return conn->state >= PIER__CONN_UP;
	}
	return false;
}

bool stage_handshake(const struct pier_conn *conn, struct pier_pe *pe,
		     enum handshake_stage stage)
{
	long long limit = limit_from_now();

	while (!has_passed(conn, stage) && conn->state < PIER__CONN_UP &&
	       limit_nap(limit))
		pier_pe_progress(pe, 0);
	return has_passed(conn, stage) &&
	       has_reached(conn, PIER__CONN_LOOKUP);
}

static bool is_peers_turn(const struct pier_conn *conn)
{
	const struct pier__rdmacm_conn *cm = conn->cm;

	if (conn->state < PIER__CONN_HELLO)
		return conn->state == PIER__CONN_ACCEPTED;
	if (conn->state > PIER__CONN_HELLO || cm->qp_resets)
		return true;
	return conn->ctl_kind == PIER__CTL_NONE && !cm->to_read &&
	       (conn->hello_acked || !(pier__rdmacm_is_active(conn) ||
				       pier__was_read(cm)));
}

bool stage_peers_turn(const struct pier_conn *conn)
{
	long long limit = limit_from_now();

	while (!is_peers_turn(conn) && peer_step(limit))
		;
	return is_peers_turn(conn) && has_reached(conn, PIER__CONN_ACCEPTED);
}

static bool has_rnr(const struct pier_conn *conn)
{
	struct pier_counters counters = { .size = sizeof(counters) };
	uint64_t rnr = 0;

	if (pier_conn_counters(conn, &counters) == -EOPNOTSUPP)
		return conn->posted.first;
	pier_counters_find(&counters, "rnr_received", &rnr);
	return rnr > 0;
}

bool stage_rnr(const struct pier_conn *conn)
{
	long long limit = limit_from_now();

	while (!has_rnr(conn) && peer_step(limit))
		;
	return has_rnr(conn);
}

bool stage_hello_sent(const struct pier_conn *conn)
{
	long long limit = limit_from_now();

	while (conn->ctl_kind != PIER__CTL_HELLO && peer_step(limit))
		;
	return conn->ctl_kind == PIER__CTL_HELLO;
}

bool stage_hello_acked(const struct pier_conn *conn)
{
	long long limit = limit_from_now();

	while (!conn->hello_acked && peer_step(limit))
		;
	return conn->hello_acked;
}

bool stage_draining(const struct pier_conn *conn)
{
	return peer_step(limit_from_now()) &&
	       conn->state == PIER__CONN_DRAINING;
}

bool stage_goodbye(const struct pier_conn *conn)
{
	return reaches(conn, PIER__CONN_GOODBYE);
}

bool stage_goodbye_over(const struct pier_conn *conn)
{
	return reaches(conn, PIER__CONN_FLUSHING);
}

bool stage_reported(const struct pair *pair)
{
	long long limit = limit_from_now();

	while (!pair_readable(pair))
		if (!peer_step(limit))
			return false;
	return true;
}
