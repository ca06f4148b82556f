/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cm/rdmacm/rdmacm.h"
#include "t/lib/caller.h"
#include "t/lib/pair.h"
#include "t/lib/stage.h"
#include "t/lib/tap.h"

/*
 * Connections by address to peers that are away for a while, each a process
 * that is stopped: longer than the device repeats a request for it.
 */

#define LEN 4096
#define BLOB 4000	/* of private data: read from the other's memory */
#define AWAY_MS 1500

static struct pier_dev *dev;
static struct caller me;
static char peer_address[80];

/* What a peer does. */
struct part {
	bool server, stops;	/* stops: at the first request, by itself */
	size_t len;		/* of private data */
};

static bool open_me(const struct part *part)
{
	static uint8_t data[BLOB];

	if (!IS(pier_dev_open(NULL, &dev), 0))
		return false;
	snprintf(peer_address, sizeof(peer_address), "%s",
		 caller_address(dev));
	if (!caller_open(&me, dev, NULL, NULL, LEN))
		return false;
	for (size_t i = 0; i < part->len; i++)
		data[i] = me.answer[i] = peer_byte(6, i);
	me.answer_len = part->len;
	me.ask = data;
	me.ask_len = part->len;
	return true;
}

static void close_me(void)
{
	caller_close(&me);
	pier_dev_close(dev);
	dev = NULL;
}

/* Is the connection's private data what the peer has sent? */
static void check_data(const struct part *part)
{
	const void *data = NULL;
	size_t len = 0, i;

	IS(pier_conn_private_data(me.peer.conn, &data, &len), 0);
	if (!IS(len, part->len))
		return;
	for (i = 0; i < len && ((const uint8_t *)data)[i] == peer_byte(6, i);
	     i++)
		;
	IS(i, len);
}

/* Both are connected, and back: one message each way. */
static void talk(void)
{
	static int sent, got;	/* tasks that are late outlive this call */

	sent = got = -EINPROGRESS;
	IS(pier_rdma_receive(me.peer.rdma, NULL, peer_done, &got), 0);
	if (!IS(pier_rdma_send(me.peer.conn, NULL, peer_done, &sent), 0))
		tap_note("%s, %s", pier_last_error(),
			 pier_conn_error_text(me.peer.conn));
	IS(peer_await(&sent), 0);
	IS(peer_await(&got), 0);
}

static bool connect_to(uint16_t port)
{
	struct pier_connect_config cfg = {
		.size = sizeof(cfg), .peer = peer_address, .port = port,
		.data = me.ask, .data_len = me.ask_len,
	};

	return IS(pier_rdma_connect_to(me.peer.rdma, &cfg, &me.peer.conn), 0);
}

/* Drive on until the peer has disconnected, and may have connected again. */
static void see_it_off(void)
{
	struct pier_conn *conn = me.peer.conn;

	peer_count(&me.disconnected, me.established);
	pier_conn_destroy(conn);
}

/* The peer: as often as the test orders it, until it is killed. */
static int other(struct pair *pair, void *arg)
{
	const struct part *part = arg;
	uint16_t port = 0;

	if (!open_me(part) || (part->server && !caller_listen(&me, 0)))
		return 1;
	if (part->server)
		port = pier_listener_port(me.listener);
	if (part->server && !pair_send(pair, &port, sizeof(port)))
		return 1;
	me.hold = part->stops;
	for (;;) {
		long long limit = limit_from_now();

		if (!part->server &&
		    (pair_recv(pair, &port, sizeof(port)) != sizeof(port) ||
		     !connect_to(port)))
			return 1;
		while (me.hold && !me.requests && peer_step(limit))
			;
		if (me.hold) {
			pier_conn_accept(me.peer.conn, me.answer,
					 me.answer_len);
			raise(SIGSTOP);
			me.hold = false;
		}
		while (me.established == me.disconnected + me.failures)
			if (!peer_step(limit))
				return 1;
		if (pair_recv(pair, &port, sizeof(port)) < 0)
			return 1;
		check_data(part);
		talk();
		see_it_off();
	}
}

/*
 * While it is stopped the connection is not given up, not even when the device
 * has done so once, or where nothing is to be sent, for a while.
 */
static void outlast(struct pair *pair)
{
	int up = me.disconnected + 1;	/* the others have ended */

	OK(stage_peers_turn(me.peer.conn));
	if (!me.peer.conn->cm->qp_resets && me.established < up)
		peer_drive_quietly(AWAY_MS);
	IS(me.failures, 0);
	pair_go_on(pair);
	OK(peer_count(&me.established, up));
	if (!IS(me.failures, 0))
		tap_note("%s", pier_conn_error_text(me.peer.conn));
	pair_send(pair, "go", 2);
}

static void a_server_is_away_when_it_has_accepted(void)
{
	struct part part = { .server = true, .stops = true };
	long long limit = limit_from_now();
	struct pair pair;
	uint16_t port = 0;

	pair_start(&pair, other, &part);
	if (open_me(&part) &&
	    IS(pair_recv(&pair, &port, sizeof(port)), sizeof(port)) &&
	    connect_to(port)) {
		while (!pair_is_stopped(&pair, false) && !me.failures &&
		       peer_step(limit))
			;
		outlast(&pair);
		if (me.established)
			talk();
	}
	close_me();
	pair_kill(&pair);
}

/* Connect, and leave the peer no turn once our end is at @stage. */
static bool stop_at(struct pair *pair, enum handshake_stage stage,
		    uint16_t port)
{
	int requests = me.requests + 1;

	if (!me.listener && !connect_to(port))
		return false;
	if (me.listener &&
	    (!OK(pair_send(pair, &port, sizeof(port))) ||
	     !OK(peer_count(&me.requests, requests)) ||
	     !IS(pier_conn_accept(me.peer.conn, me.answer, me.answer_len), 0)))
		return false;
	if (!OK(stage_handshake(me.peer.conn, me.peer.pe, stage)))
		return false;
	kill(pair->pid, SIGSTOP);
	return OK(pair_is_stopped(pair, true));
}

/* It goes on at @count stages where it was. */
static void away_at(struct part *part, const enum handshake_stage *stages,
		    int count)
{
	struct part mine = { .server = !part->server, .len = part->len };
	struct pair pair;
	uint16_t port = 0;
	int i = 0;

	pair_start(&pair, other, part);
	if (!open_me(&mine) || (mine.server && !caller_listen(&me, 0)))
		goto out_close;
	me.hold = true;
	if (mine.server)
		port = pier_listener_port(me.listener);
	else
		IS(pair_recv(&pair, &port, sizeof(port)), sizeof(port));
	for (; i < count && tap_holds(); i++) {
		if (!stop_at(&pair, stages[i], port))
			break;
		outlast(&pair);
		check_data(&mine);
		talk();
		pier_conn_disconnect(me.peer.conn);
		see_it_off();
	}
out_close:
	IS(i, count);
	close_me();
	pair_kill(&pair);
}

static void a_server_is_away_in_the_handshake(void)
{
	static const enum handshake_stage stages[] = {
		STAGE_ACCEPTED, STAGE_HELLO,
	};
	struct part part = { .server = true };

	away_at(&part, stages, 2);
}

static void a_server_is_away_while_private_data_is_read(void)
{
	static const enum handshake_stage stages[] = {
		STAGE_ACCEPTED, STAGE_READ, STAGE_HELLO,
	};
	struct part part = { .server = true, .len = BLOB };

	away_at(&part, stages, 3);
}

static void a_client_is_away_while_private_data_is_read(void)
{
	static const enum handshake_stage stages[] = {
		STAGE_ACCEPTED, STAGE_READ, STAGE_HELLO,
	};
	struct part part = { .len = BLOB };

	away_at(&part, stages, 3);
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
	TEST(a_server_is_away_when_it_has_accepted);
	TEST(a_server_is_away_in_the_handshake);
	TEST(a_server_is_away_while_private_data_is_read);
	TEST(a_client_is_away_while_private_data_is_read);
	return tap_done();
}
