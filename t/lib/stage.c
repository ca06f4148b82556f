/* SPDX-License-Identifier: BSD-2-Clause */
#include "cm/conn_impl.h"
#include "t/lib/pair.h"
#include "t/lib/peer.h"
#include "t/lib/stage.h"

static bool reaches(const struct pier_conn *conn, enum pier__conn_state state)
{
	long long limit = limit_from_now();

	while (conn->state < state && peer_step(limit))
		;
	return conn->state >= state;
}

bool stage_handshake(const struct pier_conn *conn, struct pier_pe *pe)
{
	long long limit = limit_from_now();

	while (conn->state < PIER__CONN_ACCEPTED && limit_holds(limit))
		pier_pe_progress(pe, 0);
	return conn->state >= PIER__CONN_ACCEPTED;
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
	return reaches(conn, PIER__CONN_DRAINING);
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
