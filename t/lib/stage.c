/* SPDX-License-Identifier: BSD-2-Clause */
#include "cm/conn_impl.h"
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

bool stage_handshake(const struct pier_conn *conn, struct pier_pe *pe)
{
	long long limit = limit_from_now();

	while (conn->state < PIER__CONN_ACCEPTED && limit_holds(limit))
		pier_pe_progress(pe, 0);
	return has_reached(conn, PIER__CONN_ACCEPTED);
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
