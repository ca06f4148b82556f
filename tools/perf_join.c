/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "perf.h"

/*
 * Further connections of a client, which its server knows by the token that it
 * has sent with its reply to the first one.
 */

struct join {
	char magic[2];		/* "pj" */
	uint8_t version;
	uint8_t reserved;	/* 0 */
	uint16_t index;		/* of the connection, in network order */
	uint16_t reserved2;	/* 0 */
	uint64_t token;
};

_Static_assert(sizeof(struct join) == PERF_SPEC_SIZE, "fits into a request");

int perf_join_start(struct perf *perf)
{
	if (getrandom(&perf->token, sizeof(perf->token), 0) ==
	    (ssize_t)sizeof(perf->token))
		return 0;
	return perf_err(perf, -EIO, "getrandom: no random number");
}

void perf_join_make(const struct perf *perf, int index,
		    char ret[PERF_SPEC_SIZE])
{
	struct join join = {
		.magic = { 'p', 'j' },
		.version = PERF_VERSION,
		.index = htons((uint16_t)index),
		.token = perf->token,
	};

	memcpy(ret, &join, sizeof(join));
}

/* false: @conn does not request to join. */
static bool read_join(struct pier_conn *conn, struct join *ret)
{
	const void *data;
	size_t len;

	if (pier_conn_private_data(conn, &data, &len) || len < sizeof(*ret) ||
	    memcmp(data, "pj", 2))
		return false;
	memcpy(ret, data, sizeof(*ret));
	return true;
}

/* The connection that it is to be, which is not there yet; below 0: none. */
static int index_of(const struct perf *perf, const struct pier_conn *conn,
		    const struct join *join)
{
	int index = ntohs(join->index);

	if (join->version != PERF_VERSION || join->reserved ||
	    join->reserved2 || !perf->conns[0].conn ||
	    join->token != perf->token || index >= perf->conn_count ||
	    perf->conns[index].conn || pier_conn_rdma(conn) != perf->rdma)
		return -EPROTO;
	return index;
}

/* One that is measured, and ends at once; the first one's RTU may be late. */
static bool is_lap(const struct perf *perf, const struct pier_conn *conn,
		   const struct join *join)
{
	return perf->conns[0].conn && perf->opts.operation == PERF_CONNECT &&
	       join->version == PERF_VERSION && join->token == perf->token &&
	       ntohs(join->index) == PERF_JOIN_LAP &&
	       pier_conn_rdma(conn) == perf->rdma;
}

bool perf_join_take(struct perf *perf, struct pier_conn *conn)
{
	struct join join;
	int index;

	if (!read_join(conn, &join))
		return false;
	index = index_of(perf, conn, &join);
	if (is_lap(perf, conn, &join) && !pier_conn_accept(conn, NULL, 0))
		return true;
	if (index < 0 || pier_conn_accept(conn, NULL, 0))
		perf_reject(conn, "a connection of another client");
	else
		perf->conns[index].conn = conn;
	return true;
}
