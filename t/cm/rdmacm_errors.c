/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/roce.h"
#include "t/lib/caller.h"
#include "t/lib/netns.h"
#include "t/lib/tap.h"

/*
 * Each way in which connecting fails has an error message: where in the
 * attempt, from where to where, over which GID and MTU, why the peer rejected
 * if it did, and what is likely to be wrong.  In a network namespace of the
 * test's own: no other process listens there.
 */
#define LEN 4096
#define HERE "127.0.0.1"
#define FAR "10.9.0.7"		/* a neighbour that is not there */
#define NO_WAY "203.0.113.9"	/* no route goes there */

static struct pier_dev *dev;
static struct caller client, server;

static bool open_both(const struct pier_rdma_config *cfg)
{
	return caller_open(&client, dev, NULL, NULL, LEN) &&
	       caller_open(&server, dev, NULL, cfg, LEN) &&
	       caller_listen(&server, 0);
}

static bool begin(const struct pier_rdma_config *cfg)
{
	memset(&client, 0, sizeof(client));
	memset(&server, 0, sizeof(server));
	return IS(pier_dev_open("soft_lo", &dev), 0) && open_both(cfg);
}

static void end(void)
{
	caller_close(&server);
	caller_close(&client);
	pier_dev_close(dev);
	dev = NULL;
}

/* The error of @conn, and the parts that every such error message has. */
static void whole(const struct pier_conn *conn, int error, const char *to,
		  const char *stage, const char *reason)
{
	const char *text = pier_conn_error_text(conn);
	char part[128];

	IS(pier_conn_error(conn), error);
	LIKE(text, "cannot connect ");
	LIKE(text, to);
	snprintf(part, sizeof(part), ", %s: ", stage);
	LIKE(text, part);
	LIKE(text, reason);
	LIKE(text, "(over soft_");
	LIKE(text, ", GID ");
	LIKE(text, ", MTU ");
	OK(text[strlen(text) - 1] == ')');
}

/* The same, from this side's address. */
static void fails(int error, const char *to, const char *stage,
		  const char *reason)
{
	char from[80];

	if (!OK(peer_count(&client.failures, 1)))
		return;
	whole(client.peer.conn, error, to, stage, reason);
	snprintf(from, sizeof(from), " from %s",
		 pier_conn_local_address(client.peer.conn));
	if (strlen(from) > strlen(" from "))
		LIKE(pier_conn_error_text(client.peer.conn), from);
	IS(client.established + client.disconnected, 0);
	/* All of it is over: the next one is made. */
	server.hold = false;
	client.timeout_ms = 0;
	client.source = NULL;
	OK(caller_join(&client, &server, HERE));
}

static int connect_to(const char *peer, uint32_t port, uint32_t timeout_ms)
{
	struct pier_connect_config cfg = {
		.size = sizeof(cfg), .peer = peer, .port = port,
		.timeout_ms = timeout_ms,
	};

	return pier_rdma_connect_to(client.peer.rdma, &cfg,
				    &client.peer.conn);
}

static void no_process_listens_on_the_port(void)
{
	if (begin(NULL) && IS(connect_to(HERE, 9, 0), 0)) {
		fails(-ECONNREFUSED, HERE " port 9", "connection request",
		      "no program listens on that port");
		LIKE(pier_conn_local_address(client.peer.conn), HERE);
	}
	end();
	/* And the number that IBTA has for it. */
	if (begin(NULL) && IS(connect_to(HERE, 9, 0), 0) &&
	    OK(peer_count(&client.failures, 1))) {
		IS(pier_conn_reject_reason(client.peer.conn),
		   ROCE_REJ_SERVICE_ID);
		LIKE(pier_conn_error_text(client.peer.conn), "(reason 8)");
		LIKE(pier_conn_error_text(client.peer.conn), " from " HERE);
	}
	end();
}

static void no_route_goes_there(void)
{
	if (begin(NULL) && IS(connect_to(NO_WAY, 9, 0), 0))
		fails(-EHOSTUNREACH, NO_WAY " port 9", "address resolution",
		      "no route to " NO_WAY);
	end();
}

static void the_way_leads_over_another_device(void)
{
	if (begin(NULL) && IS(connect_to(FAR, 9, 0), 0))
		fails(-EHOSTUNREACH, FAR " port 9", "address resolution",
		      "take the device that has it");
	end();
}

/* The way there is the listener's port, the way back our own. */
static const char *ports(void)
{
	const char *own = pier_conn_local_address(client.peer.conn);
	static char text[80];

	own = strstr(own, "port ");
	snprintf(text, sizeof(text), "UDP port 9 pass there and %s back",
		 own ? own : "?");
	return text;
}

static void a_neighbour_does_not_answer(void)
{
	memset(&client, 0, sizeof(client));
	memset(&server, 0, sizeof(server));
	if (IS(pier_dev_open("soft_av0", &dev), 0) && open_both(NULL) &&
	    IS(connect_to(FAR, 9, 300), 0) &&
	    OK(peer_count(&client.failures, 1))) {
		whole(client.peer.conn, -ETIMEDOUT, FAR " port 9 from 10.9.0.1",
		      "connection request", "no answer in time");
		LIKE(pier_conn_error_text(client.peer.conn), ports());
	}
	end();
}

/* A loopback address is replaced, so the error message names another one. */
static void this_host_is_asked_by_the_address_of_the_device(void)
{
	const char *text;

	memset(&client, 0, sizeof(client));
	memset(&server, 0, sizeof(server));
	if (IS(pier_dev_open("soft_av0", &dev), 0) &&
	    caller_open(&client, dev, NULL, NULL, LEN) &&
	    IS(connect_to("127.0.0.1", 9, 0), 0) &&
	    OK(peer_count(&client.failures, 1))) {
		text = pier_conn_error_text(client.peer.conn);
		whole(client.peer.conn, -ECONNREFUSED,
		      "127.0.0.1, which on soft_av0 is 10.9.0.1 port 9 from",
		      "connection request", "no program listens");
		LIKE(text, "on the loopback device? connect from there: "
		     "-d soft_lo");
	}
	end();
	/* The loopback device has it. */
	if (begin(NULL) && IS(connect_to(HERE, 9, 0), 0) &&
	    OK(peer_count(&client.failures, 1))) {
		text = pier_conn_error_text(client.peer.conn);
		OK(!strstr(text, "which on") && !strstr(text, "-d soft_lo"));
	}
	end();
}

static void the_source_is_not_ours(void)
{
	if (begin(NULL)) {
		client.source = "10.9.0.1";
		IS(caller_try(&client, &server, HERE), -EADDRNOTAVAIL);
		LIKE(pier_last_error(), "\"10.9.0.1\": it is not an address of "
		     "soft_lo, whose first is 127.0.0.1");
		IS(client.failures, 0);
		client.source = "0.0.0.0";
		OK(caller_join(&client, &server, HERE));
	}
	end();
	if (begin(NULL)) {
		client.source = "::1";
		if (IS(caller_try(&client, &server, HERE), 0))
			fails(-EHOSTUNREACH, HERE, "address resolution",
			      "of another family");
	}
	end();
}

static void the_name_is_not_known(void)
{
	if (begin(NULL) && IS(connect_to("no-such-host.invalid", 9, 0), 0) &&
	    OK(peer_count(&client.failures, 1)))
		whole(client.peer.conn, pier_conn_error(client.peer.conn),
		      "no-such-host.invalid port 9", "name resolution", "");
	end();
}

static void the_program_says_no(void)
{
	if (begin(NULL)) {
		server.hold = true;
		if (caller_ask(&client, &server, HERE) &&
		    OK(peer_count(&server.requests, 1))) {
			IS(pier_conn_reject(server.peer.conn, "no", 2), 0);
			fails(-ECONNREFUSED, HERE, "connection request",
			      "its program has rejected the "
			      "request (reason 28)");
		}
	}
	end();
}

static void the_server_is_full(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg), .max_conns = 1 };
	struct pier_conn *first;

	if (begin(&cfg) && caller_join(&client, &server, HERE)) {
		first = server.peer.conn;
		if (caller_ask(&client, &server, HERE) &&
		    OK(peer_count(&client.failures, 1)))
			whole(client.peer.conn, -ECONNREFUSED, HERE,
			      "connection request",
			      "raise its max_conns (reason 28)");
		IS(server.requests, 1);
		IS(pier_conn_state(first), PIER_CONN_CONNECTED);
	}
	end();
}

static void the_program_is_too_slow(void)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .connect_timeout_ms = 200,
	};

	if (begin(&cfg)) {
		server.hold = true;
		if (caller_ask(&client, &server, HERE) &&
		    OK(peer_count(&server.failures, 1))) {
			whole(server.peer.conn, -ETIMEDOUT, HERE,
			      "connection request",
			      "the program did not accept it in time");
			OK(peer_count(&client.failures, 1));
			whole(client.peer.conn, -ECONNREFUSED, HERE,
			      "connection request",
			      "its program did not decide in time");
		}
	}
	end();
}

static void the_client_has_given_up(void)
{
	struct pier_conn *request;

	if (begin(NULL)) {
		server.hold = true;
		if (caller_ask(&client, &server, HERE) &&
		    OK(peer_count(&server.requests, 1))) {
			request = server.peer.conn;
			pier_conn_destroy(client.peer.conn);
			client.peer.conn = NULL;
			OK(peer_count(&server.failures, 1));
			whole(request, -ECONNABORTED, HERE,
			      "connection request",
			      "the client has given up");
			LIKE(pier_conn_error_text(request),
			     "connect to client ");
			IS(pier_conn_accept(request, NULL, 0), -ECONNABORTED);
			LIKE(pier_last_error(), "the client has given up");
			server.hold = false;
			OK(caller_join(&client, &server, HERE));
		}
	}
	end();
}

/* Its goodbye may be there before the client has seen the answer. */
static void the_peer_leaves_in_the_handshake(void)
{
	bool seen;

	if (begin(NULL)) {
		server.hold = true;
		if (caller_ask(&client, &server, HERE) &&
		    OK(peer_count(&server.requests, 1))) {
			IS(pier_conn_accept(server.peer.conn, NULL, 0), 0);
			pier_conn_destroy(server.peer.conn);
			server.peer.conn = NULL;
			OK(peer_count(&client.failures, 1));
			seen = pier_conn_error(client.peer.conn) ==
			       -ECONNRESET;
			whole(client.peer.conn, seen ? -ECONNRESET :
						       -ECONNREFUSED, HERE,
			      seen ? "handshake" : "connection request",
			      seen ? "the peer has disconnected" :
				     "(reason 28)");
		}
	}
	end();
}

static void the_link_is_down(void)
{
	if (begin(NULL)) {
		server.hold = true;
		client.timeout_ms = 500;
		if (caller_ask(&client, &server, HERE) &&
		    OK(peer_count(&server.requests, 1)) &&
		    netns_ip("link set lo down")) {
			OK(peer_count(&client.failures, 1));
			whole(client.peer.conn, -ETIMEDOUT, HERE,
			      "connection request",
			      "soft_lo port 1 is down: bring lo up");
		}
		netns_ip("link set lo up");
	}
	end();
}

int main(void)
{
	if (!netns_enter() || !netns_ip("link set lo up") ||
	    !netns_ip("link add av0 type veth peer name av1") ||
	    !netns_ip("link set av1 up") || !netns_ip("link set av0 up") ||
	    !netns_ip("addr add 10.9.0.1/24 dev av0"))
		return tap_skip_all("no network namespace of its own");
	TEST(no_process_listens_on_the_port);
	TEST(no_route_goes_there);
	TEST(the_way_leads_over_another_device);
	TEST(a_neighbour_does_not_answer);
	TEST(this_host_is_asked_by_the_address_of_the_device);
	TEST(the_source_is_not_ours);
	TEST(the_name_is_not_known);
	TEST(the_program_says_no);
	TEST(the_server_is_full);
	TEST(the_program_is_too_slow);
	TEST(the_client_has_given_up);
	TEST(the_peer_leaves_in_the_handshake);
	TEST(the_link_is_down);
	return tap_done();
}
