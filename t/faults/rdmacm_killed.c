/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cm/rdmacm/rdmacm.h"
#include "t/lib/cable.h"
#include "t/lib/caller.h"
#include "t/lib/pair.h"
#include "t/lib/stage.h"
#include "t/lib/tap.h"

/* Connections by address to processes that are killed. */

#define LEN 4096
#define TIME_MS 1500	/* for what waits for a dead peer */
#define SENDS 4		/* that a peer has no receive for */
#define BLOB 4000	/* of private data: read from the other's memory */

static struct pier_dev *dev;
static struct caller me;
static char peer_address[80];
static uint32_t drain_ms = 200;
static size_t data_len;		/* of private data, each way */

static struct pier_rdma_config config(void)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg),
		.max_conns = 16,
		.connect_timeout_ms = TIME_MS * (1 + (limit_slower() > 1)),
		.keepalive_ms = 200,
		.drain_ms = drain_ms,
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
	if (!caller_open(&me, dev, NULL, &cfg, LEN))
		return false;
	me.ask = me.answer;
	me.ask_len = me.answer_len = data_len;
	return true;
}

static void close_me(void)
{
	caller_close(&me);
	pier_dev_close(dev);
	dev = NULL;
}

/* A peer that listens, sends its port, and serves until it is killed. */
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
	if (arg && OK(peer_count(&me.requests, 1)))
		pair_send(pair, "asked", 5);
	peer_serve();
}

/* A peer that connects to the port it receives, reports it, and goes on. */
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
	cfg.data = me.ask;
	cfg.data_len = me.ask_len;
	if (!IS(pier_rdma_connect_to(me.peer.rdma, &cfg, &me.peer.conn), 0))
		return 1;
	if (peer_count(&me.established, 1))
		pair_send(pair, "up", 2);
	peer_serve();
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
	cfg.raw = me.raw;
	cfg.data = me.ask;
	cfg.data_len = me.ask_len;
	return pier_rdma_connect_to(me.peer.rdma, &cfg, &me.peer.conn);
}

/*
 * The context still works: it connects to @other, which lives.  If need be
 * again: the process with port 4791 may reject before a slow peer answers.
 */
static void still_usable(struct pair *other)
{
	struct pier_connect_config cfg = { .size = sizeof(cfg) };
	int before = me.established;
	long long limit = limit_from_now();
	uint16_t port = 0;

	IS(pair_recv(other, &port, sizeof(port)), sizeof(port));
	cfg.peer = peer_address;
	cfg.port = port;
	while (me.established == before && limit_holds(limit)) {
		if (!IS(pier_rdma_connect_to(me.peer.rdma, &cfg,
					     &me.peer.conn), 0))
			break;
		while (pier_conn_state(me.peer.conn) == PIER_CONN_INIT &&
		       peer_step(limit))
			;
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
		OK(stage_reported(&pair));
		IS(pair_recv(&pair, text, sizeof(text)), 5);
		IS(pier_conn_state(me.peer.conn), PIER_CONN_INIT);
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

/* Who, where, at @what, over what. */
static void check_error_text(const struct pier_conn *conn, const char *what)
{
	const char *text = pier_conn_error_text(conn);

	LIKE(text, "the connection ");
	LIKE(text, pier_conn_peer_address(conn));
	LIKE(text, pier_conn_local_address(conn));
	LIKE(text, what);
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
			check_error_text(me.peer.conn, "keepalive: ");
		pier_conn_destroy(me.peer.conn);
		still_usable(&other);
	}
	close_me();
	pair_kill(&other);
}

/* The configuration sets the number of retries; the device counts them. */
static void the_keepalive_tries_as_often_as_configured(void)
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
		/* unless the kernel has sent a DREQ for the peer */
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
			OK(stage_reported(&pair));
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

/* A stage of the handshake, with so much private data. */
struct moment {
	enum handshake_stage stage;
	size_t len;
};

/* Kill @pair at @stage of our connection, which has one end. */
static void kill_at(struct pair *pair, enum handshake_stage stage)
{
	OK(stage_handshake(me.peer.conn, me.peer.pe, stage));
	pair_kill(pair);
	OK(peer_count(&me.over, 1));
	peer_drive_quietly(20);
	IS(me.over, 1);
	IS(me.failures + me.disconnected, 1);
	IS(me.established, me.disconnected);
}

static void kill_client_at(const struct moment *at)
{
	struct pair pair;
	uint16_t port;

	data_len = at->len;
	pair_start(&pair, ask, NULL);
	if (open_me() && caller_listen(&me, 0)) {
		me.hold = true;
		port = pier_listener_port(me.listener);
		OK(pair_send(&pair, &port, sizeof(port)));
		if (OK(peer_count(&me.requests, 1)) &&
		    IS(pier_conn_accept(me.peer.conn, me.answer,
					me.answer_len), 0))
			kill_at(&pair, at->stage);
		else
			pair_kill(&pair);
	}
	close_me();
	data_len = 0;
}

static void clients_are_killed_during_the_handshake(void)
{
	static const struct moment moments[] = {
		{ STAGE_ACCEPTED, 0 }, { STAGE_UP, 0 },
		{ STAGE_ACCEPTED, BLOB }, { STAGE_READ, BLOB },
		{ STAGE_HELLO, BLOB }, { STAGE_UP, BLOB },
	};
	size_t i;

	for (i = 0; i < sizeof(moments) / sizeof(*moments); i++)
		kill_client_at(&moments[i]);
}

static void kill_server_at(const struct moment *at)
{
	struct pair pair;

	data_len = at->len;
	pair_start(&pair, serve, NULL);
	if (open_me() && IS(connect_to(&pair), 0)) {
		kill_at(&pair, at->stage);
		if (me.failures)
			LIKE(pier_conn_error_text(me.peer.conn),
			     "cannot connect to ");
	} else {
		pair_kill(&pair);
	}
	close_me();
	data_len = 0;
}

static void servers_are_killed_during_the_handshake(void)
{
	static const struct moment moments[] = {
		{ STAGE_LOOKUP, 0 }, { STAGE_REQ_SENT, 0 },
		{ STAGE_ACCEPTED, 0 }, { STAGE_HELLO, 0 }, { STAGE_UP, 0 },
		{ STAGE_READ, BLOB }, { STAGE_HELLO, BLOB },
		{ STAGE_UP, BLOB },
	};
	size_t i;

	for (i = 0; i < sizeof(moments) / sizeof(*moments); i++)
		kill_server_at(&moments[i]);
}

/* How far a disconnect has come when the peer is killed. */
enum way {
	GOODBYE,	/* we have, and it does not answer */
	DRAINING,	/* we have, but it has no receive for what we sent */
	PEER_GOODBYE,	/* it has, and did not get our answer */
};

struct killed_part {
	enum way way;
	bool is_server;		/* else it connects */
	bool raw;		/* no goodbye is sent: the CM disconnects */
};

/* A peer that does its part until it is killed. */
static int play(struct pair *pair, void *arg)
{
	const struct killed_part *part = arg;
	uint16_t port = 0;

	if (!open_me() || !caller_listen(&me, 0))
		return 1;
	me.raw = part->raw;
	if (part->is_server) {
		port = pier_listener_port(me.listener);
		pair_send(pair, &port, sizeof(port));
	} else if (!IS(connect_to(pair), 0)) {
		return 1;
	}
	if (peer_count(&me.established, 1))
		pair_send(pair, "up", 2);
	if (part->way == PEER_GOODBYE) {
		pier_conn_disconnect(me.peer.conn);
		if (stage_goodbye_over(me.peer.conn))
			pair_send(pair, "bye", 3);
		pause();
	}
	peer_serve();
}

struct cm_tally {
	int calls, retry, cancelled;
};

static void count(struct pier_task *task, void *arg)
{
	struct cm_tally *tally = arg;

	tally->calls++;
	tally->retry += pier_task_status(task) == -PIER_ERETRY;
	tally->cancelled += pier_task_status(task) == -ECANCELED;
}

/* Up to the middle of the disconnect, which is where the peer is killed. */
static void disconnect_from(struct pair *pair, enum way way,
			    struct cm_tally *tally)
{
	struct pier_conn *conn = me.peer.conn;
	char word[4];
	int i;

	if (way == PEER_GOODBYE) {
		IS(pair_recv(pair, word, sizeof(word)), 3);
	} else if (way == GOODBYE) {
		kill(pair->pid, SIGSTOP);
		OK(pair_is_stopped(pair, true));
		IS(pier_conn_disconnect(conn), 0);
		OK(stage_goodbye_over(conn));
	} else {
		for (i = 0; i < SENDS; i++)
			IS(pier_rdma_send(conn, NULL, count, tally), 0);
		IS(pier_conn_disconnect(conn), 0);
		OK(stage_draining(conn));
		IS(pier_conn_state(conn), PIER_CONN_CONNECTED);
	}
	pair_kill(pair);
}

/* May the path be shared memory?  By it an end is seen at once. */
static bool may_be_shared(void)
{
	const char *mode = getenv("PIER_SHM");

	return mode && *mode && strcmp(mode, "off") != 0;
}

static void check_end(enum way way, const struct cm_tally *tally)
{
	const struct pier_conn *conn = me.peer.conn;

	IS(me.failures, 0);
	/* unless the kernel has sent a DREQ for the peer */
	if (way == DRAINING && pier_conn_state(conn) == PIER_CONN_ERROR) {
		IS(pier_conn_error(conn), -PIER_ERETRY);
		check_error_text(conn, "send: ");
		IS(tally->retry, 1);
	/* the end is seen before our hello is answered */
	} else if (way != DRAINING && may_be_shared() &&
		   pier_conn_state(conn) == PIER_CONN_ERROR) {
		IS(pier_conn_error(conn), -PIER_ERETRY);
		check_error_text(conn, "hello: ");
		IS(tally->retry, 0);
	} else {
		IS(pier_conn_state(conn), PIER_CONN_RESET);
		IS(pier_conn_error(conn), 0);
		IS_STR(pier_conn_error_text(conn), "");
		IS(tally->retry, 0);
	}
	OK(peer_count(&tally->calls, way == DRAINING ? SENDS : 0));
	IS(tally->retry + tally->cancelled, tally->calls);
	IS(pier_ctx_inflight(pier_rdma_ctx(me.peer.rdma)), 0);
}

/* Connect, kill it on the way apart, and see that nothing is left of it. */
static void part_from(struct pair *pair, const struct killed_part *part)
{
	int up = me.established + 1, over = me.disconnected + 1;
	uint16_t port = pier_listener_port(me.listener);
	static struct cm_tally tally;	/* of tasks that may be late */
	struct pier__queues *queues;
	long long limit;
	char word[4];

	tally = (struct cm_tally){ 0 };
	me.raw = part->raw;
	if (part->is_server ? !IS(connect_to(pair), 0) :
			   !OK(pair_send(pair, &port, sizeof(port))))
		return;
	if (!OK(peer_count(&me.established, up)) || !OK(stage_reported(pair)))
		return;
	IS(pair_recv(pair, word, sizeof(word)), 2);
	queues = me.peer.conn->queues;
	disconnect_from(pair, part->way, &tally);
	OK(peer_count(&me.disconnected, over));
	check_end(part->way, &tally);
	limit = limit_from_now();
	while (queues->conn_count && peer_step(limit))
		;
	IS(queues->conn_count, 0);
	pier_conn_destroy(me.peer.conn);
}

/* Servers and clients, with a goodbye and without one, in one context. */
static void killed_in_a_disconnect(enum way way)
{
	struct killed_part parts[4];
	struct pair pairs[4], other;
	long long limit;
	int i, fds = 0;

	pair_start(&other, serve, NULL);
	for (i = 0; i < 4; i++) {
		parts[i] = (struct killed_part) {
			.way = way, .is_server = i & 1, .raw = i & 2,
		};
		pair_start(&pairs[i], play, &parts[i]);
	}
	if (OK(open_me()) && OK(caller_listen(&me, 0))) {
		for (i = 0; i < 4 && tap_holds(); i++) {
			part_from(&pairs[i], &parts[i]);
			if (i < 2)
				fds = cable_fds();
		}
		limit = limit_from_now();
		while (cable_fds() > fds && peer_step(limit))
			;	/* those of shared memory end a little later */
		OK(cable_fds() <= fds);
		me.raw = false;
		still_usable(&other);
	}
	while (i < 4)
		pair_kill(&pairs[i++]);
	close_me();
	pair_kill(&other);
}

static void a_peer_is_killed_when_we_have_disconnected(void)
{
	killed_in_a_disconnect(GOODBYE);
}

static void a_peer_is_killed_while_what_we_sent_keeps_us(void)
{
	drain_ms = 10000;	/* never over: that it is dead is found first */
	killed_in_a_disconnect(DRAINING);
	drain_ms = 200;
}

static void a_peer_is_killed_when_it_has_disconnected(void)
{
	killed_in_a_disconnect(PEER_GOODBYE);
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
	TEST(the_keepalive_tries_as_often_as_configured);
	TEST(a_client_is_killed_before_it_is_accepted);
	TEST(a_client_is_killed_when_it_is_connected);
	TEST(clients_are_killed_during_the_handshake);
	TEST(servers_are_killed_during_the_handshake);
	TEST(a_peer_is_killed_when_we_have_disconnected);
	TEST(a_peer_is_killed_while_what_we_sent_keeps_us);
	TEST(a_peer_is_killed_when_it_has_disconnected);
	return tap_done();
}
