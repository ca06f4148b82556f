/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* Submitting until a queue is full. */

#define LEN 4096
#define QUEUE 4
#define SENDS 200

static struct pier_dev *dev;

/* A pair of peers whose queues take QUEUE tasks. */
static bool small_pair(struct peer *a, struct peer *b)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg),
					.conn_send_queue = QUEUE,
					.recv_queue = QUEUE,
					.recv_tasks = 1000 };

	return peer_pair(a, b, dev, &cfg, LEN);
}

static void count(struct pier_task *task, void *arg)
{
	*(int *)arg += pier_task_status(task) == 0;
}

static const char bad_flags[] = ": unknown flags 0x8, allowed are 0x1";

/* Make @task fail with a message that must stay the last one. */
static void fail_otherwise(struct pier_task *task)
{
	IS(pier_task_submit(task, 8), -EINVAL);
	LIKE(pier_last_error(), bad_flags);
}

static void a_full_send_queue_is_no_error_message(void)
{
	struct pier_task *tasks[QUEUE + 1];
	struct peer a, b;
	int i, sent = 0, got = 0;

	if (!small_pair(&a, &b))
		return;
	for (i = 0; i <= QUEUE; i++) {
		IS(pier_rdma_task_send(a.conn, NULL, &tasks[i]), 0);
		pier_task_set_done(tasks[i], count, &sent);
	}
	for (i = 0; i < QUEUE; i++)
		IS(pier_task_try_submit(tasks[i], 0), 0);
	fail_otherwise(tasks[QUEUE]);
	IS(pier_task_try_submit(tasks[QUEUE], 0), -EAGAIN);
	LIKE(pier_last_error(), bad_flags);
	IS(pier_task_status(tasks[QUEUE]), 0);
	IS(pier_ctx_inflight(pier_rdma_ctx(a.rdma)), QUEUE);
	IS(pier_task_submit(tasks[QUEUE], 0), -EAGAIN);
	LIKE(pier_last_error(), "as many as conn_send_queue allows");
	for (i = 0; i < QUEUE; i++)
		IS(pier_rdma_receive(b.rdma, NULL, count, &got), 0);
	OK(peer_count(&sent, QUEUE));
	IS(pier_task_try_submit(tasks[QUEUE], 0), 0);
	IS(pier_rdma_receive(b.rdma, NULL, count, &got), 0);
	OK(peer_count(&got, QUEUE + 1));
	OK(peer_count(&sent, QUEUE + 1));
	for (i = 0; i <= QUEUE; i++)
		IS(pier_task_free(tasks[i]), 0);
	peer_unpair(&a, &b);
}

static void count_and_free(struct pier_task *task, void *arg)
{
	++*(int *)arg;
	IS(pier_task_free(task), 0);
}

static void a_full_receive_queue_is_no_error_message(void)
{
	struct pier_task *task = NULL;
	struct peer a, b;
	int err = 0, got = 0;

	if (!small_pair(&a, &b))
		return;
	while (!err && IS(pier_rdma_task_receive(b.rdma, NULL, &task), 0)) {
		pier_task_set_done(task, count_and_free, &got);
		fail_otherwise(task);
		err = pier_task_try_submit(task, 0);
		got -= !err;
	}
	IS(err, -EAGAIN);
	LIKE(pier_last_error(), bad_flags);
	pier_task_free(task);
	peer_unpair(&a, &b);
	IS(got, 0);
}

static void what_else_fails_is_reported_as_by_submit(void)
{
	struct pier_task *task;
	struct peer a, b;
	int sent = 0, got = 0;

	if (!small_pair(&a, &b))
		return;
	IS(pier_rdma_task_receive(b.rdma, NULL, &task), 0);
	pier_task_set_done(task, count, &got);
	IS(pier_task_try_submit(task, 8), -EINVAL);
	LIKE(pier_last_error(), "unknown flags 0x8");
	IS(pier_task_try_submit(task, 0), 0);
	IS(pier_task_try_submit(task, 0), -EBUSY);
	LIKE(pier_last_error(), "submitted twice");
	IS(pier_rdma_send(a.conn, NULL, count, &sent), 0);
	OK(peer_count(&got, 1));
	OK(peer_count(&sent, 1));
	pier_conn_disconnect(b.conn);
	IS(pier_ctx_stop(pier_rdma_ctx(b.rdma)), -EINPROGRESS);
	IS(pier_task_try_submit(task, 0), -ESHUTDOWN);
	LIKE(pier_last_error(), "the context is stopping");
	pier_task_free(task);
	peer_unpair(&a, &b);
}

/* A receive that is posted again and again. */
static void receive_again(struct pier_task *task, void *arg)
{
	if (pier_task_status(task))
		return;
	++*(int *)arg;
	IS(pier_task_try_submit(task, 0), 0);
}

static void everything_is_sent_through_a_small_queue(void)
{
	struct pier_task *tasks[QUEUE], *task;
	struct peer a, b;
	int i, full = 0, sent = 0, got = 0, tried = 0;
	long long limit = limit_from_now();

	if (!small_pair(&a, &b))
		return;
	for (i = 0; i < QUEUE; i++) {
		IS(pier_rdma_receive(b.rdma, NULL, receive_again, &got), 0);
		IS(pier_rdma_task_send(a.conn, NULL, &tasks[i]), 0);
		pier_task_set_done(tasks[i], count, &sent);
	}
	IS(pier_rdma_task_send(a.conn, NULL, &task), 0);
	while (tried < SENDS && peer_step(limit)) {
		for (i = 0; i < QUEUE && tried < SENDS; i++)
			tried += pier_task_try_submit(tasks[i], 0) == 0;
		full += pier_task_try_submit(task, 0) == -EAGAIN;
	}
	OK(peer_count(&sent, SENDS));
	OK(peer_count(&got, SENDS));
	OK(full > 0);
	for (i = 0; i < QUEUE; i++)
		pier_task_free(tasks[i]);
	pier_task_free(task);
	peer_unpair(&a, &b);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(a_full_send_queue_is_no_error_message);
	TEST(a_full_receive_queue_is_no_error_message);
	TEST(what_else_fails_is_reported_as_by_submit);
	TEST(everything_is_sent_through_a_small_queue);
	pier_dev_close(dev);
	return tap_done();
}
