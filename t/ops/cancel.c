/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "t/lib/limit.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * RDMA tasks that are taken back.  A send without a receive at the peer does
 * not finish, nor does what is submitted after it.
 */
#define LEN 4096
#define SHORT_MS 20		/* too short for what does not finish */

static struct pier_dev *dev;
static struct peer a, b;

static bool open_both(void)
{
	return peer_pair(&a, &b, dev, NULL, LEN);
}

static void close_both(void)
{
	peer_unpair(&a, &b);
}

static struct pier_task *send_of(struct pier_buf *src)
{
	struct pier_task *task = NULL;

	IS(pier_rdma_task_send(a.conn, src, &task), 0);
	return task;
}

/* The tutorial's pattern in a function: @status is gone when it returns. */
static int send_and_wait(struct pier_task *task)
{
	volatile int status = -EINPROGRESS;
	int err;

	pier_task_set_done(task, peer_done, (void *)(uintptr_t)&status);
	err = pier_task_run(task, SHORT_MS);
	IS(status, -ECANCELED);		/* its callback has run */
	return err;
}

static void a_wait_that_times_out_leaves_nothing_in_flight(void)
{
	struct pier_buf *src;
	struct pier_task *task;

	if (!open_both())
		return;
	src = peer_data(&a, 0, 8);
	task = send_of(src);
	IS(send_and_wait(task), -ETIMEDOUT);
	LIKE(pier_last_error(), "send: not finished after 20 ms: ");
	LIKE(pier_last_error(), "cancelled in flight");
	OK(!strstr(pier_last_error() + 1, "rdma: "));	/* once */
	IS(pier_task_status(task), -ECANCELED);
	IS(pier_ctx_inflight(pier_rdma_ctx(a.rdma)), 0);
	IS(pier_buf_refs(src), 1);
	IS(pier_task_free(task), 0);
	pier_buf_put(src);
	close_both();
}

static void what_cannot_be_recalled_ends_the_connection_which_reports_it(void)
{
	struct pier_buf *src;
	struct pier_task *task;

	if (!open_both())
		return;
	src = peer_data(&a, 0, 8);
	task = send_of(src);
	IS(pier_task_submit(task, 0), 0);
	IS(pier_task_cancel(task), 0);
	IS(pier_task_status(task), -EINPROGRESS);
	IS(pier_conn_state(a.conn), PIER_CONN_ERROR);
	IS(pier_conn_error(a.conn), -ECANCELED);
	LIKE(pier_conn_error_text(a.conn), "send to ");
	LIKE(pier_conn_error_text(a.conn), " cancelled in flight: what is "
	     "posted cannot be recalled: the connection ends");
	OK(peer_quiet(&a));
	IS(pier_task_status(task), -ECANCELED);
	LIKE(pier_task_error_text(task), "cancelled in flight");
	IS(pier_task_cancel(task), 0);	/* it is not in flight */
	pier_task_free(task);
	pier_buf_put(src);
	close_both();
}

/* Its status was returned: the program, which frees it, gets it once. */
static void one_that_was_waited_for_is_not_retrieved(void)
{
	int first = -EINPROGRESS, second = -EINPROGRESS;
	struct pier_event event;
	struct pier_task *task;

	if (!open_both())
		return;
	IS(pier_rdma_receive(b.rdma, NULL, peer_done, &first), 0);
	IS(pier_rdma_receive(b.rdma, NULL, peer_done, &second), 0);
	task = send_of(NULL);
	IS(pier_task_run(task, LIMIT_MS), 0);
	IS(pier_pe_retrieve(a.pe, &event), -EAGAIN);
	IS(pier_task_set_timeout_ms(task, LIMIT_MS), 0);
	IS(pier_task_submit(task, 0), 0);
	OK(peer_quiet(&a));
	IS(pier_task_wait(task, 0), 0);		/* it was finished before */
	IS(pier_pe_retrieve(a.pe, &event), -EAGAIN);
	IS(pier_task_free(task), 0);
	IS(peer_await(&second), 0);
	close_both();
}

static void a_read_that_is_cancelled_writes_nothing_any_more(void)
{
	struct pier_buf *src, *far, *dst, *into;
	struct pier_task *send, *read, *recv;

	if (!open_both())
		return;
	src = peer_data(&a, 0, 8);
	far = peer_far_data(&a, 0, 64);
	dst = peer_tail(&a, 64, 64);
	into = peer_tail(&b, 128, 64);
	memset(b.mem, 'x', 64);
	send = send_of(src);
	IS(pier_task_submit(send, 0), 0);
	IS(pier_rdma_task_read(a.conn, far, dst, &read), 0);
	IS(pier_task_run(read, SHORT_MS), -ETIMEDOUT);
	IS(pier_task_status(send), -ECANCELED);
	IS(pier_buf_data_len(dst), 0);

	/* now the peer could answer */
	IS(pier_rdma_task_receive(b.rdma, into, &recv), 0);
	IS(pier_task_submit(recv, 0), 0);
	peer_drive_quietly(50);
	IS(a.mem[64], 0);
	pier_task_free(send);
	pier_task_free(read);
	IS(pier_ctx_stop_wait(pier_rdma_ctx(b.rdma), PEER_LIMIT_MS), 0);
	pier_task_free(recv);
	pier_buf_put(src);
	pier_buf_put(far);
	pier_buf_put(dst);
	pier_buf_put(into);
	close_both();
}

/* Writes of a byte each, deferred, of which number @which is cancelled. */
static void cancel_deferred(int which)
{
	struct pier_task *task[3];
	struct pier_buf *bufs[6];
	int status[3] = { -EINPROGRESS, -EINPROGRESS, -EINPROGRESS };

	memset(b.mem, 0, 3);
	for (size_t i = 0; i < 3; i++) {
		a.mem[i] = 'a';
		bufs[2 * i] = peer_data(&a, i, 1);
		bufs[2 * i + 1] = peer_far_tail(&a, i, 1);
		IS(pier_rdma_task_write(a.conn, bufs[2 * i], bufs[2 * i + 1],
					&task[i]), 0);
		pier_task_set_done(task[i], peer_done, &status[i]);
		IS(pier_task_submit(task[i], PIER_SUBMIT_MORE), 0);
	}
	IS(pier_task_cancel(task[which]), 0);
	IS(status[which], -EINPROGRESS);	/* not inside the call */
	for (int i = 0; i < 3; i++) {
		IS(peer_await(&status[i]), i == which ? -ECANCELED : 0);
		IS(b.mem[i], i == which ? 0 : 'a');
	}
	LIKE(pier_task_error_text(task[which]), "write: cancelled");
	status[which] = -EINPROGRESS;		/* it can be used again */
	IS(pier_task_submit(task[which], 0), 0);
	IS(peer_await(&status[which]), 0);
	IS(b.mem[which], 'a');
	for (int i = 0; i < 3; i++)
		pier_task_free(task[i]);
	for (int i = 0; i < 6; i++)
		pier_buf_put(bufs[i]);
}

static void one_that_is_deferred_is_taken_back_alone(void)
{
	if (!open_both())
		return;
	for (int i = 0; i < 3; i++)
		cancel_deferred(i);
	IS(pier_conn_state(a.conn), PIER_CONN_CONNECTED);
	close_both();
}

/* All that was deferred is taken back: nothing is to be posted. */
static void the_only_one_that_is_deferred_is_taken_back(void)
{
	struct pier_buf *src;
	struct pier_task *task;

	if (!open_both())
		return;
	src = peer_data(&a, 0, 8);
	task = send_of(src);
	IS(pier_task_submit(task, PIER_SUBMIT_MORE), 0);
	IS(pier_task_cancel(task), 0);
	OK(peer_quiet(&a));
	IS(pier_task_status(task), -ECANCELED);
	IS(pier_conn_state(a.conn), PIER_CONN_CONNECTED);
	pier_task_free(task);
	pier_buf_put(src);
	close_both();
}

/* The next message goes to the receive that was not cancelled. */
static void deliver(struct pier_task *other)
{
	struct pier_buf *src = peer_data(&a, 0, 8);
	struct pier_task *send = send_of(src);
	static int status;	/* @other keeps its address */

	status = -EINPROGRESS;
	pier_task_set_done(other, peer_done, &status);
	IS(pier_task_run(send, PEER_LIMIT_MS), 0);
	IS(peer_await(&status), 0);
	IS(pier_conn_state(b.conn), PIER_CONN_CONNECTED);
	pier_task_free(send);
	pier_buf_put(src);
}

/*
 * A device that gives no receive back: only the end of the context does, which
 * a wait accepts.
 */
static void a_receive_is_taken_back_or_its_context_stops(void)
{
	struct pier_buf *dst[2];
	struct pier_task *recv[2];
	int err;

	if (!open_both())
		return;
	for (size_t i = 0; i < 2; i++) {
		dst[i] = peer_tail(&b, i * 64, 64);
		IS(pier_rdma_task_receive(b.rdma, dst[i], &recv[i]), 0);
		IS(pier_task_submit(recv[i], 0), 0);
	}
	err = pier_task_cancel(recv[0]);
	if (err)
		IS(err, -EOPNOTSUPP);
	IS(pier_task_cancel(recv[0]), err);	/* twice is once */
	IS(pier_task_wait(recv[0], err ? SHORT_MS : -1),
	   err ? -ETIMEDOUT : -ECANCELED);
	IS(pier_task_status(recv[0]), -ECANCELED);
	if (err)
		IS(pier_task_status(recv[1]), -ECANCELED);
	else
		deliver(recv[1]);
	if (!err)	/* one after another that is filled */
		IS(pier_task_run(recv[1], SHORT_MS), -ETIMEDOUT);
	for (int i = 0; i < 2; i++) {
		IS(pier_task_free(recv[i]), 0);
		pier_buf_put(dst[i]);
	}
	close_both();
}

static void wait_in_callback(struct pier_task *task, void *arg)
{
	struct pier_task **other = arg;

	(void)task;
	IS(pier_task_wait(other[0], 0), -EBUSY);
	IS(pier_task_run(other[1], 0), -EBUSY);
	IS(pier_task_status(other[0]), -EINPROGRESS);
	IS(pier_task_status(other[1]), 0);
	IS(pier_task_cancel(other[0]), 0);
	IS(pier_task_status(other[0]), -EINPROGRESS);
}

static void a_callback_cancels_but_does_not_wait(void)
{
	struct pier_buf *src, *dst;
	struct pier_task *write, *other[2];

	if (!open_both())
		return;
	src = peer_data(&a, 0, 8);
	dst = peer_far_tail(&a, 0, 8);
	other[0] = send_of(src);
	other[1] = send_of(src);
	IS(pier_rdma_task_write(a.conn, src, dst, &write), 0);
	pier_task_set_done(write, wait_in_callback, other);
	IS(pier_task_submit(write, 0), 0);
	IS(pier_task_submit(other[0], 0), 0);
	OK(peer_quiet(&a));
	IS(pier_task_status(write), 0);
	IS(pier_task_status(other[0]), -ECANCELED);
	pier_task_free(write);
	pier_task_free(other[0]);
	pier_task_free(other[1]);
	pier_buf_put(src);
	pier_buf_put(dst);
	close_both();
}

/* A task of its own, whose callback frees it. */
static void free_it(struct pier_task *task, void *arg)
{
	*(int *)arg = pier_task_status(task);
	IS(pier_task_free(task), 0);
}

static void a_task_that_its_callback_frees_is_waited_for(void)
{
	struct pier_buf *src;
	struct pier_task *task;
	int status = 0;

	if (!open_both())
		return;
	src = peer_data(&a, 0, 8);
	task = send_of(src);
	pier_task_set_done(task, free_it, &status);
	IS(pier_task_run(task, SHORT_MS), -ETIMEDOUT);
	IS(status, -ECANCELED);
	IS(pier_task_may_free(task), false);
	pier_buf_put(src);
	close_both();
}

static void a_task_is_run_once_and_freed(void)
{
	struct pier_buf *src, *dst;
	struct pier_task *task;
	struct pier_event event;

	if (!open_both())
		return;
	src = peer_data(&a, 0, 8);
	dst = peer_far_tail(&a, 0, 8);
	IS(pier_rdma_task_write(a.conn, src, dst, &task), 0);
	IS(pier_task_once(task, PEER_LIMIT_MS), 0);
	IS(pier_task_may_free(task), false);
	task = send_of(src);
	IS(pier_task_once(task, SHORT_MS), -ETIMEDOUT);
	IS(pier_task_may_free(task), false);
	task = send_of(src);
	IS(pier_task_once(task, 0), -ENOTCONN);	/* it was cancelled */
	IS(pier_task_may_free(task), false);
	IS(pier_pe_retrieve(a.pe, &event), -EAGAIN);
	pier_buf_put(src);
	pier_buf_put(dst);
	close_both();
}

static void an_abandoned_task_is_freed_without_its_callback(void)
{
	struct pier_buf *src;
	struct pier_task *task;
	int status = 1;

	if (!open_both())
		return;
	src = peer_data(&a, 0, 8);
	task = send_of(src);
	pier_task_set_done(task, peer_done, &status);
	IS(pier_task_submit(task, 0), 0);
	pier_task_abandon(task);
	IS(pier_task_free(task), -EBUSY);
	OK(peer_quiet(&a));
	IS(status, 1);
	IS(pier_task_free(task), -EINVAL);	/* it was freed */
	IS(pier_buf_refs(src), 1);
	task = send_of(src);
	pier_task_abandon(task);
	IS(pier_task_free(task), -EINVAL);
	pier_task_abandon(NULL);
	pier_buf_put(src);
	close_both();
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(a_wait_that_times_out_leaves_nothing_in_flight);
	TEST(one_that_was_waited_for_is_not_retrieved);
	TEST(what_cannot_be_recalled_ends_the_connection_which_reports_it);
	TEST(a_read_that_is_cancelled_writes_nothing_any_more);
	TEST(one_that_is_deferred_is_taken_back_alone);
	TEST(the_only_one_that_is_deferred_is_taken_back);
	TEST(a_receive_is_taken_back_or_its_context_stops);
	TEST(a_callback_cancels_but_does_not_wait);
	TEST(a_task_that_its_callback_frees_is_waited_for);
	TEST(a_task_is_run_once_and_freed);
	TEST(an_abandoned_task_is_freed_without_its_callback);
	pier_dev_close(dev);
	return tap_done();
}
