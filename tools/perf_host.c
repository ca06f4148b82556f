/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "perf.h"

/*
 * The server: it accepts one client at a time and prepares what this client's
 * parameters need.  If no device is named it listens on all of them, and the
 * client's device is the one that is measured.
 */

bool perf_is_server(const struct perf *perf)
{
	return perf->opts.respond && perf->args.use_cm &&
	       !perf->args.server_addr;
}

bool perf_on_host(const struct perf *perf)
{
	return perf_is_server(perf) &&
	       tool_on_all_devices(&perf->args, perf->address);
}

void perf_reject(struct pier_conn *conn, const char *text)
{
	char data[PERF_REJECT_MAX];
	int len = snprintf(data, sizeof(data), PERF_REJECT "%s", text);

	if (len >= (int)sizeof(data))
		len = sizeof(data) - 1;
	if (pier_conn_reject(conn, data, (size_t)len))
		pier_conn_destroy(conn);
}

/* Take the client's parameters, and prepare the device that it came by. */
static int prepare(struct perf *perf, struct pier_conn *conn)
{
	const void *data;
	size_t len;
	int err = pier_conn_private_data(conn, &data, &len);

	if (err)
		return perf_fail(perf, err);
	err = perf_spec_take(perf, data, len);
	if (!err)
		err = perf_join_start(perf);
	if (err)
		return err;
	if (perf->host) {
		size_t i = pier_host_find(perf->host, conn);

		perf->dev = pier_host_dev(perf->host, i);
		perf->rdma = pier_host_rdma(perf->host, i);
	}
	err = perf_prepare_device(perf);
	return !err && perf_is_channel(perf) ? perf_comch_serve(perf) : err;
}

/* What the server has, then the descriptor of its memory. */
static int accept_client(struct perf *perf, struct pier_conn *conn)
{
	static char data[PIER_PRIVATE_DATA_MAX];
	const void *desc;
	size_t len;
	int err = pier_mmap_export(perf->local, &desc, &len);

	if (!err && len > sizeof(data) - PERF_REPLY_SIZE)
		return perf_err(perf, -EMSGSIZE, "the memory's descriptor has "
				"%zu bytes", len);
	memset(data, 0, sizeof(data));
	if (!err) {
		perf_reply_make(perf, data);
		memcpy(data + PERF_REPLY_SIZE, desc, len);
		err = pier_conn_accept(conn, data, PERF_REPLY_SIZE + len);
	}
	return err ? perf_fail(perf, err) : 0;
}

/* The next client may be luckier. */
static void forget(struct perf *perf)
{
	perf_conns_destroy(perf);
	perf_release_device(perf);
	perf_comch_destroy(perf);
	perf->opts = perf->given;
	perf->err = 0;
	perf->conn_count = perf->established = 0;
}

/* One client at a time: others are rejected, and try again. */
static void requested(struct pier_conn *conn, void *data, void *ctx_data)
{
	struct perf *perf = ctx_data;

	(void)data;
	if (perf_join_take(perf, conn))
		return;
	if (perf->conns[0].conn || perf->err) {
		perf_reject(conn, PERF_BUSY);
		return;
	}
	if (!prepare(perf, conn) && !accept_client(perf, conn)) {
		perf->conns[0].conn = conn;
		return;
	}
	tool_message("pier perf: %s: rejected: %s",
		     pier_conn_peer_address(conn), perf->reason);
	perf_reject(conn, perf->reason);
	forget(perf);
}

static void established(struct pier_conn *conn, void *data, void *ctx_data)
{
	struct perf *perf = ctx_data;

	(void)data;
	if (perf_conns_find(perf, conn) >= 0)
		perf->met = ++perf->established == perf->conn_count;
}

static void failed(struct pier_conn *conn, void *data, void *ctx_data)
{
	struct perf *perf = ctx_data;

	(void)data;
	tool_message("pier perf: %s", pier_conn_error_text(conn));
	if (perf_conns_find(perf, conn) >= 0)
		forget(perf);
	else
		pier_conn_destroy(conn);
}

/* One of those that are measured, see perf_connect.c, or of the client. */
static void disconnected(struct pier_conn *conn, void *data, void *ctx_data)
{
	(void)data;
	if (perf_conns_find(ctx_data, conn) < 0)
		pier_conn_destroy(conn);
}

static int listen_on_host(struct perf *perf,
			  const struct pier_listen_config *listen)
{
	struct pier_rdma_config rdma;
	const struct pier_host_config cfg = {
		.size = sizeof(cfg), .rdma = &rdma, .request = requested,
		.established = established, .failure = failed,
		.disconnected = disconnected, .user_data = perf,
	};
	int err;

	perf_config(perf, &rdma);
	err = pier_host_create(perf->pe, &cfg, &perf->host);
	if (!err)
		err = pier_host_listen(perf->host, listen);
	if (!err && !perf->opts.json && !perf->quiet)
		tool_print_host("pier perf", perf->host, stderr);
	return err ? perf_fail(perf, err) : 0;
}

int perf_gid_text(const struct perf *perf, char ret[TOOL_ADDRESS_MAX])
{
	const struct pier_devinfo *info = pier_dev_info(perf->dev);
	struct pier_gid gid;

	ret[0] = '\0';
	if (perf->args.gid_index < 0)
		return 0;
	for (size_t i = 0; !pier_devinfo_gid(info, i, &gid); i++)
		if (gid.index == (uint32_t)perf->args.gid_index) {
			inet_ntop(AF_INET6, gid.raw, ret, TOOL_ADDRESS_MAX);
			return 0;
		}
	return -ENODEV;
}

static int listen_on_device(struct perf *perf, struct pier_listen_config *cfg)
{
	struct pier_ctx *ctx = pier_rdma_ctx(perf->rdma);
	char address[TOOL_ADDRESS_MAX];
	struct pier_listener *listener;
	int err;

	if (perf_gid_text(perf, address))
		return perf_err(perf, -ERANGE, "-g %d: %s has no such GID",
				perf->args.gid_index,
				pier_devinfo_name(pier_dev_info(perf->dev)));
	cfg->address = address;
	pier_ctx_set_user_data(ctx, perf);
	pier_rdma_set_conn_callbacks(perf->rdma, requested, established,
				     failed, disconnected);
	err = pier_rdma_listen(perf->rdma, cfg, &listener);
	return err ? perf_fail(perf, err) : 0;
}

int perf_host_start(struct perf *perf)
{
	struct pier_listen_config cfg = {
		.size = sizeof(cfg),
		.port = (uint32_t)perf->args.listen_port,
	};

	perf->given = perf->opts;
	perf->size_limit = perf->opts.size > PERF_SERVED ? perf->opts.size :
							   PERF_SERVED;
	return perf->rdma ? listen_on_device(perf, &cfg) :
			    listen_on_host(perf, &cfg);
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

/* A server that stays has no time limit. */
int perf_host_meet(struct perf *perf)
{
	uint64_t until = perf->stays ? UINT64_MAX : perf_now() +
			 (uint64_t)perf->args.timeout_ms * 1000000;

	while (!perf->met && !perf->err) {
		uint64_t now = perf_now();

		if (now >= until)
			return perf_err(perf, -ETIMEDOUT, "no client has "
					"connected to port %d after %d s: is "
					"the client running, and is its host "
					"this one?", perf->args.listen_port,
					(perf->args.timeout_ms + 999) / 1000);
		pier_pe_wait(perf->pe, perf->stays ? -1 :
			     (int)((until - now) / 1000000) + 1);
		if (!perf->met && perf_conns_lost(perf)) {
			tool_message("pier perf: the client has ended before "
				     "its %d connections were established",
				     perf->conn_count);
			forget(perf);
		}
	}
	if (!perf->err && perf->host)
		stop_others(perf);
	return perf->err;
}
