/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "cm/conn_impl.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* Connections by descriptor that are up at once, without a hello. */

#define LEN 4096

static struct pier_dev *dev;
static struct peer a, b;

/* Two peers with an engine each, and what each of them exports. */
static bool begin(const struct pier_rdma_config *of_a,
		  const struct pier_rdma_config *of_b)
{
	memset(&b, 0, sizeof(b));
	return peer_open(&a, dev, NULL, of_a, LEN) &&
	       peer_open(&b, dev, NULL, of_b, LEN) && peer_export(&a) &&
	       peer_export(&b);
}

static bool join(struct peer *peer, const struct peer *other)
{
	return IS(pier_rdma_connect(peer->conn, other->desc, other->desc_len),
		  0);
}

static struct pier_rdma_config quiet(void)
{
	return (struct pier_rdma_config){
		.size = sizeof(struct pier_rdma_config), .no_hello = 1,
	};
}

/* Drive @peer's engine alone until *@status is final. */
static int await_alone(struct peer *peer, const int *status)
{
	long long limit = limit_from_now();

	while (*status == -EINPROGRESS && limit_holds(limit))
		pier_pe_progress(peer->pe, 1);
	return *status;
}

static void count(struct pier_conn *conn, enum pier_conn_state prev,
		  enum pier_conn_state next, void *user_data)
{
	(void)conn;
	(void)prev;
	(void)next;
	++*(int *)user_data;
}

static void connect_connects_and_is_no_event(void)
{
	struct pier_rdma_config cfg = quiet();
	int changes = 0;

	if (begin(&cfg, &cfg)) {
		while (pier_pe_progress(a.pe, 0))
			;
		pier_conn_set_user_data(a.conn, &changes);
		pier_conn_set_state_changed(a.conn, count);
		join(&a, &b);
		IS(pier_conn_state(a.conn), PIER_CONN_CONNECTED);
		IS(pier_conn_wait(a.conn, 0), 0);
		IS(pier_pe_progress(a.pe, 0), 0);
		IS(changes, 0);
		IS(pier_rdma_connect(a.conn, b.desc, b.desc_len), -EISCONN);
	}
	peer_unpair(&a, &b);
}

static void a_responder_that_sleeps_is_read(void)
{
	struct pier_rdma_config cfg = quiet();
	int status = -EINPROGRESS;
	struct pier_buf *src, *dst;

	if (begin(&cfg, &cfg) && join(&b, &a) && join(&a, &b) &&
	    peer_swap(&a, &b)) {
		peer_fill(&b, 1);
		src = peer_far_data(&a, 0, LEN);
		dst = peer_tail(&a, 0, LEN);
		IS(pier_rdma_read(a.conn, src, dst, peer_done, &status), 0);
		IS(await_alone(&a, &status), 0);
		OK(peer_holds(&a, 0, LEN, 1, 0));
		pier_buf_put(src);
		pier_buf_put(dst);
	}
	peer_unpair(&a, &b);
}

static void send_to_b(void)
{
	struct pier_buf *src = peer_data(&a, 0, 8), *dst = peer_tail(&b, 0, 8);
	int sent = -EINPROGRESS, received = -EINPROGRESS;

	IS(pier_rdma_receive(b.rdma, dst, peer_done, &received), 0);
	IS(pier_rdma_send(a.conn, src, peer_done, &sent), 0);
	IS(peer_await(&received), 0);
	IS(peer_await(&sent), 0);
	pier_buf_put(src);
	pier_buf_put(dst);
}

static void it_answers_the_hello_of_one_that_waits_for_it(void)
{
	struct pier_rdma_config cfg = quiet();

	if (begin(NULL, &cfg) && join(&a, &b) && join(&b, &a)) {
		IS(pier_conn_state(b.conn), PIER_CONN_CONNECTED);
		IS(pier_conn_state(a.conn), PIER_CONN_INIT);
		peer_conn(a.conn, PIER_CONN_CONNECTED);
		send_to_b();
	}
	peer_unpair(&a, &b);
}

static void disconnecting_reaches_the_peer(void)
{
	struct pier_rdma_config cfg = quiet();

	if (begin(&cfg, &cfg) && join(&a, &b) && join(&b, &a)) {
		IS(pier_conn_disconnect(a.conn), 0);
		peer_conn(b.conn, PIER_CONN_RESET);
		peer_conn(a.conn, PIER_CONN_RESET);
	}
	peer_unpair(&a, &b);
}

/*
 * A keepalive to a peer that has not connected yet would end the connection;
 * one to a peer that was there and is gone has to.
 */
static void keepalives_begin_when_the_peer_has_answered(void)
{
	struct pier_rdma_config cfg = quiet();
	long long limit = limit_from_now();

	cfg.keepalive_ms = 1;
	cfg.ack_timeout = (uint32_t)limit_ack_timeout(10);
	cfg.retry_count = 1;
	if (begin(&cfg, &cfg) && join(&b, &a)) {
		peer_drive_quietly(400);	/* several steps in UP */
		IS(pier_conn_state(b.conn), PIER_CONN_CONNECTED);
		join(&a, &b);
		send_to_b();
		while (!b.conn->hello_acked && peer_step(limit))
			;
		pier_conn_abort(a.conn);
		peer_conn(b.conn, PIER_CONN_ERROR);
		LIKE(pier_conn_error_text(b.conn), "keepalive");
	}
	peer_unpair(&a, &b);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(connect_connects_and_is_no_event);
	TEST(a_responder_that_sleeps_is_read);
	TEST(it_answers_the_hello_of_one_that_waits_for_it);
	TEST(disconnecting_reaches_the_peer);
	TEST(keepalives_begin_when_the_peer_has_answered);
	pier_dev_close(dev);
	return tap_done();
}
