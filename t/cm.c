/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "t/caller.h"
#include "t/tap.h"

/* Connections by address, both ends in this process. */

#define LEN 4096

static struct pier_dev *dev;
static struct caller client, server;

static bool begin_with(const struct pier_rdma_config *cfg, bool one_engine)
{
	return caller_open(&client, dev, NULL, NULL, LEN) &&
	       caller_open(&server, dev, one_engine ? client.peer.pe : NULL,
			   cfg, LEN);
}

static bool begin(void)
{
	return begin_with(NULL, false);
}

static void end(void)
{
	caller_close(&server);
	caller_close(&client);
}

/* What each side was told, in all. */
static void told(const struct caller *p, int requests, int established,
		 int failures, int disconnected)
{
	IS(p->requests, requests);
	IS(p->established, established);
	IS(p->failures, failures);
	IS(p->disconnected, disconnected);
	IS(p->inside, 0);
}

static void check_flow(struct pier_conn *from, struct caller *to)
{
	int sent = -EINPROGRESS, got = -EINPROGRESS;

	IS(pier_rdma_receive(to->peer.rdma, NULL, peer_done, &got), 0);
	IS(pier_rdma_send(from, NULL, peer_done, &sent), 0);
	IS(peer_await(&sent), 0);
	IS(peer_await(&got), 0);
}

static void both_are_told_once_that_they_are_connected(void)
{
	if (begin() && caller_listen(&server, 0) &&
	    caller_join(&client, &server, NULL)) {
		peer_drive(50);
		told(&client, 0, 1, 0, 0);
		told(&server, 1, 1, 0, 0);
		check_flow(client.peer.conn, &server);
		check_flow(server.peer.conn, &client);
	}
	end();
}

static void two_contexts_on_one_engine_connect(void)
{
	if (begin_with(NULL, true) && caller_listen(&server, 0) &&
	    caller_join(&client, &server, NULL)) {
		check_flow(client.peer.conn, &server);
		check_flow(server.peer.conn, &client);
	}
	end();
}

static void a_context_connects_to_itself(void)
{
	if (caller_open(&client, dev, NULL, NULL, LEN) &&
	    caller_listen(&client, 0) && caller_ask(&client, &client, NULL) &&
	    peer_count(&client.established, 2))
		check_flow(client.peer.conn, &client);
	caller_close(&client);
}

static void either_side_may_disconnect_and_again(void)
{
	int who;

	for (who = 0; who < 2; who++) {
		struct caller *first = who ? &client : &server;
		struct caller *second = who ? &server : &client;

		if (begin() && caller_listen(&server, 0) &&
		    caller_join(&client, &server, NULL)) {
			IS(pier_conn_disconnect(first->peer.conn), 0);
			IS(pier_conn_disconnect(first->peer.conn), 0);
			IS(first->disconnected, 0);
			OK(peer_count(&first->disconnected, 1));
			OK(peer_count(&second->disconnected, 1));
			IS(pier_conn_disconnect(second->peer.conn), 0);
			IS(pier_conn_state(client.peer.conn), PIER_CONN_RESET);
			IS(pier_conn_state(server.peer.conn), PIER_CONN_RESET);
			peer_drive(50);
			told(&client, 0, 1, 0, 1);
			told(&server, 1, 1, 0, 1);
		}
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

/* Does @conn's private data begin with, or is it, @len bytes of pattern? */
static void check_data(struct pier_conn *conn, unsigned int seed, size_t len,
		       bool all)
{
	const uint8_t *data;
	const void *at;
	size_t got = 0, i;

	if (!IS(pier_conn_private_data(conn, &at, &got), 0))
		return;
	if (all)
		IS(got, len);
	else
		OK(got <= len && (got == len || got >= 16));
	data = at;
	for (i = 0; i < got && data[i] == peer_byte(seed, i); i++)
		;
	IS(i, got);
}

static void private_data(size_t ask, size_t answer)
{
	uint8_t data[PIER_PRIVATE_DATA_MAX];
	size_t i;

	if (begin() && caller_listen(&server, 0)) {
		for (i = 0; i < ask; i++)
			data[i] = peer_byte(3, i);
		for (i = 0; i < answer; i++)
			server.answer[i] = peer_byte(4, i);
		server.answer_len = answer;
		client.ask = data;
		client.ask_len = ask;
		server.hold = true;
		if (caller_ask(&client, &server, NULL) &&
		    OK(peer_count(&server.requests, 1))) {
			check_data(server.peer.conn, 3, ask, ask <= 26);
			IS(pier_conn_accept(server.peer.conn, server.answer,
					    answer), 0);
			OK(peer_count(&client.established, 1));
			OK(peer_count(&server.established, 1));
			check_data(server.peer.conn, 3, ask, true);
			check_data(client.peer.conn, 4, answer, true);
			check_flow(client.peer.conn, &server);
		}
	}
	end();
}

static void private_data_of_any_length_arrives(void)
{
	static const size_t sizes[] = {
		0, 1, 26, 27, 56, 57, 166, 167, 200, 4095, 4096
	};
	size_t i, n = sizeof(sizes) / sizeof(sizes[0]);

	for (i = 0; i < n; i++)
		private_data(sizes[i], sizes[n - 1 - i]);
	private_data(4096, 4096);
}

static void too_much_private_data_is_refused(void)
{
	static const uint8_t data[PIER_PRIVATE_DATA_MAX + 1];
	struct pier_connect_config cfg = { .size = sizeof(cfg) };
	struct pier_conn *conn = NULL;

	if (begin() && caller_listen(&server, 0)) {
		cfg.peer = caller_address(dev);
		cfg.port = pier_listener_port(server.listener);
		cfg.data = data;
		cfg.data_len = sizeof(data);
		IS(pier_rdma_connect_to(client.peer.rdma, &cfg, &conn),
		   -EMSGSIZE);
		LIKE(pier_last_error(), "4097");
		cfg.raw = 1;
		cfg.data_len = 57;
		IS(pier_rdma_connect_to(client.peer.rdma, &cfg, &conn),
		   -EMSGSIZE);
		OK(!conn);
		server.hold = true;
		if (caller_ask(&client, &server, NULL) &&
		    OK(peer_count(&server.requests, 1))) {
			IS(pier_conn_accept(server.peer.conn, data,
					    sizeof(data)), -EMSGSIZE);
			IS(pier_conn_reject(server.peer.conn, data, 141),
			   -EMSGSIZE);
			IS(pier_conn_accept(server.peer.conn, NULL, 0), 0);
			OK(peer_count(&client.established, 1));
		}
	}
	end();
}

static void raw_data_is_the_whole_field(void)
{
	const uint8_t *data;
	const void *at;
	size_t len = 0;

	if (begin() && caller_listen(&server, 0)) {
		client.ask = "raw";
		client.ask_len = 3;
		client.raw = true;
		server.answer_len = 196;
		memset(server.answer, 7, sizeof(server.answer));
		if (caller_join(&client, &server, NULL)) {
			IS(pier_conn_peer_is_pier(server.peer.conn), 0);
			IS(pier_conn_private_data(server.peer.conn, &at, &len),
			   0);
			IS(len, 56);
			data = at;
			OK(!memcmp(data, "raw", 4) && !data[55]);
			IS(pier_conn_private_data(client.peer.conn, &at, &len),
			   0);
			IS(len, 196);
			data = at;
			IS(data[195], 7);
			check_flow(client.peer.conn, &server);
			check_flow(server.peer.conn, &client);
			IS(pier_conn_disconnect(client.peer.conn), 0);
			OK(peer_count(&client.disconnected, 1));
			OK(peer_count(&server.disconnected, 1));
			IS(pier_conn_state(server.peer.conn), PIER_CONN_RESET);
		}
	}
	end();
}

static void a_reject_is_told_with_its_data(void)
{
	const void *data;
	size_t len = 0;

	if (begin() && caller_listen(&server, 0)) {
		server.hold = true;
		if (caller_ask(&client, &server, NULL) &&
		    OK(peer_count(&server.requests, 1))) {
			IS(pier_conn_reject(server.peer.conn, "not you", 7),
			   0);
			OK(peer_count(&client.failures, 1));
			IS(pier_conn_error(client.peer.conn), -ECONNREFUSED);
			IS(pier_conn_reject_reason(client.peer.conn), 28);
			IS(pier_conn_private_data(client.peer.conn, &data,
						  &len), 0);
			OK(len == 7 && !memcmp(data, "not you", 7));
			LIKE(pier_conn_error_text(client.peer.conn),
			     "its program has said no");
			LIKE(pier_conn_error_text(client.peer.conn),
			     caller_address(dev));
			peer_drive(20);
			told(&client, 0, 0, 1, 0);
			told(&server, 1, 0, 0, 0);
		}
	}
	end();
}

static void a_request_that_is_destroyed_is_rejected(void)
{
	if (begin() && caller_listen(&server, 0)) {
		server.hold = true;
		if (caller_ask(&client, &server, NULL) &&
		    OK(peer_count(&server.requests, 1))) {
			pier_conn_destroy(server.peer.conn);
			OK(peer_count(&client.failures, 1));
			IS(pier_conn_error(client.peer.conn), -ECONNREFUSED);
			told(&server, 1, 0, 0, 0);
		}
	}
	end();
}

static void only_an_open_request_can_be_answered(void)
{
	if (begin() && caller_listen(&server, 0) &&
	    caller_join(&client, &server, NULL)) {
		IS(pier_conn_accept(server.peer.conn, NULL, 0), -EINVAL);
		IS(pier_conn_reject(server.peer.conn, NULL, 0), -EINVAL);
		IS(pier_conn_accept(client.peer.conn, NULL, 0), -EINVAL);
		IS(pier_conn_reject(client.peer.conn, NULL, 0), -EINVAL);
	}
	end();
}

static void a_full_server_rejects_without_asking_its_program(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg), .max_conns = 1 };

	if (begin_with(&cfg, false) && caller_listen(&server, 0) &&
	    caller_join(&client, &server, NULL)) {
		struct pier_conn *first = client.peer.conn;

		if (caller_ask(&client, &server, NULL)) {
			OK(peer_count(&client.failures, 1));
			IS(pier_conn_error(client.peer.conn), -ECONNREFUSED);
			LIKE(pier_conn_error_text(client.peer.conn),
			     "max_conns");
			told(&server, 1, 1, 0, 0);
		}
		check_flow(first, &server);
		pier_conn_destroy(server.peer.conn);
		server.peer.conn = NULL;
		OK(peer_count(&client.disconnected, 1));
		OK(caller_join(&client, &server, NULL));
	}
	end();
}

static void a_client_gives_up_when_its_time_is_over(void)
{
	if (begin() && caller_listen(&server, 0)) {
		server.hold = true;
		client.timeout_ms = 300;
		if (caller_ask(&client, &server, NULL)) {
			OK(peer_count(&client.failures, 1));
			IS(pier_conn_error(client.peer.conn), -ETIMEDOUT);
			LIKE(pier_conn_error_text(client.peer.conn),
			     "asking: no answer in time");
			IS(server.requests, 1);
			OK(peer_count(&server.failures, 1));
			IS(pier_conn_accept(server.peer.conn, NULL, 0),
			   -ECONNABORTED);
		}
	}
	end();
}

static void a_request_that_nobody_answers_is_rejected_in_the_end(void)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .connect_timeout_ms = 200,
	};

	if (begin_with(&cfg, false) && caller_listen(&server, 0)) {
		server.hold = true;
		if (caller_ask(&client, &server, NULL)) {
			OK(peer_count(&client.failures, 1));
			LIKE(pier_conn_error_text(client.peer.conn),
			     "did not decide in time");
			OK(peer_count(&server.failures, 1));
			IS(pier_conn_error(server.peer.conn), -ETIMEDOUT);
		}
	}
	end();
}

static void where_nobody_listens_the_connection_fails(void)
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
			told(&client, 0, 0, 1, 0);
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
			check_flow(client.peer.conn, &server);
			OK(caller_ask(&client, &server, NULL));
			OK(peer_count(&client.established, 2));
		} else {
			pier_listener_destroy(first);
		}
	}
	end();
}

static void many_requests_are_told_at_the_rate_that_was_set(void)
{
	int i;

	if (begin()) {
		server.rate = 200;
		if (caller_listen(&server, 0)) {
			for (i = 0; i < 20; i++)
				OK(caller_ask(&client, &server, NULL));
			OK(peer_count(&client.established, 20));
			OK(peer_count(&server.established, 20));
			check_flow(client.peer.conn, &server);
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
	if (begin() && caller_listen(&server, 0)) {
		server.hold = true;
		if (caller_ask(&client, &server, NULL) &&
		    OK(peer_count(&server.requests, 1))) {
			IS(pier_ctx_stop(pier_rdma_ctx(client.peer.rdma)),
			   -EINPROGRESS);
			OK(peer_ctx(&client.peer, PIER_CTX_IDLE));
			told(&client, 0, 0, 1, 0);
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
		peer_drive(50);
		OK(caller_ask(&client, &server, NULL));
		OK(peer_conn(client.peer.conn, PIER_CONN_CONNECTED));
	}
	end();
}

static void addresses_and_path_are_told(void)
{
	struct pier_conn_path path, back;

	if (begin() && caller_listen(&server, 0) &&
	    caller_join(&client, &server, NULL)) {
		LIKE(pier_conn_peer_address(client.peer.conn),
		     caller_address(dev));
		LIKE(pier_conn_local_address(client.peer.conn),
		     caller_address(dev));
		LIKE(pier_conn_peer_address(server.peer.conn),
		     caller_address(dev));
		IS(pier_conn_peer_is_pier(client.peer.conn), 1);
		IS(pier_conn_peer_is_pier(server.peer.conn), 1);
		IS(pier_conn_path(client.peer.conn, &path), 0);
		IS(pier_conn_path(server.peer.conn, &back), 0);
		IS(path.local_qpn, back.peer_qpn);
		IS(path.peer_qpn, back.local_qpn);
		IS(path.mtu, back.mtu);
		OK(!memcmp(path.local_gid, back.peer_gid, 16));
		OK(!memcmp(path.peer_gid, back.local_gid, 16));
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
		if (caller_try(&client, &server, NULL) == 0) {
			OK(peer_count(&client.failures, 1));
			OK(pier_conn_error(client.peer.conn));
		}
	}
	end();
}

static void what_is_no_address_is_refused(void)
{
	static const struct {
		const char *peer;
		uint32_t type, port;
	} bad[] = {
		{ "", 0, 1 }, { NULL, 0, 1 }, { "127.0.0.1", 0, 0 },
		{ "127.0.0.1", 0, 65536 }, { "127.0.0.1:0", 0, 1 },
		{ "127.0.0.1:65536", 0, 1 }, { "127.0.0.1:12x", 0, 1 },
		{ "127.0.0.1:", 0, 1 }, { ":1", 0, 1 }, { "[::1", 0, 1 },
		{ "[::1]x", 0, 1 }, { "[]:1", 0, 1 }, { "a b", 0, 1 },
		{ "-x", 0, 1 }, { "::1", PIER_ADDR_IPV4, 1 },
		{ "127.0.0.1", PIER_ADDR_IPV6, 1 },
		{ "127.0.0.1", PIER_ADDR_GID, 1 },
		{ "localhost", PIER_ADDR_GID, 1 }, { "127.0.0.1", 9, 1 },
		{ "fe80::1%no_such_if", 0, 1 }, { "::1::2", 0, 1 },
	};
	struct pier_connect_config cfg = { .size = sizeof(cfg) };
	struct pier_conn *conn = NULL;
	char longest[400];
	size_t i;

	if (begin()) {
		for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
			cfg.peer = bad[i].peer;
			cfg.type = bad[i].type;
			cfg.port = bad[i].port;
			if (!IS(pier_rdma_connect_to(client.peer.rdma, &cfg,
						     &conn), -EINVAL))
				tap_note("%s", bad[i].peer);
		}
		memset(longest, 'a', sizeof(longest) - 1);
		longest[sizeof(longest) - 1] = '\0';
		cfg.peer = longest;
		cfg.type = 0;
		IS(pier_rdma_connect_to(client.peer.rdma, &cfg, &conn),
		   -EINVAL);
		OK(!conn);
	}
	end();
}

static void listening_needs_a_callback_and_a_running_context(void)
{
	struct pier_listen_config cfg = { .size = sizeof(cfg) };
	struct pier_connect_config to = {
		.size = sizeof(to), .peer = "127.0.0.1", .port = 1,
	};
	struct pier_listener *listener = NULL;
	struct pier_conn *conn = NULL;

	if (begin()) {
		cfg.port = 65536;
		IS(pier_rdma_listen(server.peer.rdma, &cfg, &listener),
		   -EINVAL);
		cfg.port = 0;
		cfg.address = "no address";
		IS(pier_rdma_listen(server.peer.rdma, &cfg, &listener),
		   -EINVAL);
		cfg.address = "192.0.2.77";
		IS(pier_rdma_listen(server.peer.rdma, &cfg, &listener),
		   -EADDRNOTAVAIL);
		cfg.address = NULL;
		IS(pier_rdma_set_conn_callbacks(server.peer.rdma, NULL, NULL,
						NULL, NULL), 0);
		IS(pier_rdma_listen(server.peer.rdma, &cfg, &listener),
		   -EINVAL);
		IS(pier_ctx_stop_wait(pier_rdma_ctx(server.peer.rdma), 5000),
		   0);
		IS(pier_rdma_listen(server.peer.rdma, &cfg, &listener),
		   -ESHUTDOWN);
		IS(pier_rdma_connect_to(server.peer.rdma, &to, &conn),
		   -ESHUTDOWN);
		OK(!listener && !conn);
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
			check_flow(client.peer.conn, &server);
		}
	}
	end();
}

static void memory_is_read_by_a_descriptor_in_private_data(void)
{
	struct pier_buf *src, *dst;
	const void *desc;
	int status = -EINPROGRESS;
	size_t len;

	if (begin() && caller_listen(&server, 0) &&
	    IS(pier_mmap_export(server.peer.mmap, &desc, &len), 0)) {
		memcpy(server.answer, desc, len);
		server.answer_len = len;
		peer_fill(&server.peer, 5);
		if (caller_join(&client, &server, NULL) &&
		    IS(pier_conn_private_data(client.peer.conn, &desc, &len),
		       0) &&
		    IS(pier_mmap_create_from_export(desc, len,
						    &client.peer.remote),
		       0)) {
			src = peer_far_data(&client.peer, 0, LEN);
			dst = peer_room(&client.peer, 0, LEN);
			IS(pier_rdma_read(client.peer.conn, src, dst,
					  peer_done, &status), 0);
			IS(peer_await(&status), 0);
			OK(peer_holds(&client.peer, 0, LEN, 5, 0));
			pier_buf_put(src);
			pier_buf_put(dst);
		}
	}
	end();
}

static void connections_by_descriptor_have_the_same_callbacks(void)
{
	if (begin() && peer_join(&client.peer, &server.peer)) {
		told(&client, 0, 1, 0, 0);
		told(&server, 0, 1, 0, 0);
		IS(pier_conn_disconnect(client.peer.conn), 0);
		OK(peer_count(&client.disconnected, 1));
		OK(peer_count(&server.disconnected, 1));
		IS(pier_conn_reject_reason(client.peer.conn), 0);
		IS_STR(pier_conn_peer_address(client.peer.conn), "");
		IS(pier_conn_peer_is_pier(client.peer.conn), 1);
	}
	end();
}

int main(void)
{
	int err = pier_dev_open(NULL, &dev);

	if (err)
		return tap_skip_all(pier_last_error());
	if (!caller_address(dev))
		return tap_skip_all("the device has no IP address");
	TEST(both_are_told_once_that_they_are_connected);
	TEST(two_contexts_on_one_engine_connect);
	TEST(a_context_connects_to_itself);
	TEST(either_side_may_disconnect_and_again);
	TEST(both_may_disconnect_at_once);
	TEST(what_is_in_flight_is_drained_first);
	TEST(private_data_of_any_length_arrives);
	TEST(too_much_private_data_is_refused);
	TEST(raw_data_is_the_whole_field);
	TEST(a_reject_is_told_with_its_data);
	TEST(a_request_that_is_destroyed_is_rejected);
	TEST(only_an_open_request_can_be_answered);
	TEST(a_full_server_rejects_without_asking_its_program);
	TEST(a_client_gives_up_when_its_time_is_over);
	TEST(a_request_that_nobody_answers_is_rejected_in_the_end);
	TEST(where_nobody_listens_the_connection_fails);
	TEST(a_port_is_had_by_one_listener);
	TEST(a_context_has_several_listeners);
	TEST(many_requests_are_told_at_the_rate_that_was_set);
	TEST(a_stopping_server_disconnects_its_clients);
	TEST(a_context_stops_with_an_attempt_under_way);
	TEST(a_context_stops_with_a_request_open);
	TEST(an_attempt_may_be_disconnected_or_destroyed_at_any_time);
	TEST(addresses_and_path_are_told);
	TEST(the_source_address_is_chosen);
	TEST(what_is_no_address_is_refused);
	TEST(listening_needs_a_callback_and_a_running_context);
	TEST(a_listener_has_one_address_if_asked_to);
	TEST(connections_live_on_without_their_listener);
	TEST(memory_is_read_by_a_descriptor_in_private_data);
	TEST(connections_by_descriptor_have_the_same_callbacks);
	pier_dev_close(dev);
	return tap_done();
}
