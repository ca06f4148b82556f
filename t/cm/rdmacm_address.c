/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "core/roce.h"
#include "t/lib/caller.h"
#include "t/lib/netns.h"
#include "t/lib/pair.h"
#include "t/lib/tap.h"

/*
 * The addresses that connections are made between: their kinds, several on
 * one port, and those that go; in a network namespace of the test's own.
 */
#define LEN 4096
#define HOME "127.0.0.1"
#define ONE "10.8.0.1"
#define TWO "10.8.0.2"
#define SIX "fd08::1"

static struct pier_dev *dev;
static struct caller client, server;

static bool begin_on(const char *name, uint32_t timeout_ms)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .connect_timeout_ms = timeout_ms,
	};

	memset(&client, 0, sizeof(client));
	memset(&server, 0, sizeof(server));
	return IS(pier_dev_open(name, &dev), 0) &&
	       caller_open(&client, dev, NULL, &cfg, LEN) &&
	       caller_open(&server, dev, NULL, &cfg, LEN);
}

/* lo with these addresses, whatever was there before. */
static bool begin(uint32_t timeout_ms)
{
	return netns_ip("link set lo up") && netns_ip("addr flush dev lo") &&
	       netns_ip("addr add " HOME "/8 dev lo") &&
	       netns_ip("addr add " ONE "/32 dev lo") &&
	       netns_ip("addr add " TWO "/32 dev lo") &&
	       netns_ip("addr add " SIX "/128 dev lo nodad") &&
	       begin_on("soft_lo", timeout_ms);
}

static void end(void)
{
	caller_close(&server);
	caller_close(&client);
	pier_dev_close(dev);
	dev = NULL;
}

/* The numbers of the peer's address are those that its text has. */
static void is_written(const struct pier_conn *conn)
{
	char host[NI_MAXHOST] = "", port[NI_MAXSERV] = "", text[sizeof(host)];
	struct sockaddr_storage peer;
	size_t len = sizeof(struct sockaddr_in6);

	if (!IS(pier_conn_peer_sockaddr(conn, &peer), 0))
		return;
	if (peer.ss_family == AF_INET)
		len = sizeof(struct sockaddr_in);
	IS(getnameinfo((struct sockaddr *)&peer, (socklen_t)len, host,
		       sizeof(host), port, sizeof(port),
		       NI_NUMERICHOST | NI_NUMERICSERV), 0);
	snprintf(text, sizeof(text), "%.99s port %.9s", host, port);
	IS_STR(pier_conn_peer_address(conn), text);
}

/* @format, which has the port in it or not, is where the server is. */
static void reached_by(const char *format, uint32_t type, const char *shown)
{
	char peer[80];
	struct pier_connect_config cfg = {
		.size = sizeof(cfg), .peer = peer, .type = type,
		.port = pier_listener_port(server.listener),
		.user_data = &peer,
	};
	int before = client.established;

	snprintf(peer, sizeof(peer), format, cfg.port);
	if (strstr(format, "%u"))
		cfg.port = 1;		/* the peer's own differs */
	if (!IS(pier_rdma_connect_to(client.peer.rdma, &cfg,
				     &client.peer.conn), 0) ||
	    !OK(peer_count(&client.established, before + 1)) ||
	    !OK(peer_count(&server.established, before + 1))) {
		tap_note("%s: %s", peer, pier_last_error());
		return;
	}
	LIKE(pier_conn_peer_address(client.peer.conn), shown);
	LIKE(pier_conn_local_address(server.peer.conn), shown);
	is_written(client.peer.conn);
	is_written(server.peer.conn);
	OK(pier_conn_user_data(client.peer.conn) == peer);
	caller_flow(client.peer.conn, &server);
	caller_flow(server.peer.conn, &client);
}

static void addresses_of_every_kind_reach_the_server(void)
{
	if (begin(20000) && caller_listen(&server, 0)) {
		reached_by(ONE, PIER_ADDR_IPV4, ONE);
		reached_by(ONE ":%u", PIER_ADDR_ANY, ONE " port ");
		reached_by(SIX, PIER_ADDR_IPV6, SIX);
		reached_by("[" SIX "]:%u", PIER_ADDR_ANY, SIX);
		reached_by(SIX, PIER_ADDR_GID, SIX);
		reached_by("::ffff:" TWO, PIER_ADDR_GID, TWO);
		reached_by("localhost:%u", PIER_ADDR_IPV4, HOME);
	}
	end();
}

static void a_port_has_a_listener_for_each_address(void)
{
	struct pier_listener *first, *none = NULL;
	struct pier_listen_config any = { .size = sizeof(any) };

	if (begin(20000)) {
		server.address = ONE;
		OK(caller_listen(&server, 0));
		first = server.listener;
		any.port = pier_listener_port(first);
		server.address = TWO;
		OK(caller_listen(&server, (uint16_t)any.port));
		reached_by(ONE, 0, ONE);
		reached_by(TWO, 0, TWO);
		IS(pier_rdma_listen(server.peer.rdma, &any, &none),
		   -EADDRINUSE);
		LIKE(pier_last_error(), "this context listens there already");
		any.address = TWO;
		IS(pier_rdma_listen(server.peer.rdma, &any, &none),
		   -EADDRINUSE);
		any.address = NULL;
		IS(pier_rdma_listen(client.peer.rdma, &any, &none),
		   -EADDRINUSE);
		LIKE(pier_last_error(), "another context or process");
		LIKE(pier_last_error(), "ss -ulpn");
		any.address = TWO;
		IS(pier_rdma_listen(client.peer.rdma, &any, &none),
		   -EADDRINUSE);
		any.address = HOME;	/* which no listener has */
		if (IS(pier_rdma_listen(client.peer.rdma, &any, &none), 0))
			pier_listener_destroy(none);
		none = NULL;
		/* One of the two goes, the other stays. */
		pier_listener_destroy(first);
		reached_by(TWO, 0, TWO);
		if (IS(caller_try(&client, &server, ONE), 0)) {
			OK(peer_count(&client.failures, 1));
			IS(pier_conn_reject_reason(client.peer.conn),
			   ROCE_REJ_GID);
		}
		pier_listener_destroy(server.listener);
		server.listener = NULL;
		OK(!none);
		if (IS(pier_rdma_listen(client.peer.rdma, &any, &none), 0))
			pier_listener_destroy(none);
	}
	end();
}

static void lost(const struct pier_conn *conn, const char *stage)
{
	IS(pier_conn_error(conn), -EADDRNOTAVAIL);
	LIKE(pier_conn_error_text(conn), "cannot connect ");
	LIKE(pier_conn_error_text(conn), stage);
	LIKE(pier_conn_error_text(conn), ONE);
	LIKE(pier_conn_error_text(conn), HOME);
	LIKE(pier_conn_error_text(conn), "has lost the address");
}

static void an_attempt_ends_with_its_own_address(void)
{
	if (begin(20000) && caller_listen(&server, 0)) {
		server.hold = true;
		client.source = ONE;
		if (caller_ask(&client, &server, HOME) &&
		    OK(peer_count(&server.requests, 1)) &&
		    netns_ip("addr del " ONE "/32 dev lo")) {
			OK(peer_count(&client.failures, 1));
			lost(client.peer.conn, "connection request");
			client.source = NULL;
			server.hold = false;
			pier_conn_destroy(server.peer.conn);
			OK(caller_join(&client, &server, HOME));
			IS(client.failures, 1);
		}
	}
	end();
}

static void a_request_ends_with_the_address_that_was_asked(void)
{
	struct pier_conn *request;

	if (begin(20000) && caller_listen(&server, 0)) {
		server.hold = true;
		client.source = HOME;
		if (caller_ask(&client, &server, ONE) &&
		    OK(peer_count(&server.requests, 1)) &&
		    netns_ip("addr del " ONE "/32 dev lo")) {
			request = server.peer.conn;
			OK(peer_count(&server.failures, 1));
			lost(request, "connection request");
			IS(pier_conn_accept(request, NULL, 0), -ECONNABORTED);
			server.hold = false;
			OK(caller_join(&client, &server, HOME));
			IS(server.failures, 1);
		}
	}
	end();
}

/* Lost in use: the stage, both ends, and the path. */
static void whole(const struct pier_conn *conn)
{
	const char *text = pier_conn_error_text(conn);

	IS(pier_conn_error(conn), -EADDRNOTAVAIL);
	LIKE(text, ", in use: the address was removed from lo");
	LIKE(text, "the connection to " HOME " port ");
	LIKE(text, " from " ONE " port ");
	LIKE(text, "GID " ONE ", MTU ");
	LIKE(text, "has lost the address " ONE);
}

static void a_connection_ends_with_its_address(void)
{
	struct pier_conn *stays;

	if (begin(20000) && caller_listen(&server, 0) &&
	    caller_join(&client, &server, HOME)) {
		stays = client.peer.conn;
		client.source = ONE;
		if (caller_join(&client, &server, HOME) &&
		    netns_ip("addr del " ONE "/32 dev lo")) {
			OK(peer_count(&client.disconnected, 1));
			whole(client.peer.conn);
			IS(pier_conn_state(stays), PIER_CONN_CONNECTED);
			caller_flow(stays, &server);
			IS(client.failures, 0);
		}
	}
	end();
}

/* A process that listens, sends its port, and goes on. */
static int serve(struct pair *pair, void *arg)
{
	uint16_t port;

	(void)arg;
	if (!begin_on("soft_lo", 0) || !caller_listen(&server, 0))
		return 1;
	port = pier_listener_port(server.listener);
	pair_send(pair, &port, sizeof(port));
	peer_serve();
}

static void keep_warning(enum pier_log_level level, const char *area,
			 const char *message, void *arg)
{
	(void)area;
	if (level == PIER_LOG_WARNING)
		snprintf(arg, 256, "%s", message);
}

static bool join_port(uint16_t port)
{
	struct pier_connect_config cfg = {
		.size = sizeof(cfg), .peer = HOME, .port = port,
	};
	int before = client.established;

	return IS(pier_rdma_connect_to(client.peer.rdma, &cfg,
				       &client.peer.conn), 0) &&
	       OK(peer_count(&client.established, before + 1));
}

/* Port 4791 is the other's: soft peers are served at the listener's own. */
static void two_processes_listen_on_one_host(void)
{
	struct pier_listen_config cfg = { .size = sizeof(cfg),
					  .port = ROCE_UDP_PORT };
	struct pier_listener *none = NULL;
	char warning[256] = "";
	struct pair other;
	uint16_t port = 0;

	if (!netns_ip("link set lo up"))
		return;
	pair_start(&other, serve, NULL);
	IS(pair_recv(&other, &port, sizeof(port)), sizeof(port));
	if (begin_on("soft_lo", 0)) {
		pier_log_set_callback(keep_warning, warning);
		OK(caller_listen(&server, 0));
		LIKE(warning, "only for soft peers: UDP port 4791");
		IS(pier_rdma_listen(server.peer.rdma, &cfg, &none),
		   -EADDRINUSE);
		LIKE(pier_last_error(), "4791");
		LIKE(pier_last_error(), "process");
		cfg.port = port;
		IS(pier_rdma_listen(server.peer.rdma, &cfg, &none),
		   -EADDRINUSE);
		OK(!none);
		OK(join_port(pier_listener_port(server.listener)));
		OK(peer_count(&server.established, 1));
		OK(join_port(port));
		IS(client.failures, 0);
		pier_log_set_callback(NULL, NULL);
	}
	end();
	pair_kill(&other);
}

/* One is up, one requested, one requests: each end is reported once. */
static void an_interface_that_goes_is_reported_to_each(void)
{
	if (!netns_ip("link add av0 type veth peer name av1") ||
	    !netns_ip("link set av1 up") || !netns_ip("link set av0 up") ||
	    !netns_ip("addr add 10.9.0.1/24 dev av0"))
		return;
	if (begin_on("soft_av0", 20000) && caller_listen(&server, 0) &&
	    caller_join(&client, &server, "10.9.0.1")) {
		server.hold = true;
		if (caller_ask(&client, &server, "10.9.0.1") &&
		    OK(peer_count(&server.requests, 2)) &&
		    netns_ip("link del av0")) {
			OK(peer_count(&client.disconnected, 1));
			OK(peer_count(&server.disconnected, 1));
			OK(peer_count(&client.failures, 1));
			OK(peer_count(&server.failures, 1));
			IS(pier_conn_error(client.peer.conn), -ENODEV);
			LIKE(pier_conn_error_text(client.peer.conn),
			     "soft_av0 was removed");
			IS(pier_conn_error(server.peer.conn), -ENODEV);
			IS(pier_conn_accept(server.peer.conn, NULL, 0),
			   -ECONNABORTED);
			IS(caller_try(&client, &server, "10.9.0.1"), -ENODEV);
			peer_drive_quietly(20);
			IS(client.failures + client.disconnected, 2);
			IS(server.failures + server.disconnected, 2);
		}
	}
	end();
}

int main(void)
{
	if (!netns_enter())
		return tap_skip_all("no network namespace of its own");
	TEST(two_processes_listen_on_one_host);
	TEST(addresses_of_every_kind_reach_the_server);
	TEST(a_port_has_a_listener_for_each_address);
	TEST(an_attempt_ends_with_its_own_address);
	TEST(a_request_ends_with_the_address_that_was_asked);
	TEST(a_connection_ends_with_its_address);
	TEST(an_interface_that_goes_is_reported_to_each);
	return tap_done();
}
