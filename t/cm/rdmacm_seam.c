/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "cm/rdmacm/private_data.h"
#include "cm/rdmacm/rdmacm.h"
#include "core/roce.h"
#include "dev/dev_impl.h"
#include "t/lib/caller.h"
#include "t/lib/fakecm.h"
#include "t/lib/tap.h"

/*
 * The connection layer above a connection manager of the test's own: what is
 * lost, late, refused or malformed there.
 */

#define LEN 4096
#define BURST 12		/* requests at once */

static struct pier_dev *dev;
static const struct pier__fabric *real;
static struct pier__fabric with;
static struct pier__fabric_dev counted;
static int regions;		/* registered and not given back */
static struct caller client, server;

static int reg(struct pier__fdev *fdev, void *addr, size_t len, int access,
	       struct pier__mr **ret)
{
	int err = real->dev->reg(fdev, addr, len, access, ret);

	regions += !err;
	return err;
}

static void dereg(struct pier__mr *mr)
{
	regions--;
	real->dev->dereg(mr);
}

static bool begin(uint32_t timeout_ms)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .connect_timeout_ms = timeout_ms,
	};

	fakecm_lose_rtu = fakecm_lose_req = fakecm_no_way = false;
	fakecm_fail = fakecm_stale = 0;
	fakecm_data = NULL;
	return caller_open(&client, dev, NULL, &cfg, LEN) &&
	       caller_open(&server, dev, NULL, &cfg, LEN) &&
	       caller_listen(&server, 0);
}

/* Nothing is left of what was begun. */
static void end(void)
{
	caller_close(&client);
	caller_close(&server);
	IS(fakecm_ids, 0);
	IS(fakecm_listeners, 0);
}

static void a_lost_rtu_is_healed_by_the_hello(void)
{
	if (begin(0)) {
		fakecm_lose_rtu = true;
		OK(caller_join(&client, &server, NULL));
	}
	end();
}

static void a_lost_rtu_is_healed_behind_long_private_data(void)
{
	static const uint8_t data[4096] = { 1, 2, 3 };

	if (begin(0)) {
		fakecm_lose_rtu = true;
		client.ask = data;
		client.ask_len = sizeof(data);
		server.answer_len = 4000;
		OK(caller_join(&client, &server, NULL));
	}
	end();
}

/* The client alone goes on until @status is set; bounded by t/run. */
static void client_until(const int *status, int not_yet)
{
	while (*status == not_yet)
		pier_pe_wait(client.peer.pe, 1);
}

static void what_was_read_goes_where_data_comes_before_the_hello(void)
{
	int sent = -EINPROGRESS, got = -EINPROGRESS, before;

	if (begin(0)) {
		server.answer_len = 4000;
		before = regions;
		IS(pier_rdma_receive(server.peer.rdma, NULL, peer_done, &got),
		   0);
		if (caller_ask(&client, &server, NULL) &&
		    OK(peer_count(&server.requests, 1))) {
			client_until(&client.established, 0);
			IS(pier_rdma_send(client.peer.conn, NULL, peer_done,
					  &sent), 0);
			client_until(&sent, -EINPROGRESS);
			IS(sent, 0);
			IS(peer_await(&got), 0);
			OK(peer_count(&server.established, 1));
			IS(regions, before);
		}
	}
	end();
}

static void a_lost_rtu_and_a_dead_client_end_in_time(void)
{
	if (begin(300)) {
		fakecm_lose_rtu = true;
		client.raw = true;	/* which sends no hello */
		if (caller_ask(&client, &server, NULL)) {
			OK(peer_count(&server.failures, 1));
			IS(pier_conn_error(server.peer.conn), -PIER_ENOHELLO);
			LIKE(pier_conn_error_text(server.peer.conn),
			     "handshake: the peer never sent RTU");
		}
	}
	end();
}

static void no_answer_fails_in_time(void)
{
	if (begin(200)) {
		fakecm_lose_req = true;
		if (caller_ask(&client, &server, NULL)) {
			OK(peer_count(&client.failures, 1));
			IS(pier_conn_error(client.peer.conn), -ETIMEDOUT);
			fakecm_lose_req = false;
			OK(caller_join(&client, &server, NULL));
		}
	}
	end();
}

static void no_way_fails_at_once(void)
{
	if (begin(0)) {
		fakecm_no_way = true;
		if (caller_ask(&client, &server, NULL)) {
			OK(peer_count(&client.failures, 1));
			IS(pier_conn_error(client.peer.conn), -EHOSTUNREACH);
			LIKE(pier_conn_error_text(client.peer.conn),
			     "address resolution");
		}
	}
	end();
}

/* Every call of the seam fails once; every time all is given back. */
/* Whatever has failed there, the error message is complete. */
static void drive_to_an_end(void)
{
	long long limit = limit_from_now();
	const char *text;

	server.may_fail = true;
	while (!client.failures && !client.established && peer_step(limit))
		;
	if (client.established)
		return;
	text = pier_conn_error_text(client.peer.conn);
	LIKE(text, "cannot connect to ");
	LIKE(text, " port ");
	LIKE(text, ", GID ");
	LIKE(text, ", MTU ");
}

static void each_call_fails_with(int error)
{
	int n, left = 1;

	fakecm_error = error;
	for (n = 1; left && n < 50; n++) {
		if (begin(2000)) {
			fakecm_fail = n;
			if (caller_try(&client, &server, NULL) == 0)
				drive_to_an_end();
			left = fakecm_fail == 0;
			fakecm_fail = 0;
			OK(caller_join(&client, &server, NULL));
		}
		end();
	}
	OK(n > 5 && n < 50);
}

static void a_seam_that_fails_anywhere_leaves_nothing_behind(void)
{
	each_call_fails_with(-EIO);
	each_call_fails_with(-ENODEV);
}

/* The server receives @field as the request's private data. */
static void with_field(const uint8_t *field, const char *want)
{
	if (begin(2000)) {
		fakecm_data = field;
		if (caller_ask(&client, &server, NULL)) {
			OK(peer_count(&client.failures, 1));
			IS(server.requests, 0);
			LIKE(pier_conn_error_text(client.peer.conn), want);
		}
	}
	end();
}

static void a_malformed_request_is_rejected_and_not_reported(void)
{
	uint8_t field[56] = "pier\1";

	with_field(field, "malformed");
	field[4] = 9;
	with_field(field, "another version");
}

static void a_malformed_answer_is_refused(void)
{
	uint8_t field[196] = "pier\1";

	if (begin(2000)) {
		server.hold = true;
		if (caller_ask(&client, &server, NULL) &&
		    OK(peer_count(&server.requests, 1))) {
			fakecm_data = field;
			IS(pier_conn_accept(server.peer.conn, NULL, 0), 0);
			OK(peer_count(&client.failures, 1));
			IS(pier_conn_error(client.peer.conn), -PIER_EDESC);
			OK(peer_count(&server.failures, 1));
		}
	}
	end();
}

static void names_are_looked_up_and_each_address_tried(void)
{
	if (begin(5000)) {
		OK(caller_join(&client, &server, "localhost"));
		LIKE(pier_conn_peer_address(client.peer.conn), " port ");
		if (caller_ask(&client, &server, "no-such-host.invalid")) {
			OK(peer_count(&client.failures, 1));
			LIKE(pier_conn_error_text(client.peer.conn),
			     "name resolution");
			LIKE(pier_conn_error_text(client.peer.conn),
			     "no-such-host.invalid");
		}
	}
	end();
}

/* As of a connection manager that has no better reason. */
static void a_reject_without_a_word_is_one_of_that_address(void)
{
	unsigned int count;

	if (begin(5000)) {
		server.hold = client.raw = true;
		if (caller_ask(&client, &server, "localhost") &&
		    OK(peer_count(&server.requests, 1))) {
			count = client.peer.conn->cm->attempt->addrs.count;
			IS(pier_conn_reject(server.peer.conn, NULL, 0), 0);
			OK(count < 2 || peer_count(&server.requests, 2));
			if (count > 1)
				IS(pier_conn_reject(server.peer.conn, "no", 2),
				   0);
			OK(peer_count(&client.failures, 1));
			IS(server.requests, count > 1 ? 2 : 1);
			IS(pier_conn_error(client.peer.conn), -ECONNREFUSED);
		}
	}
	end();
}

/* Its REJ has @field, after which the error message has @want. */
static void rejected_with(const uint8_t *field, uint16_t reason,
			  const char *want)
{
	if (begin(5000)) {
		server.hold = true;
		if (caller_ask(&client, &server, NULL) &&
		    OK(peer_count(&server.requests, 1))) {
			fakecm_data = field;
			IS(pier_conn_reject(server.peer.conn, NULL, 0), 0);
			OK(peer_count(&client.failures, 1));
			IS(pier_conn_reject_reason(client.peer.conn), reason);
			LIKE(pier_conn_error_text(client.peer.conn), want);
		}
	}
	end();
}

/* As a device sends it, then with what is no address or has no such length. */
static void the_address_in_a_reject_is_shown_if_it_is_one(void)
{
	static const char none[] = "does not have the requested address (r";
	uint8_t field[PIER__CM_REJ_DATA] = "pier\1\10\0\20";
	uint8_t *gid = field + PIER__CM_FRAME_REJ;

	memcpy(gid + 10, (uint8_t[]){ 255, 255, 10, 9, 0, 1 }, 6);
	rejected_with(field, ROCE_REJ_GID, ", but listens at 10.9.0.1 (");
	memset(gid, 0xfd, 16);
	rejected_with(field, ROCE_REJ_GID, "listens at fdfd:fdfd:");
	memset(gid, 0xff, 16);
	rejected_with(field, ROCE_REJ_GID, none);
	memset(gid, 0, 16);
	rejected_with(field, ROCE_REJ_GID, none);
	memset(gid, 0xfd, 16);
	field[7] = 15;
	rejected_with(field, ROCE_REJ_GID, none);
	field[7] = 17;
	rejected_with(field, ROCE_REJ_GID, none);
	field[6] = 0x80;
	rejected_with(field, ROCE_REJ_CONSUMER, "has rejected the request");
}

static void a_stale_queue_pair_number_is_replaced(void)
{
	if (begin(5000)) {
		fakecm_stale = 4;
		OK(caller_join(&client, &server, NULL));
		IS(fakecm_stale, 0);
	}
	end();
}

static void a_peer_to_which_all_is_stale_is_given_up(void)
{
	if (begin(5000)) {
		fakecm_stale = 1000;
		if (caller_ask(&client, &server, NULL)) {
			OK(peer_count(&client.failures, 1));
			IS(pier_conn_error(client.peer.conn), -ECONNREFUSED);
			LIKE(pier_conn_error_text(client.peer.conn),
			     "reason 10");
			IS(server.requests, 0);
		}
	}
	end();
}

/* Whether its REJ is found by an event or by a query. */
static void the_end_of_a_client_ends_its_open_request(void)
{
	if (begin(5000)) {
		server.hold = true;
		if (caller_ask(&client, &server, NULL) &&
		    OK(peer_count(&server.requests, 1))) {
			pier_conn_destroy(client.peer.conn);
			client.peer.conn = NULL;
			OK(peer_count(&server.failures, 1));
			IS(pier_conn_error(server.peer.conn), -ECONNABORTED);
			LIKE(pier_conn_error_text(server.peer.conn),
			     "connection request: the client has given up");
		}
	}
	end();
}

static void a_context_stops_while_a_name_is_looked_up(void)
{
	if (begin(0)) {
		OK(caller_ask(&client, &server, "no-such-host.invalid"));
		IS(pier_ctx_stop_wait(pier_rdma_ctx(client.peer.rdma), 5000),
		   0);
		IS(client.failures, 1);
	}
	end();
}

static void requests_not_reported_go_with_their_listener(void)
{
	if (begin(0) && caller_ask(&client, &server, NULL)) {
		pier_pe_wait(client.peer.pe, 20);
		pier_listener_destroy(server.listener);
		server.listener = NULL;
		OK(peer_count(&client.failures, 1));
		IS(server.requests, 0);
	}
	end();
}

/* All REQs are there before the server's first look. */
static void a_burst_of_requests_gets_in_through_a_small_backlog(void)
{
	int i;

	if (begin(0)) {
		server.backlog = 1;
		caller_listen(&server, 0);
		for (i = 0; i < BURST; i++)
			caller_ask(&client, &server, NULL);
		for (i = 0; i < BURST; i++)
			pier_pe_progress(client.peer.pe, 0);
		IS(server.requests, 0);
		OK(peer_count(&client.established, BURST));
		OK(peer_count(&server.established, BURST));
		IS(client.failures, 0);
	}
	end();
}

/* The error of a device whose CM is another one. */
static void iwarp_is_refused_by_its_name(void)
{
	struct pier_listen_config cfg = { .size = sizeof(cfg) };
	struct pier_listener *listener;
	struct pier_conn *conn;
	const void *desc;
	size_t len;

	if (caller_open(&client, dev, NULL, NULL, LEN)) {
		dev->info.port.limits.by_address = true;
		IS(pier_rdma_listen(client.peer.rdma, &cfg, &listener),
		   -EOPNOTSUPP);
		LIKE(pier_last_error(), "iWARP");
		IS(pier_rdma_export(client.peer.rdma, &desc, &len, &conn),
		   -EOPNOTSUPP);
		LIKE(pier_last_error(), "iWARP");
		dev->info.port.limits.by_address = false;
	}
	caller_close(&client);
}

static void a_device_without_it_says_so(void)
{
	struct pier_listen_config cfg = { .size = sizeof(cfg) };
	struct pier_listener *listener = NULL;

	if (begin(0)) {
		caller_close(&server);
		with.cm = NULL;
		if (caller_open(&server, dev, NULL, NULL, LEN))
			IS(pier_rdma_listen(server.peer.rdma, &cfg, &listener),
			   -EOPNOTSUPP);
		with.cm = &fakecm;
		OK(!listener);
	}
	end();
}

int main(void)
{
	int err = pier_dev_open("soft_lo", &dev);

	if (err)
		return tap_skip_all(pier_last_error());
	real = dev->fabric;
	with = *real;
	with.cm = &fakecm;
	counted = *real->dev;
	counted.reg = reg;
	counted.dereg = dereg;
	with.dev = &counted;
	dev->fabric = &with;
	TEST(a_lost_rtu_is_healed_by_the_hello);
	TEST(a_lost_rtu_is_healed_behind_long_private_data);
	TEST(what_was_read_goes_where_data_comes_before_the_hello);
	TEST(a_lost_rtu_and_a_dead_client_end_in_time);
	TEST(no_answer_fails_in_time);
	TEST(no_way_fails_at_once);
	TEST(a_seam_that_fails_anywhere_leaves_nothing_behind);
	TEST(a_malformed_request_is_rejected_and_not_reported);
	TEST(a_malformed_answer_is_refused);
	TEST(names_are_looked_up_and_each_address_tried);
	TEST(a_reject_without_a_word_is_one_of_that_address);
	TEST(the_address_in_a_reject_is_shown_if_it_is_one);
	TEST(a_stale_queue_pair_number_is_replaced);
	TEST(a_peer_to_which_all_is_stale_is_given_up);
	TEST(the_end_of_a_client_ends_its_open_request);
	TEST(a_context_stops_while_a_name_is_looked_up);
	TEST(requests_not_reported_go_with_their_listener);
	TEST(a_burst_of_requests_gets_in_through_a_small_backlog);
	TEST(iwarp_is_refused_by_its_name);
	TEST(a_device_without_it_says_so);
	dev->fabric = real;
	pier_dev_close(dev);
	return tap_done();
}
