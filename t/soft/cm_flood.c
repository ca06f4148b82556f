/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <malloc.h>
#include <string.h>

#include <pier/counters.h>

#include "core/clock.h"
#include "core/roce.h"
#include "fabric/soft/io/udp.h"
#include "fabric/soft/wire/mad.h"
#include "t/lib/caller.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/*
 * A running server whose port is flooded with requests, by a peer that never
 * completes one: established connections go on, memory has a bound, what is
 * dropped is counted, and when the flood is over clients connect again.
 */
#define LEN 4096
#define CONNS 8
#define ROUNDS 200
#define BURST 150		/* more than the backlog */
#define GROWTH (16 << 20)	/* of the heap */
#define PATIENCE (30000 * PIER__MS)

static struct pier_dev *dev;
static struct caller client, server;
static struct soft_io *flooder;
static uint32_t next_id = 1000;
static int accepted, over;

static void requested(struct pier_conn *conn, void *data, void *ctx_data)
{
	(void)data;
	(void)ctx_data;
	accepted++;
	if (pier_conn_accept(conn, NULL, 0))
		pier_conn_destroy(conn);
}

static void established(struct pier_conn *conn, void *data, void *ctx_data)
{
	(void)data;
	server.peer.conn = conn;
	((struct caller *)ctx_data)->established++;
}

static void ended(struct pier_conn *conn, void *data, void *ctx_data)
{
	(void)data;
	(void)ctx_data;
	over++;
	pier_conn_destroy(conn);
}

/* A REQ of an unknown peer, well formed and from this host. */
static void ask_as_stranger(uint16_t port)
{
	static const uint8_t gid[16] = { [10] = 0xff, [11] = 0xff, 127, 0, 0,
					 1 };
	uint32_t id = next_id++;
	uint8_t data[SOFT_MAD_IP_LEN], bytes[SOFT_MAD_LEN];
	struct soft_mad_ip ip = { .src_port = 7 };
	struct soft_mad mad = {
		.attr = SOFT_MAD_REQ, .tid = id, .local_id = id,
		.guid = UINT64_C(0x73f7) << 48 |
			(uint64_t)flooder->port << 32 | 1,
		.service_id = 0x0106u << 16 | port, .qpn = id, .psn = 1,
		.responder_resources = 4, .initiator_depth = 4,
		.remote_timeout = 20, .local_timeout = 20, .retry_count = 7,
		.rnr_retry = 7, .max_retries = 15, .mtu = IBV_MTU_1024,
		.pkey = ROCE_PKEY_DEFAULT, .primary = { .ack_timeout = 16 },
		.data = data, .len = sizeof(data),
	};
	struct soft_hdr hdr = {
		.opcode = SOFT_UD_SEND_ONLY, .pkey = ROCE_PKEY_DEFAULT,
		.qpn = ROCE_GSI_QPN, .src_qpn = ROCE_GSI_QPN,
		.qkey = ROCE_GSI_QKEY,
	};
	struct soft_tx tx = {
		.dst.port = port, .hop_limit = 64,
		.payload_len = SOFT_MAD_LEN, .iov_count = 1,
		.iov = { { bytes, SOFT_MAD_LEN } },
	};

	memcpy(&ip.src, gid, 16);
	memcpy(&ip.dst, gid, 16);
	memcpy(mad.primary.local_gid, gid, 16);
	memcpy(mad.primary.remote_gid, gid, 16);
	memcpy(&tx.src.ip, gid, 16);
	memcpy(&tx.dst.ip, gid, 16);
	tx.src.port = flooder->port;
	pier__soft_mad_ip_encode(&ip, data);
	pier__soft_mad_encode(&mad, bytes);
	tx.hdr_len = (uint8_t)pier__soft_encode(&hdr, tx.hdr);
	flooder->ops->send(flooder, &tx, 1);
}

static void check_flow(void)
{
	int sent = -EINPROGRESS, got = -EINPROGRESS;

	IS(pier_rdma_receive(server.peer.rdma, NULL, peer_done, &got), 0);
	IS(pier_rdma_send(client.peer.conn, NULL, peer_done, &sent), 0);
	IS(peer_await(&sent), 0);
	IS(peer_await(&got), 0);
}

static uint64_t counter(const char *name)
{
	struct pier_counters counters = { .size = sizeof(counters) };
	uint64_t value = 0;

	IS(pier_dev_counters(dev, &counters), 0);
	IS(pier_counters_find(&counters, name, &value), 0);
	return value;
}

static bool begin(void)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .max_conns = CONNS,
		.connect_timeout_ms = 1000,
	};

	return caller_open(&client, dev, NULL, NULL, LEN) &&
	       caller_open(&server, dev, NULL, &cfg, LEN) &&
	       IS(pier_rdma_set_conn_callbacks(server.peer.rdma, requested,
					       established, ended, ended),
		  0) &&
	       caller_listen(&server, 0);
}

static void flood(uint16_t port)
{
	size_t before = mallinfo2().uordblks;
	int i, k;

	for (i = 0; i < ROUNDS && tap_holds(); i++) {
		for (k = 0; k < BURST; k++)
			ask_as_stranger(port);
		check_flow();
		OK(mallinfo2().uordblks < before + GROWTH);
	}
	tap_note("heap: %zu KiB more", (mallinfo2().uordblks - before) >> 10);
}

/* The strangers' requests keep their places for a while. */
static void connect_at_last(void)
{
	uint64_t until = pier__now() + PATIENCE;
	int tries, were = client.established;

	for (tries = 0; client.established == were && tap_holds(); tries++) {
		long long limit = limit_from_now();
		int failures = client.failures;

		if (!caller_ask(&client, &server, NULL))
			return;
		while (client.established == were &&
		       client.failures == failures && peer_step(limit))
			;
		if (client.failures > failures)
			pier_conn_destroy(client.peer.conn);
		if (!OK(pier__now() < until))
			return;
	}
}

static void a_server_goes_on_when_it_is_flooded(void)
{
	struct pier_conn *first;
	uint64_t overflows = counter("cm_overflows");

	if (begin() && caller_join(&client, &server, NULL)) {
		first = client.peer.conn;
		flood(pier_listener_port(server.listener));
		OK(counter("cm_overflows") > overflows);
		OK(accepted < ROUNDS * BURST / 2);
		connect_at_last();
		check_flow();
		IS(pier_conn_state(first), PIER_CONN_CONNECTED);
		/* Of the strangers none was taken for a connection. */
		IS(server.established, 2);
	}
	caller_close(&server);
	caller_close(&client);
}

int main(void)
{
	int err = pier_dev_open("soft_lo", &dev);

	if (err)
		return tap_skip_all(pier_last_error());
	if (pier__soft_udp_create(&in6addr_any, 0, 1, &flooder))
		return tap_skip_all(pier_last_error());
	TEST(a_server_goes_on_when_it_is_flooded);
	pier__soft_udp_destroy(flooder);
	pier_dev_close(dev);
	return tap_done();
}
