/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* The life of contexts: start, stop, restart, destroy, wherever it happens. */

#define LEN 4096
#define MANY 8

static struct pier_dev *dev;

struct ctx_changes {
	int calls, idle;
	enum pier_ctx_state next[8];
};

static void tell(struct pier_ctx *ctx, enum pier_ctx_state prev,
		 enum pier_ctx_state next, void *user_data)
{
	struct ctx_changes *changes = user_data;

	IS(pier_ctx_state(ctx), next);
	IS(prev, changes->calls ? changes->next[changes->calls - 1] :
				  PIER_CTX_IDLE);
	if (changes->calls < 7)
		changes->next[changes->calls++] = next;
	changes->idle += next == PIER_CTX_IDLE;
}

struct tally {
	int calls, ok, cancelled;
};

static void count(struct pier_task *task, void *arg)
{
	struct tally *tally = arg;

	tally->calls++;
	tally->ok += pier_task_status(task) == 0;
	tally->cancelled += pier_task_status(task) == -ECANCELED;
}

static void every_state_is_reported_once(void)
{
	struct ctx_changes changes = { 0 };
	struct pier_ctx *ctx;
	struct peer a;

	if (!peer_create(&a, dev, NULL, NULL, LEN))
		return;
	ctx = pier_rdma_ctx(a.rdma);
	pier_ctx_set_state_changed(ctx, tell);
	pier_ctx_set_user_data(ctx, &changes);
	OK(pier_ctx_user_data(ctx) == &changes);
	OK(!pier_ctx_pe(ctx));
	IS(pier_ctx_state(ctx), PIER_CTX_IDLE);
	IS(pier_ctx_stop(ctx), 0);
	IS(pier_ctx_stop_wait(ctx, 0), 0);
	IS(changes.calls, 0);
	IS(pier_ctx_start(ctx, a.pe), 0);
	OK(pier_ctx_pe(ctx) == a.pe);
	IS(pier_ctx_start(ctx, a.pe), -EBUSY);
	IS(pier_ctx_stop(ctx), -EINPROGRESS);
	IS(pier_ctx_stop(ctx), -EINPROGRESS);
	IS(pier_ctx_start(ctx, a.pe), -EBUSY);
	peer_ctx(&a, PIER_CTX_IDLE);
	IS(changes.calls, 3);
	IS(changes.next[0], PIER_CTX_RUNNING);
	IS(changes.next[1], PIER_CTX_STOPPING);
	IS(changes.next[2], PIER_CTX_IDLE);
	OK(!pier_ctx_pe(ctx));
	peer_close(&a);
	IS(changes.calls, 3);
}

/* With nothing in flight, whatever else has used the budget up. */
static void a_stop_of_nothing_is_idle_after_one_progress(void)
{
	struct pier_ctx *first, *second;
	struct peer a, b;

	memset(&b, 0, sizeof(b));
	if (!peer_open(&a, dev, NULL, NULL, LEN) ||
	    !peer_open(&b, dev, a.pe, NULL, LEN))
		return;
	first = pier_rdma_ctx(a.rdma);
	second = pier_rdma_ctx(b.rdma);
	IS(pier_ctx_stop(first), -EINPROGRESS);
	IS(pier_ctx_stop(second), -EINPROGRESS);
	IS(pier_ctx_state(first), PIER_CTX_STOPPING);
	OK(pier_pe_progress(a.pe, 1) > 0);
	IS(pier_ctx_state(first), PIER_CTX_IDLE);
	IS(pier_ctx_state(second), PIER_CTX_IDLE);
	peer_unpair(&a, &b);
}

/* A callback that begins anew has the engine's next round, not this one. */
static void restart(struct pier_ctx *ctx, enum pier_ctx_state prev,
		    enum pier_ctx_state next, void *user_data)
{
	struct peer *peer = user_data;

	(void)prev;
	if (next != PIER_CTX_IDLE)
		return;
	IS(pier_ctx_start(ctx, peer->pe), 0);
	IS(pier_ctx_stop(ctx), -EINPROGRESS);
}

static void a_callback_that_starts_and_stops_does_not_hold_progress(void)
{
	struct pier_ctx *ctx;
	struct peer a;

	if (!peer_open(&a, dev, NULL, NULL, LEN))
		return;
	ctx = pier_rdma_ctx(a.rdma);
	pier_ctx_set_user_data(ctx, &a);
	pier_ctx_set_state_changed(ctx, restart);
	IS(pier_ctx_stop(ctx), -EINPROGRESS);
	for (int i = 0; i < 3; i++)
		pier_pe_progress(a.pe, 1);
	IS(pier_ctx_state(ctx), PIER_CTX_STOPPING);
	pier_ctx_set_state_changed(ctx, NULL);
	peer_close(&a);
}

static void states_have_names(void)
{
	IS_STR(pier_ctx_state_name(PIER_CTX_IDLE), "idle");
	IS_STR(pier_ctx_state_name(PIER_CTX_STARTING), "starting");
	IS_STR(pier_ctx_state_name(PIER_CTX_RUNNING), "running");
	IS_STR(pier_ctx_state_name(PIER_CTX_STOPPING), "stopping");
	IS_STR(pier_ctx_state_name((enum pier_ctx_state)99), "unknown");
	IS_STR(pier_conn_state_name(PIER_CONN_CONNECTED), "connected");
	IS_STR(pier_conn_state_name((enum pier_conn_state)99), "unknown");
}

/* Sends that wait for receives, and receives that wait for sends. */
static bool put_in_flight(struct peer *a, struct peer *b, struct tally *sent,
			  struct tally *got)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg), .drain_ms = 50 };
	int i;

	if (!peer_pair(a, b, dev, &cfg, LEN))
		return false;
	for (i = 0; i < MANY; i++) {
		IS(pier_rdma_send(a->conn, NULL, count, sent), 0);
		IS(pier_rdma_receive(a->rdma, NULL, count, got), 0);
	}
	IS(pier_ctx_inflight(pier_rdma_ctx(a->rdma)), 2 * MANY);
	return true;
}

static void a_stop_finishes_every_task_once(void)
{
	struct tally sent = { 0 }, got = { 0 };
	struct peer a, b;

	if (!put_in_flight(&a, &b, &sent, &got))
		return;
	IS(pier_ctx_stop(pier_rdma_ctx(a.rdma)), -EINPROGRESS);
	IS(sent.calls + got.calls, 0);
	IS(pier_rdma_send(a.conn, NULL, count, &sent), -ESHUTDOWN);
	IS(pier_rdma_receive(a.rdma, NULL, count, &got), -ESHUTDOWN);
	peer_ctx(&a, PIER_CTX_IDLE);
	IS(sent.calls, MANY);
	IS(got.calls, MANY);
	IS(sent.cancelled, MANY);
	IS(got.cancelled, MANY);
	IS(pier_conn_state(a.conn), PIER_CONN_RESET);
	IS(pier_ctx_inflight(pier_rdma_ctx(a.rdma)), 0);
	IS(pier_rdma_send(a.conn, NULL, count, &sent), -ESHUTDOWN);
	IS(pier_ctx_state(pier_rdma_ctx(b.rdma)), PIER_CTX_RUNNING);
	peer_unpair(&a, &b);
	IS(sent.calls + got.calls, 2 * MANY);
}

static void destroying_a_running_context_finishes_every_task_once(void)
{
	struct tally sent = { 0 }, got = { 0 };
	struct peer a, b;

	if (!put_in_flight(&a, &b, &sent, &got))
		return;
	pier_rdma_destroy(a.rdma);
	a.rdma = NULL;
	IS(sent.cancelled, MANY);
	IS(got.cancelled, MANY);
	peer_unpair(&a, &b);
}

static void destroying_the_engine_stops_what_runs_on_it(void)
{
	struct tally sent = { 0 }, got = { 0 };
	struct pier_ctx *ctx;
	struct pier_pe *pe;
	struct peer a, b;

	if (!put_in_flight(&a, &b, &sent, &got) || !IS(pier_pe_create(&pe), 0))
		return;
	peer_close(&b);
	ctx = pier_rdma_ctx(a.rdma);
	IS(pier_ctx_stop_wait(ctx, PEER_LIMIT_MS), 0);
	IS(pier_ctx_start(ctx, pe), 0);
	IS(pier_rdma_receive(a.rdma, NULL, count, &got), 0);
	pier_pe_destroy(pe);
	IS(pier_ctx_state(ctx), PIER_CTX_IDLE);
	IS(got.calls, MANY + 1);
	peer_close(&a);
}

static void a_context_can_be_started_again(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg), .max_conns = 3 };
	int i, sent, got;
	struct peer a, b;

	if (!peer_pair(&a, &b, dev, NULL, LEN))
		return;
	for (i = 0; i < 5 && tap_holds(); i++) {
		IS(pier_rdma_configure(a.rdma, &cfg), -EBUSY);
		IS(pier_ctx_stop_wait(pier_rdma_ctx(a.rdma), PEER_LIMIT_MS),
		   0);
		IS(pier_rdma_configure(a.rdma, &cfg), 0);
		IS(pier_ctx_start(pier_rdma_ctx(a.rdma), a.pe), 0);
		if (i & 1)
			pier_conn_destroy(a.conn);
		if (!peer_join(&a, &b))
			break;
		sent = got = -EINPROGRESS;
		IS(pier_rdma_receive(b.rdma, NULL, peer_done, &got), 0);
		IS(pier_rdma_send(a.conn, NULL, peer_done, &sent), 0);
		IS(peer_await(&sent), 0);
		IS(peer_await(&got), 0);
	}
	peer_unpair(&a, &b);
}

static void a_restart_waits_for_the_tasks_of_the_last_run(void)
{
	struct pier_task *task;
	struct peer a;

	if (!peer_open(&a, dev, NULL, NULL, LEN))
		return;
	IS(pier_rdma_task_receive(a.rdma, NULL, &task), 0);
	IS(pier_ctx_stop_wait(pier_rdma_ctx(a.rdma), PEER_LIMIT_MS), 0);
	IS(pier_ctx_start(pier_rdma_ctx(a.rdma), a.pe), -EBUSY);
	IS(pier_ctx_state(pier_rdma_ctx(a.rdma)), PIER_CTX_IDLE);
	pier_task_free(task);
	IS(pier_ctx_start(pier_rdma_ctx(a.rdma), a.pe), 0);
	peer_close(&a);
}

static void nothing_works_before_the_start(void)
{
	struct pier_task *task = NULL;
	struct pier_conn *conn = NULL;
	const void *desc;
	size_t len;
	struct peer a;

	if (!peer_create(&a, dev, NULL, NULL, LEN))
		return;
	IS(pier_rdma_export(a.rdma, &desc, &len, &conn), -ESHUTDOWN);
	OK(!conn);
	IS(pier_rdma_task_receive(a.rdma, NULL, &task), -ENOBUFS);
	OK(!task);
	OK(pier_rdma_dev(a.rdma) == dev);
	peer_close(&a);
}

/* What a callback is to do. */
struct act {
	struct peer *peer;
	int when, calls, left;
	enum pier_ctx_state seen;
};

static void destroy_rdma(struct pier_ctx *ctx, enum pier_ctx_state prev,
			 enum pier_ctx_state next, void *user_data)
{
	struct act *act = user_data;

	(void)ctx;
	(void)prev;
	if ((int)next != act->when)
		return;
	act->calls++;
	pier_rdma_destroy(act->peer->rdma);
	act->peer->rdma = NULL;
}

/* Stop @a in one of the ways there are, its callback destroys it. */
static void check_destroy_at(enum pier_ctx_state when, bool wait)
{
	struct act act = { .when = (int)when };
	struct pier_ctx *ctx;
	struct peer a, b;

	if (!peer_pair(&a, &b, dev, NULL, LEN))
		return;
	act.peer = &a;
	ctx = pier_rdma_ctx(a.rdma);
	pier_ctx_set_user_data(ctx, &act);
	pier_ctx_set_state_changed(ctx, destroy_rdma);
	IS(pier_rdma_receive(a.rdma, NULL, peer_done, &act.left), 0);
	if (wait)
		IS(pier_ctx_stop_wait(ctx, PEER_LIMIT_MS), 0);
	else
		IS(pier_ctx_stop(ctx), -EINPROGRESS);
	OK(peer_count(&act.calls, 1));
	OK(!a.rdma);
	IS(act.left, -ECANCELED);
	peer_conn(b.conn, PIER_CONN_RESET);
	peer_unpair(&a, &b);
}

static void a_context_may_be_destroyed_when_reported_idle(void)
{
	check_destroy_at(PIER_CTX_IDLE, false);
	check_destroy_at(PIER_CTX_IDLE, true);
}

static void a_context_may_be_destroyed_when_reported_stopping(void)
{
	check_destroy_at(PIER_CTX_STOPPING, false);
	check_destroy_at(PIER_CTX_STOPPING, true);
}

static void a_stopping_context_may_be_destroyed(void)
{
	struct tally sent = { 0 }, got = { 0 };
	struct peer a, b;

	if (!put_in_flight(&a, &b, &sent, &got))
		return;
	pier_ctx_stop(pier_rdma_ctx(a.rdma));
	pier_rdma_destroy(a.rdma);
	a.rdma = NULL;
	IS(sent.cancelled, MANY);
	IS(got.cancelled, MANY);
	peer_unpair(&a, &b);
}

static void destroy_in_done(struct pier_task *task, void *arg)
{
	struct act *act = arg;

	act->calls++;
	if (pier_task_status(task) == 0 && act->peer->rdma) {
		pier_rdma_destroy(act->peer->rdma);
		act->peer->rdma = NULL;
	}
}

static void a_context_may_be_destroyed_in_a_completion(void)
{
	struct act act = { 0 };
	struct peer a, b;
	int i;

	if (!peer_pair(&a, &b, dev, NULL, LEN))
		return;
	act.peer = &a;
	for (i = 0; i < MANY; i++)
		IS(pier_rdma_receive(a.rdma, NULL, destroy_in_done, &act), 0);
	IS(pier_rdma_send(b.conn, NULL, NULL, NULL), 0);
	OK(peer_count(&act.calls, MANY));
	OK(!a.rdma);
	peer_conn(b.conn, PIER_CONN_RESET);
	IS(act.calls, MANY);
	peer_unpair(&a, &b);
}

static void act_in_done(struct pier_task *task, void *arg)
{
	struct act *act = arg;
	struct pier_ctx *ctx = pier_task_ctx(task);

	act->calls++;
	IS(pier_pe_progress(act->peer->pe, 0), -EBUSY);
	IS(pier_pe_wait(act->peer->pe, 0), -EBUSY);
	if (pier_task_status(task))
		return;
	IS(pier_conn_wait(act->peer->conn, 0), 0);
	IS(pier_ctx_stop_wait(ctx, 0), -EBUSY);
	act->seen = pier_ctx_state(ctx);
}

static void waiting_in_a_callback_is_refused_but_stops_all_the_same(void)
{
	struct act act = { 0 };
	struct peer a, b;

	if (!peer_pair(&a, &b, dev, NULL, LEN))
		return;
	act.peer = &a;
	IS(pier_rdma_receive(a.rdma, NULL, act_in_done, &act), 0);
	IS(pier_rdma_receive(a.rdma, NULL, act_in_done, &act), 0);
	IS(pier_rdma_send(b.conn, NULL, NULL, NULL), 0);
	peer_ctx(&a, PIER_CTX_IDLE);
	IS(act.seen, PIER_CTX_STOPPING);
	IS(act.calls, 2);
	peer_unpair(&a, &b);
}

/* A message that the receive at b is too short for: the task at b fails. */
static void send_too_much(struct peer *a, struct peer *b, struct tally *tally)
{
	struct pier_buf *src = peer_data(a, 0, 16);
	struct pier_buf *dst = peer_tail(b, 0, 8);

	IS(pier_rdma_receive(b->rdma, dst, count, tally), 0);
	IS(pier_rdma_receive(b->rdma, NULL, count, tally), 0);
	IS(pier_rdma_send(a->conn, src, NULL, NULL), 0);
	pier_buf_put(src);
	pier_buf_put(dst);
}

static void a_failed_task_stops_the_context_if_asked_to(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg),
					.stop_on_task_error = 1 };
	struct tally tally = { 0 };
	struct peer a, b;

	if (!peer_pair(&a, &b, dev, &cfg, LEN))
		return;
	send_too_much(&a, &b, &tally);
	peer_ctx(&b, PIER_CTX_IDLE);
	peer_ctx(&a, PIER_CTX_IDLE);	/* its send failed */
	IS(tally.calls, 2);
	IS(tally.cancelled, 1);
	peer_unpair(&a, &b);
}

static void a_failed_task_leaves_the_context_running_otherwise(void)
{
	struct tally tally = { 0 };
	struct peer a, b;

	if (!peer_pair(&a, &b, dev, NULL, LEN))
		return;
	send_too_much(&a, &b, &tally);
	peer_conn(b.conn, PIER_CONN_ERROR);
	peer_conn(a.conn, PIER_CONN_ERROR);
	peer_drive_quietly(20);
	IS(tally.calls, 1);
	IS(pier_ctx_state(pier_rdma_ctx(a.rdma)), PIER_CTX_RUNNING);
	IS(pier_ctx_state(pier_rdma_ctx(b.rdma)), PIER_CTX_RUNNING);
	peer_unpair(&a, &b);
	IS(tally.calls, 2);
}

/* @what: 0 in its state callback, 1 in a task's. */
static void destroy_conn(struct pier_conn *conn, enum pier_conn_state prev,
			 enum pier_conn_state next, void *user_data)
{
	(void)prev;
	(void)next;
	++*(int *)user_data;
	pier_conn_destroy(conn);
	pier_conn_destroy(conn);
}

static void a_connection_may_be_destroyed_in_its_callback(void)
{
	struct peer a, b;
	int calls = 0;

	if (!peer_pair(&a, &b, dev, NULL, LEN) || !peer_export(&a) ||
	    !peer_export(&b))
		return;
	pier_conn_set_state_changed(a.conn, destroy_conn);
	pier_conn_set_user_data(a.conn, &calls);
	IS(pier_rdma_connect(a.conn, b.desc, b.desc_len), 0);
	IS(pier_rdma_connect(b.conn, a.desc, a.desc_len), 0);
	OK(peer_count(&calls, 1));
	peer_conn(b.conn, PIER_CONN_RESET);
	IS(calls, 1);
	peer_unpair(&a, &b);
}

static void destroy_its_conn(struct pier_task *task, void *arg)
{
	++*(int *)arg;
	pier_conn_destroy(pier_task_conn(task));
}

static void a_connection_may_be_destroyed_in_a_completion(void)
{
	struct peer a, b;
	int calls = 0, i;

	if (!peer_pair(&a, &b, dev, NULL, LEN))
		return;
	for (i = 0; i < MANY; i++)
		IS(pier_rdma_receive(b.rdma, NULL, NULL, NULL), 0);
	for (i = 0; i < MANY; i++)
		IS(pier_rdma_send(a.conn, NULL, destroy_its_conn, &calls), 0);
	OK(peer_count(&calls, MANY));
	peer_conn(b.conn, PIER_CONN_RESET);
	IS(calls, MANY);
	IS(pier_ctx_inflight(pier_rdma_ctx(a.rdma)), 0);
	peer_unpair(&a, &b);
}

/* Connections in every state, destroyed; their places are free again. */
static void a_connection_may_be_destroyed_in_every_state(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg), .max_conns = 5 };
	struct pier_conn *conns[5];
	struct peer a, b;
	int i;

	if (!peer_pair(&a, &b, dev, &cfg, LEN))
		return;
	conns[0] = a.conn;			/* connected */
	peer_join(&a, &b);
	conns[1] = a.conn;
	peer_export(&a);
	conns[2] = a.conn;			/* exported */
	peer_export(&a);
	peer_export(&b);
	conns[3] = a.conn;			/* waits for a hello */
	IS(pier_rdma_connect(conns[3], b.desc, b.desc_len), 0);
	peer_export(&a);
	conns[4] = a.conn;
	pier_conn_disconnect(conns[4]);		/* reset */
	peer_conn(conns[4], PIER_CONN_RESET);
	pier_conn_disconnect(conns[1]);		/* closing */
	for (i = 0; i < 5; i++)
		pier_conn_destroy(conns[i]);
	pier_conn_destroy(NULL);
	for (i = 0; i < 5; i++)
		peer_export_later(&a);
	peer_unpair(&a, &b);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(every_state_is_reported_once);
	TEST(a_stop_of_nothing_is_idle_after_one_progress);
	TEST(a_callback_that_starts_and_stops_does_not_hold_progress);
	TEST(states_have_names);
	TEST(a_stop_finishes_every_task_once);
	TEST(destroying_a_running_context_finishes_every_task_once);
	TEST(destroying_the_engine_stops_what_runs_on_it);
	TEST(a_context_can_be_started_again);
	TEST(a_restart_waits_for_the_tasks_of_the_last_run);
	TEST(nothing_works_before_the_start);
	TEST(a_context_may_be_destroyed_when_reported_idle);
	TEST(a_context_may_be_destroyed_when_reported_stopping);
	TEST(a_stopping_context_may_be_destroyed);
	TEST(a_context_may_be_destroyed_in_a_completion);
	TEST(waiting_in_a_callback_is_refused_but_stops_all_the_same);
	TEST(a_failed_task_stops_the_context_if_asked_to);
	TEST(a_failed_task_leaves_the_context_running_otherwise);
	TEST(a_connection_may_be_destroyed_in_its_callback);
	TEST(a_connection_may_be_destroyed_in_a_completion);
	TEST(a_connection_may_be_destroyed_in_every_state);
	pier_dev_close(dev);
	return tap_done();
}
