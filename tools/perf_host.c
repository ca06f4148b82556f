/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>

#include "perf.h"

/*
 * The server on all devices of its host: the first client's device is the one
 * that is measured.
 */

bool perf_on_host(const struct perf *perf)
{
	return perf->opts.respond && perf->args.use_cm &&
	       !perf->args.server_addr &&
	       tool_on_all_devices(&perf->args, perf->address);
}

/* The client has come by a device: what it needs there. */
static int choose(struct perf *perf, struct pier_conn *conn)
{
	size_t i = pier_host_find(perf->host, conn);

	if (perf->rdma == pier_host_rdma(perf->host, i))
		return 0;
	perf_release_device(perf);
	perf->dev = pier_host_dev(perf->host, i);
	perf->rdma = pier_host_rdma(perf->host, i);
	return perf_prepare_device(perf);
}

/* One client at a time: others are rejected, and try again. */
static void requested(struct pier_conn *conn, void *data, void *ctx_data)
{
	struct perf *perf = ctx_data;
	const void *desc;
	size_t len;

	(void)data;
	if (!perf->conn && !perf->err && !choose(perf, conn)) {
		if (!pier_mmap_export(perf->local, &desc, &len) &&
		    !pier_conn_accept(conn, desc, len)) {
			perf->conn = conn;
			return;
		}
		tool_message("pier perf: %s", pier_last_error());
	}
	if (pier_conn_reject(conn, NULL, 0))
		pier_conn_destroy(conn);
}

static void established(struct pier_conn *conn, void *data, void *ctx_data)
{
	struct perf *perf = ctx_data;

	(void)data;
	perf->met |= conn == perf->conn;
}

/* The next client may be luckier. */
static void failed(struct pier_conn *conn, void *data, void *ctx_data)
{
	struct perf *perf = ctx_data;

	(void)data;
	tool_message("pier perf: %s", pier_conn_error_text(conn));
	if (perf->conn == conn)
		perf->conn = NULL;
	pier_conn_destroy(conn);
}

int perf_host_start(struct perf *perf)
{
	struct pier_rdma_config rdma;
	struct pier_listen_config listen = {
		.size = sizeof(listen),
		.port = (uint32_t)perf->args.listen_port,
	};
	const struct pier_host_config cfg = {
		.size = sizeof(cfg), .rdma = &rdma, .request = requested,
		.established = established, .failure = failed,
		.user_data = perf,
	};
	int err;

	perf_config(perf, &rdma);
	err = pier_host_create(perf->pe, &cfg, &perf->host);
	if (!err)
		err = pier_host_listen(perf->host, &listen);
	if (err)
		return perf_fail(perf, err);
	if (!perf->opts.json)
		tool_print_host("pier perf", perf->host, stderr);
	return 0;
}

/* What is measured is one device, so that no other is polled. */
static void stop_others(struct perf *perf)
{
	for (size_t i = 0; i < pier_host_count(perf->host); i++) {
		struct pier_rdma *rdma = pier_host_rdma(perf->host, i);

		if (rdma && rdma != perf->rdma)
			pier_ctx_stop_wait(pier_rdma_ctx(rdma),
					   perf->args.timeout_ms);
	}
}

int perf_host_meet(struct perf *perf)
{
	uint64_t until = perf_now() +
			 (uint64_t)perf->args.timeout_ms * 1000000;

	while (!perf->met && !perf->err) {
		uint64_t now = perf_now();

		if (now >= until)
			return perf_err(perf, -ETIMEDOUT, "no client has "
					"connected to port %d after %d s: is "
					"the client running, and is its host "
					"this one?", perf->args.listen_port,
					(perf->args.timeout_ms + 999) / 1000);
		pier_pe_wait(perf->pe, (int)((until - now) / 1000000) + 1);
	}
	pier_host_stop_listening(perf->host);
	if (!perf->err)
		stop_others(perf);
	return perf->err;
}
