/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include <pier/host.h>

#include "core/roce.h"
#include "t/lib/caller.h"
#include "t/lib/limit.h"
#include "t/lib/netns.h"
#include "t/lib/tap.h"

/*
 * A server that is reached by an address of another device of its host: the
 * error message of its client, and a server on all devices.  In a network
 * namespace of the test's own, with lo and two more interfaces.
 */
#define LEN 4096
#define HOME "127.0.0.1"
#define ONE "10.8.0.1"
#define FAR "10.8.3.1"
#define FAR_SIX "fd09::1"
#define LATE "10.8.3.2"
#define SIX "fd08::1"
#define THIRD "10.8.4.1"

static struct pier_dev *dev, *far;
static struct caller client, server;
static size_t came_by;
static struct pier_host *host;

static bool lay(void)
{
	static bool laid;

	if (!laid)
		laid = netns_ip("link set lo up") &&
		       netns_ip("addr add " ONE "/32 dev lo") &&
		       netns_ip("addr add " SIX "/128 dev lo nodad") &&
		       netns_ip("link add du0 type veth peer name "
				"du1") &&
		       netns_ip("addr add " FAR "/24 dev du0") &&
		       netns_ip("addr add " FAR_SIX "/64 dev du0 nodad") &&
		       netns_ip("link set du0 up") &&
		       netns_ip("addr add " THIRD "/24 dev du1") &&
		       netns_ip("link set du1 up");
	return laid;
}

/* Once the kernel has set the carrier of its link, which takes a moment. */
static int open_far(const char *name)
{
	long long limit = limit_from_now();
	int err;

	do
		err = pier_dev_open(name, &far);
	while (err == -ENETDOWN && limit_nap(limit));
	return err;
}

/* A client on @at; a server on @name, if not NULL. */
static bool begin_at(const char *at, const char *name)
{
	memset(&client, 0, sizeof(client));
	memset(&server, 0, sizeof(server));
	return lay() && IS(pier_dev_open(at, &dev), 0) &&
	       caller_open(&client, dev, NULL, NULL, LEN) &&
	       (!name || (IS(open_far(name), 0) &&
			  caller_open(&server, far, NULL, NULL, LEN)));
}

static bool begin(const char *name)
{
	return begin_at("soft_lo", name);
}

static void end(void)
{
	caller_close(&server);
	caller_close(&client);
	pier_dev_close(far);
	pier_dev_close(dev);
	dev = far = NULL;
}

static bool connect_to(const char *peer, uint16_t port)
{
	struct pier_connect_config cfg = {
		.size = sizeof(cfg), .peer = peer, .port = port,
		.source = strchr(peer, ':') ? SIX : HOME,
	};

	if (IS(pier_rdma_connect_to(client.peer.rdma, &cfg,
				    &client.peer.conn), 0))
		return true;
	tap_note("%s", pier_last_error());
	return false;
}

/* A client asks at @peer, and its error message has @there. */
static void suggests(const char *peer, const char *there)
{
	int before = client.failures;

	if (!connect_to(peer, pier_listener_port(server.listener)) ||
	    !OK(peer_count(&client.failures, before + 1)))
		return;
	IS(pier_conn_error(client.peer.conn), -ECONNREFUSED);
	IS(pier_conn_reject_reason(client.peer.conn), ROCE_REJ_GID);
	LIKE(pier_conn_error_text(client.peer.conn), there);
}

static void the_error_has_the_address_of_the_device_that_listens(void)
{
	if (begin("soft_du0") && caller_listen(&server, 0)) {
		suggests(ONE, "requested address, but listens at " FAR " (");
		suggests(SIX, "address, but listens at " FAR_SIX " (");
	}
	end();
}

static void the_error_has_the_address_that_is_listened_at(void)
{
	if (begin("soft_lo")) {
		server.address = ONE;
		if (caller_listen(&server, 0))
			suggests(HOME, ", but listens at " ONE " (");
	}
	end();
}

/* What has no address for the client is not suggested. */
static void a_loopback_address_is_suggested_to_no_one(void)
{
	if (lay() && netns_ip("addr del " ONE "/32 dev lo") &&
	    begin("soft_lo") && caller_listen(&server, 0)) {
		if (connect_to(FAR, pier_listener_port(server.listener)) &&
		    OK(peer_count(&client.failures, 1)))
			OK(!strstr(pier_conn_error_text(client.peer.conn),
				   "but listens"));
	}
	netns_ip("addr add " ONE "/32 dev lo");
	end();
}

/* The client has the address that it connects to, so the server is here. */
static void the_loopback_device_is_suggested_on_its_own_host(void)
{
	struct pier_connect_config cfg = { .size = sizeof(cfg), .peer = FAR };

	if (lay() && netns_ip("addr del " ONE "/32 dev lo") &&
	    begin_at("soft_du0", "soft_lo") && caller_listen(&server, 0)) {
		cfg.port = pier_listener_port(server.listener);
		if (IS(pier_rdma_connect_to(client.peer.rdma, &cfg,
					    &client.peer.conn), 0) &&
		    OK(peer_count(&client.failures, 1)))
			LIKE(pier_conn_error_text(client.peer.conn),
			     "address: is the server on the loopback device? "
			     "connect from there: -d soft_lo (reason 12)");
	}
	netns_ip("addr add " ONE "/32 dev lo");
	end();
}

static void requested(struct pier_conn *conn, void *data, void *ctx_data)
{
	(void)data;
	(void)ctx_data;
	came_by = pier_host_find(host, conn);
	IS(pier_conn_accept(conn, NULL, 0), 0);
}

static void reaches(const char *peer, const char *device)
{
	int before = client.established;
	long long limit = limit_from_now();

	if (!connect_to(peer, pier_host_port(host)))
		return;
	while (client.established == before && !client.failures &&
	       peer_step(limit))
		;
	IS(client.established, before + 1);
	IS_STR(pier_host_name(host, came_by), device);
	if (client.failures)
		tap_note("%s", pier_conn_error_text(client.peer.conn));
}

static void has_error(const char *device, int err, const char *text)
{
	for (size_t i = 0; i < pier_host_count(host); i++) {
		if (strcmp(pier_host_name(host, i), device))
			continue;
		IS(pier_host_error(host, i), err);
		LIKE(pier_host_error_text(host, i), text);
		return;
	}
	tap_note("%s is not in the list", device);
	OK(false);
}

static const struct pier_host_config config = {
	.size = sizeof(config), .request = requested,
};

/* The server is on the client's engine, so that both are driven. */
static void a_server_on_all_devices_is_reached_by_every_address(void)
{
	struct pier_listen_config listen = { .size = sizeof(listen) };

	if (begin(NULL) &&
	    IS(pier_host_create(client.peer.pe, &config, &host), 0) &&
	    IS(pier_host_listen(host, &listen), 0)) {
		reaches(HOME, "soft_lo");
		reaches(ONE, "soft_lo");
		reaches(SIX, "soft_lo");
		reaches(FAR, "soft_du0");
		reaches(FAR_SIX, "soft_du0");
		if (netns_ip("addr add " LATE "/32 dev du0")) {
			IS(pier_host_listen(host, &listen), 0);
			reaches(LATE, "soft_du0");
			reaches(FAR, "soft_du0");
		}
	}
	pier_host_destroy(host);
	host = NULL;
	end();
}

/* Another context has the port there. */
static void a_device_whose_port_is_taken_is_reported(void)
{
	struct pier_listen_config listen = { .size = sizeof(listen) };

	if (begin("soft_du1")) {
		server.address = THIRD;
		OK(caller_listen(&server, 0));
		listen.port = pier_listener_port(server.listener);
		IS(pier_host_create(client.peer.pe, &config, &host), 0);
		IS(pier_host_listen(host, &listen), 0);
		IS(pier_host_port(host), listen.port);
		has_error("soft_du1", -EADDRINUSE, "another context");
		has_error("soft_du0", 0, "");
		reaches(FAR, "soft_du0");
		/* Free again, it is taken. */
		pier_listener_destroy(server.listener);
		server.listener = NULL;
		IS(pier_host_listen(host, &listen), 0);
		has_error("soft_du1", 0, "");
		reaches(THIRD, "soft_du1");
	}
	pier_host_destroy(host);
	host = NULL;
	end();
}

int main(void)
{
	if (!netns_enter())
		return tap_skip_all("no network namespace of its own");
	TEST(the_error_has_the_address_of_the_device_that_listens);
	TEST(the_error_has_the_address_that_is_listened_at);
	TEST(a_loopback_address_is_suggested_to_no_one);
	TEST(the_loopback_device_is_suggested_on_its_own_host);
	TEST(a_server_on_all_devices_is_reached_by_every_address);
	TEST(a_device_whose_port_is_taken_is_reported);
	return tap_done();
}
