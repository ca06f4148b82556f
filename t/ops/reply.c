/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "cm/conn_impl.h"
#include "t/lib/peer.h"
#include "t/lib/stage.h"
#include "t/lib/tap.h"

/*
 * Receives that are waited for while the connection ends that was to fill them,
 * and sends that wait for a receive of the peer's.
 */
#define LEN 4096
#define SHORT_MS 20		/* too short for what does not finish */

static struct pier_dev *dev;
static struct peer a, b;

static bool open_both(void)
{
	return peer_pair(&a, &b, dev, NULL, LEN);
}

static struct pier_task *receive(void)
{
	struct pier_task *task = NULL;

	IS(pier_rdma_task_receive(a.rdma, NULL, &task), 0);
	IS(pier_task_submit(task, 0), 0);
	return task;
}

static void free_received(struct pier_task *task)
{
	IS(pier_task_status(task), -ECANCELED);
	IS(pier_ctx_inflight(pier_rdma_ctx(a.rdma)), 0);
	IS(pier_task_free(task), 0);
}

static void a_wait_for_a_message_ends_with_the_connection(void)
{
	struct pier_task *task;

	if (!open_both())
		return;
	task = receive();
	IS(pier_conn_disconnect(b.conn), 0);
	IS(pier_task_wait(task, -1), -ENOTCONN);
	LIKE(pier_last_error(), "receive: no message arrives: the connection "
	     "to ");
	LIKE(pier_last_error(), " has ended");
	free_received(task);
	peer_unpair(&a, &b);
}

static void a_wait_for_a_message_has_the_error_of_the_connection(void)
{
	struct pier_task *task;
	int status = -EINPROGRESS;

	if (!open_both())
		return;
	task = receive();
	IS(pier_rdma_send(a.conn, NULL, peer_done, &status), 0);
	pier_task_set_done(task, NULL, NULL);
	IS(pier_conn_abort(b.conn), 0);
	IS(pier_task_wait(task, -1) < 0, true);
	IS(pier_last_error()[0] != '\0', true);
	LIKE(pier_last_error(), "receive: no message arrives: ");
	free_received(task);
	peer_unpair(&a, &b);
}

static void a_wait_that_begins_after_the_end_ends(void)
{
	struct pier_task *task;

	if (!open_both())
		return;
	task = receive();
	IS(pier_conn_disconnect(b.conn), 0);
	OK(peer_conn(a.conn, PIER_CONN_RESET));
	IS(pier_task_wait(task, -1), -ENOTCONN);
	free_received(task);
	peer_unpair(&a, &b);
}

static void destroy_it(struct pier_conn *conn, enum pier_conn_state prev,
		       enum pier_conn_state next, void *user_data)
{
	(void)prev;
	(void)user_data;
	IS(next, PIER_CONN_RESET);
	pier_conn_destroy(conn);
	a.conn = NULL;
}

static void a_connection_that_is_destroyed_meanwhile_has_ended(void)
{
	struct pier_task *task;

	if (!open_both())
		return;
	task = receive();
	pier_conn_set_state_changed(a.conn, destroy_it);
	IS(pier_conn_disconnect(b.conn), 0);
	IS(pier_task_wait(task, -1), -ENOTCONN);
	free_received(task);
	peer_unpair(&a, &b);
}

static void a_message_from_before_the_end_is_received(void)
{
	int status = -EINPROGRESS;
	struct pier_task *task;

	if (!open_both())
		return;
	task = receive();
	IS(pier_rdma_send(b.conn, NULL, peer_done, &status), 0);
	IS(pier_conn_disconnect(b.conn), 0);
	IS(pier_task_wait(task, -1), 0);
	IS(peer_await(&status), 0);
	IS(pier_task_free(task), 0);
	peer_unpair(&a, &b);
}

/* Another connection could fill it, but not with the reply. */
static void a_reply_is_waited_for_on_its_connection(void)
{
	struct pier_conn *first[2];
	struct pier_task *task;
	bool alone;

	if (!open_both())
		return;
	alone = a.conn->queues->fab->srq_recall;
	first[0] = a.conn;
	first[1] = b.conn;
	if (!peer_join(&a, &b))
		return;
	task = receive();
	IS(pier_conn_disconnect(first[1]), 0);
	OK(peer_conn(first[0], PIER_CONN_RESET));
	if (alone) {
		IS(pier_task_wait(task, SHORT_MS), -ETIMEDOUT);
		IS(pier_task_submit(task, 0), 0);
	}
	IS(pier_task_wait_conn(task, first[0], -1), -ENOTCONN);
	if (alone)
		IS(pier_conn_state(a.conn), PIER_CONN_CONNECTED);
	free_received(task);
	pier_conn_destroy(first[0]);
	pier_conn_destroy(first[1]);
	peer_unpair(&a, &b);
}

static void only_a_receive_and_its_context_s_connection_will_do(void)
{
	struct pier_task *task, *send;

	if (!open_both())
		return;
	task = receive();
	IS(pier_rdma_task_send(a.conn, NULL, &send), 0);
	IS(pier_task_wait_conn(NULL, a.conn, 0), -EINVAL);
	IS(pier_task_wait_conn(send, a.conn, 0), -EINVAL);
	LIKE(pier_last_error(), "send: waited for with a connection");
	IS(pier_task_wait_conn(task, b.conn, 0), -EINVAL);
	LIKE(pier_last_error(), "a connection of another context");
	IS(pier_task_wait_conn(task, NULL, 0), -EINVAL);
	IS(pier_task_status(task), -EINPROGRESS);
	IS(pier_task_free(send), 0);
	IS(pier_conn_disconnect(b.conn), 0);
	IS(pier_task_wait_conn(task, a.conn, -1), -ENOTCONN);
	free_received(task);
	peer_unpair(&a, &b);
}

static void a_timeout_names_the_receive_that_the_peer_lacks(void)
{
	struct pier_task *task;

	if (!open_both())
		return;
	IS(pier_rdma_task_send(a.conn, NULL, &task), 0);
	IS(pier_task_once(task, SHORT_MS), -ETIMEDOUT);
	LIKE(pier_last_error(), "send: not finished after 20 ms: the peer has "
	     "no receive posted");
	peer_unpair(&a, &b);
}

static int warnings;

static void count_warnings(enum pier_log_level level, const char *area,
			   const char *message, void *arg)
{
	(void)area;
	(void)arg;
	warnings += level == PIER_LOG_WARNING && strstr(message, "RNR NAK");
}

/* Send, see that the peer is not ready, then let it be. */
static void send_early(bool first, int want)
{
	int sent = -EINPROGRESS, got = -EINPROGRESS;
	long long limit = limit_from_now();

	IS(pier_rdma_send(a.conn, NULL, peer_done, &sent), 0);
	while (first && warnings < want && peer_step(limit))
		;
	if (!first)
		peer_drive_quietly(300);
	IS(warnings, want);
	IS(pier_rdma_receive(b.rdma, NULL, peer_done, &got), 0);
	IS(peer_await(&sent), 0);
	IS(peer_await(&got), 0);
}

static void a_receive_that_the_peer_lacks_is_logged_once_a_connection(void)
{
	int want = dev->fabric->qp->rnr ? 1 : 0;	/* does it know? */

	if (!open_both())
		return;
	warnings = 0;
	pier_log_set_level(PIER_LOG_WARNING);
	pier_log_set_callback(count_warnings, NULL);
	send_early(true, want);
	send_early(false, want);
	pier_log_set_callback(NULL, NULL);
	peer_unpair(&a, &b);
}

static void a_stop_does_not_wait_long_for_a_receive_of_the_peer_s(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg),
					.drain_ms = 600000 };
	int status = -EINPROGRESS;

	if (!dev->fabric->qp->rnr)	/* it does not know of that */
		cfg.drain_ms = 200;
	if (!peer_pair(&a, &b, dev, &cfg, LEN))
		return;
	IS(pier_rdma_send(a.conn, NULL, peer_done, &status), 0);
	OK(stage_rnr(a.conn));
	IS(pier_ctx_stop_wait(pier_rdma_ctx(a.rdma), PEER_LIMIT_MS), 0);
	IS(status, -ECANCELED);
	peer_unpair(&a, &b);
}

/* @a sends to a peer without a receive; ends within the limit of @cfg. */
static void waits_end(const struct pier_rdma_config *cfg, int sends)
{
	int status[4] = { -EINPROGRESS, -EINPROGRESS, -EINPROGRESS,
			  -EINPROGRESS };
	int i;

	if (!peer_pair(&a, &b, dev, cfg, LEN))
		return;
	for (i = 0; i < sends; i++)
		IS(pier_rdma_send(a.conn, NULL, peer_done, &status[i]), 0);
	for (i = 0; i < sends; i++)
		IS(peer_await(&status[i]), -ECANCELED);
	IS(pier_conn_state(a.conn), PIER_CONN_ERROR);
	IS(pier_conn_error(a.conn), -PIER_ERNR);
	OK(strstr(pier_conn_error_text(a.conn), "rnr_timeout_ms"));
	OK(strstr(pier_conn_error_text(a.conn), " 300 ms"));
	peer_unpair(&a, &b);
}

/* @b receives what @a has sent as *@sent. */
static void take(const int *sent)
{
	static int got;			/* a stop may complete it later */

	got = -EINPROGRESS;
	IS(pier_rdma_receive(b.rdma, NULL, peer_done, &got), 0);
	IS(peer_await(sent), 0);
	IS(peer_await(&got), 0);
}

/* Of a device that does not report RNR NAKs. */
static void the_limit_has_no_effect_on_this_device(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg),
					.rnr_timeout_ms = 100 };
	int sent = -EINPROGRESS;

	if (!peer_pair(&a, &b, dev, &cfg, LEN))
		return;
	IS(pier_rdma_send(a.conn, NULL, peer_done, &sent), 0);
	peer_drive_quietly(300);
	if (IS(sent, -EINPROGRESS))
		take(&sent);
	IS(pier_conn_state(a.conn), PIER_CONN_CONNECTED);
	peer_unpair(&a, &b);
}

static void a_peer_that_never_receives_is_given_up_after_the_limit(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg),
					.rnr_timeout_ms = 300 };

	waits_end(&cfg, 1);
	waits_end(&cfg, 4);
	cfg.keepalive_ms = PIER_ZERO;	/* it does not depend on that */
	waits_end(&cfg, 2);
}

/*
 * Each receive of a slow peer begins the limit again.  What is left of it is
 * more than a stop of this process counts.
 */
static void a_peer_that_receives_now_and_then_is_not(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg),
					.rnr_timeout_ms = 3200 };
	int first = -EINPROGRESS, second = -EINPROGRESS;

	if (!peer_pair(&a, &b, dev, &cfg, LEN))
		return;
	IS(pier_rdma_send(a.conn, NULL, peer_done, &first), 0);
	IS(pier_rdma_send(a.conn, NULL, peer_done, &second), 0);
	peer_drive_quietly(2000);
	take(&first);
	peer_drive_quietly(2000);
	take(&second);
	IS(pier_conn_state(a.conn), PIER_CONN_CONNECTED);
	peer_unpair(&a, &b);
}

/* Both ends stand still, as on a host that is paused. */
static void a_pause_of_the_host_is_not_the_peers(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg),
					.rnr_timeout_ms = 2800 };
	int sent = -EINPROGRESS;
	long long end;

	if (!peer_pair(&a, &b, dev, &cfg, LEN))
		return;
	IS(pier_rdma_send(a.conn, NULL, peer_done, &sent), 0);
	peer_drive_quietly(300);
	for (end = limit_now_ms() + 3000; limit_now_ms() < end;)
		;
	peer_drive_quietly(100);
	take(&sent);
	IS(pier_conn_state(a.conn), PIER_CONN_CONNECTED);
	peer_unpair(&a, &b);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(a_wait_for_a_message_ends_with_the_connection);
	TEST(a_wait_for_a_message_has_the_error_of_the_connection);
	TEST(a_wait_that_begins_after_the_end_ends);
	TEST(a_connection_that_is_destroyed_meanwhile_has_ended);
	TEST(a_message_from_before_the_end_is_received);
	TEST(a_reply_is_waited_for_on_its_connection);
	TEST(only_a_receive_and_its_context_s_connection_will_do);
	TEST(a_timeout_names_the_receive_that_the_peer_lacks);
	TEST(a_receive_that_the_peer_lacks_is_logged_once_a_connection);
	TEST(a_stop_does_not_wait_long_for_a_receive_of_the_peer_s);
	if (dev->fabric->qp->rnr) {
		TEST(a_peer_that_never_receives_is_given_up_after_the_limit);
		TEST(a_peer_that_receives_now_and_then_is_not);
		TEST(a_pause_of_the_host_is_not_the_peers);
	} else {
		TEST(the_limit_has_no_effect_on_this_device);
	}
	pier_dev_close(dev);
	return tap_done();
}
