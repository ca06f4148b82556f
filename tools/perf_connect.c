/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "perf.h"

/*
 * Connecting as what is measured: each lap makes a connection beside the one
 * that the client has, and ends it.
 */

/* So that no lap looks up a name. */
bool perf_peer_address(const struct perf *perf, char ret[TOOL_ADDRESS_MAX],
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

/* Begin to make one. */
static int begin(struct perf *perf, struct pier_conn **ret)
{
	char address[TOOL_ADDRESS_MAX], data[PERF_SPEC_SIZE];
	struct pier_connect_config cfg = {
		.size = sizeof(cfg),
		.peer = address,
		.data = data,
		.data_len = sizeof(data),
		.timeout_ms = (uint32_t)perf->args.timeout_ms,
	};
	int err;

	if (!perf_peer_address(perf, address, &cfg.port))
		return perf_err(perf, -EPROTO, "the server's address is not "
				"known");
	perf_join_make(perf, PERF_JOIN_LAP, data);
	err = pier_rdma_connect_to(perf->rdma, &cfg, ret);
	return err ? perf_fail(perf, err) : 0;
}

static int error_of(struct perf *perf, const struct pier_conn *conn)
{
	int err = pier_conn_error(conn);

	return err ? perf_err(perf, err, "%s", pier_conn_error_text(conn)) : 0;
}

int perf_connect_lap(struct perf *perf, uint64_t *ret_start)
{
	struct pier_conn *conn;
	int err;

	perf->done = 0;
	perf->required = 1;
	*ret_start = perf_now();
	err = begin(perf, &conn);
	if (err)
		return err;
	err = leave(perf, conn, PIER_CONN_INIT);
	perf->finish = perf_now();
	if (!err)
		err = error_of(perf, conn);
	perf->done = pier_conn_state(conn) == PIER_CONN_CONNECTED;
	return end(perf, conn) ?: err;
}

/* One that is established counts once, and is ended; then another is made. */
static int advance(struct perf *perf, struct pier_conn **conn)
{
	enum pier_conn_state state = PIER_CONN_INIT;
	int err = 0;

	if (*conn)
		state = pier_conn_state(*conn);
	if (state == PIER_CONN_CONNECTED && !pier_conn_user_data(*conn)) {
		perf->done++;
		pier_conn_set_user_data(*conn, perf);
		pier_conn_disconnect(*conn);
	} else if (state == PIER_CONN_RESET || state == PIER_CONN_ERROR) {
		err = error_of(perf, *conn);
		pier_conn_destroy(*conn);
		*conn = NULL;
	}
	if (err || *conn || perf->is_over || perf->submitted == perf->required)
		return err;
	perf->submitted++;
	return begin(perf, conn);
}

int perf_connect_round(struct perf *perf)
{
	int err = 0;

	for (int i = 0; i < perf->opts.outstanding && !err; i++)
		err = advance(perf, &perf->laps[i]);
	return err;
}

int perf_connect_end(struct perf *perf)
{
	int err = 0;

	for (int i = 0; i < PERF_CONNS_OTHERS; i++) {
		if (perf->laps[i] && !err)
			err = end(perf, perf->laps[i]);
		else
			pier_conn_destroy(perf->laps[i]);
		perf->laps[i] = NULL;
	}
	return err;
}
