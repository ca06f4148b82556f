/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * The end of a connection, in order: messages that came before it, its state,
 * then the tasks that it cancels.  A send without a receive at the peer is in
 * flight until then.
 */
#define LEN 4096
#define SENDS 3

static struct pier_dev *dev;
static struct peer a, b;

/* What was reported to a: 'm' a message, 's' a state, 'c' a cancelled task. */
static char order[16];
static enum pier_scope scope;

static void note(char what)
{
	size_t len = strlen(order);

	if (len < sizeof(order) - 1)
		order[len] = what;
}

static void changed(struct pier_conn *conn, enum pier_conn_state prev,
		    enum pier_conn_state next, void *user_data)
{
	(void)user_data;
	IS(prev, PIER_CONN_CONNECTED);
	IS(next, PIER_CONN_RESET);
	IS(pier_conn_state(conn), PIER_CONN_RESET);
	note('s');
}

static void cancelled(struct pier_task *task, void *arg)
{
	(void)arg;
	IS(pier_task_status(task), -ECANCELED);
	IS(pier_conn_state(a.conn), PIER_CONN_RESET);
	scope = pier_task_error_scope(task);
	note('c');
}

static void arrived(struct pier_task *task, void *arg)
{
	(void)arg;
	IS(pier_task_status(task), 0);
	IS(pier_conn_state(a.conn), PIER_CONN_CONNECTED);
	note('m');
}

static bool open_both(void)
{
	memset(order, 0, sizeof(order));
	scope = PIER_SCOPE_RETRY;
	if (!peer_pair(&a, &b, dev, NULL, LEN))
		return false;
	pier_conn_set_state_changed(a.conn, changed);
	return true;
}

static void send_all(void)
{
	for (int i = 0; i < SENDS; i++)
		IS(pier_rdma_send(a.conn, NULL, cancelled, NULL), 0);
}

static void what_a_goodbye_cancels_ends_after_the_state_has_changed(void)
{
	if (!open_both())
		return;
	send_all();
	IS(pier_conn_disconnect(b.conn), 0);
	OK(peer_quiet(&a));
	IS_STR(order, "sccc");
	IS(scope, PIER_SCOPE_CONN);
	peer_unpair(&a, &b);
}

static void what_an_abort_cancels_ends_after_the_state_has_changed(void)
{
	if (!open_both())
		return;
	send_all();
	IS(pier_conn_abort(a.conn), 0);
	OK(peer_quiet(&a));
	IS_STR(order, "sccc");
	peer_unpair(&a, &b);
}

static void messages_before_a_goodbye_come_before_its_state(void)
{
	int sent[2] = { -EINPROGRESS, -EINPROGRESS };

	if (!open_both())
		return;
	IS(pier_rdma_receive(a.rdma, NULL, arrived, NULL), 0);
	IS(pier_rdma_receive(a.rdma, NULL, arrived, NULL), 0);
	send_all();
	for (int i = 0; i < 2; i++)
		IS(pier_rdma_send(b.conn, NULL, peer_done, &sent[i]), 0);
	IS(pier_conn_disconnect(b.conn), 0);
	OK(peer_quiet(&a));
	IS_STR(order, "mmsccc");
	IS(peer_await(&sent[0]), 0);
	IS(peer_await(&sent[1]), 0);
	peer_unpair(&a, &b);
}

static void what_a_goodbye_cancels_is_within_the_budget(void)
{
	long long limit = limit_from_now();

	if (!open_both())
		return;
	send_all();
	IS(pier_conn_disconnect(b.conn), 0);
	while (pier_ctx_inflight(pier_rdma_ctx(a.rdma)) && tap_holds() &&
	       OK(limit_now_ms() < limit)) {
		int n = pier_pe_progress(a.pe, 1);

		OK(n == 0 || n == 1);
	}
	IS_STR(order, "sccc");
	peer_unpair(&a, &b);
}

static void a_task_that_was_cancelled_alone_has_an_error_of_its_own(void)
{
	struct pier_task *task;

	if (!open_both())
		return;
	IS(pier_rdma_task_send(a.conn, NULL, &task), 0);
	IS(pier_task_error_scope(task), PIER_SCOPE_TASK);
	IS(pier_task_submit(task, PIER_SUBMIT_MORE), 0);
	IS(pier_task_cancel(task), 0);
	OK(peer_quiet(&a));
	IS(pier_task_status(task), -ECANCELED);
	IS(pier_task_error_scope(task), PIER_SCOPE_TASK);
	IS(pier_conn_state(a.conn), PIER_CONN_CONNECTED);
	IS(pier_task_free(task), 0);
	peer_unpair(&a, &b);
}

static void what_a_stop_cancels_is_the_end_of_the_context(void)
{
	struct pier_task *task;

	if (!open_both())
		return;
	IS(pier_rdma_task_receive(a.rdma, NULL, &task), 0);
	IS(pier_task_submit(task, 0), 0);
	IS(pier_ctx_stop_wait(pier_rdma_ctx(a.rdma), PEER_LIMIT_MS), 0);
	IS(pier_task_status(task), -ECANCELED);
	IS(pier_task_error_scope(task), PIER_SCOPE_CTX);
	IS(pier_task_free(task), 0);
	peer_unpair(&a, &b);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(what_a_goodbye_cancels_ends_after_the_state_has_changed);
	TEST(what_an_abort_cancels_ends_after_the_state_has_changed);
	TEST(messages_before_a_goodbye_come_before_its_state);
	TEST(what_a_goodbye_cancels_is_within_the_budget);
	TEST(a_task_that_was_cancelled_alone_has_an_error_of_its_own);
	TEST(what_a_stop_cancels_is_the_end_of_the_context);
	pier_dev_close(dev);
	return tap_done();
}
