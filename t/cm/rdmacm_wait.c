/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "cm/rdmacm/rdmacm.h"
#include "core/clock.h"
#include "t/lib/caller.h"
#include "t/lib/tap.h"

/* Requests that wait because more arrive than may be reported. */

#define LEN 4096
#define BACKLOG 2
#define CLIENTS 5

static struct pier_dev *dev;
static struct caller client, server;

/* A server that reports no request before hold_on() is over. */
static bool begin(uint32_t timeout_ms)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .max_conns = 2,
		.connect_timeout_ms = timeout_ms,
	};

	if (!caller_open(&client, dev, NULL, NULL, LEN) ||
	    !caller_open(&server, dev, NULL, &cfg, LEN))
		return false;
	server.rate = 1;
	server.backlog = BACKLOG;
	if (!caller_listen(&server, 0))
		return false;
	server.listener->next = PIER__NEVER;
	return true;
}

static void end(void)
{
	caller_close(&server);
	caller_close(&client);
}

/* Have so many wait at the server. */
static bool ask(uint32_t clients)
{
	const _Atomic uint32_t *held = &server.listener->cm->held;
	uint32_t want = clients < BACKLOG ? clients : BACKLOG, i;
	long long limit = limit_from_now();

	for (i = 0; i < clients; i++)
		if (!caller_ask(&client, &server, NULL))
			return false;
	while (*held < want && peer_step(limit))
		;
	return IS(*held, want);
}

/* They are not reported to the server's program. */
static void no_request_was_reported(void)
{
	IS(server.requests, 0);
	IS(server.established, 0);
	IS(server.failures, 0);
	IS(server.disconnected, 0);
}

static void what_waits_takes_no_connection(void)
{
	struct pier_conn *conn;
	const void *desc;
	size_t len;
	int i;

	if (begin(0) && ask(CLIENTS)) {
		peer_drive_quietly(20);
		IS(server.listener->cm->held, BACKLOG);
		for (i = 0; i < 2; i++)
			IS(pier_rdma_export(server.peer.rdma, &desc, &len,
					    &conn), 0);
		no_request_was_reported();
	}
	end();
}

static void what_waits_is_reported_in_its_turn(void)
{
	if (begin(0) && ask(1)) {
		server.listener->next = 0;
		OK(peer_count(&client.established, 1));
		OK(peer_count(&server.established, 1));
		IS(server.requests, 1);
		IS(server.listener->cm->held, 0);
	}
	end();
}

static void what_waits_is_refused_with_its_listener_and_not_reported(void)
{
	if (begin(0) && ask(CLIENTS)) {
		pier_listener_destroy(server.listener);
		server.listener = NULL;
		OK(peer_count(&client.failures, CLIENTS));
		no_request_was_reported();
		IS(pier_ctx_stop_wait(pier_rdma_ctx(server.peer.rdma), 5000),
		   0);
		no_request_was_reported();
	}
	end();
}

static void what_waits_is_refused_when_its_context_stops(void)
{
	if (begin(0) && ask(1)) {
		IS(pier_ctx_stop(pier_rdma_ctx(server.peer.rdma)),
		   -EINPROGRESS);
		OK(peer_ctx(&server.peer, PIER_CTX_IDLE));
		OK(peer_count(&client.failures, 1));
		LIKE(pier_conn_error_text(client.peer.conn),
		     "stopped listening");
		no_request_was_reported();
	}
	end();
}

static void what_waits_too_long_is_refused(void)
{
	if (begin(200) && ask(1)) {
		OK(peer_count(&client.failures, 1));
		IS(pier_conn_error(client.peer.conn), -ECONNREFUSED);
		LIKE(pier_conn_error_text(client.peer.conn), "try again");
		IS(server.listener->cm->held, 0);
		no_request_was_reported();
	}
	end();
}

/* The one that waits, or waited, is known to have given up. */
static bool gave_up(void)
{
	struct pier__list *first = server.listener->waiting.next;
	struct pier__pending_request *w;

	if (pier__list_empty(&server.listener->waiting))
		return true;
	w = pier__container_of(first, struct pier__pending_request, link);
	return pier__request_is_abandoned(server.listener->queues->rdmacm,
					  w->ev.id);
}

static void a_client_that_gave_up_is_not_reported(void)
{
	long long limit;

	if (begin(0)) {
		client.timeout_ms = 500;
		if (ask(1)) {
			OK(peer_count(&client.failures, 1));
			limit = limit_from_now();
			while (!gave_up() && peer_step(limit))
				;
			server.listener->next = 0;
			while (server.listener->cm->held && peer_step(limit))
				;
			IS(server.listener->cm->held, 0);
			no_request_was_reported();
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
	TEST(what_waits_takes_no_connection);
	TEST(what_waits_is_reported_in_its_turn);
	TEST(what_waits_is_refused_with_its_listener_and_not_reported);
	TEST(what_waits_is_refused_when_its_context_stops);
	TEST(what_waits_too_long_is_refused);
	TEST(a_client_that_gave_up_is_not_reported);
	pier_dev_close(dev);
	return tap_done();
}
