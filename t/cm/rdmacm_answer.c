/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/roce.h"
#include "t/lib/caller.h"
#include "t/lib/tap.h"

/* Requests by address: what they carry, who answers them, and how. */

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
			caller_flow(client.peer.conn, &server);
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
			IS(pier_conn_accept(server.peer.conn, NULL, 1),
			   -EINVAL);
			IS(pier_conn_reject(server.peer.conn, NULL, 1),
			   -EINVAL);
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
			caller_flow(client.peer.conn, &server);
			caller_flow(server.peer.conn, &client);
			IS(pier_conn_disconnect(client.peer.conn), 0);
			OK(peer_count(&client.disconnected, 1));
			OK(peer_count(&server.disconnected, 1));
			IS(pier_conn_state(server.peer.conn), PIER_CONN_RESET);
		}
	}
	end();
}

static void a_reject_is_reported_with_its_data(void)
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
			IS(pier_conn_reject_reason(client.peer.conn),
			   ROCE_REJ_CONSUMER);
			IS(pier_conn_private_data(client.peer.conn, &data,
						  &len), 0);
			OK(len == 7 && !memcmp(data, "not you", 7));
			LIKE(pier_conn_error_text(client.peer.conn),
			     "its program has rejected the request");
			LIKE(pier_conn_error_text(client.peer.conn),
			     caller_address(dev));
			peer_drive_quietly(20);
			caller_counts(&client, 0, 0, 1, 0);
			caller_counts(&server, 1, 0, 0, 0);
		}
	}
	end();
}

/* All of the message is the program's. */
static void a_raw_reject_holds_148_bytes(void)
{
	static const uint8_t data[149] = { [147] = 5 };
	const void *got;
	size_t len = 0;

	if (begin() && caller_listen(&server, 0)) {
		server.hold = true;
		client.raw = true;
		if (caller_ask(&client, &server, NULL) &&
		    OK(peer_count(&server.requests, 1))) {
			IS(pier_conn_reject(server.peer.conn, data, 149),
			   -EMSGSIZE);
			IS(pier_conn_reject(server.peer.conn, data, 148), 0);
			OK(peer_count(&client.failures, 1));
			IS(pier_conn_reject_reason(client.peer.conn),
			   ROCE_REJ_CONSUMER);
			IS(pier_conn_private_data(client.peer.conn, &got,
						  &len), 0);
			if (IS(len, 148))
				OK(!memcmp(got, data, 148));
		}
	}
	end();
}

/* Whether the answer or the engine finds it first: it is the same error. */
static void answers_to_a_client_that_gave_up_fail_for_that(void)
{
	int turns, err;

	for (turns = 0; turns < 3 && begin() && caller_listen(&server, 0);
	     turns++) {
		server.hold = true;
		if (!caller_ask(&client, &server, NULL) ||
		    !OK(peer_count(&server.requests, 1)))
			break;
		pier_conn_destroy(client.peer.conn);
		client.peer.conn = NULL;
		pier_pe_progress(client.peer.pe, 0);
		if (turns == 1)
			pier_pe_progress(server.peer.pe, 0);
		if (turns == 2)
			OK(peer_count(&server.failures, 1));
		err = pier_conn_accept(server.peer.conn, NULL, 0);
		OK(err == -ECONNABORTED || (!err && turns < 2));
		OK(peer_count(&server.failures, 1));
		IS(pier_conn_accept(server.peer.conn, NULL, 0),
		   err ? -ECONNABORTED : -EINVAL);
		IS(pier_conn_reject(server.peer.conn, NULL, 0),
		   err ? -ECONNABORTED : -EINVAL);
		if (err)
			IS(pier_conn_error(server.peer.conn), -ECONNABORTED);
		caller_counts(&server, 1, 0, 1, 0);
		end();
	}
	IS(turns, 3);
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
			caller_counts(&server, 1, 0, 0, 0);
		}
	}
	end();
}

static void ends_request(bool stop)
{
	struct pier_conn *request = server.peer.conn;

	if (stop)
		pier_ctx_stop(pier_rdma_ctx(server.peer.rdma));
	else
		IS(pier_conn_disconnect(request), 0);
	IS(pier_conn_accept(request, NULL, 0), -ECONNABORTED);
	LIKE(pier_last_error(), stop ? "ended: the context stops" :
				       "ended: this program has disconnected");
	if (!stop) {
		OK(peer_count(&server.failures, 1));
		IS(pier_conn_reject(request, NULL, 0), -ECONNABORTED);
		LIKE(pier_last_error(), "this program has disconnected it");
	}
	OK(peer_count(&client.failures, 1));
}

static void who_ended_a_request_is_reported_to_a_late_answer(void)
{
	int stop;

	for (stop = 0; stop < 2; stop++) {
		if (begin() && caller_listen(&server, 0)) {
			server.hold = true;
			if (caller_ask(&client, &server, NULL) &&
			    OK(peer_count(&server.requests, 1)))
				ends_request(stop);
		}
		end();
	}
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

static void a_client_gives_up_when_its_time_is_over(void)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .connect_timeout_ms = 1500,
	};

	if (begin_with(&cfg) && caller_listen(&server, 0)) {
		server.hold = true;
		client.timeout_ms = 300;
		if (caller_ask(&client, &server, NULL)) {
			OK(peer_count(&client.failures, 1));
			IS(pier_conn_error(client.peer.conn), -ETIMEDOUT);
			LIKE(pier_conn_error_text(client.peer.conn),
			     "connection request: no answer in time");
			IS(server.requests, 1);
			OK(peer_count(&server.failures, 1));
			IS(pier_conn_accept(server.peer.conn, NULL, 0),
			   -ECONNABORTED);
		}
	}
	end();
}

static void a_request_that_is_not_answered_is_rejected_in_the_end(void)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .connect_timeout_ms = 200,
	};

	if (begin_with(&cfg) && caller_listen(&server, 0)) {
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

/* One is reported in a second, which is too late for the others. */
static void a_request_that_was_never_reported_is_no_failure(void)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .connect_timeout_ms = 300,
	};
	int i;

	if (begin_with(&cfg)) {
		server.rate = 1;
		if (caller_listen(&server, 0)) {
			for (i = 0; i < 3; i++)
				OK(caller_ask(&client, &server, NULL));
			OK(peer_count(&client.failures, 2));
			OK(peer_count(&client.established, 1));
			caller_counts(&server, 1, 1, 0, 0);
		}
	}
	end();
}

/* Its address is that of the GID.  Returns its port. */
static uint16_t peer_port(const struct pier_conn *conn, const uint8_t gid[16])
{
	struct sockaddr_storage peer = { 0 };
	struct sockaddr_in to;

	IS(pier_conn_peer_sockaddr(conn, &peer), 0);
	memcpy(&to, &peer, sizeof(to));
	IS(to.sin_family, AF_INET);
	OK(!memcmp(&to.sin_addr, gid + 12, 4));
	return ntohs(to.sin_port);
}

static void addresses_and_path_are_reported(void)
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
		IS(peer_port(client.peer.conn, path.peer_gid),
		   pier_listener_port(server.listener));
		OK(peer_port(server.peer.conn, back.peer_gid));
		IS(pier_conn_transport(client.peer.conn),
		   PIER_TRANSPORT_ROCE_V2);
		IS(pier_conn_transport(server.peer.conn),
		   PIER_TRANSPORT_ROCE_V2);
		IS_STR(pier_transport_name(PIER_TRANSPORT_ROCE_V2), "RoCE v2");
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
		cfg.peer = "127.0.0.1";
		cfg.source = "192.0.2.77";
		IS(pier_rdma_connect_to(client.peer.rdma, &cfg, &conn),
		   -EADDRNOTAVAIL);
		LIKE(pier_last_error(), "\"192.0.2.77\": it is not an address");
		cfg.source = NULL;
		cfg.timeout_ms = PIER_ZERO;
		IS(pier_rdma_connect_to(client.peer.rdma, &cfg, &conn),
		   -EINVAL);
		LIKE(pier_last_error(), "timeout_ms PIER_ZERO: 1 to ");
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
		LIKE(pier_last_error(), "port 65536: 1 to 65535");
		cfg.port = 0;
		cfg.backlog = 65536;
		IS(pier_rdma_listen(server.peer.rdma, &cfg, &listener),
		   -EINVAL);
		LIKE(pier_last_error(), "backlog 65536: 1 to 65535");
		cfg.backlog = 0;
		cfg.address = "no address";
		IS(pier_rdma_listen(server.peer.rdma, &cfg, &listener),
		   -EINVAL);
		cfg.address = "192.0.2.77";
		IS(pier_rdma_listen(server.peer.rdma, &cfg, &listener),
		   -EADDRNOTAVAIL);
		LIKE(pier_last_error(), "cannot listen on 192.0.2.77");
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
		    IS(pier_mmap_create_from_export(dev, desc, len,
						    &client.peer.remote),
		       0)) {
			src = peer_far_data(&client.peer, 0, LEN);
			dst = peer_tail(&client.peer, 0, LEN);
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

int main(void)
{
	int err = pier_dev_open(NULL, &dev);

	if (err)
		return tap_skip_all(pier_last_error());
	if (!caller_address(dev))
		return tap_skip_all("the device has no IP address");
	TEST(private_data_of_any_length_arrives);
	TEST(too_much_private_data_is_refused);
	TEST(raw_data_is_the_whole_field);
	TEST(a_reject_is_reported_with_its_data);
	TEST(a_raw_reject_holds_148_bytes);
	TEST(answers_to_a_client_that_gave_up_fail_for_that);
	TEST(a_request_that_is_destroyed_is_rejected);
	TEST(who_ended_a_request_is_reported_to_a_late_answer);
	TEST(only_an_open_request_can_be_answered);
	TEST(a_client_gives_up_when_its_time_is_over);
	TEST(a_request_that_is_not_answered_is_rejected_in_the_end);
	TEST(a_request_that_was_never_reported_is_no_failure);
	TEST(addresses_and_path_are_reported);
	TEST(what_is_no_address_is_refused);
	TEST(listening_needs_a_callback_and_a_running_context);
	TEST(memory_is_read_by_a_descriptor_in_private_data);
	pier_dev_close(dev);
	return tap_done();
}
