/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "t/lib/caller.h"
#include "t/lib/tap.h"

static struct caller *counted(int *count, struct caller *peer)
{
	++*count;
	peer->inside += peer->calling;
	return peer;
}

static void requested(struct pier_conn *conn, void *data, void *ctx_data)
{
	struct caller *peer = ctx_data;
	int err;

	(void)data;
	counted(&peer->requests, peer);
	IS(pier_conn_state(conn), PIER_CONN_INIT);
	peer->peer.conn = conn;
	if (peer->hold)
		return;
	err = pier_conn_accept(conn, peer->answer, peer->answer_len);
	if (err && (peer->may_fail || !IS(err, 0)))
		tap_note("%s", pier_last_error());
	if (!err || err == -ECONNABORTED || !peer->may_fail)
		return;		/* an abort is reported as a failure */
	peer->over++;
	pier_conn_destroy(conn);
}

static void established(struct pier_conn *conn, void *data, void *ctx_data)
{
	struct caller *peer = ctx_data;

	(void)data;
	counted(&peer->established, peer);
	IS(pier_conn_state(conn), PIER_CONN_CONNECTED);
	if (peer->hang_up)
		IS(pier_conn_disconnect(conn), 0);
}

static void over(struct caller *peer, struct pier_conn *conn)
{
	peer->over++;
	if (!peer->sweep)
		return;
	pier_conn_destroy(conn);
	if (peer->peer.conn == conn)
		peer->peer.conn = NULL;
}

static void failed(struct pier_conn *conn, void *data, void *ctx_data)
{
	struct caller *peer = ctx_data;

	(void)data;
	over(counted(&peer->failures, peer), conn);
}

static void disconnected(struct pier_conn *conn, void *data, void *ctx_data)
{
	struct caller *peer = ctx_data;

	(void)data;
	over(counted(&peer->disconnected, peer), conn);
}

bool caller_open(struct caller *peer, struct pier_dev *dev, struct pier_pe *pe,
		 const struct pier_rdma_config *cfg, size_t len)
{
	memset(peer, 0, sizeof(*peer));
	if (!peer_open(&peer->peer, dev, pe, cfg, len))
		return false;
	pier_ctx_set_user_data(pier_rdma_ctx(peer->peer.rdma), peer);
	return IS(pier_rdma_set_conn_callbacks(peer->peer.rdma, requested,
					       established, failed,
					       disconnected), 0);
}

void caller_close(struct caller *peer)
{
	if (!peer->peer.rdma) {
		peer_close(&peer->peer);
		return;
	}
	pier_listener_destroy(peer->listener);
	peer_close(&peer->peer);
	peer->listener = NULL;
}

bool caller_pair(struct caller *client, struct caller *server,
		 struct pier_dev *dev, const struct pier_rdma_config *cfg,
		 size_t len)
{
	return caller_open(client, dev, NULL, NULL, len) &&
	       caller_open(server, dev, NULL, cfg, len);
}

void caller_unpair(struct caller *client, struct caller *server)
{
	caller_close(server);
	caller_close(client);
}

bool caller_listen(struct caller *peer, uint16_t port)
{
	struct pier_listen_config cfg = {
		.size = sizeof(cfg),
		.address = peer->address,
		.port = port,
		.rate = peer->rate,
		.backlog = peer->backlog,
	};

	if (IS(pier_rdma_listen(peer->peer.rdma, &cfg, &peer->listener), 0))
		return true;
	tap_note("%s", pier_last_error());
	return false;
}

int caller_try(struct caller *peer, struct caller *to, const char *address)
{
	struct pier_connect_config cfg = {
		.size = sizeof(cfg),
		.peer = address ? address : caller_address(peer->peer.dev),
		.port = pier_listener_port(to->listener),
		.source = peer->source,
		.data = peer->ask,
		.data_len = peer->ask_len,
		.timeout_ms = peer->timeout_ms,
		.raw = peer->raw,
	};
	int err;

	peer->calling = true;
	err = pier_rdma_connect_to(peer->peer.rdma, &cfg, &peer->peer.conn);
	peer->calling = false;
	return err;
}

bool caller_ask(struct caller *peer, struct caller *to, const char *address)
{
	if (IS(caller_try(peer, to, address), 0))
		return true;
	tap_note("%s", pier_last_error());
	return false;
}

bool caller_join(struct caller *peer, struct caller *to, const char *address)
{
	int us = peer->established + 1, them = to->established + 1;

	if (!caller_ask(peer, to, address))
		return false;
	if (OK(peer_count(&peer->established, us)) &&
	    OK(peer_count(&to->established, them)))
		return true;
	tap_note("%s", pier_conn_error_text(peer->peer.conn));
	return false;
}

void caller_counts(const struct caller *peer, int requests, int established,
		   int failures, int disconnected)
{
	IS(peer->requests, requests);
	IS(peer->established, established);
	IS(peer->failures, failures);
	IS(peer->disconnected, disconnected);
	IS(peer->inside, 0);
}

void caller_flow(struct pier_conn *from, struct caller *to)
{
	static int sent, got;	/* tasks that are late outlive this call */

	sent = got = -EINPROGRESS;
	IS(pier_rdma_receive(to->peer.rdma, NULL, peer_done, &got), 0);
	IS(pier_rdma_send(from, NULL, peer_done, &sent), 0);
	IS(peer_await(&sent), 0);
	IS(peer_await(&got), 0);
}

const char *caller_address(const struct pier_dev *dev)
{
	static char text[INET6_ADDRSTRLEN];
	struct pier_gid gid;
	uint32_t i;

	for (i = 0; pier_devinfo_gid(pier_dev_info(dev), i, &gid) == 0; i++) {
		bool v4 = IN6_IS_ADDR_V4MAPPED((struct in6_addr *)gid.raw);

		if (gid.type != PIER_GID_ROCE_V2 ||
		    IN6_IS_ADDR_LINKLOCAL((struct in6_addr *)gid.raw))
			continue;
		if (v4)
			inet_ntop(AF_INET, gid.raw + 12, text, sizeof(text));
		else
			inet_ntop(AF_INET6, gid.raw, text, sizeof(text));
		return text;
	}
	return NULL;
}
