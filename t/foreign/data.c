/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "t/foreign/foreign.h"
#include "t/foreign/pattern.h"

/*
 * Private data at its maximum, and reasons: with t/foreign/peer at the other
 * end, or with this very program.
 */
static size_t limit(const struct foreign_args *args, size_t raw)
{
	if (!args->pier)
		return raw;
	return raw == PATTERN_REJ_LEN ? PATTERN_OUR_REJ_LEN :
					PIER_PRIVATE_DATA_MAX;
}

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
	uint8_t data[PIER_PRIVATE_DATA_MAX];
	struct pier_connect_config cfg = {
		.size = sizeof(cfg),
		.peer = args->peer,
		.port = args->port,
		.source = args->source,
		.data = data,
		.data_len = limit(args, PATTERN_REQ_LEN),
		.raw = !args->pier,
	};
	struct pier_conn *conn;

	pattern_fill(data, cfg.data_len, PATTERN_REQ);
	foreign_check(pier_rdma_connect_to(f->rdma, &cfg, &conn), "connect");
	if (foreign_await(f, conn)) {
		printf("reject reason: %u\n", pier_conn_reject_reason(conn));
		printf("error: %s\n", pier_conn_error_text(conn));
		if (pier_conn_reject_reason(conn) == 28)
			print_data(conn, limit(args, PATTERN_REJ_LEN),
				   PATTERN_REJ);
		exit(3);
	}
	printf("connected from %s to %s\n", pier_conn_local_address(conn),
	       pier_conn_peer_address(conn));
	print_data(conn, limit(args, PATTERN_REP_LEN), PATTERN_REP);
	foreign_await_end(f, conn);
}

void foreign_data_server(struct foreign *f, const struct foreign_args *args,
			 int reject)
{
	struct pier_conn *conn = foreign_listen(f, args);
	size_t len = limit(args, reject ? PATTERN_REJ_LEN : PATTERN_REP_LEN);
	uint8_t data[PIER_PRIVATE_DATA_MAX];

	printf("request from %s\n", pier_conn_peer_address(conn));
	if (!args->pier)
		print_data(conn, PATTERN_REQ_LEN, PATTERN_REQ);
	pattern_fill(data, len, reject ? PATTERN_REJ : PATTERN_REP);
	if (reject) {
		foreign_check(pier_conn_reject(conn, data, len), "reject");
		for (int i = 0; i < 5; i++)
			foreign_turn(f);
		return;
	}
	foreign_check(pier_conn_accept(conn, data, len), "accept");
	foreign_check(foreign_await(f, conn), "establish");
	if (args->pier)
		print_data(conn, limit(args, PATTERN_REQ_LEN), PATTERN_REQ);
	foreign_check(pier_conn_disconnect(conn), "disconnect");
	while (pier_conn_state(conn) == PIER_CONN_CONNECTED)
		foreign_turn(f);
}

/* A request whose sender is gone before it is answered. */
void foreign_slow_server(struct foreign *f, const struct foreign_args *args)
{
	struct pier_conn *conn = foreign_listen(f, args);

	puts("requested");
	fflush(stdout);
	printf("status: %d\n", foreign_await(f, conn));
	printf("error: %s\n", pier_conn_error_text(conn));
	printf("accept: %d\n", pier_conn_accept(conn, NULL, 0));
}
