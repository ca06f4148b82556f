/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "t/caller.h"
#include "t/pair.h"
#include "t/tap.h"

/* Connections by address to processes that are killed. */

#define LEN 4096
#define TIME_MS 1500	/* for what waits for a dead peer */

static struct pier_dev *dev;
static struct caller me;
static char peer_address[80];

static struct pier_rdma_config config(void)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg),
		.max_conns = 16,
		.connect_timeout_ms = TIME_MS,
		.keepalive_ms = 200,
		.drain_ms = 200,
	};

	return cfg;
}

static bool open_me(void)
{
	struct pier_rdma_config cfg = config();

	if (!IS(pier_dev_open(NULL, &dev), 0))
		return false;
	snprintf(peer_address, sizeof(peer_address), "%s",
		 caller_address(dev));
	return caller_open(&me, dev, NULL, &cfg, LEN);
}

static void close_me(void)
{
	caller_close(&me);
	pier_dev_close(dev);
	dev = NULL;
}

/* Has the peer said something? */
static int pair_readable(const struct pair *pair)
{
	struct pollfd fd = { .fd = pair->fd, .events = POLLIN };

	return poll(&fd, 1, 0);
}

/* A peer that listens, tells its port, and serves until it is killed. */
static int serve(struct pair *pair, void *arg)
{
	uint16_t port;

	if (!open_me())
		return 1;
	me.hold = arg != NULL;
	if (!caller_listen(&me, 0))
		return 1;
	port = pier_listener_port(me.listener);
	pair_send(pair, &port, sizeof(port));
	for (;;) {
		if (arg && peer_count(&me.requests, 1))
			pair_send(pair, "asked", 5);
		peer_drive(1000);
	}
}

/* A peer that connects to the port it is told, tells, and lives on. */
static int ask(struct pair *pair, void *arg)
{
	struct pier_connect_config cfg = { .size = sizeof(cfg) };
	uint16_t port = 0;

	(void)arg;
	if (!open_me() ||
	    pair_recv(pair, &port, sizeof(port)) != sizeof(port))
		return 1;
	cfg.peer = peer_address;
	cfg.port = port;
	if (!IS(pier_rdma_connect_to(me.peer.rdma, &cfg, &me.peer.conn), 0))
		return 1;
	for (;;) {
		peer_count(&me.established, 1);
		pair_send(pair, "up", 2);
		peer_drive(20000);
	}
}

static uint16_t last_port;

static int connect_to(struct pair *pair)
{
	struct pier_connect_config cfg = { .size = sizeof(cfg) };
	uint16_t port = 0;

	if (!IS(pair_recv(pair, &port, sizeof(port)), sizeof(port)))
		return -EIO;
	last_port = port;
	cfg.peer = peer_address;
	cfg.port = port;
	return pier_rdma_connect_to(me.peer.rdma, &cfg, &me.peer.conn);
}

/*
 * The context still works: it connects to @other, which lives.  If need be
 * again: whoever has the standard port may refuse before a slow peer answers.
 */
static void still_usable(struct pair *other)
{
	struct pier_connect_config cfg = { .size = sizeof(cfg) };
	int before = me.established;
	uint64_t end = pier__now() + 15000 * PIER__MS;
	uint16_t port = 0;

	IS(pair_recv(other, &port, sizeof(port)), sizeof(port));
	cfg.peer = peer_address;
	cfg.port = port;
	while (me.established == before && pier__now() < end) {
		if (!IS(pier_rdma_connect_to(me.peer.rdma, &cfg,
					     &me.peer.conn), 0))
			break;
		while (pier_conn_state(me.peer.conn) == PIER_CONN_INIT)
			peer_drive(1);
	}
	if (!IS(me.established, before + 1))
		tap_note("%s", pier_conn_error_text(me.peer.conn));
}

static void a_server_is_killed_before_it_answers(void)
{
	struct pair pair, other;
	char text[8];

	pair_start(&other, serve, NULL);
	pair_start(&pair, serve, &pair);
	if (open_me() && IS(connect_to(&pair), 0)) {
		while (me.peer.conn && pier_conn_state(me.peer.conn) ==
		       PIER_CONN_INIT && pair_readable(&pair) == 0)
			peer_drive(1);
		IS(pair_recv(&pair, text, sizeof(text)), 5);
		pair_kill(&pair);
		OK(peer_count(&me.failures, 1));
		OK(pier_conn_error(me.peer.conn) < 0);
		LIKE(pier_conn_error_text(me.peer.conn), "cannot connect to ");
		LIKE(pier_conn_error_text(me.peer.conn), peer_address);
		pier_conn_destroy(me.peer.conn);
		still_usable(&other);
	}
	close_me();
	pair_kill(&other);
}

/* Who, where, at what, over what. */
static void check_sentence(const struct pier_conn *conn)
{
	const char *text = pier_conn_error_text(conn);

	LIKE(text, "the connection to ");
	LIKE(text, pier_conn_peer_address(conn));
	LIKE(text, pier_conn_local_address(conn));
	LIKE(text, "keepalive: ");
	LIKE(text, "MTU ");
	LIKE(text, pier_devinfo_name(pier_dev_info(dev)));
}

static void a_server_is_killed_when_it_is_connected(void)
{
	struct pair pair, other;

	pair_start(&other, serve, NULL);
	pair_start(&pair, serve, NULL);
	if (open_me() && IS(connect_to(&pair), 0) &&
	    OK(peer_count(&me.established, 1))) {
		pair_kill(&pair);
		OK(peer_count(&me.disconnected, 1));
		OK(pier_conn_state(me.peer.conn) == PIER_CONN_ERROR ||
		   pier_conn_state(me.peer.conn) == PIER_CONN_RESET);
		if (pier_conn_state(me.peer.conn) == PIER_CONN_ERROR)
			check_sentence(me.peer.conn);
		pier_conn_destroy(me.peer.conn);
		still_usable(&other);
	}
	close_me();
	pair_kill(&other);
}

/* How many probes there are is the device's to count, and ours to say. */
static void the_keepalive_tries_as_often_as_it_is_told(void)
{
	struct pier_rdma_config cfg = config();
	struct caller patient = { 0 };
	struct pair pair;

	cfg.ack_timeout = 18;		/* seven seconds in all */
	pair_start(&pair, serve, NULL);
	if (open_me() && caller_open(&patient, dev, NULL, &cfg, LEN) &&
	    IS(connect_to(&pair), 0) && OK(peer_count(&me.established, 1))) {
		struct pier_connect_config to = {
			.size = sizeof(to), .peer = peer_address,
			.port = last_port,
		};

		IS(pier_rdma_connect_to(patient.peer.rdma, &to,
					&patient.peer.conn), 0);
		OK(peer_count(&patient.established, 1));
		pair_kill(&pair);
		OK(peer_count(&me.disconnected, 1));
		/* where the system did not say goodbye in its name */
		if (pier_conn_error(me.peer.conn))
			IS(patient.disconnected, 0);
	}
	caller_close(&patient);
	close_me();
}

static void a_client_is_killed_before_it_is_accepted(void)
{
	struct pair pair, other;
	uint16_t port;
	int err;

	pair_start(&other, serve, NULL);
	pair_start(&pair, ask, NULL);
	if (open_me() && caller_listen(&me, 0)) {
		me.hold = true;
		port = pier_listener_port(me.listener);
		OK(pair_send(&pair, &port, sizeof(port)));
		if (OK(peer_count(&me.requests, 1))) {
			pair_kill(&pair);
			err = pier_conn_accept(me.peer.conn, NULL, 0);
			OK(!err || err == -ECONNABORTED);
			OK(peer_count(&me.failures, 1));
			OK(pier_conn_error(me.peer.conn) < 0);
			LIKE(pier_conn_error_text(me.peer.conn),
			     peer_address);
			IS(me.established, 0);
			pier_conn_destroy(me.peer.conn);
			me.hold = false;
			still_usable(&other);
		}
	}
	close_me();
	pair_kill(&other);
}

static void a_client_is_killed_when_it_is_connected(void)
{
	struct pair pair, other;
	uint16_t port;
	char text[8];

	pair_start(&other, serve, NULL);
	pair_start(&pair, ask, NULL);
	if (open_me() && caller_listen(&me, 0)) {
		port = pier_listener_port(me.listener);
		OK(pair_send(&pair, &port, sizeof(port)));
		if (OK(peer_count(&me.established, 1))) {
			while (pair_readable(&pair) == 0)
				peer_drive(1);
			IS(pair_recv(&pair, text, sizeof(text)), 2);
			pair_kill(&pair);
			OK(peer_count(&me.disconnected, 1));
			IS(me.failures, 0);
			pier_conn_destroy(me.peer.conn);
			still_usable(&other);
		}
	}
	close_me();
	pair_kill(&other);
}

/* At whatever moment it happens, every request has one end. */
static void clients_are_killed_during_the_handshake(void)
{
	uint16_t port;
	int round, i;

	if (!open_me() || !caller_listen(&me, 0)) {
		close_me();
		return;
	}
	port = pier_listener_port(me.listener);
	close_me();
	for (round = 0; round < 6; round++) {
		struct pair pair;
		uint64_t end;

		pair_start(&pair, ask, NULL);
		if (!open_me() || !caller_listen(&me, port))
			break;
		me.may_fail = true;
		OK(pair_send(&pair, &port, sizeof(port)));
		end = pier__now() + 20000 * PIER__MS;
		while (!me.requests && pier__now() < end)
			pier_pe_progress(me.peer.pe, 0);
		for (i = 0; i < round * 40; i++)
			pier_pe_progress(me.peer.pe, 0);
		pair_kill(&pair);
		while (me.failures + me.disconnected < 1 &&
		       pier__now() < end)
			peer_drive(1);
		IS(me.failures + me.disconnected, 1);
		IS(me.established, me.disconnected);
		close_me();
	}
	IS(round, 6);
}

/* The same from the other side: the attempt has one end. */
static void servers_are_killed_during_the_handshake(void)
{
	int round, i;

	for (round = 0; round < 6; round++) {
		struct pair pair;
		uint64_t end;

		pair_start(&pair, serve, NULL);
		if (!open_me() || !IS(connect_to(&pair), 0)) {
			pair_kill(&pair);
			close_me();
			return;
		}
		for (i = 0; i < round * 40; i++)
			pier_pe_progress(me.peer.pe, 0);
		pair_kill(&pair);
		end = pier__now() + 20000 * PIER__MS;
		while (me.failures + me.disconnected < 1 &&
		       pier__now() < end)
			peer_drive(1);
		peer_drive(20);
		IS(me.failures + me.disconnected, 1);
		IS(me.established, me.disconnected);
		if (me.failures)
			LIKE(pier_conn_error_text(me.peer.conn),
			     "cannot connect to ");
		close_me();
	}
}

int main(void)
{
	int err = pier_dev_open(NULL, &dev);

	if (err)
		return tap_skip_all(pier_last_error());
	if (!caller_address(dev)) {
		pier_dev_close(dev);
		return tap_skip_all("the device has no IP address");
	}
	pier_dev_close(dev);
	TEST(a_server_is_killed_before_it_answers);
	TEST(a_server_is_killed_when_it_is_connected);
	TEST(the_keepalive_tries_as_often_as_it_is_told);
	TEST(a_client_is_killed_before_it_is_accepted);
	TEST(a_client_is_killed_when_it_is_connected);
	TEST(clients_are_killed_during_the_handshake);
	TEST(servers_are_killed_during_the_handshake);
	return tap_done();
}
