/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include "core/fail.h"
#include "dev/dev_impl.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* Many connections: one call of the engine looks at some of them. */

#define LEN 4096
#define CONNS 1000
#define SOME 320	/* swept through, and hot ones */

static struct pier_dev *dev;
static const struct pier__fabric *real;
static struct pier__fabric with;
static struct pier__fabric_qp deadly;
static bool dead;
static struct peer me;
static struct pier_conn *conns[CONNS];
static int ended;

static int poll_dead(struct pier__cq *cq, struct ibv_wc *wc, int max)
{
	if (dead)
		return pier__fail(-EIO, "it was made to fail");
	return real->qp->poll(cq, wc, max);
}

static void changed(struct pier_conn *conn, enum pier_conn_state prev,
		    enum pier_conn_state next, void *user_data)
{
	(void)conn;
	(void)prev;
	(void)next;
	(void)user_data;
	ended++;
}

static struct pier_conn *export_one(void)
{
	struct pier_conn *conn = NULL;
	const void *desc;
	size_t len;

	if (pier_rdma_export(me.rdma, &desc, &len, &conn))
		return NULL;
	pier_conn_set_state_changed(conn, changed);
	return conn;
}

static bool begin(void)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .max_conns = CONNS,
	};
	int i;

	dead = false;
	ended = 0;
	if (!peer_open(&me, dev, NULL, &cfg, LEN))
		return false;
	for (i = 0; i < CONNS; i++) {
		conns[i] = export_one();
		if (!conns[i])
			break;
	}
	return IS(i, CONNS);
}

/* How many are no longer what they were. */
static int count_changed(void)
{
	int i, n = 0;

	for (i = 0; i < CONNS; i++)
		n += pier_conn_state(conns[i]) != PIER_CONN_INIT;
	return n;
}

/* Until all have ended, some in a call, each reported once. */
static void all_end(void)
{
	int calls, before = 0, now, most = 0;

	for (calls = 0; ended < CONNS && calls < 10000; calls++) {
		pier_pe_progress(me.pe, 0);
		now = count_changed();
		if (now - before > most)
			most = now - before;
		before = now;
	}
	OK(most <= SOME);
	IS(ended, CONNS);
}

static void connections_on_dead_queues_end_some_in_a_call(void)
{
	int i;

	if (begin()) {
		dead = true;
		all_end();
		for (i = 0; i < CONNS; i++)
			if (pier_conn_error(conns[i]) != -EIO)
				break;
		IS(i, CONNS);
		LIKE(pier_conn_error_text(conns[0]), "it was made to fail");
	}
	peer_close(&me);
}

static void a_stopping_context_ends_them_some_in_a_call(void)
{
	if (begin()) {
		IS(pier_ctx_stop(pier_rdma_ctx(me.rdma)), -EINPROGRESS);
		all_end();
		OK(peer_ctx(&me, PIER_CTX_IDLE));
	}
	peer_close(&me);
}

/* Whichever go, as many may come. */
static void each_place_is_had_by_one_connection(void)
{
	static const int gone[] = { 0, 999, 500, 501, 499, 7 };
	size_t i, n = sizeof(gone) / sizeof(gone[0]);
	long long limit = limit_from_now();

	if (begin()) {
		OK(!export_one());
		for (i = 0; i < n; i++)
			pier_conn_destroy(conns[gone[i]]);
		for (i = 0; i < n; i++)
			while (!export_one() && peer_step(limit))
				;
		OK(!export_one());
	}
	peer_close(&me);
}

int main(void)
{
	int err = pier_dev_open("soft_lo", &dev);

	if (err)
		return tap_skip_all(pier_last_error());
	real = dev->fabric;
	with = *real;
	deadly = *real->qp;
	deadly.poll = poll_dead;
	with.qp = &deadly;
	dev->fabric = &with;
	TEST(connections_on_dead_queues_end_some_in_a_call);
	TEST(a_stopping_context_ends_them_some_in_a_call);
	TEST(each_place_is_had_by_one_connection);
	dev->fabric = real;
	pier_dev_close(dev);
	return tap_done();
}
