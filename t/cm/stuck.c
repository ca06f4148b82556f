/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cm/conn_impl.h"
#include "t/lib/peer.h"
#include "t/lib/stage.h"
#include "t/lib/tap.h"

/*
 * An end whose sends wait for a receive of the peer's ends its connection.
 * There is no keepalive here: only a goodbye changes the state of the peer.
 */
#define LEN (64u << 10)
#define HALF (LEN / 2)
#define BEFORE 40		/* tasks that complete before that */
#define WAITING 8		/* tasks that do not */
#define DRAIN_MS 300

static struct pier_dev *dev;
static struct peer a, b;
static int status[BEFORE];
static unsigned int seed;

static struct pier_rdma_config config = {
	.size = sizeof(config), .drain_ms = 600000,
	.keepalive_ms = PIER_ZERO,
};

enum kind { SEND, WRITE, READ, ADD, KINDS };

/* One with a random part of the memory, which takes several packets or one. */
static void submit(struct peer *peer, enum kind kind, int *ret)
{
	size_t len = 1 + (size_t)rand() % (rand() % 2 ? HALF : 64);
	size_t at = (size_t)rand() % (HALF - len + 1);
	struct pier_buf *near, *far = NULL;
	int err = 0;

	*ret = -EINPROGRESS;
	if (kind == ADD)
		at &= ~(size_t)7;
	near = kind == READ ? peer_tail(peer, HALF + at, len) :
	       kind == ADD ? peer_tail(peer, HALF + at, 8) :
			     peer_data(peer, at, len);
	if (kind != SEND)
		far = kind == READ ? peer_far_data(peer, at, len) :
		      kind == ADD ? peer_far_data(peer, at, 8) :
				    peer_far_tail(peer, HALF + at, len);
	if (kind == SEND)
		err = pier_rdma_send(peer->conn, near, peer_done, ret);
	else if (kind == WRITE)
		err = pier_rdma_write(peer->conn, near, far, peer_done, ret);
	else if (kind == READ)
		err = pier_rdma_read(peer->conn, far, near, peer_done, ret);
	else
		err = pier_rdma_fetch_add(peer->conn, far, near, 1, peer_done,
					  ret);
	IS(err, 0);
	pier_buf_put(near);
	if (far)
		pier_buf_put(far);
}

static bool open_both(const struct pier_rdma_config *cfg)
{
	tap_note("seed %u", seed);
	srand(seed++);
	if (!peer_pair(&a, &b, dev, cfg, LEN))
		return false;
	peer_fill(&a, seed);
	peer_fill(&b, seed + 1);
	return true;
}

/* Tasks of all kinds and lengths complete. */
static bool work(struct peer *from, struct peer *to)
{
	int got = -EINPROGRESS;

	for (int i = 0; i < BEFORE && tap_holds(); i++) {
		enum kind kind = (enum kind)(rand() % KINDS);
		struct pier_buf *tail = NULL;

		if (kind == SEND) {
			tail = peer_tail(to, HALF, HALF);
			got = -EINPROGRESS;
			IS(pier_rdma_receive(to->rdma, tail, peer_done, &got),
			   0);
			pier_buf_put(tail);
		}
		submit(from, kind, &status[i]);
		IS(peer_await(&status[i]), 0);
		if (kind == SEND)
			IS(peer_await(&got), 0);
	}
	return tap_holds();
}

/* @kinds: what waits behind the first, a send; SEND: sends. */
static bool get_stuck(struct peer *peer, int *ret, bool mixed)
{
	submit(peer, SEND, &ret[0]);
	for (int i = 1; i < WAITING; i++)
		submit(peer, mixed ? (enum kind)(i % KINDS) : SEND, &ret[i]);
	return OK(stage_rnr(peer->conn)) && IS(ret[0], -EINPROGRESS);
}

static void all_cancelled(const int *ret)
{
	for (int i = 0; i < WAITING; i++)
		IS(peer_await(&ret[i]), -ECANCELED);
}

static void got_goodbye(const struct peer *peer)
{
	long long begun = limit_now_ms();

	OK(peer_conn(peer->conn, PIER_CONN_RESET));
	tap_note("after %lld ms", limit_now_ms() - begun);
	IS(pier_conn_error(peer->conn), 0);
	IS_STR(pier_conn_error_text(peer->conn), "");
}

static void close_both(void)
{
	peer_unpair(&a, &b);
}

static void a_destroyed_end_says_goodbye(void)
{
	int waiting[WAITING];

	if (open_both(&config) && work(&a, &b) &&
	    get_stuck(&a, waiting, false)) {
		pier_conn_destroy(a.conn);
		a.conn = NULL;
		got_goodbye(&b);
		all_cancelled(waiting);
	}
	close_both();
}

static void what_waits_may_be_reads_too(void)
{
	int waiting[WAITING];

	for (int i = 0; i < 5 && tap_holds(); i++) {
		if (open_both(&config) && work(&a, &b) && work(&b, &a) &&
		    get_stuck(&a, waiting, true)) {
			pier_conn_destroy(a.conn);
			a.conn = NULL;
			got_goodbye(&b);
			all_cancelled(waiting);
		}
		close_both();
	}
}

static void a_disconnect_says_it_after_the_drain_time(void)
{
	struct pier_rdma_config cfg = config;
	int waiting[WAITING];

	cfg.drain_ms = DRAIN_MS;
	if (open_both(&cfg) && get_stuck(&a, waiting, true)) {
		IS(pier_conn_disconnect(a.conn), 0);
		got_goodbye(&b);
		got_goodbye(&a);
		all_cancelled(waiting);
	}
	close_both();
}

static void a_context_that_stops_says_it(void)
{
	struct pier_rdma_config cfg = config;
	int waiting[WAITING];

	if (!dev->fabric->qp->rnr)	/* no device that knows: it waits */
		cfg.drain_ms = DRAIN_MS;
	if (open_both(&cfg) && work(&a, &b) && get_stuck(&a, waiting, true)) {
		IS(pier_ctx_stop_wait(pier_rdma_ctx(a.rdma), PEER_LIMIT_MS),
		   0);
		got_goodbye(&b);
		all_cancelled(waiting);
	}
	close_both();
}

static void both_ends_may_be_stuck(void)
{
	int at_a[WAITING], at_b[WAITING];

	if (open_both(&config) && work(&a, &b) && work(&b, &a) &&
	    get_stuck(&a, at_a, true) && get_stuck(&b, at_b, true)) {
		pier_conn_destroy(a.conn);
		pier_conn_destroy(b.conn);
		a.conn = b.conn = NULL;
		all_cancelled(at_a);
		all_cancelled(at_b);
		IS(pier_ctx_stop_wait(pier_rdma_ctx(a.rdma), PEER_LIMIT_MS),
		   0);
		IS(pier_ctx_stop_wait(pier_rdma_ctx(b.rdma), PEER_LIMIT_MS),
		   0);
	}
	close_both();
}

/* One end stays, and has what it waits for cancelled. */
static void a_stuck_end_gets_the_goodbye_of_another(void)
{
	int at_a[WAITING], at_b[WAITING];

	if (open_both(&config) && work(&b, &a) && get_stuck(&a, at_a, true) &&
	    get_stuck(&b, at_b, true)) {
		pier_conn_destroy(a.conn);
		a.conn = NULL;
		got_goodbye(&b);
		all_cancelled(at_a);
		all_cancelled(at_b);
	}
	close_both();
}

/* What acknowledges the keepalive may be lost. */
static void a_goodbye_follows_a_keepalive_that_is_in_flight(void)
{
	if (open_both(&config)) {
		IS(pier__conn_control(a.conn, PIER__CTL_KEEPALIVE), 0);
		pier_conn_destroy(a.conn);
		a.conn = NULL;
		got_goodbye(&b);
	}
	close_both();
}

/*
 * The peer has all of the message but its last packet.  No goodbye can take the
 * place of that: the keepalive finds the end.
 */
static void a_long_write_with_immediate_is_found_by_keepalive(void)
{
	struct pier_rdma_config cfg = config;
	struct pier_buf *near, *far;
	int sent = -EINPROGRESS;

	cfg.keepalive_ms = 50;
	if (open_both(&cfg)) {
		near = peer_data(&a, 0, HALF);
		far = peer_far_tail(&a, HALF, HALF);
		IS(pier_rdma_write_imm(a.conn, near, far, 1, peer_done,
				       &sent), 0);
		OK(stage_rnr(a.conn));
		pier_conn_destroy(a.conn);
		a.conn = NULL;
		OK(peer_conn(b.conn, PIER_CONN_ERROR));
		IS(pier_conn_error(b.conn), -PIER_ERETRY);
		IS(sent, -ECANCELED);
		pier_buf_put(near);
		pier_buf_put(far);
	}
	close_both();
}

/* The receives are the context's: those of another connection, too. */
static void receives_outlive_it(void)
{
	int waiting[WAITING], got[WAITING], sent[WAITING];
	struct pier_conn *ending, *far, *from;

	if (!open_both(&config) || !work(&b, &a) || !work(&a, &b)) {
		close_both();
		return;
	}
	ending = a.conn;
	far = b.conn;
	from = far;
	if (get_stuck(&a, waiting, true) && peer_join(&a, &b)) {
		for (int i = 0; i < WAITING; i++) {
			got[i] = -EINPROGRESS;
			IS(pier_rdma_receive(a.rdma, NULL, peer_done, &got[i]),
			   0);
		}
		for (int i = 0; i < WAITING; i++) {
			sent[i] = -EINPROGRESS;
			IS(pier_rdma_send(i % 2 ? from : b.conn, NULL,
					  peer_done, &sent[i]), 0);
			if (i != WAITING / 2)
				continue;
			IS(peer_await(&sent[i - 1]), 0);
			pier_conn_destroy(ending);
			from = b.conn;
		}
		OK(peer_conn(far, PIER_CONN_RESET));
		IS(pier_conn_state(b.conn), PIER_CONN_CONNECTED);
		for (int i = 0; i < WAITING; i++) {
			IS(peer_await(&sent[i]), 0);
			IS(peer_await(&got[i]), 0);
		}
		all_cancelled(waiting);
	}
	close_both();
}

int main(void)
{
	seed = (unsigned int)limit_now_ms();
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(a_destroyed_end_says_goodbye);
	TEST(what_waits_may_be_reads_too);
	TEST(a_disconnect_says_it_after_the_drain_time);
	TEST(a_context_that_stops_says_it);
	TEST(both_ends_may_be_stuck);
	TEST(a_stuck_end_gets_the_goodbye_of_another);
	TEST(a_goodbye_follows_a_keepalive_that_is_in_flight);
	TEST(a_long_write_with_immediate_is_found_by_keepalive);
	TEST(receives_outlive_it);
	pier_dev_close(dev);
	return tap_done();
}
