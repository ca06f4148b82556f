/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* The life of connections within one process, on one engine or on two. */

#define LEN 65536

static struct pier_dev *dev;

/* What was passed to a connection's state callback. */
struct conn_changes {
	int calls;
	enum pier_conn_state prev[4], next[4];
};

static void tell(struct pier_conn *conn, enum pier_conn_state prev,
		 enum pier_conn_state next, void *user_data)
{
	struct conn_changes *changes = user_data;

	IS(pier_conn_state(conn), next);
	if (changes->calls < 4) {
		changes->prev[changes->calls] = prev;
		changes->next[changes->calls] = next;
	}
	changes->calls++;
}

static void listen_to(struct pier_conn *conn, struct conn_changes *changes)
{
	memset(changes, 0, sizeof(*changes));
	pier_conn_set_user_data(conn, changes);
	OK(pier_conn_user_data(conn) == changes);
	pier_conn_set_state_changed(conn, tell);
}

/* Was change number @i from @prev to @next? */
static bool changed(const struct conn_changes *changes, int i,
		    enum pier_conn_state prev, enum pier_conn_state next)
{
	return OK(changes->calls > i) && IS(changes->prev[i], prev) &&
	       IS(changes->next[i], next);
}

/* Both export; a connects to b, and b to a later. */
static bool begin(struct peer *a, struct peer *b)
{
	return peer_export(a) && peer_export(b) &&
	       IS(pier_conn_state(a->conn), PIER_CONN_INIT) &&
	       IS(pier_rdma_connect(a->conn, b->desc, b->desc_len), 0);
}

static bool complete(struct peer *a, struct peer *b)
{
	return IS(pier_rdma_connect(b->conn, a->desc, a->desc_len), 0) &&
	       peer_conn(a->conn, PIER_CONN_CONNECTED) &&
	       peer_conn(b->conn, PIER_CONN_CONNECTED);
}

static bool open_two(struct peer *a, struct peer *b, bool one_engine,
		     const struct pier_rdma_config *cfg)
{
	memset(b, 0, sizeof(*b));
	return peer_open(a, dev, NULL, cfg, LEN) &&
	       peer_open(b, dev, one_engine ? a->pe : NULL, cfg, LEN);
}

/* Data flows on the connection of @a to @b. */
static void check_flow(struct peer *a, struct peer *b)
{
	int sent = -EINPROGRESS, got = -EINPROGRESS;

	IS(pier_rdma_receive(b->rdma, NULL, peer_done, &got), 0);
	IS(pier_rdma_send(a->conn, NULL, peer_done, &sent), 0);
	IS(peer_await(&sent), 0);
	IS(peer_await(&got), 0);
}

static void check_connecting(bool one_engine)
{
	struct conn_changes at_a, at_b;
	struct peer a, b;

	if (!open_two(&a, &b, one_engine, NULL) || !begin(&a, &b))
		return;
	listen_to(a.conn, &at_a);
	listen_to(b.conn, &at_b);
	peer_drive_quietly(20);	/* b has not connected */
	IS(at_a.calls, 0);
	IS(at_b.calls, 0);
	if (complete(&a, &b)) {
		changed(&at_a, 0, PIER_CONN_INIT, PIER_CONN_CONNECTED);
		changed(&at_b, 0, PIER_CONN_INIT, PIER_CONN_CONNECTED);
		check_flow(&a, &b);
		check_flow(&b, &a);
	}
	peer_drive_quietly(20);
	IS(at_a.calls, 1);
	IS(at_b.calls, 1);
	peer_unpair(&a, &b);
}

static void connected_is_reported_once_on_one_engine(void)
{
	check_connecting(true);
}

static void connected_is_reported_once_on_two_engines(void)
{
	check_connecting(false);
}

/* A peer that answers each message at once, by whatever connection it came. */
static void answer(struct pier_task *task, void *arg)
{
	int *answered = arg;

	if (pier_task_status(task))
		return;
	++*answered;
	IS(pier_conn_state(pier_task_conn(task)), PIER_CONN_CONNECTED);
	IS(pier_rdma_send(pier_task_conn(task), NULL, NULL, NULL), 0);
}

static void send_at_once(struct pier_conn *conn, enum pier_conn_state prev,
			 enum pier_conn_state next, void *user_data)
{
	(void)prev;
	(void)user_data;
	if (next == PIER_CONN_CONNECTED)
		IS(pier_rdma_send(conn, NULL, NULL, NULL), 0);
}

/* Free what was sent without a callback. */
static void retrieve_all(struct pier_pe *pe)
{
	struct pier_event event;

	while (pier_pe_retrieve(pe, &event) == 0)
		pier_task_free(event.task);
}

static void check_at_once(bool one_engine, bool a_first)
{
	struct peer a, b;
	int answered = 0, got = -EINPROGRESS;

	if (!open_two(&a, &b, one_engine, NULL))
		return;
	IS(pier_rdma_receive(b.rdma, NULL, answer, &answered), 0);
	IS(pier_rdma_receive(a.rdma, NULL, peer_done, &got), 0);
	if (!peer_export(&a) || !peer_export(&b))
		return;
	pier_conn_set_state_changed(a.conn, send_at_once);
	if (a_first)
		IS(pier_rdma_connect(a.conn, b.desc, b.desc_len), 0);
	IS(pier_rdma_connect(b.conn, a.desc, a.desc_len), 0);
	if (!a_first)
		IS(pier_rdma_connect(a.conn, b.desc, b.desc_len), 0);
	IS(peer_await(&got), 0);
	IS(answered, 1);
	retrieve_all(a.pe);
	retrieve_all(b.pe);
	peer_unpair(&a, &b);
}

static void a_program_that_is_notified_may_send_and_be_answered(void)
{
	int i;

	for (i = 0; i < 20 && tap_holds(); i++)
		check_at_once(i & 1, i & 2);
}

static void sent(struct pier_task *task, void *arg)
{
	IS(pier_task_status(task), 0);
	++*(int *)arg;
}

static void send_and_count(struct pier_conn *conn, enum pier_conn_state prev,
			   enum pier_conn_state next, void *user_data)
{
	(void)prev;
	if (next == PIER_CONN_CONNECTED)
		IS(pier_rdma_send(conn, NULL, sent, user_data), 0);
}

/* b's engine sleeps while its hello is answered and a's message comes in. */
static void connected_is_reported_before_the_first_message(void)
{
	int answered = 0, sends = 0, got = -EINPROGRESS, tries;
	struct conn_changes changes;
	struct peer a, b;

	if (!open_two(&a, &b, false, NULL) || !peer_export(&a) ||
	    !peer_export(&b))
		return;
	IS(pier_rdma_receive(b.rdma, NULL, answer, &answered), 0);
	IS(pier_rdma_receive(a.rdma, NULL, peer_done, &got), 0);
	listen_to(b.conn, &changes);
	pier_conn_set_state_changed(a.conn, send_and_count);
	pier_conn_set_user_data(a.conn, &sends);
	IS(pier_rdma_connect(b.conn, a.desc, a.desc_len), 0);
	IS(pier_pe_wait(b.pe, 1), -ETIMEDOUT);
	IS(pier_rdma_connect(a.conn, b.desc, b.desc_len), 0);
	for (tries = 0; !sends && tries < 1000; tries++)
		pier_pe_wait(a.pe, 5);
	IS(sends, 1);
	IS(changes.calls, 0);
	IS(peer_await(&got), 0);
	IS(answered, 1);
	IS(changes.calls, 1);
	retrieve_all(a.pe);
	retrieve_all(b.pe);
	peer_unpair(&a, &b);
}

static void the_path_is_known_after_connect(void)
{
	struct pier_conn_path at_a, at_b;
	struct peer a, b;

	if (!open_two(&a, &b, true, NULL) || !peer_export(&a))
		return;
	IS(pier_conn_path(a.conn, &at_a), -ENOTCONN);
	pier_conn_destroy(a.conn);
	if (!begin(&a, &b) || !complete(&a, &b))
		return;
	IS(pier_conn_path(a.conn, &at_a), 0);
	IS(pier_conn_path(b.conn, &at_b), 0);
	IS(at_a.local_qpn, at_b.peer_qpn);
	IS(at_a.peer_qpn, at_b.local_qpn);
	IS(memcmp(at_a.local_gid, at_b.peer_gid, 16), 0);
	IS(memcmp(at_a.peer_gid, at_b.local_gid, 16), 0);
	IS(at_a.mtu, at_b.mtu);
	OK(at_a.mtu >= 256 && at_a.mtu <= 4096);
	OK(pier_conn_rdma(a.conn) == a.rdma);
	peer_unpair(&a, &b);
}

static void the_smaller_mtu_is_used(void)
{
	struct pier_rdma_config small = { .size = sizeof(small), .mtu = 256 };
	struct pier_conn_path path;
	struct peer a, b;

	memset(&b, 0, sizeof(b));
	if (!peer_open(&a, dev, NULL, &small, LEN) ||
	    !peer_open(&b, dev, a.pe, NULL, LEN) || !peer_join(&a, &b))
		return;
	IS(pier_conn_path(b.conn, &path), 0);
	IS(path.mtu, 256);
	check_flow(&a, &b);
	peer_unpair(&a, &b);
}

static void a_connection_is_connected_only_once(void)
{
	struct peer a, b;

	if (!open_two(&a, &b, true, NULL) || !begin(&a, &b))
		return;
	IS(pier_rdma_connect(a.conn, b.desc, b.desc_len), -EISCONN);
	if (complete(&a, &b))
		IS(pier_rdma_connect(a.conn, b.desc, b.desc_len), -EISCONN);
	pier_conn_disconnect(a.conn);
	peer_conn(a.conn, PIER_CONN_RESET);
	IS(pier_rdma_connect(a.conn, b.desc, b.desc_len), -EISCONN);
	peer_unpair(&a, &b);
}

static void waiting_for_a_connection_ends_with_its_state(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg),
					.connect_timeout_ms = 100 };
	struct peer a, b;

	if (!open_two(&a, &b, true, &cfg) || !peer_export(&a))
		return;
	IS(pier_conn_wait(a.conn, 0), -ETIMEDOUT);
	LIKE(pier_last_error(), "0 ms: it has no descriptor of the peer");
	pier_conn_destroy(a.conn);
	if (!begin(&a, &b))
		return;
	IS(pier_conn_wait(a.conn, PEER_LIMIT_MS), -PIER_ENOHELLO);
	LIKE(pier_last_error(), "hello");
	IS(pier_conn_error(a.conn), -PIER_ENOHELLO);
	pier_conn_destroy(b.conn);
	if (!begin(&a, &b) ||
	    !IS(pier_rdma_connect(b.conn, a.desc, a.desc_len), 0))
		return;
	IS(pier_conn_wait(a.conn, PEER_LIMIT_MS), 0);
	pier_conn_disconnect(a.conn);
	IS(pier_rdma_send(a.conn, NULL, NULL, NULL), -ENOTCONN);
	LIKE(pier_last_error(), "send: the connection is being closed");
	peer_conn(a.conn, PIER_CONN_RESET);
	IS(pier_conn_wait(a.conn, 0), -ENOTCONN);
	peer_unpair(&a, &b);
}

static void a_peer_that_never_connects_is_reported_as_an_error(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg),
					.connect_timeout_ms = 100 };
	struct conn_changes changes;
	struct peer a, b;

	if (!open_two(&a, &b, true, &cfg) || !begin(&a, &b))
		return;
	listen_to(a.conn, &changes);
	peer_conn(a.conn, PIER_CONN_ERROR);
	peer_drive_quietly(20);
	IS(changes.calls, 1);
	changed(&changes, 0, PIER_CONN_INIT, PIER_CONN_ERROR);
	IS(pier_conn_error(a.conn), -PIER_ENOHELLO);
	LIKE(pier_conn_error_text(a.conn), "no hello from");
	IS(pier_conn_state(b.conn), PIER_CONN_INIT);
	if (peer_join(&a, &b))
		check_flow(&a, &b);
	peer_unpair(&a, &b);
}

/* @who: 1, a disconnects; 2, b; 3, both. */
static void check_disconnect(bool one_engine, int who)
{
	struct conn_changes at_a, at_b;
	struct peer a, b;

	if (!open_two(&a, &b, one_engine, NULL) || !begin(&a, &b) ||
	    !complete(&a, &b))
		return;
	listen_to(a.conn, &at_a);
	listen_to(b.conn, &at_b);
	if (who & 1)
		IS(pier_conn_disconnect(a.conn), 0);
	if (who & 2)
		IS(pier_conn_disconnect(b.conn), 0);
	if (who == 1)
		IS(pier_conn_disconnect(a.conn), 0);
	IS(at_a.calls + at_b.calls, 0);
	peer_conn(a.conn, PIER_CONN_RESET);
	peer_conn(b.conn, PIER_CONN_RESET);
	peer_drive_quietly(20);
	IS(at_a.calls, 1);
	IS(at_b.calls, 1);
	changed(&at_a, 0, PIER_CONN_CONNECTED, PIER_CONN_RESET);
	changed(&at_b, 0, PIER_CONN_CONNECTED, PIER_CONN_RESET);
	IS(pier_conn_error(a.conn), 0);
	IS_STR(pier_conn_error_text(a.conn), "");
	IS(pier_conn_disconnect(a.conn), 0);
	IS(pier_conn_disconnect(NULL), 0);
	if (peer_join(&a, &b))
		check_flow(&a, &b);
	peer_unpair(&a, &b);
}

static void a_disconnect_is_reported_once_at_both_ends(void)
{
	check_disconnect(true, 1);
	check_disconnect(true, 2);
	check_disconnect(false, 1);
}

static void both_ends_may_disconnect_at_once(void)
{
	check_disconnect(true, 3);
	check_disconnect(false, 3);
}

static void disconnecting_what_never_connected_resets_it(void)
{
	struct conn_changes at_a, at_b;
	struct peer a, b;

	if (!open_two(&a, &b, true, NULL) || !begin(&a, &b))
		return;
	listen_to(a.conn, &at_a);
	listen_to(b.conn, &at_b);
	pier_conn_disconnect(a.conn);
	pier_conn_disconnect(b.conn);
	peer_conn(a.conn, PIER_CONN_RESET);
	peer_conn(b.conn, PIER_CONN_RESET);
	peer_drive_quietly(20);
	IS(at_a.calls, 1);
	IS(at_b.calls, 1);
	changed(&at_a, 0, PIER_CONN_INIT, PIER_CONN_RESET);
	changed(&at_b, 0, PIER_CONN_INIT, PIER_CONN_RESET);
	peer_unpair(&a, &b);
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

/* Sends that wait for a receive, and another connection beside. */
static void check_cancelled(bool from_peer)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg), .drain_ms = 50,
					.keepalive_ms = 100 };
	struct pier_conn *ending, *far;
	struct tally tally = { 0 };
	struct peer a, b;
	int i;

	if (!peer_pair(&a, &b, dev, &cfg, LEN))
		return;
	ending = a.conn;
	far = b.conn;
	if (!peer_join(&a, &b))
		return;
	for (i = 0; i < 3; i++)
		IS(pier_rdma_send(ending, NULL, count, &tally), 0);
	pier_conn_disconnect(from_peer ? far : ending);
	OK(peer_count(&tally.calls, 3));
	peer_conn(ending, PIER_CONN_RESET);
	OK(peer_conn(far, PIER_CONN_RESET));
	IS(tally.calls, 3);
	IS(tally.cancelled, 3);
	IS(pier_conn_state(a.conn), PIER_CONN_CONNECTED);
	check_flow(&a, &b);
	check_flow(&b, &a);
	IS(pier_rdma_send(ending, NULL, count, &tally), -ENOTCONN);
	peer_unpair(&a, &b);
}

static void a_disconnect_cancels_its_own_tasks_once(void)
{
	check_cancelled(false);
}

static void the_peer_s_disconnect_cancels_its_own_tasks_once(void)
{
	check_cancelled(true);
}

static void tasks_in_flight_are_let_finish_by_a_disconnect(void)
{
	struct tally sent = { 0 }, got = { 0 };
	struct pier_buf *src, *dst;
	struct peer a, b;

	if (!peer_pair(&a, &b, dev, NULL, LEN))
		return;
	src = peer_data(&a, 0, LEN);
	dst = peer_tail(&b, 0, LEN);
	peer_fill(&a, 8);
	IS(pier_rdma_receive(b.rdma, dst, count, &got), 0);
	IS(pier_rdma_send(a.conn, src, count, &sent), 0);
	pier_conn_disconnect(a.conn);
	OK(peer_count(&sent.calls, 1));
	OK(peer_count(&got.calls, 1));
	IS(sent.ok, 1);
	IS(got.ok, 1);
	OK(peer_holds(&b, 0, LEN, 8, 0));
	pier_buf_put(src);
	pier_buf_put(dst);
	peer_unpair(&a, &b);
}

static void a_hundred_connections_come_and_go(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg), .max_conns = 2 };
	struct peer a, b;
	int i;

	if (!open_two(&a, &b, true, &cfg))
		return;
	for (i = 0; i < 100 && tap_holds(); i++) {
		struct pier_conn *at_a, *at_b;

		if (!peer_join(&a, &b))
			break;
		at_a = a.conn;
		at_b = b.conn;
		check_flow(&a, &b);
		if (i % 10)	/* else only one, and the other sees it */
			pier_conn_disconnect(at_a);
		pier_conn_disconnect(at_b);
		peer_conn(at_a, PIER_CONN_RESET);
		peer_conn(at_b, PIER_CONN_RESET);
		pier_conn_destroy(at_a);
		pier_conn_destroy(at_b);
	}
	peer_unpair(&a, &b);
}

static void connections_beyond_the_configured_number_are_refused(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg), .max_conns = 2 };
	struct pier_conn *conn = NULL;
	const void *desc;
	size_t len;
	struct peer a;

	if (!peer_open(&a, dev, NULL, &cfg, LEN) || !peer_export(&a) ||
	    !peer_export(&a))
		return;
	IS(pier_rdma_export(a.rdma, &desc, &len, &conn), -ENOSPC);
	OK(!conn);
	pier_conn_destroy(a.conn);
	peer_export_later(&a);
	peer_close(&a);
}

#define PEERS 16

static void sixteen_connections_share_the_receives(void)
{
	struct pier_conn *near[PEERS], *far[PEERS];
	struct pier_event event;
	struct peer a, b;
	int i, seen[PEERS] = { 0 };

	if (!open_two(&a, &b, true, NULL))
		return;
	for (i = 0; i < PEERS; i++) {
		if (!peer_join(&a, &b))
			return;
		near[i] = a.conn;
		far[i] = b.conn;
		pier_conn_set_user_data(far[i], &seen[i]);
	}
	for (i = 0; i < 2 * PEERS; i++)
		IS(pier_rdma_receive(b.rdma, NULL, NULL, NULL), 0);
	for (i = 0; i < 2 * PEERS; i++)
		IS(pier_rdma_send_imm(near[i % PEERS], NULL,
				      (uint32_t)i % PEERS, NULL, NULL), 0);
	OK(peer_quiet(&a));
	OK(peer_quiet(&b));
	while (pier_pe_retrieve(a.pe, &event) == 0) {
		IS(event.status, 0);
		if (pier_task_type(event.task) == PIER_TASK_RECEIVE) {
			uint32_t from = pier_recv_imm(event.task);
			struct pier_conn *conn = pier_task_conn(event.task);

			OK(from < PEERS && conn == far[from]);
			++*(int *)pier_conn_user_data(conn);
		}
		pier_task_free(event.task);
	}
	for (i = 0; i < PEERS; i++)
		IS(seen[i], 2);
	peer_unpair(&a, &b);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(connected_is_reported_once_on_one_engine);
	TEST(connected_is_reported_once_on_two_engines);
	TEST(a_program_that_is_notified_may_send_and_be_answered);
	TEST(connected_is_reported_before_the_first_message);
	TEST(the_path_is_known_after_connect);
	TEST(the_smaller_mtu_is_used);
	TEST(a_connection_is_connected_only_once);
	TEST(waiting_for_a_connection_ends_with_its_state);
	TEST(a_peer_that_never_connects_is_reported_as_an_error);
	TEST(a_disconnect_is_reported_once_at_both_ends);
	TEST(both_ends_may_disconnect_at_once);
	TEST(disconnecting_what_never_connected_resets_it);
	TEST(a_disconnect_cancels_its_own_tasks_once);
	TEST(the_peer_s_disconnect_cancels_its_own_tasks_once);
	TEST(tasks_in_flight_are_let_finish_by_a_disconnect);
	TEST(a_hundred_connections_come_and_go);
	TEST(connections_beyond_the_configured_number_are_refused);
	TEST(sixteen_connections_share_the_receives);
	pier_dev_close(dev);
	return tap_done();
}
