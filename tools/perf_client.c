/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "perf.h"

/*
 * The client of a server: it sends its parameters with the request, and gets
 * the server's memory with the reply.
 */

#define PAUSE_MS 50	/* before a rejected request is sent again */
#define ATTEMPT_MS 15000	/* one request, before another is sent */

/* The reason of the last attempt that failed. */
struct fault {
	int err;
	char text[512];
};

static uint32_t type_of(const struct pier_args *args)
{
	const char *type = args->server_addr_type;

	if (!type)
		return PIER_ADDR_ANY;
	if (!strcasecmp(type, "GID"))
		return PIER_ADDR_GID;
	return type[strlen(type) - 1] == '6' ? PIER_ADDR_IPV6 : PIER_ADDR_IPV4;
}

/* The server's reason for rejecting it; "": it has given none. */
static void read_reason(struct pier_conn *conn, struct fault *fault)
{
	const size_t skip = strlen(PERF_REJECT);
	const void *data;
	size_t len;

	fault->text[0] = '\0';
	if (!pier_conn_reject_reason(conn) ||
	    pier_conn_private_data(conn, &data, &len) || len <= skip ||
	    memcmp(data, PERF_REJECT, skip))
		return;
	len -= skip;
	if (len >= sizeof(fault->text))
		len = sizeof(fault->text) - 1;
	memcpy(fault->text, (const char *)data + skip, len);
	fault->text[len] = '\0';
}

/* May the server not have started yet, or have another client? */
static bool may_come(int err)
{
	return err == -ECONNREFUSED || err == -ETIMEDOUT ||
	       err == -EADDRINUSE || err == -EHOSTUNREACH ||
	       err == -ENETUNREACH || err == -ECONNRESET ||
	       err == -PIER_ENOHELLO || err == -PIER_ERETRY;
}

/* -EAGAIN: try again. */
static int take_fault(struct perf *perf, struct pier_conn **conn, int err,
		      bool cut_short, struct fault *fault)
{
	struct fault now = { .err = err };

	read_reason(*conn, &now);
	if (now.text[0] && strcmp(now.text, PERF_BUSY))
		return perf_err(perf, -ECONNREFUSED, "%s: %s",
				perf->args.server_addr, now.text);
	if (now.text[0])
		snprintf(now.text, sizeof(now.text), "the server has another "
			 "client");
	else
		snprintf(now.text, sizeof(now.text), "%s",
			 pier_conn_error_text(*conn));
	if (!may_come(err))
		return perf_err(perf, err, "%s", now.text);
	if (!cut_short || err != -ETIMEDOUT || !fault->err)
		*fault = now;
	pier_conn_destroy(*conn);
	*conn = NULL;
	pier_pe_wait(perf->pe, PAUSE_MS);
	return -EAGAIN;
}

/* What is sent with connection @i; behind it the client's memory. */
static int make_data(struct perf *perf, int i, char ret[PIER_PRIVATE_DATA_MAX],
		     size_t *ret_len)
{
	const void *desc = NULL;
	size_t len = 0;
	int err = 0;

	if (i)
		perf_join_make(perf, i, ret);
	else
		perf_spec_make(perf, ret);
	if (!i && perf->opts.both)
		err = perf_both_export(perf, &desc, &len);
	if (err)
		return err;
	if (len > PIER_PRIVATE_DATA_MAX - PERF_SPEC_SIZE)
		return perf_err(perf, -EMSGSIZE, "the memory's descriptor has "
				"%zu bytes", len);
	if (len)
		memcpy(ret + PERF_SPEC_SIZE, desc, len);
	*ret_len = PERF_SPEC_SIZE + len;
	return 0;
}

/* A connection: the first has the parameters, others join it. */
static int attempt(struct perf *perf, int i, const char *source,
		   uint64_t until, struct fault *fault)
{
	struct pier_conn **conn = &perf->conns[i].conn;
	uint64_t now = perf_now();
	int left = now < until ? (int)((until - now) / 1000000) + 1 : 0;
	static char data[PIER_PRIVATE_DATA_MAX];
	struct pier_connect_config cfg = {
		.size = sizeof(cfg),
		.peer = perf->args.server_addr,
		.type = type_of(&perf->args),
		.port = (uint32_t)perf->args.listen_port,
		.source = source[0] ? source : NULL,
		.data = data,
		.timeout_ms = (uint32_t)(left < ATTEMPT_MS ? left : ATTEMPT_MS),
	};
	int err;

	if (!left)
		return perf_err(perf, fault->err ? fault->err : -ETIMEDOUT,
				"not connected after %d s: %s",
				(perf->args.timeout_ms + 999) / 1000,
				fault->text);
	err = make_data(perf, i, data, &cfg.data_len);
	if (err)
		return err;
	err = pier_rdma_connect_to(perf->rdma, &cfg, conn);
	if (err)
		return perf_fail(perf, err);
	err = pier_conn_wait(*conn, left + ATTEMPT_MS);
	return err ? take_fault(perf, conn, err, left < ATTEMPT_MS, fault) : 0;
}

static int take_reply(struct perf *perf)
{
	const void *data;
	size_t len;
	int err = pier_conn_private_data(perf->conns[0].conn, &data, &len);

	if (err)
		return perf_fail(perf, err);
	err = perf_reply_take(perf, data, len);
	if (err)
		return err;
	err = pier_mmap_create_from_export(perf->dev,
					   (const char *)data + PERF_REPLY_SIZE,
					   len - PERF_REPLY_SIZE,
					   &perf->remote);
	if (err)
		return perf_fail(perf, err);
	if (pier_mmap_len(perf->remote) < perf_far_size(perf))
		return perf_err(perf, -EPROTO, "%s: its memory has %zu bytes, "
				"too few", perf->args.server_addr,
				pier_mmap_len(perf->remote));
	return 0;
}

int perf_meet_server(struct perf *perf)
{
	uint64_t until = perf_now() +
			 (uint64_t)perf->args.timeout_ms * 1000000;
	struct fault fault = { .text = "no time" };
	char source[TOOL_ADDRESS_MAX];
	int err;

	if (perf_gid_text(perf, source))
		return perf_err(perf, -ERANGE, "-g %d: %s has no such GID",
				perf->args.gid_index,
				pier_devinfo_name(pier_dev_info(perf->dev)));
	for (int i = 0; i < perf->conn_count; i++) {
		do
			err = attempt(perf, i, source, until, &fault);
		while (err == -EAGAIN);
		if (!err && !i)
			err = take_reply(perf);
		if (err)
			return err;
	}
	return 0;
}
