/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "perf.h"

/* The connections to the peer, which are used in turn, and their end. */

static void changed(struct pier_conn *conn, enum pier_conn_state prev,
		    enum pier_conn_state next, void *arg)
{
	struct perf_conn *own = arg;

	(void)conn;
	if (prev == PIER_CONN_CONNECTED && next != PIER_CONN_CONNECTED)
		own->perf->open_conns--;
}

void perf_conns_watch(struct perf *perf)
{
	perf->open_conns = 0;
	for (int i = 0; i < perf->conn_count; i++) {
		struct perf_conn *own = &perf->conns[i];

		own->perf = perf;
		own->free = perf->free + i * perf->conn_sends;
		pier_conn_set_user_data(own->conn, own);
		pier_conn_set_state_changed(own->conn, changed);
		if (pier_conn_state(own->conn) == PIER_CONN_CONNECTED)
			perf->open_conns++;
	}
}

int perf_conns_error(struct perf *perf)
{
	for (int i = 0; i < perf->conn_count; i++) {
		struct pier_conn *conn = perf->conns[i].conn;
		int err = pier_conn_error(conn);

		if (err)
			return perf_err(perf, err, "%s",
					pier_conn_error_text(conn));
	}
	return 0;
}

int perf_conns_find(const struct perf *perf, const struct pier_conn *conn)
{
	for (int i = 0; i < perf->conn_count; i++)
		if (perf->conns[i].conn == conn)
			return i;
	return -ENOENT;
}

bool perf_conns_lost(const struct perf *perf)
{
	for (int i = 0; i < perf->conn_count; i++) {
		struct pier_conn *conn = perf->conns[i].conn;

		if (conn && (pier_conn_state(conn) == PIER_CONN_RESET ||
			     pier_conn_state(conn) == PIER_CONN_ERROR))
			return true;
	}
	return false;
}

void perf_conns_disconnect(struct perf *perf)
{
	for (int i = 0; i < perf->conn_count; i++)
		pier_conn_disconnect(perf->conns[i].conn);
}

void perf_conns_destroy(struct perf *perf)
{
	for (int i = 0; i < perf->conn_count; i++) {
		pier_conn_destroy(perf->conns[i].conn);
		perf->conns[i].conn = NULL;
	}
}
