/* SPDX-License-Identifier: BSD-2-Clause */
#include "cm/conn_impl.h"
#include "t/lib/pair.h"
#include "t/lib/peer.h"
#include "t/lib/stage.h"

static bool phase(const struct pier_conn *conn, enum pier__conn_phase phase)
{
	long long limit = limit_from_now();

	while (conn->phase < phase && peer_step(limit))
		;
	return conn->phase >= phase;
}

bool stage_handshake(const struct pier_conn *conn, struct pier_pe *pe)
{
	long long limit = limit_from_now();

	while (conn->phase < PIER__CONN_ACCEPTED && limit_holds(limit))
		pier_pe_progress(pe, 0);
	return conn->phase >= PIER__CONN_ACCEPTED;
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
	return phase(conn, PIER__CONN_DRAINING);
}

bool stage_goodbye(const struct pier_conn *conn)
{
	return phase(conn, PIER__CONN_GOODBYE);
}

bool stage_goodbye_over(const struct pier_conn *conn)
{
	return phase(conn, PIER__CONN_FLUSHING);
}

bool stage_reported(const struct pair *pair)
{
	long long limit = limit_from_now();

	while (!pair_readable(pair))
		if (!peer_step(limit))
			return false;
	return true;
}
