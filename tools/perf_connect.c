/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "perf.h"

/*
 * Connecting as what is measured: each lap makes a connection beside the one
 * that the client has, and ends it.
 */

/* The server's address, so that no lap looks up a name. */
static bool read_address(const struct perf *perf, char ret[TOOL_ADDRESS_MAX],
			 uint32_t *ret_port)
{
	return sscanf(pier_conn_peer_address(perf->conns[0].conn),
		      "%127s port %" SCNu32, ret, ret_port) == 2;
}

/* Until @conn is no longer in @state. */
static int leave(struct perf *perf, const struct pier_conn *conn,
		 enum pier_conn_state state)
{
	int err = 0;

	while (!err && !perf_interrupted && pier_conn_state(conn) == state)
		err = perf_drive_request(perf);
	return err;
}

static int end(struct perf *perf, struct pier_conn *conn)
{
	int err = 0;

	if (pier_conn_state(conn) == PIER_CONN_CONNECTED) {
		pier_conn_disconnect(conn);
		err = leave(perf, conn, PIER_CONN_CONNECTED);
	}
	pier_conn_destroy(conn);
	return err;
}

int perf_connect_lap(struct perf *perf, uint64_t *ret_start)
{
	char address[TOOL_ADDRESS_MAX], data[PERF_SPEC_SIZE];
	struct pier_connect_config cfg = {
		.size = sizeof(cfg),
		.peer = address,
		.data = data,
		.data_len = sizeof(data),
		.timeout_ms = (uint32_t)perf->args.timeout_ms,
	};
	struct pier_conn *conn;
	int err;

	if (!read_address(perf, address, &cfg.port))
		return perf_err(perf, -EPROTO, "the server's address is not "
				"known");
	perf_join_make(perf, PERF_JOIN_LAP, data);
	perf->done = 0;
	perf->required = 1;
	*ret_start = perf_now();
	err = pier_rdma_connect_to(perf->rdma, &cfg, &conn);
	if (err)
		return perf_fail(perf, err);
	err = leave(perf, conn, PIER_CONN_INIT);
	perf->finish = perf_now();
	if (!err && pier_conn_error(conn))
		err = perf_err(perf, pier_conn_error(conn), "%s",
			       pier_conn_error_text(conn));
	perf->done = pier_conn_state(conn) == PIER_CONN_CONNECTED;
	return end(perf, conn) ?: err;
}
