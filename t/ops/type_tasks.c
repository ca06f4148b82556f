/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* Numbers of preallocated tasks by type. */

#define LEN 4096
#define CPU PIER_SYNC_EVENT_CPU

static struct pier_dev *dev;

/* Take, and submit, each task of some types; free it at the end. */
static struct pier_task *held[16];
static int held_count, done;

static void count(struct pier_task *task, void *arg)
{
	(void)arg;
	IS(pier_task_status(task), 0);
	done++;
}

static void hold(int err, struct pier_task *const *task)
{
	if (!IS(err, 0))
		return;
	pier_task_set_done(*task, count, NULL);
	IS(pier_task_submit(*task, 0), 0);
	held[held_count++] = *task;
}

static void free_held(void)
{
	while (held_count)
		IS(pier_task_free(held[--held_count]), 0);
	done = 0;
}

static int send_one(struct peer *peer, struct pier_task **ret)
{
	return pier_rdma_task_send(peer->conn, NULL, ret);
}

static void each_type_has_its_number(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg) };
	struct pier_task *task = NULL;
	struct peer a, b;

	cfg.type_tasks[PIER_TASK_SEND] = 3;
	cfg.type_tasks[PIER_TASK_WRITE] = 1;
	cfg.type_tasks[PIER_TASK_RECEIVE] = 3;
	if (!peer_pair(&a, &b, dev, &cfg, LEN))
		return;
	for (int i = 0; i < 3; i++) {
		hold(pier_rdma_task_receive(b.rdma, NULL, &task), &task);
		hold(send_one(&a, &task), &task);
	}
	hold(pier_rdma_task_write(a.conn, NULL, NULL, &task), &task);
	IS(send_one(&a, &task), -ENOBUFS);
	LIKE(pier_last_error(), "all 3 tasks of the type send are taken");
	IS(pier_rdma_task_write(a.conn, NULL, NULL, &task), -ENOBUFS);
	LIKE(pier_last_error(), "all 1 tasks of the type write are taken");
	IS(pier_rdma_task_read(a.conn, NULL, NULL, &task), -ENOBUFS);
	LIKE(pier_last_error(), "type_tasks has no tasks of the type read");
	IS(pier_rdma_task_receive(b.rdma, NULL, &task), -ENOBUFS);
	LIKE(pier_last_error(), "all 3 tasks of the type receive are taken");
	LIKE(pier_last_error(), "or raise type_tasks");
	OK(peer_count(&done, 7));
	IS(pier_task_free(held[1]), 0);
	IS(pier_rdma_task_write(a.conn, NULL, NULL, &task), -ENOBUFS);
	IS(send_one(&a, &held[1]), 0);
	IS(send_one(&a, &task), -ENOBUFS);
	free_held();
	peer_unpair(&a, &b);
}

static void a_context_counts_anew_after_each_start(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg) };
	struct pier_task *task, *other;
	struct peer a, b;

	cfg.type_tasks[PIER_TASK_SEND] = 1;
	if (!peer_pair(&a, &b, dev, &cfg, LEN))
		return;
	IS(send_one(&a, &task), 0);
	IS(send_one(&a, &other), -ENOBUFS);
	IS(pier_ctx_stop_wait(pier_rdma_ctx(a.rdma), LIMIT_MS), 0);
	pier_task_free(task);
	cfg.type_tasks[PIER_TASK_SEND] = 0;
	cfg.send_tasks = 2;
	IS(pier_rdma_configure(a.rdma, &cfg), 0);
	pier_conn_destroy(a.conn);
	a.conn = NULL;
	IS(pier_ctx_start(pier_rdma_ctx(a.rdma), a.pe), 0);
	if (OK(peer_export_later(&a))) {
		IS(send_one(&a, &task), 0);
		IS(pier_rdma_task_read(a.conn, NULL, NULL, &other), 0);
		IS(send_one(&a, &held[0]), -ENOBUFS);
		LIKE(pier_last_error(), "all 2 tasks are taken");
		LIKE(pier_last_error(), "or raise send_tasks");
		pier_task_free(task);
		pier_task_free(other);
	}
	peer_unpair(&a, &b);
}

static void queues_are_at_least_as_long_as_the_sum(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg) }, got;
	struct pier_rdma *rdma;

	cfg.type_tasks[PIER_TASK_READ] = 5;
	cfg.type_tasks[PIER_TASK_NOTIFY_SET] = 2;
	cfg.type_tasks[PIER_TASK_RECEIVE] = 6;
	if (!IS(pier_rdma_create(dev, &rdma), 0))
		return;
	IS(pier_rdma_configure(rdma, &cfg), 0);
	pier_rdma_get_config(rdma, &got);
	IS(got.send_tasks, 7);
	IS(got.send_queue, 7);
	IS(got.conn_send_queue, 7);
	IS(got.recv_tasks, 6);
	IS(got.recv_queue, 6);
	IS(got.type_tasks[PIER_TASK_READ], 5);
	IS(pier_rdma_configure(rdma, &got), 0);
	cfg.send_queue = 3;
	cfg.recv_queue = 9;
	IS(pier_rdma_configure(rdma, &cfg), 0);
	pier_rdma_get_config(rdma, &got);
	IS(got.send_queue, 7);
	IS(got.recv_queue, 9);
	IS(got.recv_tasks, 6);
	pier_rdma_destroy(rdma);
}

static void numbers_that_cannot_be_are_refused(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg) };
	uint64_t limit = peer_limit(dev, PIER_LIMIT_TASKS);
	struct pier_rdma *rdma;

	if (!IS(pier_rdma_create(dev, &rdma), 0))
		return;
	cfg.type_tasks[PIER_TASK_COPY] = 1;
	IS(pier_rdma_configure(rdma, &cfg), -EINVAL);
	LIKE(pier_last_error(), "an RDMA context has no tasks of the type "
	     "copy");
	cfg.type_tasks[PIER_TASK_COPY] = 0;
	cfg.type_tasks[PIER_TASK_TYPES - 1] = 4;
	IS(pier_rdma_configure(rdma, &cfg), -EINVAL);
	LIKE(pier_last_error(), "type_tasks[31] 4: an RDMA context");
	cfg.type_tasks[PIER_TASK_TYPES - 1] = 0;
	cfg.type_tasks[PIER_TASK_SEND] = 2;
	cfg.type_tasks[PIER_TASK_SEND_IMM] = 2;
	cfg.send_tasks = 5;
	IS(pier_rdma_configure(rdma, &cfg), -EINVAL);
	LIKE(pier_last_error(), "send_tasks 5: the sum of type_tasks is 4");
	cfg.send_tasks = 4;
	cfg.type_tasks[PIER_TASK_RECEIVE] = 2;
	cfg.recv_tasks = 1;
	IS(pier_rdma_configure(rdma, &cfg), -EINVAL);
	LIKE(pier_last_error(), "recv_tasks 1: the sum of type_tasks is 2");
	cfg.recv_tasks = 2;
	IS(pier_rdma_configure(rdma, &cfg), 0);
	cfg.send_tasks = 0;
	cfg.type_tasks[PIER_TASK_SEND] = (uint32_t)limit - 2;
	IS(pier_rdma_configure(rdma, &cfg), 0);
	cfg.type_tasks[PIER_TASK_SEND]++;
	IS(pier_rdma_configure(rdma, &cfg), -EINVAL);
	LIKE(pier_last_error(), "type_tasks 1048577: 0 to 1048576 in all");
	pier_rdma_destroy(rdma);
}

static void a_sync_event_has_numbers_too(void)
{
	struct pier_sync_event_config cfg = {
		.size = sizeof(cfg), .publisher = CPU, .subscriber = CPU,
	};
	struct pier_sync_event *event;
	struct pier_task *set, *wait[2], *task;
	struct pier_pe *pe;

	if (!IS(pier_pe_create(&pe), 0) ||
	    !IS(pier_sync_event_create(&event), 0))
		return;
	cfg.type_tasks[PIER_TASK_READ] = 1;
	IS(pier_sync_event_configure(event, &cfg), -EINVAL);
	LIKE(pier_last_error(), "a sync event has no tasks of the type read");
	cfg.type_tasks[PIER_TASK_READ] = 0;
	cfg.type_tasks[PIER_TASK_SYNC_SET] = 1;
	cfg.type_tasks[PIER_TASK_SYNC_WAIT_EQ] = 2;
	cfg.tasks = 4;
	IS(pier_sync_event_configure(event, &cfg), -EINVAL);
	LIKE(pier_last_error(), "tasks 4: the sum of type_tasks is 3");
	cfg.tasks = 0;
	IS(pier_sync_event_configure(event, &cfg), 0);
	pier_sync_event_get_config(event, &cfg);
	IS(cfg.tasks, 3);
	IS(pier_ctx_start(pier_sync_event_ctx(event), pe), 0);
	IS(pier_sync_event_task_wait_eq(event, 1, 1, &wait[0]), 0);
	IS(pier_sync_event_task_wait_eq(event, 1, 1, &wait[1]), 0);
	IS(pier_sync_event_task_wait_eq(event, 1, 1, &task), -ENOBUFS);
	LIKE(pier_last_error(), "all 2 tasks of the type sync event wait for "
	     "equal are taken");
	IS(pier_sync_event_task_set(event, 1, &set), 0);
	IS(pier_sync_event_task_set(event, 1, &task), -ENOBUFS);
	IS(pier_sync_event_task_add(event, 1, NULL, &task), -ENOBUFS);
	LIKE(pier_last_error(), "type_tasks has no tasks of the type sync "
	     "event add");
	pier_task_free(set);
	pier_task_free(wait[0]);
	pier_task_free(wait[1]);
	pier_sync_event_destroy(event);
	pier_pe_destroy(pe);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(each_type_has_its_number);
	TEST(a_context_counts_anew_after_each_start);
	TEST(queues_are_at_least_as_long_as_the_sum);
	TEST(numbers_that_cannot_be_are_refused);
	TEST(a_sync_event_has_numbers_too);
	pier_dev_close(dev);
	return tap_done();
}
