/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "t/lib/cable.h"
#include "t/lib/caller.h"
#include "t/lib/pair.h"
#include "t/lib/stage.h"
#include "t/lib/tap.h"

/*
 * The link goes down under connections by address, and under those that are
 * being made: each side reports the end once, with an error message, and the
 * context connects again when the link is back.  The server is a process of
 * its own at the other end of a cable.
 */
#define LEN 4096
#define TURNS (cable_is_rxe() ? 6 : 50)	/* emulated, it is slow */
#define GROWTH (64 << 10)	/* of the heap, in all turns but the first */
#define SERVER "10.9.5.2"

static struct pier_rdma_config config = {
	.size = sizeof(config),
	.max_conns = 16,
	.keepalive_ms = 50,
	.connect_timeout_ms = 1500,
	.drain_ms = 100,
};

static struct pier_dev *dev;
static struct caller me;
static struct pair far;
static uint16_t port;		/* the server's */

static bool begin(int end)
{
	return IS(pier_dev_open(cable_device(end), &dev), 0) &&
	       caller_open(&me, dev, NULL, &config, LEN);
}

static void end(void)
{
	caller_close(&me);
	pier_dev_close(dev);
	dev = NULL;
}

/* What the server sends when all its connections have ended. */
struct report {
	int requests, established, failures, disconnected, inside;
};

static bool report(struct pair *pair)
{
	struct report all;

	OK(peer_count(&me.over, me.requests));
	all = (struct report) {
		me.requests, me.established, me.failures, me.disconnected,
		me.inside
	};
	return pair_send(pair, &all, sizeof(all));
}

/* The server obeys orders of one letter: hold requests, accept, report. */
static bool do_order(struct pair *pair, char order)
{
	switch (order) {
	case 'h':
		me.hold = true;
		return pair_send(pair, "ok", 2);
	case 'a':
		me.hold = false;
		return IS(pier_conn_accept(me.peer.conn, NULL, 0), 0) &&
		       pair_send(pair, "ok", 2);
	case 'w':
		return OK(peer_count(&me.requests, 1)) &&
		       pair_send(pair, "ok", 2);
	default:
		return report(pair);
	}
}

static int serve(struct pair *pair, void *arg)
{
	char order;
	int len = 1;

	(void)arg;
	if (!cable_enter_far() || !pair_send(pair, "ok", 2) ||
	    pair_recv(pair, &order, 1) != 1 || !cable_lay_far() || !begin(1) ||
	    !caller_listen(&me, 0))
		return 1;
	me.sweep = true;
	port = pier_listener_port(me.listener);
	pair_send(pair, &port, sizeof(port));
	while (len == 1) {
		peer_step(limit_from_now());
		if (!pair_readable(pair))
			continue;
		len = pair_recv(pair, &order, 1);
		if (len == 1 && !do_order(pair, order))
			return 1;
	}
	end();
	return 0;
}

static bool tell(char order)
{
	char word[2];

	if (!OK(pair_send(&far, &order, 1)))
		return false;
	return stage_reported(&far) &&
	       OK(pair_recv(&far, word, sizeof(word)) == 2);
}

/* A cable, a server at its end and a client at this one. */
static bool come_together(void)
{
	char word[2];

	pair_start(&far, serve, NULL);
	return OK(pair_recv(&far, word, sizeof(word)) == 2) &&
	       cable_lay(far.pid) && OK(pair_send(&far, "l", 1)) &&
	       OK(pair_recv(&far, &port, sizeof(port)) == sizeof(port)) &&
	       (cable_is_rxe() || cable_plug(0)) && begin(0);
}

/* Each end was reported once; @established of @requests were established. */
static void part(int requests, int established)
{
	struct report all = { 0 };

	end();
	if (OK(pair_send(&far, "r", 1)) &&
	    OK(pair_recv(&far, &all, sizeof(all)) == sizeof(all))) {
		IS(all.requests, requests);
		IS(all.established, established);
		IS(all.established, all.disconnected);
		IS(all.requests, all.disconnected + all.failures);
		IS(all.inside, 0);
	}
	IS(pair_wait(&far), 0);
}

static bool ask(uint32_t timeout_ms)
{
	struct pier_connect_config cfg = {
		.size = sizeof(cfg), .peer = SERVER, .port = port,
		.timeout_ms = timeout_ms,
	};

	pier_conn_destroy(me.peer.conn);
	me.peer.conn = NULL;
	if (IS(pier_rdma_connect_to(me.peer.rdma, &cfg, &me.peer.conn), 0))
		return true;
	tap_note("%s", pier_last_error());
	return false;
}

/*
 * Once, and nothing else is reported.  A link that has just come up may lose
 * all packets for some seconds.
 */
static bool connects(void)
{
	int failures = me.failures, up = me.established;
	long long limit = limit_from_now();

	if (!ask(PEER_LIMIT_MS))
		return false;
	while (me.failures == failures && me.established == up &&
	       peer_step(limit))
		;
	peer_drive_quietly(20);
	if (IS(me.failures, failures) && IS(me.established, up + 1))
		return true;
	tap_note("%s", pier_conn_error_text(me.peer.conn));
	return false;
}

static const char *down(void)
{
	static char text[96];

	snprintf(text, sizeof(text), "%s port 1 is down: bring f0 up",
		 cable_device(0));
	return text;
}

static bool link_up(void)
{
	const struct pier_devinfo *info = pier_dev_info(dev);
	long long limit = limit_from_now();

	if (!cable_run("ip link set f0 up"))
		return false;
	while (!pier_devinfo_active(info) && peer_step(limit))
		;
	return pier_devinfo_active(info);
}

/* Until the device's removal is noticed. */
static bool is_gone(void)
{
	struct pier_conn *conn;
	const void *desc;
	long long limit = limit_from_now();
	int err = 0;
	size_t len;

	while (!err && peer_step(limit)) {
		err = pier_rdma_export(me.peer.rdma, &desc, &len, &conn);
		if (!err)
			pier_conn_destroy(conn);
	}
	return IS(err, -ENODEV);
}

/*
 * A message of CM that cannot leave breaks QP 1 of Soft-RoCE (Linux 6.1) for
 * good, not the context: here it takes a new device of the name.
 */
static bool renew(void)
{
	pid_t removal;

	if (!cable_is_rxe())
		return true;
	removal = cable_unplug(0);
	is_gone();
	end();
	return IS(cable_reap(removal), 0) && cable_plug(0) && begin(0);
}

/* It ends once; the error message has @part and names the link. */
static bool fails(const int *count, const char *part)
{
	int before = *count;

	if (!OK(peer_count(count, before + 1)))
		return false;
	peer_drive_quietly(20);
	return IS(*count, before + 1) &&
	       IS(pier_conn_state(me.peer.conn), PIER_CONN_ERROR) &&
	       OK(pier_conn_error(me.peer.conn) < 0) &&
	       LIKE(pier_conn_error_text(me.peer.conn), part) &&
	       LIKE(pier_conn_error_text(me.peer.conn), down());
}

static bool connected(void)
{
	return connects() && cable_run("ip link set f0 down") &&
	       fails(&me.disconnected, "the connection to " SERVER) &&
	       link_up() && renew();
}

static void a_connection_ends_once_and_can_be_made_again(void)
{
	if (come_together() && connected())
		OK(connects());
	part(2, 2);
}

static bool before(void)
{
	return cable_run("ip link set f0 down") && ask(0) &&
	       fails(&me.failures, "cannot connect to " SERVER) && link_up();
}

static void an_attempt_over_a_link_that_is_down_fails_once(void)
{
	if (come_together() && before())
		OK(connects());
	part(1, 1);
}

static void an_attempt_under_way_fails_once(void)
{
	if (come_together() && tell('h') && ask(0) && tell('w') &&
	    cable_run("ip link set f0 down") && tell('a') &&
	    fails(&me.failures, "cannot connect to " SERVER) && link_up() &&
	    renew())
		OK(connects());
	part(2, 1);
}

static void the_context_is_usable_again_and_again(void)
{
	size_t heap = 0;
	int i = 0, fds = 0;

	if (come_together()) {
		for (; i < TURNS && (i % 2 ? connected() : before()); i++) {
			if (i != 3)
				continue;
			fds = cable_fds();
			heap = mallinfo2().uordblks;
		}
		IS(i, TURNS);
		IS(cable_fds(), fds);
		if (!OK(mallinfo2().uordblks < heap + GROWTH))
			tap_note("%zu bytes, %zu after the first turns",
				 mallinfo2().uordblks, heap);
	}
	part(TURNS / 2, TURNS / 2);
}

int main(void)
{
	const char *reason = cable_enter();

	config.ack_timeout = limit_ack_timeout(13);	/* 34 ms */
	if (reason)
		return tap_skip_all(reason);
	CABLE_TEST(a_connection_ends_once_and_can_be_made_again);
	CABLE_TEST(an_attempt_over_a_link_that_is_down_fails_once);
	CABLE_TEST(an_attempt_under_way_fails_once);
	CABLE_TEST(the_context_is_usable_again_and_again);
	return tap_done();
}
