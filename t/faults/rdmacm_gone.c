/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "t/lib/cable.h"
#include "t/lib/caller.h"
#include "t/lib/tap.h"

/*
 * The device is removed under connections by address, and under those that are
 * being made: each end is reported once, with the error message, and a device
 * that is added again works.
 */
#define LEN 4096
#define TURNS (cable_is_rxe() ? 10 : 100)	/* emulated, it is slow */
#define ROUNDS 4
#define GROWTH (64 << 10)	/* of the heap, in all turns but the first */

static const struct pier_rdma_config config = {
	.size = sizeof(config),
	.max_conns = 64,
	.keepalive_ms = 100,
	.connect_timeout_ms = 4000,
	.drain_ms = 100,
};

static struct pier_dev *dev[2];
static struct caller client, server;
static struct caller *near, *far;	/* near's device goes */
static char address[64];		/* the server's */

/* Soft devices in one namespace reach each other by themselves only. */
static const char *far_device(void)
{
	return cable_device(cable_is_rxe());
}

static bool begin(bool server_goes)
{
	static bool laid;

	if (!laid)
		laid = cable_lay(0);
	near = server_goes ? &server : &client;
	far = server_goes ? &client : &server;
	memset(&client, 0, sizeof(client));
	memset(&server, 0, sizeof(server));
	return IS(pier_dev_open(cable_device(0), &dev[0]), 0) &&
	       IS(pier_dev_open(far_device(), &dev[1]), 0) &&
	       caller_open(near, dev[0], NULL, &config, LEN) &&
	       caller_open(far, dev[1], NULL, &config, LEN) &&
	       snprintf(address, sizeof(address), "%s",
			caller_address(server.peer.dev)) > 0 &&
	       caller_listen(&server, 0);
}

/* The removal, which no user delays any more, has succeeded: plug in. */
static void end(pid_t removal)
{
	int i;

	caller_close(near);
	caller_close(far);
	for (i = 0; i < 2; i++) {
		pier_dev_close(dev[i]);
		dev[i] = NULL;
	}
	if (removal && IS(cable_reap(removal), 0))
		OK(cable_is_rxe() ? cable_plug(0) : cable_lay(0));
}

/* The error message about the device. */
static const char *gone(void)
{
	static char text[128];

	snprintf(text, sizeof(text), "%s was removed: close it, as the "
		 "removal may wait for that, and open another device",
		 cable_device(0));
	return text;
}

/* The error message, with both ends of the connection. */
static bool ends_as_gone(void)
{
	const char *text;

	if (!peer_conn(near->peer.conn, PIER_CONN_ERROR) ||
	    !IS(pier_conn_error(near->peer.conn), -ENODEV))
		return false;
	text = pier_conn_error_text(near->peer.conn);
	return LIKE(text, gone()) && LIKE(text, ", GID ") &&
	       LIKE(text, ", MTU ") &&
	       LIKE(text, pier_conn_local_address(near->peer.conn)) &&
	       LIKE(text, pier_conn_peer_address(near->peer.conn));
}

/* What was reported to each side, in all. */
static void reported(const struct caller *p, int established, int failures,
		     int disconnected)
{
	IS(p->established, established);
	IS(p->failures, failures);
	IS(p->disconnected, disconnected);
	IS(p->inside, 0);
}

static void a_connection(bool server_goes)
{
	pid_t removal = 0;

	if (begin(server_goes) &&
	    caller_join(&client, &server, address)) {
		removal = cable_unplug(0);
		ends_as_gone();
		OK(peer_count(&near->disconnected, 1));
		OK(peer_count(&far->disconnected, 1));
		peer_drive_quietly(20);
		reported(near, 1, 0, 1);
		reported(far, 1, 0, 1);
	}
	end(removal);
}

static void a_clients_device_ends_its_connections(void)
{
	a_connection(false);
}

static void a_servers_device_ends_its_connections(void)
{
	a_connection(true);
}

static void an_attempt(bool server_goes)
{
	pid_t removal = 0;

	if (begin(server_goes)) {
		server.hold = true;
		if (caller_ask(&client, &server, address) &&
		    OK(peer_count(&server.requests, 1))) {
			removal = cable_unplug(0);
			ends_as_gone();
			OK(peer_count(&near->failures, 1));
			OK(peer_count(&far->failures, 1));
			OK(pier_conn_error(far->peer.conn) < 0);
			tap_note("%s", pier_conn_error_text(far->peer.conn));
			peer_drive_quietly(20);
			reported(near, 0, 1, 0);
			reported(far, 0, 1, 0);
		}
	}
	end(removal);
}

static void a_clients_device_ends_its_attempts(void)
{
	an_attempt(false);
}

static void a_servers_device_ends_its_requests(void)
{
	an_attempt(true);
}

/* The engine has had no turn with it when the device is gone. */
static void an_attempt_not_begun_yet_ends_like_the_others(void)
{
	if (cable_is_rxe()) {
		tap_skip("the removal waits for the engine");
		return;
	}
	if (begin(false) && caller_ask(&client, &server, address) &&
	    IS(cable_reap(cable_unplug(0)), 0)) {
		ends_as_gone();
		LIKE(pier_conn_error_text(near->peer.conn), "cannot connect ");
		OK(peer_count(&near->failures, 1));
		reported(near, 0, 1, 0);
	}
	end(0);
	OK(cable_lay(0));
}

static void what_is_begun_later_is_refused(void)
{
	struct pier_listen_config cfg = { .size = sizeof(cfg) };
	struct pier_listener *listener = NULL;
	pid_t removal = 0;

	if (begin(true) && caller_join(&client, &server, address)) {
		removal = cable_unplug(0);
		ends_as_gone();
		IS(pier_rdma_listen(server.peer.rdma, &cfg, &listener),
		   -ENODEV);
		IS_STR(pier_last_error(), gone());
		OK(!listener);
		IS(caller_try(&server, &server, address), -ENODEV);
		IS_STR(pier_last_error(), gone());
		IS(pier_ctx_stop_wait(pier_rdma_ctx(server.peer.rdma),
				      PEER_LIMIT_MS), 0);
		IS(pier_listener_port(server.listener), 0);
	}
	end(removal);
}

/* Connect, and disconnect.  False: no more. */
static bool come_and_go(int *tries)
{
	int err = caller_try(&client, &server, address);

	if (err) {
		IS(err, -ENODEV);
		return false;
	}
	++*tries;
	return OK(peer_count(&client.over, *tries)) && !client.failures;
}

static void at_whatever_moment(bool server_goes)
{
	pid_t removal = 0;
	int tries = 0;

	if (begin(server_goes)) {
		client.hang_up = client.sweep = true;
		server.may_fail = server.sweep = true;
		OK(come_and_go(&tries));
		removal = cable_unplug(0);
		while (come_and_go(&tries))
			;
		OK(peer_count(&server.over, server.requests));
		peer_drive_quietly(20);
		tap_note("after %d", tries);
		IS(client.over, tries);
		IS(client.established, client.disconnected);
		IS(server.over, server.requests);
		IS(server.established, server.disconnected);
	}
	end(removal);
}

static void at_whatever_moment_it_happens_each_end_is_reported_once(void)
{
	int i;

	for (i = 0; i < ROUNDS && tap_holds(); i++)
		at_whatever_moment(i % 2);
	IS(i, ROUNDS);
}

static bool turn(int i)
{
	pid_t removal;
	bool held;

	held = begin(i % 2) &&
	       caller_join(&client, &server, address);
	removal = cable_unplug(0);
	held = held && ends_as_gone();
	end(removal);
	return held && tap_holds();
}

static void the_next_device_works_again_and_again(void)
{
	size_t heap = 0;
	int i, fds = 0;

	for (i = 0; i < TURNS && turn(i); i++) {
		if (i != 1)
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

int main(void)
{
	const char *reason = cable_enter();

	if (reason)
		return tap_skip_all(reason);
	CABLE_TEST(a_clients_device_ends_its_connections);
	CABLE_TEST(a_servers_device_ends_its_connections);
	CABLE_TEST(a_clients_device_ends_its_attempts);
	CABLE_TEST(a_servers_device_ends_its_requests);
	CABLE_TEST(an_attempt_not_begun_yet_ends_like_the_others);
	CABLE_TEST(what_is_begun_later_is_refused);
	CABLE_TEST(at_whatever_moment_it_happens_each_end_is_reported_once);
	CABLE_TEST(the_next_device_works_again_and_again);
	return tap_done();
}
