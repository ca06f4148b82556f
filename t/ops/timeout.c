/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "cm/conn_impl.h"
#include "t/lib/graphs.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * Timeouts of tasks, which the engine ends by itself.  A send without a receive
 * at the peer does not finish.
 */
#define LEN 4096
#define SHORT_MS 20		/* too short for what does not finish */
#define MANY 200

static struct pier_dev *dev;
static struct peer a, b;

static bool open_both(void)
{
	return peer_pair(&a, &b, dev, NULL, LEN);
}

/* The same with a timeout of the tasks of a's context. */
static bool open_with(int timeout_ms)
{
	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	return peer_create(&a, dev, NULL, NULL, LEN) &&
	       IS(pier_ctx_set_task_timeout_ms(pier_rdma_ctx(a.rdma),
					       timeout_ms), 0) &&
	       IS(pier_ctx_start(pier_rdma_ctx(a.rdma), a.pe), 0) &&
	       peer_open(&b, dev, a.pe, NULL, LEN) && peer_join(&a, &b);
}

static void a_task_whose_time_is_over_ends_its_connection_which_reports_it(void)
{
	int status = -EINPROGRESS, other = -EINPROGRESS;
	struct pier_task *task;
	struct pier_buf *src;

	if (!open_both())
		return;
	src = peer_data(&a, 0, 8);
	IS(pier_rdma_task_send(a.conn, src, &task), 0);
	pier_task_set_done(task, peer_done, &status);
	IS(pier_task_set_timeout_ms(task, SHORT_MS), 0);
	IS(pier_task_submit(task, 0), 0);
	IS(pier_rdma_send(a.conn, NULL, peer_done, &other), 0);
	IS(peer_await(&status), -ETIMEDOUT);
	IS(peer_await(&other), -ECANCELED);
	IS(pier_task_status(task), -ETIMEDOUT);
	LIKE(pier_task_error_text(task),
	     "rdma: send: not finished after 20 ms: the peer has no receive");
	LIKE(pier_task_error_text(task), "cancelled in flight");
	IS(pier_task_error_scope(task), PIER_SCOPE_CONN);
	IS(pier_conn_state(a.conn), PIER_CONN_ERROR);
	LIKE(pier_conn_error_text(a.conn), "send to ");
	LIKE(pier_conn_error_text(a.conn), "the connection ends");
	IS(pier_buf_refs(src), 1);
	IS(pier_ctx_state(pier_rdma_ctx(a.rdma)), PIER_CTX_RUNNING);
	IS(pier_task_free(task), 0);
	pier_buf_put(src);
	peer_unpair(&a, &b);
}

static void one_shots_have_the_timeout_of_their_context(void)
{
	int status = -EINPROGRESS;

	if (open_with(SHORT_MS)) {
		IS(pier_rdma_send(a.conn, NULL, peer_done, &status), 0);
		IS(peer_await(&status), -ETIMEDOUT);
		IS(pier_ctx_inflight(pier_rdma_ctx(a.rdma)), 0);
	}
	peer_unpair(&a, &b);
}

static void a_task_without_one_of_its_own_has_that_of_its_context(void)
{
	struct pier_task *task, *endless;

	if (open_with(SHORT_MS)) {
		IS(pier_rdma_task_send(a.conn, NULL, &task), 0);
		IS(pier_rdma_task_send(a.conn, NULL, &endless), 0);
		IS(pier_task_set_timeout_ms(endless, 0), 0);
		IS(pier_task_submit(endless, 0), 0);
		peer_drive_quietly(2 * SHORT_MS);
		IS(pier_task_status(endless), -EINPROGRESS);
		IS(pier_task_submit(task, 0), 0);
		OK(peer_quiet(&a));
		IS(pier_task_status(task), -ETIMEDOUT);
		IS(pier_task_status(endless), -ECANCELED);
		IS(pier_task_free(task), 0);
		IS(pier_task_free(endless), 0);
	}
	peer_unpair(&a, &b);
}

static void tasks_that_finish_in_time_are_not_affected(void)
{
	struct pier_buf *src, *dst;
	struct pier_task *task;

	if (!open_both())
		return;
	src = peer_data(&a, 0, 8);
	dst = peer_far_tail(&a, 0, 8);
	IS(pier_rdma_task_write(a.conn, src, dst, &task), 0);
	IS(pier_task_set_timeout_ms(task, 10000), 0);
	for (int i = 0; i < MANY && tap_holds(); i++) {
		pier_buf_reset(dst);
		IS(pier_task_run(task, PEER_LIMIT_MS), 0);
	}
	pier_buf_reset(dst);
	IS(pier_task_set_timeout_ms(task, SHORT_MS), 0);
	if (pier_task_run(task, PEER_LIMIT_MS) == 0) {	/* it may be late */
		peer_drive_quietly(2 * SHORT_MS);
		IS(pier_conn_state(a.conn), PIER_CONN_CONNECTED);
	}
	IS(pier_task_free(task), 0);
	pier_buf_put(src);
	pier_buf_put(dst);
	peer_unpair(&a, &b);
}

/* A device that gives no receive back: its context stops. */
static void a_receive_whose_time_is_over_ends_alone_or_with_its_context(void)
{
	int status = -EINPROGRESS;
	struct pier_task *task;
	bool alone;

	if (!open_both())
		return;
	alone = a.conn->queues->fab->srq_recall;
	IS(pier_rdma_task_receive(a.rdma, NULL, &task), 0);
	pier_task_set_done(task, peer_done, &status);
	IS(pier_task_set_timeout_ms(task, SHORT_MS), 0);
	IS(pier_task_submit(task, 0), 0);
	IS(peer_await(&status), -ETIMEDOUT);
	LIKE(pier_task_error_text(task), "receive: not finished after 20 ms");
	if (alone)
		IS(pier_conn_state(a.conn), PIER_CONN_CONNECTED);
	else
		IS(pier_task_error_scope(task), PIER_SCOPE_CTX);
	IS(pier_task_free(task), 0);
	peer_unpair(&a, &b);
}

static void a_wait_returns_what_the_timeout_made(void)
{
	struct pier_task *task;

	if (!open_both())
		return;
	IS(pier_rdma_task_send(a.conn, NULL, &task), 0);
	IS(pier_task_set_timeout_ms(task, SHORT_MS), 0);
	IS(pier_task_run(task, -1), -ETIMEDOUT);
	LIKE(pier_last_error(), "send: not finished after 20 ms");
	IS(pier_task_free(task), 0);
	peer_unpair(&a, &b);
}

static void a_callback_may_be_changed_in_flight(void)
{
	int never = -EINPROGRESS, status = -EINPROGRESS;
	struct pier_task *task;

	if (!open_both())
		return;
	IS(pier_rdma_task_send(a.conn, NULL, &task), 0);
	pier_task_set_done(task, peer_done, &never);
	IS(pier_task_set_timeout_ms(task, SHORT_MS), 0);
	IS(pier_task_submit(task, 0), 0);
	pier_task_set_done(task, peer_done, &status);
	IS(peer_await(&status), -ETIMEDOUT);
	IS(never, -EINPROGRESS);
	IS(pier_task_free(task), 0);
	peer_unpair(&a, &b);
}

static void timeouts_are_checked(void)
{
	struct pier_ctx *ctx;
	struct pier_task *task;

	if (!open_both())
		return;
	ctx = pier_rdma_ctx(a.rdma);
	IS(pier_ctx_set_task_timeout_ms(ctx, SHORT_MS), -EBUSY);
	LIKE(pier_last_error(), "while it is running");
	IS(pier_ctx_set_task_timeout_ms(ctx, -1), -EINVAL);
	IS(pier_rdma_task_send(a.conn, NULL, &task), 0);
	IS(pier_task_set_timeout_ms(task, -1), -EINVAL);
	LIKE(pier_last_error(), "send: a timeout of -1 ms");
	IS(pier_task_submit(task, 0), 0);
	IS(pier_task_set_timeout_ms(task, SHORT_MS), -EBUSY);
	IS(pier_task_cancel(task), 0);
	OK(peer_quiet(&a));
	IS(pier_task_status(task), -ECANCELED);
	IS(pier_task_free(task), 0);
	peer_unpair(&a, &b);
}

static int again(void *arg)
{
	(void)arg;
	return -EAGAIN;
}

/* Start a context of functions whose tasks have a timeout. */
static struct pier_func *open_func(void)
{
	struct pier_func_config cfg = { .size = sizeof(cfg),
					.stop_on_task_error = 1 };
	struct pier_func *func = NULL;

	IS(pier_func_create(&func), 0);
	IS(pier_func_configure(func, &cfg), 0);
	IS(pier_ctx_set_task_timeout_ms(pier_func_ctx(func), SHORT_MS), 0);
	IS(pier_ctx_start(pier_func_ctx(func), graphs.c.pe), 0);
	return func;
}

static void a_function_that_never_finishes_is_called_no_more(void)
{
	struct pier_func *func;
	struct pier_task *task;
	struct pier_ctx *ctx;

	if (!graphs_open(dev))
		return;
	func = open_func();
	ctx = pier_func_ctx(func);
	IS(pier_func_task_call(func, again, NULL, &task), 0);
	IS(pier_task_submit(task, 0), 0);
	IS(copier_wait(&graphs.c, task), -ETIMEDOUT);
	IS(pier_ctx_state(ctx) == PIER_CTX_RUNNING, false);
	IS(pier_task_free(task), 0);
	pier_func_destroy(func);
	graphs_close();
}

static void a_context_stops_for_the_task_of_a_node_too(void)
{
	struct graphs_outcome outcome = { 0 };
	struct pier_task *task, *instance;
	struct pier_graph_node *node;
	struct pier_func *func;

	if (!graphs_open(dev))
		return;
	func = open_func();
	node = graphs_ctx_node(pier_func_ctx(func));
	IS(pier_func_task_call(func, again, NULL, &task), 0);
	if (graphs_start(graphs.graph)) {
		instance = graphs_instance(graphs.graph);
		IS(pier_graph_task_set_task(instance, node, task), 0);
		IS(graphs_run(instance, &outcome), -ETIMEDOUT);
		OK(pier_ctx_state(pier_func_ctx(func)) != PIER_CTX_RUNNING);
		IS(pier_task_free(instance), 0);
	}
	IS(pier_task_free(task), 0);
	pier_func_destroy(func);
	graphs_close();
}

/* With nothing else that would wake it. */
static void a_program_that_arms_submits_and_sleeps_is_woken(void)
{
	struct pollfd fd = { .events = POLLIN };
	int status = -EINPROGRESS;
	struct pier_task *task;
	struct pier_buf *dst;

	if (peer_open(&a, dev, NULL, NULL, LEN)) {
		fd.fd = pier_pe_fd(a.pe);
		dst = peer_tail(&a, 0, 8);
		IS(pier_rdma_task_receive(a.rdma, dst, &task), 0);
		pier_task_set_done(task, peer_done, &status);
		IS(pier_task_set_timeout_ms(task, SHORT_MS), 0);
		while (pier_pe_arm(a.pe) == -EAGAIN)
			pier_pe_progress(a.pe, 1);
		IS(pier_task_submit(task, 0), 0);
		while (status == -EINPROGRESS &&
		       OK(poll(&fd, 1, LIMIT_MS) == 1)) {
			do
				pier_pe_progress(a.pe, 1);
			while (pier_pe_arm(a.pe) == -EAGAIN);
		}
		IS(status, -ETIMEDOUT);
		IS(pier_task_free(task), 0);
		pier_buf_put(dst);
	}
	peer_close(&a);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(a_task_whose_time_is_over_ends_its_connection_which_reports_it);
	TEST(one_shots_have_the_timeout_of_their_context);
	TEST(a_task_without_one_of_its_own_has_that_of_its_context);
	TEST(tasks_that_finish_in_time_are_not_affected);
	TEST(a_receive_whose_time_is_over_ends_alone_or_with_its_context);
	TEST(a_wait_returns_what_the_timeout_made);
	TEST(a_callback_may_be_changed_in_flight);
	TEST(timeouts_are_checked);
	TEST(a_function_that_never_finishes_is_called_no_more);
	TEST(a_context_stops_for_the_task_of_a_node_too);
	TEST(a_program_that_arms_submits_and_sleeps_is_woken);
	pier_dev_close(dev);
	return tap_done();
}
