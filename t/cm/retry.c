/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "cm/rdmacm/rdmacm.h"
#include "core/clock.h"
#include "t/lib/caller.h"
#include "t/lib/tap.h"

/* Attempts to connect that are repeated. */

#define LEN 4096
#define LONG_MS 600000

static struct pier_dev *dev;
static struct caller client, server;
static uint16_t port;		/* one that no process listens on */

static bool begin(const struct pier_rdma_config *cfg)
{
	if (!caller_pair(&client, &server, dev, cfg, LEN) ||
	    !caller_listen(&server, 0))
		return false;
	port = pier_listener_port(server.listener);
	return true;
}

static void end(void)
{
	caller_unpair(&client, &server);
}

static void stop_listening(void)
{
	pier_listener_destroy(server.listener);
	server.listener = NULL;
}

static int connect_to(uint32_t retry_ms)
{
	struct pier_connect_config cfg = {
		.size = sizeof(cfg),
		.peer = caller_address(dev),
		.port = port,
		.retry_ms = retry_ms,
		.retry_pause_ms = 2,
		.retry_pause_max_ms = 8,
	};

	return pier_rdma_connect_to(client.peer.rdma, &cfg, &client.peer.conn);
}

/* Until so many attempts of the client have failed. */
static bool failed(unsigned int attempts)
{
	const struct pier__attempt *attempt = client.peer.conn->cm->attempt;
	long long limit = limit_from_now();

	while (attempt->retry.attempts < attempts && peer_step(limit))
		;
	return OK(attempt->retry.attempts >= attempts);
}

static void a_server_that_starts_later_is_reached(void)
{
	if (begin(NULL)) {
		stop_listening();
		IS(connect_to(LONG_MS), 0);
		OK(failed(3));
		IS(pier_conn_state(client.peer.conn), PIER_CONN_INIT);
		caller_counts(&client, 0, 0, 0, 0);
		if (caller_listen(&server, port)) {
			OK(peer_count(&client.established, 1));
			OK(peer_count(&server.established, 1));
			caller_flow(client.peer.conn, &server);
			caller_counts(&client, 0, 1, 0, 0);
		}
	}
	end();
}

static void a_server_that_is_full_is_reached_when_it_is_not(void)
{
	const struct pier_rdma_config cfg = { .size = sizeof(cfg),
					      .max_conns = 1 };
	struct pier_conn *first;

	if (begin(&cfg) && caller_join(&client, &server, NULL)) {
		first = client.peer.conn;
		IS(connect_to(LONG_MS), 0);
		OK(failed(2));
		pier_conn_destroy(first);
		OK(peer_count(&client.established, 2));
	}
	end();
}

static void without_retry_the_first_failure_is_reported(void)
{
	if (begin(NULL)) {
		stop_listening();
		IS(connect_to(0), 0);
		OK(peer_count(&client.failures, 1));
		IS(pier_conn_error(client.peer.conn), -ECONNREFUSED);
		OK(!strstr(pier_conn_error_text(client.peer.conn), "attempt"));
	}
	end();
}

static void the_last_failure_is_reported_when_the_time_is_over(void)
{
	if (begin(NULL)) {
		stop_listening();
		IS(connect_to(100), 0);
		OK(peer_count(&client.failures, 1));
		IS(pier_conn_error(client.peer.conn), -ECONNREFUSED);
		LIKE(pier_conn_error_text(client.peer.conn),
		     "no program listens on that port");
		LIKE(pier_conn_error_text(client.peer.conn), "; attempt ");
		LIKE(pier_conn_error_text(client.peer.conn),
		     ", none later than 100 ms");
		caller_counts(&client, 0, 0, 1, 0);
	}
	end();
}

static void a_program_that_rejects_is_not_asked_again(void)
{
	if (begin(NULL)) {
		server.hold = true;
		IS(connect_to(LONG_MS), 0);
		OK(peer_count(&server.requests, 1));
		IS(pier_conn_reject(server.peer.conn, NULL, 0), 0);
		OK(peer_count(&client.failures, 1));
		LIKE(pier_conn_error_text(client.peer.conn),
		     "its program has rejected the request");
		IS(server.requests, 1);
	}
	end();
}

static void a_client_that_pauses_can_be_ended(void)
{
	if (begin(NULL)) {
		stop_listening();
		IS(connect_to(LONG_MS), 0);
		OK(failed(1));
		IS(pier_conn_abort(client.peer.conn), 0);
		OK(peer_count(&client.failures, 1));
		IS(connect_to(LONG_MS), 0);
		OK(failed(1));
		pier_conn_destroy(client.peer.conn);
		client.peer.conn = NULL;
		IS(connect_to(LONG_MS), 0);
		OK(failed(1));
		IS(pier_ctx_stop(pier_rdma_ctx(client.peer.rdma)),
		   -EINPROGRESS);
		OK(peer_ctx(&client.peer, PIER_CTX_IDLE));
	}
	end();
}

/* In a time of the test's own. */
static void pauses_are_doubled_and_shorter_by_chance(void)
{
	static const uint64_t most[] = { 100, 200, 400, 500, 500 };
	struct pier_connect_config cfg = {
		.retry_ms = 10000, .retry_pause_max_ms = 500,
		.timeout_ms = 700,
	};
	struct pier__retry retry;
	uint64_t now = 5 * PIER__MS, odd = 0;

	IS(pier__retry_settle(&cfg), 0);
	pier__retry_init(&retry, &cfg, now);
	for (int i = 0; i < 5; i++) {
		OK(pier__retry_pause(&retry, now));
		OK(retry.at - now <= most[i] * PIER__MS);
		OK(retry.at - now >= most[i] / 2 * PIER__MS);
		odd |= (retry.at - now) % PIER__MS;
		now = retry.at;
		IS(pier__retry_resume(&retry, now), now + 700 * PIER__MS);
	}
	OK(odd != 0);
	now = 9999 * PIER__MS;
	OK(!pier__retry_pause(&retry, now));
	IS(retry.at, 0);
	IS(retry.attempts, 6);
}

static void pauses_are_checked(void)
{
	struct pier_connect_config cfg = { .retry_ms = 1 };

	IS(pier__retry_settle(&cfg), 0);
	IS(cfg.retry_pause_ms, 100);
	IS(cfg.retry_pause_max_ms, 5000);
	cfg = (struct pier_connect_config){ .retry_pause_ms = 6000 };
	IS(pier__retry_settle(&cfg), 0);
	IS(cfg.retry_pause_max_ms, 6000);
	cfg = (struct pier_connect_config){ .retry_pause_ms = 200,
					    .retry_pause_max_ms = 100 };
	IS(pier__retry_settle(&cfg), -EINVAL);
	LIKE(pier_last_error(), "retry_pause_max_ms 100: 200 to");
	cfg = (struct pier_connect_config){ .retry_ms = 1u << 31 };
	IS(pier__retry_settle(&cfg), -EINVAL);
	LIKE(pier_last_error(), "retry_ms");
}

int main(void)
{
	TEST(pauses_are_doubled_and_shorter_by_chance);
	TEST(pauses_are_checked);
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	if (!caller_address(dev))
		return tap_skip_all("the device has no IP address");
	TEST(a_server_that_starts_later_is_reached);
	TEST(a_server_that_is_full_is_reached_when_it_is_not);
	TEST(without_retry_the_first_failure_is_reported);
	TEST(the_last_failure_is_reported_when_the_time_is_over);
	TEST(a_program_that_rejects_is_not_asked_again);
	TEST(a_client_that_pauses_can_be_ended);
	pier_dev_close(dev);
	return tap_done();
}
