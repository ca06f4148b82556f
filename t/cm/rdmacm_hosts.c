/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/roce.h"
#include "t/lib/cable.h"
#include "t/lib/caller.h"
#include "t/lib/pair.h"
#include "t/lib/tap.h"

/*
 * Connections by address of the soft device, with real sockets and the
 * kernel's ICMP: between two hosts with a cable, and beside processes that
 * have a port and know nothing of RDMA.  Each test has its namespace.
 */
#define LEN 4096
#define FAR "10.9.5.2"

static struct pier_dev *dev;
static struct caller client, server;

static void end(void)
{
	caller_close(&server);
	caller_close(&client);
	pier_dev_close(dev);
	dev = NULL;
}

static bool client_at(const char *device)
{
	memset(&client, 0, sizeof(client));
	memset(&server, 0, sizeof(server));
	return IS(pier_dev_open(device, &dev), 0) &&
	       caller_open(&client, dev, NULL, NULL, LEN);
}

/* Ask at @address, port @port, for at most 15 s. */
static bool ask(const char *address, uint16_t port)
{
	struct pier_connect_config cfg = {
		.size = sizeof(cfg), .peer = address, .port = port,
		.timeout_ms = 15000,
	};

	if (IS(pier_rdma_connect_to(client.peer.rdma, &cfg,
				    &client.peer.conn), 0))
		return true;
	tap_note("%s", pier_last_error());
	return false;
}

/* The attempt fails with @err, and with @text in its error message. */
static void fails(int err, const char *text)
{
	OK(peer_count(&client.failures, 1));
	IS(pier_conn_error(client.peer.conn), err);
	LIKE(pier_conn_error_text(client.peer.conn), text);
}

/* A socket on UDP port *@port, 0 for a free one, that never sends. */
static int silent(uint16_t *port)
{
	struct sockaddr_in6 name = {
		.sin6_family = AF_INET6, .sin6_port = htons(*port),
	};
	socklen_t len = sizeof(name);
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (!OK(!bind(fd, (struct sockaddr *)&name, len)) ||
	    !OK(!getsockname(fd, (struct sockaddr *)&name, &len))) {
		close(fd);
		return -1;
	}
	*port = ntohs(name.sin6_port);
	return fd;
}

/* The other host: smaller frames than ours, and a listener. */
static int far_host(struct pair *pair, void *arg)
{
	uint16_t port;
	char word[8];

	(void)arg;
	if (!cable_enter_far() || !pair_send(pair, "in", 2) ||
	    pair_recv(pair, word, sizeof(word)) < 0 ||
	    !cable_run("ip link set f1 mtu 1500") || !cable_lay_far())
		return 1;
	if (!IS(pier_dev_open(cable_device(1), &dev), 0) ||
	    !caller_open(&server, dev, NULL, NULL, LEN) ||
	    !caller_listen(&server, 0))
		return 1;
	port = pier_listener_port(server.listener);
	pair_send(pair, &port, sizeof(port));
	OK(peer_count(&server.established, 1));
	OK(peer_count(&server.disconnected, 1));
	end();
	return 0;
}

/* Ask at the other host. */
static bool ask_far(struct pair *pair)
{
	uint16_t port;
	char word[8];

	pair_start(pair, far_host, NULL);
	return OK(pair_recv(pair, word, sizeof(word)) == 2) &&
	       OK(cable_lay(pair->pid)) && pair_send(pair, "go", 2) &&
	       OK(pair_recv(pair, &port, sizeof(port)) == 2) &&
	       OK(cable_plug(0)) && client_at(cable_device(0)) &&
	       ask(FAR, port);
}

static void hosts_with_different_mtus_take_the_smaller(void)
{
	struct pier_conn_path path;
	struct pair pair;

	if (ask_far(&pair)) {
		OK(peer_count(&client.established, 1));
		IS(pier_conn_path(client.peer.conn, &path), 0);
		IS(path.mtu, 1024);
		IS(pier_devinfo_mtu(pier_dev_info(dev)), 4096);
		pier_conn_disconnect(client.peer.conn);
		OK(peer_count(&client.disconnected, 1));
	}
	end();
	IS(pair_wait(&pair), 0);
	cable_cut();
}

/* As it would be if the listener's process was stopped. */
static void a_listener_without_a_word_is_waited_for(void)
{
	uint16_t port = 0;
	int fd = silent(&port);

	/* The server has port 4791, and denies it. */
	if (client_at("soft_lo") &&
	    caller_open(&server, dev, NULL, NULL, LEN) &&
	    caller_listen(&server, 0) && ask("127.0.0.1", port)) {
		peer_drive_quietly(200);
		IS(client.failures, 0);
		close(fd);
		fd = -1;
		fails(-ECONNREFUSED, "no program listens");
		IS(pier_conn_reject_reason(client.peer.conn),
		   ROCE_REJ_SERVICE_ID);
	}
	end();
	if (fd >= 0)
		close(fd);
}

static void that_port_4791_is_taken_here_is_reported(void)
{
	uint16_t port = ROCE_UDP_PORT, none = 0;
	int fd = silent(&port);

	close(silent(&none));
	if (client_at("soft_lo") && ask("127.0.0.1", none))
		fails(-EADDRINUSE, "UDP port 4791 here, which is in use");
	end();
	close(fd);
}

/* Of the two sides of a sample, either may come first. */
static void a_sample_waits_for_its_server_all_the_same(void)
{
	struct pier_args args = PIER_ARGS_RENDEZVOUS;
	uint16_t port = ROCE_UDP_PORT, none = 0;
	struct pier_conn *conn = NULL;
	int fd = silent(&port);

	close(silent(&none));
	args.use_cm = 1;
	args.server_addr = "127.0.0.1";
	args.listen_port = none;
	args.timeout_ms = 2000;
	if (client_at("soft_lo")) {
		IS(pier_rendezvous(client.peer.rdma, &args, NULL, &conn,
				   NULL), -EADDRINUSE);
		LIKE(pier_last_error(), "after 2 s: ");
		LIKE(pier_last_error(), "UDP port 4791 here, which is in use");
	}
	end();
	close(fd);
}

/* The last of its attempts has no time to receive anything. */
static void a_sample_without_a_server_reports_the_refusal(void)
{
	struct pier_args args = PIER_ARGS_RENDEZVOUS;
	struct pier_conn *conn = NULL;
	uint16_t none = 0;
	int i;

	close(silent(&none));
	args.use_cm = 1;
	args.server_addr = "127.0.0.1";
	args.listen_port = none;
	for (i = 0; i < 4 && client_at("soft_lo"); i++) {
		args.timeout_ms = 1000 + 30 * i;
		IS(pier_rendezvous(client.peer.rdma, &args, NULL, &conn,
				   NULL), -ECONNREFUSED);
		LIKE(pier_last_error(), "no program listens on that port");
		end();
	}
}

static void so_it_is_over_ipv6(void)
{
	uint16_t port = ROCE_UDP_PORT, none = 0;
	int fd = silent(&port);

	close(silent(&none));
	if (client_at("soft_lo") && ask("::1", none))
		fails(-EADDRINUSE, "UDP port 4791 here, which is in use");
	end();
	close(fd);
}

/* A name of both families' loopback, in a mount namespace of our own. */
static bool name_it(void)
{
	static bool named;

	if (!named)
		named = !unshare(CLONE_NEWNS) &&
			cable_run("mount --make-rprivate / && f=$(mktemp) && "
				  "printf '127.0.0.1 twice\\n"
				  "::1 twice odd\\n224.0.0.1 odd\\n' "
				  ">$f && mount --bind $f /etc/hosts && "
				  "rm $f");
	if (!named)
		tap_skip("no hosts file of its own");
	return named;
}

/* What was received from one address is not reported of the other. */
static void met_as_if_first(struct pier_conn *conn, const char *address)
{
	const void *data;
	size_t len = 1;

	IS(pier_conn_reject_reason(conn), 0);
	IS(pier_conn_peer_is_pier(conn), 1);
	IS(pier_conn_private_data(conn, &data, &len), 0);
	IS(len, 0);
	LIKE(pier_conn_local_address(conn), address);
	LIKE(pier_conn_peer_address(conn), address);
}

static void ask_twice(const char *address)
{
	server.address = address;
	if (!caller_listen(&server, 0) ||
	    !ask("twice", pier_listener_port(server.listener)))
		return;
	if (OK(peer_count(&client.established, 1)))
		met_as_if_first(client.peer.conn, address);
	else
		tap_note("%s", pier_conn_error_text(client.peer.conn));
}

/* One of which is not the listener's. */
static void a_name_with_two_addresses_is_asked_at_both(void)
{
	const char *addresses[] = { "127.0.0.1", "::1" };
	int i;

	for (i = 0; i < 2 && (i || name_it()); i++) {
		if (client_at("soft_lo") &&
		    caller_open(&server, dev, NULL, NULL, LEN))
			ask_twice(addresses[i]);
		end();
	}
}

/* ::1, which comes first, has refused; the other is never asked. */
static void of_two_addresses_that_fail_the_last_is_reported(void)
{
	struct pier_connect_config cfg = {
		.size = sizeof(cfg), .peer = "odd",
	};
	struct pier_conn *conn = NULL;
	const void *data;
	size_t len;

	if (name_it() && client_at("soft_lo") &&
	    caller_open(&server, dev, NULL, NULL, LEN)) {
		server.address = "127.0.0.1";
		OK(caller_listen(&server, 0));
		cfg.port = pier_listener_port(server.listener);
		IS(pier_rdma_connect_to(client.peer.rdma, &cfg, &conn), 0);
		client.peer.conn = conn;
		fails(-EINVAL, "cannot connect to odd, 224.0.0.1 ");
		LIKE(pier_conn_error_text(conn), "is no address of a host");
		LIKE(pier_conn_error_text(conn), "the last of 2 addresses");
		OK(!strstr(pier_conn_error_text(conn), " from ::1"));
		IS_STR(pier_conn_local_address(conn), "");
		IS(pier_conn_reject_reason(conn), 0);
		IS(pier_conn_private_data(conn, &data, &len), -ENOTCONN);
	}
	end();
}

int main(void)
{
	const char *reason = cable_enter();

	if (!reason && cable_is_rxe())
		reason = "of soft devices";
	if (reason)
		return tap_skip_all(reason);
	TEST(hosts_with_different_mtus_take_the_smaller);
	TEST(a_listener_without_a_word_is_waited_for);
	TEST(that_port_4791_is_taken_here_is_reported);
	TEST(so_it_is_over_ipv6);
	TEST(a_sample_waits_for_its_server_all_the_same);
	TEST(a_sample_without_a_server_reports_the_refusal);
	TEST(a_name_with_two_addresses_is_asked_at_both);
	TEST(of_two_addresses_that_fail_the_last_is_reported);
	return tap_done();
}
