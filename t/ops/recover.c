/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* A failed task, a stop, a start, another connection: as often as one likes. */

#define LEN 4096
#define ROUNDS 1000

static struct pier_dev *dev;
static struct peer a, b;

/* A message that is longer than its receive: both ends fail. */
static bool fail_a_task(void)
{
	struct pier_buf *src = peer_data(&a, 0, 101);
	struct pier_buf *dst = peer_tail(&b, 0, 100);
	int sent = -EINPROGRESS, got = -EINPROGRESS;

	IS(pier_rdma_receive(b.rdma, dst, peer_done, &got), 0);
	IS(pier_rdma_send(a.conn, src, peer_done, &sent), 0);
	IS(peer_await(&got), -EMSGSIZE);
	OK(peer_await(&sent) == -PIER_EREMINVAL || sent == -PIER_EREMOP);
	OK(peer_conn(a.conn, PIER_CONN_ERROR));
	pier_buf_put(dst);
	pier_buf_put(src);
	return tap_holds();
}

static bool move(unsigned int seed)
{
	struct pier_buf *src = peer_data(&a, 0, LEN);
	struct pier_buf *dst = peer_far_tail(&a, 0, LEN);
	int status = -EINPROGRESS;

	peer_fill(&a, seed);
	IS(pier_rdma_write(a.conn, src, dst, peer_done, &status), 0);
	IS(peer_await(&status), 0);
	OK(peer_holds(&b, 0, LEN, seed, 0));
	pier_buf_put(dst);
	pier_buf_put(src);
	return tap_holds();
}

static bool restart(struct peer *peer)
{
	struct pier_ctx *ctx = pier_rdma_ctx(peer->rdma);

	pier_conn_destroy(peer->conn);
	peer->conn = NULL;
	return IS(pier_ctx_stop_wait(ctx, PEER_LIMIT_MS), 0) &&
	       IS(pier_ctx_start(ctx, peer->pe), 0);
}

static void contexts_recover_from_failed_tasks_by_a_restart(void)
{
	int i;

	if (!peer_pair(&a, &b, dev, NULL, LEN))
		return;
	for (i = 0; i < ROUNDS; i++) {
		if (!fail_a_task() || !restart(&a) || !restart(&b) ||
		    !peer_join(&a, &b) || !move((unsigned int)i))
			break;
	}
	IS(i, ROUNDS);
	peer_unpair(&a, &b);
}

static void running_contexts_recover_by_another_connection(void)
{
	int i;

	if (!peer_pair(&a, &b, dev, NULL, LEN))
		return;
	for (i = 0; i < ROUNDS; i++) {
		if (!fail_a_task())
			break;
		pier_conn_destroy(a.conn);
		pier_conn_destroy(b.conn);
		if (!peer_export_later(&a) || !peer_export_later(&b) ||
		    !IS(pier_rdma_connect(a.conn, b.desc, b.desc_len), 0) ||
		    !IS(pier_rdma_connect(b.conn, a.desc, a.desc_len), 0) ||
		    !peer_conn(a.conn, PIER_CONN_CONNECTED) ||
		    !move((unsigned int)i))
			break;
	}
	IS(i, ROUNDS);
	peer_unpair(&a, &b);
}

static void a_context_that_stops_by_itself_is_started_again(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg),
					.stop_on_task_error = 1 };
	int i;

	if (!peer_pair(&a, &b, dev, &cfg, LEN))
		return;
	for (i = 0; i < 20; i++) {
		if (!fail_a_task() || !peer_ctx(&a, PIER_CTX_IDLE) ||
		    !peer_ctx(&b, PIER_CTX_IDLE) || !restart(&a) ||
		    !restart(&b) || !peer_join(&a, &b) ||
		    !move((unsigned int)i))
			break;
	}
	IS(i, 20);
	peer_unpair(&a, &b);
}

#define RECEIVES 8

struct ended {
	int calls, ok, cancelled;
};

static void stop_halfway(struct pier_task *task, void *arg)
{
	struct ended *ended = arg;

	ended->calls++;
	ended->cancelled += pier_task_status(task) == -ECANCELED;
	if (pier_task_status(task) == 0 && ++ended->ok == RECEIVES / 2)
		IS(pier_ctx_stop(pier_task_ctx(task)), -EINPROGRESS);
}

static void a_context_that_a_completion_stops_is_started_again(void)
{
	struct ended ended;
	int i;

	if (!peer_pair(&a, &b, dev, NULL, LEN))
		return;
	for (int round = 0; round < 20 && tap_holds(); round++) {
		memset(&ended, 0, sizeof(ended));
		for (i = 0; i < RECEIVES; i++)
			IS(pier_rdma_receive(a.rdma, NULL, stop_halfway,
					     &ended), 0);
		for (i = 0; i < RECEIVES / 2; i++)
			IS(pier_rdma_send(b.conn, NULL, NULL, NULL), 0);
		OK(peer_ctx(&a, PIER_CTX_IDLE));
		IS(ended.calls, RECEIVES);
		IS(ended.ok, RECEIVES / 2);
		IS(ended.cancelled, RECEIVES / 2);
		pier_conn_destroy(b.conn);
		if (!restart(&a) || !peer_join(&a, &b))
			break;
	}
	peer_unpair(&a, &b);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(contexts_recover_from_failed_tasks_by_a_restart);
	TEST(running_contexts_recover_by_another_connection);
	TEST(a_context_that_stops_by_itself_is_started_again);
	TEST(a_context_that_a_completion_stops_is_started_again);
	pier_dev_close(dev);
	return tap_done();
}
