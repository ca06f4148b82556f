/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "t/lib/cable.h"
#include "t/lib/caller.h"
#include "t/lib/entries.h"
#include "t/lib/tap.h"

/* Connections by address, both ends in this process. */

#define LEN 4096

static struct pier_dev *dev;
static struct caller client, server;

static bool begin_with(const struct pier_rdma_config *cfg)
{
	return caller_pair(&client, &server, dev, cfg, LEN);
}

static bool begin(void)
{
	return begin_with(NULL);
}

static void end(void)
{
	caller_unpair(&client, &server);
}

static void both_are_notified_once_that_they_are_connected(void)
{
	if (begin() && caller_listen(&server, 0) &&
	    caller_join(&client, &server, NULL)) {
		peer_drive_quietly(20);
		caller_counts(&client, 0, 1, 0, 0);
		caller_counts(&server, 1, 1, 0, 0);
		caller_flow(client.peer.conn, &server);
		caller_flow(server.peer.conn, &client);
	}
	end();
}

static void two_contexts_on_one_engine_connect(void)
{
	if (caller_open(&client, dev, NULL, NULL, LEN) &&
	    caller_open(&server, dev, client.peer.pe, NULL, LEN) &&
	    caller_listen(&server, 0) &&
	    caller_join(&client, &server, NULL)) {
		caller_flow(client.peer.conn, &server);
		caller_flow(server.peer.conn, &client);
	}
	end();
}

static void a_context_connects_to_itself(void)
{
	if (caller_open(&client, dev, NULL, NULL, LEN) &&
	    caller_listen(&client, 0) && caller_ask(&client, &client, NULL) &&
	    peer_count(&client.established, 2))
		caller_flow(client.peer.conn, &client);
	caller_close(&client);
}

static void disconnect_twice(struct caller *first, struct caller *second)
{
	IS(pier_conn_disconnect(first->peer.conn), 0);
	IS(pier_conn_disconnect(first->peer.conn), 0);
	IS(first->disconnected, 0);
	OK(peer_count(&first->disconnected, 1));
	OK(peer_count(&second->disconnected, 1));
	IS(pier_conn_disconnect(second->peer.conn), 0);
	IS(pier_conn_state(client.peer.conn), PIER_CONN_RESET);
	IS(pier_conn_state(server.peer.conn), PIER_CONN_RESET);
	peer_drive_quietly(20);
	caller_counts(&client, 0, 1, 0, 1);
	caller_counts(&server, 1, 1, 0, 1);
}

static void either_end_may_disconnect_and_again(void)
{
	int who;

	for (who = 0; who < 2; who++) {
		if (begin() && caller_listen(&server, 0) &&
		    caller_join(&client, &server, NULL))
			disconnect_twice(who ? &client : &server,
					 who ? &server : &client);
		end();
	}
}

static void both_may_disconnect_at_once(void)
{
	if (begin() && caller_listen(&server, 0) &&
	    caller_join(&client, &server, NULL)) {
		IS(pier_conn_disconnect(client.peer.conn), 0);
		IS(pier_conn_disconnect(server.peer.conn), 0);
		OK(peer_count(&client.disconnected, 1));
		OK(peer_count(&server.disconnected, 1));
	}
	end();
}

static void what_is_in_flight_is_drained_first(void)
{
	int sent[8], got[8], i;

	if (begin() && caller_listen(&server, 0) &&
	    caller_join(&client, &server, NULL)) {
		for (i = 0; i < 8; i++) {
			sent[i] = got[i] = -EINPROGRESS;
			IS(pier_rdma_receive(server.peer.rdma, NULL,
					     peer_done, &got[i]), 0);
			IS(pier_rdma_send(client.peer.conn, NULL, peer_done,
					  &sent[i]), 0);
		}
		IS(pier_conn_disconnect(client.peer.conn), 0);
		for (i = 0; i < 8; i++) {
			IS(peer_await(&sent[i]), 0);
			IS(peer_await(&got[i]), 0);
		}
		OK(peer_count(&server.disconnected, 1));
	}
	end();
}

static void the_smaller_mtu_is_used(void)
{
	struct pier_rdma_config small = { .size = sizeof(small), .mtu = 256 };
	struct pier_conn_path path;
	int who;

	for (who = 0; who < 2; who++) {
		if (caller_open(&client, dev, NULL, who ? &small : NULL,
				LEN) &&
		    caller_open(&server, dev, NULL, who ? NULL : &small,
				LEN) &&
		    caller_listen(&server, 0) &&
		    caller_join(&client, &server, NULL)) {
			IS(pier_conn_path(client.peer.conn, &path), 0);
			IS(path.mtu, 256);
			IS(pier_conn_path(server.peer.conn, &path), 0);
			IS(path.mtu, 256);
			caller_flow(client.peer.conn, &server);
			caller_flow(server.peer.conn, &client);
		}
		end();
	}
}

static void an_mtu_that_cannot_be_agreed_on_is_refused(void)
{
	struct pier_rdma_config small = { .size = sizeof(small), .mtu = 256 };
	struct pier_listen_config cfg = { .size = sizeof(cfg) };

	if (begin_with(&small)) {
		IS(pier_rdma_listen(server.peer.rdma, &cfg, &server.listener),
		   -EOPNOTSUPP);
		LIKE(pier_last_error(), "MTU of 256");
	}
	end();
}

static void a_full_server_rejects_without_asking_its_program(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg), .max_conns = 1 };

	if (begin_with(&cfg) && caller_listen(&server, 0) &&
	    caller_join(&client, &server, NULL)) {
		struct pier_conn *first = client.peer.conn;

		if (caller_ask(&client, &server, NULL)) {
			OK(peer_count(&client.failures, 1));
			IS(pier_conn_error(client.peer.conn), -ECONNREFUSED);
			LIKE(pier_conn_error_text(client.peer.conn),
			     "max_conns");
			caller_counts(&server, 1, 1, 0, 0);
		}
		caller_flow(first, &server);
		pier_conn_destroy(server.peer.conn);
		server.peer.conn = NULL;
		OK(peer_count(&client.disconnected, 1));
		OK(caller_join(&client, &server, NULL));
	}
	end();
}

static void where_no_process_listens_the_connection_fails(void)
{
	struct pier_listener *listener;
	int err;

	if (begin() && caller_listen(&server, 0)) {
		struct pier_connect_config cfg = {
			.size = sizeof(cfg), .peer = caller_address(dev),
			.port = pier_listener_port(server.listener),
			.timeout_ms = 2000,
		};

		listener = server.listener;
		server.listener = NULL;
		pier_listener_destroy(listener);
		if (IS(pier_rdma_connect_to(client.peer.rdma, &cfg,
					    &client.peer.conn), 0)) {
			OK(peer_count(&client.failures, 1));
			err = pier_conn_error(client.peer.conn);
			OK(err == -ECONNREFUSED || err == -EHOSTUNREACH ||
			   err == -ETIMEDOUT);
			LIKE(pier_conn_error_text(client.peer.conn),
			     "cannot connect to ");
			LIKE(pier_conn_error_text(client.peer.conn),
			     caller_address(dev));
			caller_counts(&client, 0, 0, 1, 0);
		}
	}
	end();
}

static void a_port_is_had_by_one_listener(void)
{
	struct pier_listen_config cfg = { .size = sizeof(cfg) };
	struct pier_listener *listener = NULL;

	if (begin() && caller_listen(&server, 0)) {
		cfg.port = pier_listener_port(server.listener);
		OK(cfg.port);
		IS(pier_rdma_listen(server.peer.rdma, &cfg, &listener),
		   -EADDRINUSE);
		OK(!listener);
		pier_listener_destroy(server.listener);
		server.listener = NULL;
		OK(caller_listen(&server, (uint16_t)cfg.port));
		OK(caller_join(&client, &server, NULL));
	}
	end();
}

static void a_context_has_several_listeners(void)
{
	struct pier_listener *first;

	if (begin() && caller_listen(&server, 0)) {
		first = server.listener;
		if (caller_listen(&server, 0) &&
		    caller_join(&client, &server, NULL)) {
			pier_listener_destroy(server.listener);
			server.listener = first;
			caller_flow(client.peer.conn, &server);
			OK(caller_ask(&client, &server, NULL));
			OK(peer_count(&client.established, 2));
		} else {
			pier_listener_destroy(first);
		}
	}
	end();
}

static void more_connections_take_no_thread_and_no_descriptor(void)
{
	bool begun = begin();
	int i, fds, tasks = entries_in("/proc/self/task");

	if (begun && caller_listen(&server, 0) &&
	    caller_join(&client, &server, NULL)) {
		fds = cable_fds();
		for (i = 0; i < 16; i++)
			OK(caller_join(&client, &server, NULL));
		IS(entries_in("/proc/self/task"), tasks);
		IS(cable_fds(), fds);
	}
	end();
}

static void many_requests_are_reported_at_the_rate_that_was_set(void)
{
	int i;

	if (begin()) {
		server.rate = 200;
		if (caller_listen(&server, 0)) {
			for (i = 0; i < 20; i++)
				OK(caller_ask(&client, &server, NULL));
			OK(peer_count(&client.established, 20));
			OK(peer_count(&server.established, 20));
			caller_flow(client.peer.conn, &server);
		}
	}
	end();
}

static void a_stopping_server_disconnects_its_clients(void)
{
	if (begin() && caller_listen(&server, 0) &&
	    caller_join(&client, &server, NULL)) {
		IS(pier_ctx_stop(pier_rdma_ctx(server.peer.rdma)),
		   -EINPROGRESS);
		OK(peer_ctx(&server.peer, PIER_CTX_IDLE));
		OK(peer_count(&client.disconnected, 1));
		IS(pier_listener_port(server.listener), 0);
		IS(pier_ctx_start(pier_rdma_ctx(server.peer.rdma),
				  server.peer.pe), 0);
		pier_listener_destroy(server.listener);
		server.listener = NULL;
		OK(caller_listen(&server, 0));
		OK(caller_join(&client, &server, NULL));
	}
	end();
}

static void a_context_stops_with_an_attempt_under_way(void)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .connect_timeout_ms = 1500,
	};

	if (begin_with(&cfg) && caller_listen(&server, 0)) {
		server.hold = true;
		if (caller_ask(&client, &server, NULL) &&
		    OK(peer_count(&server.requests, 1))) {
			IS(pier_ctx_stop(pier_rdma_ctx(client.peer.rdma)),
			   -EINPROGRESS);
			OK(peer_ctx(&client.peer, PIER_CTX_IDLE));
			caller_counts(&client, 0, 0, 1, 0);
			IS(pier_conn_error(client.peer.conn), 0);
			OK(peer_count(&server.failures, 1));
		}
	}
	end();
}

static void a_context_stops_with_a_request_open(void)
{
	if (begin() && caller_listen(&server, 0)) {
		server.hold = true;
		if (caller_ask(&client, &server, NULL) &&
		    OK(peer_count(&server.requests, 1))) {
			IS(pier_ctx_stop(pier_rdma_ctx(server.peer.rdma)),
			   -EINPROGRESS);
			OK(peer_ctx(&server.peer, PIER_CTX_IDLE));
			OK(peer_count(&client.failures, 1));
		}
	}
	end();
}

static void an_attempt_may_be_disconnected_or_destroyed_at_any_time(void)
{
	int rounds, kind;

	if (begin() && caller_listen(&server, 0)) {
		server.may_fail = true;	/* the client has gone meanwhile */
		for (rounds = 0; rounds < 12; rounds++) {
			for (kind = 0; kind < 2; kind++) {
				struct pier_conn *conn;
				int i;

				if (!caller_ask(&client, &server, NULL))
					break;
				conn = client.peer.conn;
				for (i = 0; i < rounds; i++) {
					pier_pe_progress(client.peer.pe, 0);
					pier_pe_progress(server.peer.pe, 0);
				}
				if (kind)
					pier_conn_disconnect(conn);
				pier_conn_destroy(conn);
				client.peer.conn = NULL;
			}
		}
		OK(caller_ask(&client, &server, NULL));
		OK(peer_conn(client.peer.conn, PIER_CONN_CONNECTED));
	}
	end();
}

static void the_source_address_is_chosen(void)
{
	if (begin() && caller_listen(&server, 0)) {
		client.source = caller_address(dev);
		OK(caller_join(&client, &server, NULL));
	}
	end();
	if (begin() && caller_listen(&server, 0)) {
		client.source = "192.0.2.77";
		IS(caller_try(&client, &server, NULL), -EADDRNOTAVAIL);
		client.source = NULL;
		OK(caller_join(&client, &server, NULL));
	}
	end();
}

static void private_data_from_nowhere_is_refused(void)
{
	struct pier_conn *request;

	if (begin() && caller_listen(&server, 0)) {
		client.ask_len = 5;
		IS(caller_try(&client, &server, NULL), -EINVAL);
		LIKE(pier_last_error(), "5 bytes of private data at NULL");
		client.ask_len = 0;
		server.hold = true;
		if (caller_ask(&client, &server, NULL) &&
		    OK(peer_count(&server.requests, 1))) {
			request = server.peer.conn;
			IS(pier_conn_reject(request, NULL, 5), -EINVAL);
			LIKE(pier_last_error(), "5 bytes of private data");
			IS(pier_conn_accept(request, NULL, 5), -EINVAL);
			LIKE(pier_last_error(), "5 bytes of private data");
			IS(pier_conn_accept(request, NULL, 0), 0);
			OK(peer_count(&client.established, 1));
		}
	}
	end();
}

static bool has_address(bool v4)
{
	struct pier_gid gid;
	uint32_t i;

	for (i = 0; !pier_devinfo_gid(pier_dev_info(dev), i, &gid); i++) {
		const struct in6_addr *ip = (const void *)gid.raw;

		if (gid.type == PIER_GID_ROCE_V2 &&
		    !IN6_IS_ADDR_LINKLOCAL(ip) &&
		    !!IN6_IS_ADDR_V4MAPPED(ip) == v4)
			return true;
	}
	return false;
}

static void a_loopback_address_means_this_host_on_any_device(void)
{
	if (begin() && caller_listen(&server, 0)) {
		OK(has_address(true) || has_address(false));
		OK(!has_address(true) ||
		   caller_join(&client, &server, "127.0.0.1"));
		OK(!has_address(false) ||
		   caller_join(&client, &server, "::1"));
		client.source = caller_address(dev);
		OK(caller_join(&client, &server, strchr(client.source, ':') ?
						 "::1" : "127.0.0.1"));
	}
	end();
}

static void a_listener_has_one_address_if_asked_to(void)
{
	if (begin()) {
		server.address = caller_address(dev);
		OK(caller_listen(&server, 0));
		OK(caller_join(&client, &server, NULL));
	}
	end();
}

static void connections_live_on_without_their_listener(void)
{
	if (begin() && caller_listen(&server, 0)) {
		server.hold = true;
		if (caller_ask(&client, &server, NULL) &&
		    OK(peer_count(&server.requests, 1))) {
			pier_listener_destroy(server.listener);
			server.listener = NULL;
			IS(pier_conn_accept(server.peer.conn, NULL, 0), 0);
			OK(peer_count(&client.established, 1));
			OK(peer_count(&server.established, 1));
			caller_flow(client.peer.conn, &server);
		}
	}
	end();
}

static void connections_by_descriptor_have_the_same_callbacks(void)
{
	struct sockaddr_storage peer;

	if (begin() && peer_join(&client.peer, &server.peer)) {
		caller_counts(&client, 0, 1, 0, 0);
		caller_counts(&server, 0, 1, 0, 0);
		IS(pier_conn_disconnect(client.peer.conn), 0);
		OK(peer_count(&client.disconnected, 1));
		OK(peer_count(&server.disconnected, 1));
		IS(pier_conn_reject_reason(client.peer.conn), 0);
		IS_STR(pier_conn_peer_address(client.peer.conn), "");
		IS(pier_conn_peer_sockaddr(client.peer.conn, &peer),
		   -ENOTCONN);
		LIKE(pier_last_error(), "connected by descriptors");
		IS(pier_conn_peer_is_pier(client.peer.conn), 1);
	}
	end();
}

/*
 * Progress @slow once every 20 ms, in place of a second, while @fast is always
 * progressed, until @slow is reported as connected.  Returns how often.
 */
static int calls_needed(struct caller *slow, struct caller *fast)
{
	long long limit = limit_from_now(), next = limit_now_ms();
	int calls = 0;

	while (!slow->established && limit_holds(limit)) {
		pier_pe_progress(fast->peer.pe, 0);
		if (limit_now_ms() < next)
			continue;
		pier_pe_progress(slow->peer.pe, 1);
		calls++;
		next = limit_now_ms() + 20 * limit_slower();
	}
	return calls;
}

static void eight_calls_of_progress_connect_a_client(void)
{
	if (begin() && caller_listen(&server, 0) &&
	    IS(caller_try(&client, &server, NULL), 0))
		OK(calls_needed(&client, &server) <= 8);
	end();
}

static void eight_calls_of_progress_connect_a_server(void)
{
	if (begin() && caller_listen(&server, 0) &&
	    IS(caller_try(&client, &server, NULL), 0))
		OK(calls_needed(&server, &client) <= 8);
	end();
}

int main(void)
{
	int err = pier_dev_open(NULL, &dev);

	if (err)
		return tap_skip_all(pier_last_error());
	if (!caller_address(dev))
		return tap_skip_all("the device has no IP address");
	TEST(both_are_notified_once_that_they_are_connected);
	TEST(eight_calls_of_progress_connect_a_client);
	TEST(eight_calls_of_progress_connect_a_server);
	TEST(two_contexts_on_one_engine_connect);
	TEST(a_context_connects_to_itself);
	TEST(either_end_may_disconnect_and_again);
	TEST(both_may_disconnect_at_once);
	TEST(what_is_in_flight_is_drained_first);
	/* librdmacm knows the port's MTU alone */
	if (!strcmp(pier_devinfo_kind(pier_dev_info(dev)), "soft"))
		TEST(the_smaller_mtu_is_used);
	else
		TEST(an_mtu_that_cannot_be_agreed_on_is_refused);
	TEST(a_full_server_rejects_without_asking_its_program);
	TEST(where_no_process_listens_the_connection_fails);
	TEST(a_port_is_had_by_one_listener);
	TEST(a_context_has_several_listeners);
	TEST(more_connections_take_no_thread_and_no_descriptor);
	TEST(many_requests_are_reported_at_the_rate_that_was_set);
	TEST(a_stopping_server_disconnects_its_clients);
	TEST(a_context_stops_with_an_attempt_under_way);
	TEST(a_context_stops_with_a_request_open);
	TEST(an_attempt_may_be_disconnected_or_destroyed_at_any_time);
	TEST(the_source_address_is_chosen);
	TEST(private_data_from_nowhere_is_refused);
	TEST(a_loopback_address_means_this_host_on_any_device);
	TEST(a_listener_has_one_address_if_asked_to);
	TEST(connections_live_on_without_their_listener);
	TEST(connections_by_descriptor_have_the_same_callbacks);
	pier_dev_close(dev);
	return tap_done();
}
