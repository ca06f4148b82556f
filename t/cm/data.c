/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "t/cm/foreign.h"
#include "t/cm/pattern.h"

/* Private data at its maximum, and reasons, with t/cm/peer at the other end. */
static void print_data(struct pier_conn *conn, size_t len,
		       enum pattern first)
{
	const void *data = NULL;
	size_t got = 0;

	foreign_check(pier_conn_private_data(conn, &data, &got), "data");
	printf("private data: %zu %s\n", got,
	       pattern_is(data, got, len, first) ? "as sent" : "changed");
}

void foreign_data_client(struct foreign *f, const struct foreign_args *args)
{
	uint8_t data[PATTERN_REQ_LEN];
	struct pier_connect_config cfg = {
		.size = sizeof(cfg),
		.peer = args->peer,
		.port = args->port,
		.source = args->source,
		.data = data,
		.data_len = sizeof(data),
		.raw = 1,
	};
	struct pier_conn *conn;

	pattern_fill(data, sizeof(data), PATTERN_REQ);
	foreign_check(pier_rdma_connect_to(f->rdma, &cfg, &conn), "connect");
	if (foreign_await(f, conn)) {
		printf("reject reason: %u\n", pier_conn_reject_reason(conn));
		printf("sentence: %s\n", pier_conn_error_text(conn));
		if (pier_conn_reject_reason(conn) == 28)
			print_data(conn, PATTERN_REJ_LEN, PATTERN_REJ);
		exit(3);
	}
	printf("connected from %s to %s\n", pier_conn_local_address(conn),
	       pier_conn_peer_address(conn));
	print_data(conn, PATTERN_REP_LEN, PATTERN_REP);
	foreign_await_end(f, conn);
}

void foreign_data_server(struct foreign *f, const struct foreign_args *args,
			 int reject)
{
	struct pier_conn *conn = foreign_listen(f, args);
	uint8_t data[PATTERN_REP_LEN];

	printf("request from %s\n", pier_conn_peer_address(conn));
	print_data(conn, PATTERN_REQ_LEN, PATTERN_REQ);
	if (reject) {
		pattern_fill(data, PATTERN_OUR_REJ_LEN, PATTERN_REJ);
		foreign_check(pier_conn_reject(conn, data,
					       PATTERN_OUR_REJ_LEN), "reject");
		for (int i = 0; i < 5; i++)
			foreign_turn(f);
		return;
	}
	pattern_fill(data, sizeof(data), PATTERN_REP);
	foreign_check(pier_conn_accept(conn, data, sizeof(data)), "accept");
	foreign_check(foreign_await(f, conn), "establish");
	foreign_check(pier_conn_disconnect(conn), "disconnect");
	while (pier_conn_state(conn) == PIER_CONN_CONNECTED)
		foreign_turn(f);
}
