/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "cm/rdmacm/rdmacm.h"
#include "core/clock.h"
#include "t/lib/caller.h"
#include "t/lib/stage.h"
#include "t/lib/tap.h"

/* Ends that wait for nothing, by either side and at any time. */

#define LEN 4096

/* Nothing here waits for the drain time. */
static const struct pier_rdma_config config = {
	.size = sizeof(config), .drain_ms = 600000,
};

static struct pier_dev *dev;
static struct caller client, server;

static bool begin_with(const struct pier_rdma_config *cfg)
{
	return caller_open(&client, dev, NULL, cfg, LEN) &&
	       caller_open(&server, dev, NULL, cfg, LEN);
}

static bool begin(void)
{
	return begin_with(&config) && caller_listen(&server, 0) &&
	       caller_join(&client, &server, NULL);
}

/* What was disconnected and is not gone yet would be waited for. */
static void end(void)
{
	caller_close(&server);
	caller_close(&client);
}

/* A send that its peer has no receive for. */
static void send_in_vain(struct caller *from, int *ret)
{
	*ret = -EINPROGRESS;
	IS(pier_rdma_send(from->peer.conn, NULL, peer_done, ret), 0);
	OK(stage_rnr(from->peer.conn));
	IS(*ret, -EINPROGRESS);
}

/* The end was reported once to both, to neither as an error. */
static void disconnected_once(void)
{
	OK(peer_count(&client.disconnected, 1));
	OK(peer_count(&server.disconnected, 1));
	peer_drive_quietly(20);
	IS(client.disconnected, 1);
	IS(server.disconnected, 1);
	IS(client.inside + server.inside, 0);
}

static void either_end_may_abort_what_is_in_flight(void)
{
	int who, status, theirs;

	for (who = 0; who < 2; who++) {
		struct caller *first = who ? &client : &server;
		struct caller *second = who ? &server : &client;

		if (begin()) {
			send_in_vain(first, &status);
			send_in_vain(second, &theirs);
			first->calling = true;
			IS(pier_conn_abort(first->peer.conn), 0);
			IS(pier_conn_abort(first->peer.conn), 0);
			IS(pier_conn_disconnect(first->peer.conn), 0);
			first->calling = false;
			IS(first->disconnected, 0);
			IS(peer_await(&status), -ECANCELED);
			disconnected_once();
			IS(peer_await(&theirs), -ECANCELED);
			IS(pier_conn_state(first->peer.conn),
			   PIER_CONN_RESET);
			IS(pier_conn_state(second->peer.conn),
			   PIER_CONN_RESET);
			IS(pier_conn_error(second->peer.conn), 0);
			IS(pier_conn_abort(second->peer.conn), 0);
			IS(pier_conn_abort(first->peer.conn), 0);
			disconnected_once();
		}
		end();
	}
}

static void both_may_abort_at_once(void)
{
	if (begin()) {
		IS(pier_conn_abort(client.peer.conn), 0);
		IS(pier_conn_abort(server.peer.conn), 0);
		disconnected_once();
	}
	end();
}

static void an_abort_ends_the_wait_of_a_disconnect(void)
{
	int status;

	if (begin()) {
		send_in_vain(&client, &status);
		IS(pier_conn_disconnect(client.peer.conn), 0);
		OK(stage_draining(client.peer.conn));
		peer_drive_quietly(20);
		IS(status, -EINPROGRESS);
		IS(client.disconnected, 0);
		IS(pier_conn_abort(client.peer.conn), 0);
		IS(peer_await(&status), -ECANCELED);
		disconnected_once();
	}
	end();
}

static void destroying_cancels_what_is_in_flight(void)
{
	int status;

	if (begin()) {
		send_in_vain(&client, &status);
		pier_conn_destroy(client.peer.conn);
		client.peer.conn = NULL;
		IS(peer_await(&status), -ECANCELED);
		OK(peer_count(&server.disconnected, 1));
		IS(pier_conn_error(server.peer.conn), 0);
		IS(client.disconnected, 0);
	}
	end();
}

/*
 * A device that reports RNR NAKs knows that the goodbye would not arrive; with
 * others the drain time passes.
 */
static void a_stop_does_not_wait_for_a_receive_that_never_comes(void)
{
	struct pier_rdma_config cfg = config;
	int status;

	if (!dev->fabric->qp->rnr)
		cfg.drain_ms = 200;
	if (begin_with(&cfg) && caller_listen(&server, 0) &&
	    caller_join(&client, &server, NULL)) {
		send_in_vain(&client, &status);
		IS(pier_ctx_stop_wait(pier_rdma_ctx(client.peer.rdma),
				      PEER_LIMIT_MS), 0);
		IS(status, -ECANCELED);
		OK(peer_count(&server.disconnected, 1));
		IS(pier_conn_state(server.peer.conn), PIER_CONN_RESET);
		IS(pier_conn_error(server.peer.conn), 0);
	}
	end();
}

static void by_descriptors_what_is_in_flight_is_cancelled_soon(void)
{
	int status;

	if (begin_with(&config) && peer_join(&client.peer, &server.peer)) {
		send_in_vain(&client, &status);
		pier_conn_destroy(client.peer.conn);
		client.peer.conn = NULL;
		IS(peer_await(&status), -ECANCELED);
	}
	end();
}

static void aborted(struct pier_task *task, void *arg)
{
	peer_done(task, arg);
	pier_conn_abort(client.peer.conn);
}

static void a_callback_may_abort(void)
{
	int sent = -EINPROGRESS, got = -EINPROGRESS;

	if (begin()) {
		IS(pier_rdma_receive(server.peer.rdma, NULL, peer_done, &got),
		   0);
		IS(pier_rdma_send(client.peer.conn, NULL, aborted, &sent), 0);
		IS(peer_await(&sent), 0);
		IS(peer_await(&got), 0);
		disconnected_once();
	}
	end();
}

static void a_request_may_be_aborted_by_either_end(void)
{
	int who;

	for (who = 0; who < 2; who++) {
		struct caller *first = who ? &client : &server;

		if (begin_with(&config) && caller_listen(&server, 0)) {
			server.hold = true;
			if (caller_ask(&client, &server, NULL) &&
			    OK(peer_count(&server.requests, 1))) {
				IS(pier_conn_abort(first->peer.conn), 0);
				OK(peer_count(&client.failures, 1));
				OK(peer_count(&server.failures, 1));
				IS(pier_conn_error(first->peer.conn), 0);
				IS(client.established + server.established,
				   0);
			}
		}
		end();
	}
}

static void by_descriptors_the_peer_finds_out(void)
{
	struct pier_rdma_config cfg = config;
	int status;

	cfg.keepalive_ms = 100;
	if (begin_with(&cfg) && peer_join(&client.peer, &server.peer)) {
		send_in_vain(&client, &status);
		IS(pier_conn_abort(client.peer.conn), 0);
		IS(peer_await(&status), -ECANCELED);
		OK(peer_count(&client.disconnected, 1));
		IS(pier_conn_state(client.peer.conn), PIER_CONN_RESET);
		OK(peer_count(&server.disconnected, 1));
		IS(pier_conn_state(server.peer.conn), PIER_CONN_ERROR);
	}
	end();
}

static uint64_t limit(void)
{
	return pier__now() + PEER_LIMIT_MS * PIER__MS;
}

/* Until the client sends its hello; it is not progressed from then on. */
static bool nearly_join(void)
{
	uint64_t until = limit();

	if (!caller_listen(&server, 0) || !caller_ask(&client, &server, NULL))
		return false;
	while (client.peer.conn->state < PIER__CONN_HELLO &&
	       pier__now() < until) {
		pier_pe_progress(server.peer.pe, 0);
		pier_pe_progress(client.peer.pe, 0);
	}
	return OK(client.peer.conn->state >= PIER__CONN_HELLO) &&
	       IS(pier_conn_state(client.peer.conn), PIER_CONN_INIT);
}

static void a_server_that_has_come_and_gone_was_there(void)
{
	uint64_t until = limit();

	if (!begin_with(NULL))
		goto out_end;
	server.hang_up = true;
	if (!nearly_join())
		goto out_end;
	while (!server.disconnected && pier__now() < until)
		pier_pe_wait(server.peer.pe, 10);
	IS(server.disconnected, 1);
	IS(pier_conn_wait(client.peer.conn, PEER_LIMIT_MS), 0);
	OK(peer_count(&client.disconnected, 1));
	IS(client.established, 1);
	IS(client.failures, 0);
out_end:
	end();
}

int main(void)
{
	int err = pier_dev_open(NULL, &dev);

	if (err)
		return tap_skip_all(pier_last_error());
	if (!caller_address(dev))
		return tap_skip_all("the device has no IP address");
	TEST(either_end_may_abort_what_is_in_flight);
	TEST(both_may_abort_at_once);
	TEST(an_abort_ends_the_wait_of_a_disconnect);
	TEST(destroying_cancels_what_is_in_flight);
	TEST(a_stop_does_not_wait_for_a_receive_that_never_comes);
	TEST(by_descriptors_what_is_in_flight_is_cancelled_soon);
	TEST(a_callback_may_abort);
	TEST(a_request_may_be_aborted_by_either_end);
	TEST(by_descriptors_the_peer_finds_out);
	TEST(a_server_that_has_come_and_gone_was_there);
	pier_dev_close(dev);
	return tap_done();
}
