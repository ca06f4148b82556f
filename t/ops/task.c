/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* The life of tasks: ways to use them, batches, full queues, pools. */

#define LEN 65536
#define MANY 16		/* tasks, fewer than any queue's default */

static struct pier_dev *dev;
static struct peer a, b;

/* Counts what ended how. */
struct task_tally {
	int calls, ok, cancelled, failed;
	struct pier_task *order[4 * MANY];	/* as they finished */
};

static void count(struct pier_task *task, void *arg)
{
	struct task_tally *tally = arg;
	int status = pier_task_status(task);

	if (tally->calls < 4 * MANY)
		tally->order[tally->calls] = task;
	tally->calls++;
	tally->ok += status == 0;
	tally->cancelled += status == -ECANCELED;
	tally->failed += status && status != -ECANCELED;
}

static void a_task_is_submitted_again_and_again(void)
{
	struct pier_buf *src = peer_data(&a, 0, 100);
	struct pier_buf *dst = peer_far_tail(&a, 0, 100);
	struct pier_task *task;
	int i, status;

	if (!IS(pier_rdma_task_write(a.conn, src, dst, &task), 0))
		return;
	pier_task_set_done(task, peer_done, &status);
	IS(pier_task_type(task), PIER_TASK_WRITE);
	OK(pier_task_ctx(task) == pier_rdma_ctx(a.rdma));
	OK(pier_task_conn(task) == a.conn);
	OK(pier_task_arg(task) == &status);
	for (i = 0; i < 10 && tap_holds(); i++) {
		status = -EINPROGRESS;
		peer_fill(&a, (unsigned int)i);
		IS(pier_task_submit(task, 0), 0);
		IS(pier_task_status(task), -EINPROGRESS);
		IS(peer_await(&status), 0);
		IS(pier_task_status(task), 0);
		OK(peer_holds(&b, 0, 100, (unsigned int)i, 0));
		pier_buf_reset(dst);
	}
	pier_task_free(task);
	pier_buf_put(dst);
	pier_buf_put(src);
}

static void a_submitted_task_is_refused_a_second_time(void)
{
	struct pier_task *task;
	int status = -EINPROGRESS, sent = -EINPROGRESS;

	if (!IS(pier_rdma_task_receive(b.rdma, NULL, &task), 0))
		return;
	pier_task_set_done(task, peer_done, &status);
	IS(pier_task_submit(task, 2), -EINVAL);
	LIKE(pier_last_error(), "flags 0x2, allowed are 0x1");
	IS(pier_task_submit(task, 0), 0);
	IS(pier_task_submit(task, 0), -EBUSY);
	IS(pier_ctx_inflight(pier_rdma_ctx(b.rdma)), 1);
	IS(pier_rdma_send(a.conn, NULL, peer_done, &sent), 0);
	IS(peer_await(&status), 0);
	IS(peer_await(&sent), 0);
	pier_task_free(task);
}

static void a_task_without_a_callback_is_retrieved(void)
{
	struct pier_event event;
	struct pier_task *task;
	int n;

	if (!IS(pier_rdma_task_receive(b.rdma, NULL, &task), 0))
		return;
	IS(pier_task_submit(task, 0), 0);
	IS(pier_pe_retrieve(a.pe, &event), -EAGAIN);
	IS(pier_rdma_send_imm(a.conn, NULL, 3, NULL, NULL), 0);
	IS(pier_pe_inflight(a.pe), 2);
	OK(peer_quiet(&a));
	OK(peer_quiet(&b));
	IS(pier_pe_inflight(a.pe), 0);

	for (n = 0; pier_pe_retrieve(a.pe, &event) == 0; n++) {
		IS(event.status, 0);
		IS(pier_task_status(event.task), 0);
		if (event.task == task)
			IS(pier_recv_imm(task), 3);
		pier_task_free(event.task);
	}
	IS(n, 2);
}

static void a_finished_task_may_be_submitted_without_being_retrieved(void)
{
	struct pier_event event;
	struct pier_task *task;
	int i;

	if (!IS(pier_rdma_task_send(a.conn, NULL, &task), 0))
		return;
	for (i = 0; i < 3; i++) {
		int status = -EINPROGRESS;

		IS(pier_rdma_receive(b.rdma, NULL, peer_done, &status), 0);
		IS(pier_task_submit(task, 0), 0);
		IS(pier_pe_retrieve(a.pe, &event), -EAGAIN);
		IS(peer_await(&status), 0);
		OK(peer_quiet(&a));
		IS(pier_task_status(task), 0);
	}
	IS(pier_pe_retrieve(a.pe, &event), 0);
	OK(event.task == task);
	IS(pier_pe_retrieve(a.pe, &event), -EAGAIN);
	pier_task_free(task);
}

static void a_task_in_flight_stays_taken(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg), .send_tasks = 1 };
	struct pier_task *task, *other;
	struct pier_buf *src, *dst;
	struct peer c, d;
	int status = -EINPROGRESS;

	if (!peer_pair(&c, &d, dev, &cfg, LEN))
		return;
	src = peer_data(&c, 0, 8);
	dst = peer_tail(&d, 0, 8);
	IS(pier_rdma_task_send(c.conn, src, &task), 0);
	IS(pier_task_submit(task, 0), 0);
	IS(pier_task_free(task), -EBUSY);
	IS(pier_rdma_task_send(c.conn, src, &other), -ENOBUFS);
	IS(pier_rdma_receive(d.rdma, dst, peer_done, &status), 0);
	IS(peer_await(&status), 0);
	OK(peer_quiet(&c));
	IS(pier_task_free(task), 0);
	IS(pier_rdma_task_send(c.conn, src, &other), 0);
	IS(pier_task_free(other), 0);
	pier_buf_put(dst);
	pier_buf_put(src);
	peer_unpair(&c, &d);
}

struct again {
	struct pier_rdma *rdma;
	int left, calls;
};

/* A receive that is posted again and again from its callback. */
static void receive_again(struct pier_task *task, void *arg)
{
	struct again *again = arg;

	again->calls++;
	if (pier_task_status(task) == 0 && --again->left > 0)
		IS(pier_task_submit(task, 0), 0);
}

static void a_callback_may_submit_its_task_again(void)
{
	struct again again = { b.rdma, 10, 0 };
	int i, status;

	IS(pier_rdma_receive(b.rdma, NULL, receive_again, &again), 0);
	for (i = 0; i < 10; i++) {
		status = -EINPROGRESS;
		IS(pier_rdma_send(a.conn, NULL, peer_done, &status), 0);
		IS(peer_await(&status), 0);
	}
	OK(peer_count(&again.calls, 10));
	IS(pier_ctx_inflight(pier_rdma_ctx(b.rdma)), 0);
}

static void free_it(struct pier_task *task, void *arg)
{
	++*(int *)arg;
	pier_task_free(task);
}

static void a_callback_may_free_its_task(void)
{
	struct pier_task *task;
	int calls = 0;

	if (!IS(pier_rdma_task_receive(b.rdma, NULL, &task), 0))
		return;
	pier_task_set_done(task, free_it, &calls);
	IS(pier_task_submit(task, 0), 0);
	IS(pier_rdma_task_send(a.conn, NULL, &task), 0);
	pier_task_set_done(task, free_it, &calls);
	IS(pier_task_submit(task, 0), 0);
	OK(peer_count(&calls, 2));
}

/* MANY writes of 8 bytes, each to its own place; with @flags all but last. */
static void submit_writes(struct task_tally *tally, struct pier_task **tasks,
			  struct pier_buf **bufs, unsigned int last_flags)
{
	unsigned int i;

	memset(tally, 0, sizeof(*tally));
	for (i = 0; i < MANY; i++) {
		struct pier_buf *src = peer_data(&a, 100u * i, 8);
		struct pier_buf *dst = peer_far_tail(&a, 100u * i, 8);
		unsigned int flags = i == MANY - 1 ? last_flags :
						     PIER_SUBMIT_MORE;

		IS(pier_rdma_task_write(a.conn, src, dst, &tasks[i]), 0);
		pier_task_set_done(tasks[i], count, tally);
		IS(pier_task_submit(tasks[i], flags), 0);
		bufs[2 * i] = src;
		bufs[2 * i + 1] = dst;
	}
}

static void check_writes(struct task_tally *tally, struct pier_task **tasks,
			 struct pier_buf **bufs)
{
	unsigned int i;

	OK(peer_count(&tally->calls, MANY));
	IS(tally->ok, MANY);
	for (i = 0; i < MANY; i++) {
		OK(tally->order[i] == tasks[i]);
		OK(peer_holds(&b, 100u * i, 8, 3, 100u * i));
		IS(b.mem[100u * i + 8], 0);
		pier_task_free(tasks[i]);
		pier_buf_put(bufs[2 * i]);
		pier_buf_put(bufs[2 * i + 1]);
	}
	peer_drive_quietly(0);
	IS(tally->calls, MANY);
}

static void a_batch_goes_out_with_its_last_task(void)
{
	struct pier_task *tasks[MANY];
	struct pier_buf *bufs[2 * MANY];
	struct task_tally tally;

	peer_fill(&a, 3);
	memset(b.mem, 0, b.len);
	submit_writes(&tally, tasks, bufs, 0);
	IS(tally.calls, 0);
	check_writes(&tally, tasks, bufs);
}

static void a_batch_without_an_end_goes_out_with_the_next_progress(void)
{
	struct pier_task *tasks[MANY];
	struct pier_buf *bufs[2 * MANY];
	struct task_tally tally;

	peer_fill(&a, 3);
	memset(b.mem, 0, b.len);
	submit_writes(&tally, tasks, bufs, PIER_SUBMIT_MORE);
	IS(pier_ctx_inflight(pier_rdma_ctx(a.rdma)), MANY);
	check_writes(&tally, tasks, bufs);
}

static void a_round_tells_of_no_more_than_it_was_allowed(void)
{
	struct pier_task *tasks[MANY];
	struct pier_buf *bufs[2 * MANY];
	struct task_tally tally;
	uint64_t end = pier__now() + PEER_LIMIT_MS * PIER__MS;
	int before, n;

	peer_fill(&a, 3);
	memset(b.mem, 0, b.len);
	submit_writes(&tally, tasks, bufs, 0);
	while (tally.calls < MANY && pier__now() < end) {
		before = tally.calls;
		n = pier_pe_progress(a.pe, MANY - 1);
		OK(n < MANY && tally.calls - before == n);
	}
	check_writes(&tally, tasks, bufs);
}

static void tasks_finish_in_the_order_of_their_submission(void)
{
	struct pier_buf *big = peer_data(&a, 0, 40000);
	struct pier_buf *far = peer_far_data(&a, 0, 40000);
	struct pier_buf *near = peer_tail(&a, 0, 60000);
	struct pier_task *tasks[3 * MANY];
	struct task_tally tally = { 0 };
	int i;

	for (i = 0; i < 3 * MANY; i += 3) {
		IS(pier_rdma_task_write(a.conn, big, far, &tasks[i]),
		   0);
		IS(pier_rdma_task_read(a.conn, far, near, &tasks[i + 1]), 0);
		IS(pier_rdma_task_send(a.conn, NULL, &tasks[i + 2]), 0);
	}
	pier_buf_set_data(far, pier_buf_head(far), 100);
	pier_buf_set_data(big, a.mem, 100);
	for (i = 0; i < MANY; i++)
		IS(pier_rdma_receive(b.rdma, NULL, NULL, NULL), 0);
	for (i = 0; i < 3 * MANY; i++) {
		pier_task_set_done(tasks[i], count, &tally);
		IS(pier_task_submit(tasks[i], 0), 0);
	}
	OK(peer_count(&tally.calls, 3 * MANY));
	IS(tally.ok, 3 * MANY);
	for (i = 0; i < 3 * MANY; i++) {
		OK(tally.order[i] == tasks[i]);
		pier_task_free(tasks[i]);
	}
	pier_buf_put(near);
	pier_buf_put(far);
	pier_buf_put(big);
}

/* Free what tests left to be retrieved. */
static void retrieve_all(struct pier_pe *pe)
{
	struct pier_event event;

	while (pier_pe_retrieve(pe, &event) == 0)
		pier_task_free(event.task);
}

static void a_full_connection_says_again_and_goes_on_later(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg),
					.conn_send_queue = 4 };
	struct peer c, d;
	struct task_tally sent = { 0 }, got = { 0 };
	int i;

	if (!peer_pair(&c, &d, dev, &cfg, LEN))
		return;
	for (i = 0; i < 4; i++)
		IS(pier_rdma_send(c.conn, NULL, count, &sent), 0);
	IS(pier_rdma_send(c.conn, NULL, count, &sent), -EAGAIN);
	IS_STR(pier_last_error(), "rdma: send: 4 in flight on this connection, "
	       "as many as conn_send_queue allows: progress first");
	IS(pier_ctx_inflight(pier_rdma_ctx(c.rdma)), 4);
	for (i = 0; i < 5; i++)
		IS(pier_rdma_receive(d.rdma, NULL, count, &got), 0);
	OK(peer_count(&sent.calls, 4));
	IS(pier_rdma_send(c.conn, NULL, count, &sent), 0);
	OK(peer_count(&got.calls, 5));
	OK(peer_count(&sent.calls, 5));
	IS(sent.ok, 5);
	IS(got.ok, 5);
	peer_unpair(&c, &d);
}

static void the_send_queue_bounds_all_connections_together(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg), .send_queue = 3,
					.send_tasks = 8 };
	struct pier_conn *first, *second;
	struct task_tally sent = { 0 }, got = { 0 };
	struct peer c, d;
	int i;

	if (!peer_pair(&c, &d, dev, &cfg, LEN))
		return;
	first = c.conn;
	if (!peer_join(&c, &d))
		return;
	second = c.conn;
	IS(pier_rdma_send(first, NULL, count, &sent), 0);
	IS(pier_rdma_send(first, NULL, count, &sent), 0);
	IS(pier_rdma_send(second, NULL, count, &sent), 0);
	IS(pier_rdma_send(second, NULL, count, &sent), -EAGAIN);
	IS(pier_rdma_send(first, NULL, count, &sent), -EAGAIN);
	IS_STR(pier_last_error(), "rdma: send: 3 in flight on all connections "
	       "of the context, as many as send_queue allows: progress first");
	for (i = 0; i < 4; i++)
		IS(pier_rdma_receive(d.rdma, NULL, count, &got), 0);
	OK(peer_count(&sent.calls, 3));
	IS(pier_rdma_send(second, NULL, count, &sent), 0);
	OK(peer_count(&sent.calls, 4));
	OK(peer_count(&got.calls, 4));
	IS(sent.ok + got.ok, 8);
	peer_unpair(&c, &d);
}

static void a_full_receive_queue_says_again(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg), .recv_queue = 4,
					.recv_tasks = 2 * MANY };
	struct task_tally got = { 0 };
	struct pier_task *task;
	struct peer c;
	int n = 0, err = 0;

	if (!peer_open(&c, dev, NULL, &cfg, LEN))
		return;
	while (!err && n <= 2 * MANY) {
		err = pier_rdma_receive(c.rdma, NULL, count, &got);
		n += !err;
	}
	IS(err, -EAGAIN);
	LIKE(pier_last_error(), "receive: ");
	LIKE(pier_last_error(), " or more wait for messages, as many as "
	     "recv_queue allows: progress first");
	OK(n >= 4);
	IS(pier_rdma_task_receive(c.rdma, NULL, &task), 0);
	pier_task_free(task);
	IS(pier_ctx_stop_wait(pier_rdma_ctx(c.rdma), PEER_LIMIT_MS), 0);
	IS(got.calls, n);
	IS(got.cancelled, n);
	peer_close(&c);
}

static void a_pool_gives_out_what_it_has(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg), .send_tasks = 2,
					.recv_tasks = 1 };
	struct pier_task *one, *two, *three = NULL;
	struct peer c, d;

	if (!peer_pair(&c, &d, dev, &cfg, LEN))
		return;
	IS(pier_rdma_task_send(c.conn, NULL, &one), 0);
	IS(pier_rdma_task_send(c.conn, NULL, &two), 0);
	IS(pier_rdma_task_send(c.conn, NULL, &three), -ENOBUFS);
	OK(!three);
	LIKE(pier_last_error(), "all 2 tasks are taken");
	LIKE(pier_last_error(), "free them, or raise send_tasks");
	IS(pier_rdma_task_receive(c.rdma, NULL, &three), 0);
	IS(pier_rdma_receive(c.rdma, NULL, peer_done, NULL), -ENOBUFS);
	LIKE(pier_last_error(), "raise recv_tasks");
	pier_task_free(three);
	pier_task_free(two);
	IS(pier_rdma_task_send(c.conn, NULL, &two), 0);
	pier_task_free(one);
	pier_task_free(two);
	pier_task_free(NULL);
	peer_unpair(&c, &d);
}

static void a_task_may_outlive_its_context(void)
{
	struct pier_task *task, *recv;
	struct peer c, d;

	if (!peer_pair(&c, &d, dev, NULL, LEN))
		return;
	IS(pier_rdma_task_send(c.conn, NULL, &task), 0);
	IS(pier_rdma_task_receive(c.rdma, NULL, &recv), 0);
	peer_unpair(&c, &d);
	pier_task_free(task);
	pier_task_free(recv);
}

static char logged[512];

static void keep_critical(enum pier_log_level level, const char *area,
			  const char *message, void *arg)
{
	(void)arg;
	if (level == PIER_LOG_CRITICAL)
		snprintf(logged + strlen(logged),
			 sizeof(logged) - strlen(logged),
			 "%s: %s\n", area, message);
}

static void tasks_not_freed_are_reported_when_the_context_is_destroyed(void)
{
	struct pier_task *sends[3], *recv;
	struct peer c, d;
	int status;

	pier_log_set_callback(keep_critical, NULL);
	if (!peer_pair(&c, &d, dev, NULL, LEN))
		return;
	IS(pier_rdma_task_send(c.conn, NULL, &sends[0]), 0);
	IS(pier_rdma_task_send_imm(c.conn, NULL, 1, &sends[1]), 0);
	IS(pier_rdma_task_send(c.conn, NULL, &sends[2]), 0);
	IS(pier_rdma_task_receive(d.rdma, NULL, &recv), 0);
	peer_unpair(&c, &d);
	LIKE(logged, "rdma: ");
	LIKE(logged, ": 2 send, 1 send with immediate: pier_task_free() them");
	LIKE(logged, ": 1 receive: pier_task_free() them");
	for (int i = 0; i < 3; i++)
		pier_task_free(sends[i]);
	pier_task_free(recv);

	logged[0] = '\0';
	if (!peer_pair(&c, &d, dev, NULL, LEN))
		return;
	IS(pier_rdma_task_send(c.conn, NULL, &sends[0]), 0);
	IS(pier_rdma_receive(d.rdma, NULL, peer_done, &status), 0);
	pier_task_free(sends[0]);
	peer_unpair(&c, &d);
	IS_STR(logged, "");
	pier_log_set_callback(NULL, NULL);
}

static void a_retrieved_receive_keeps_its_connection(void)
{
	struct pier_task_error error;
	struct pier_event event;
	struct pier_conn *conn;
	struct peer c, d;
	int status = -EINPROGRESS;

	if (!peer_pair(&c, &d, dev, NULL, LEN))
		return;
	conn = d.conn;
	IS(pier_rdma_receive(d.rdma, NULL, NULL, NULL), 0);
	IS(pier_rdma_send(c.conn, NULL, peer_done, &status), 0);
	IS(peer_await(&status), 0);
	OK(peer_quiet(&d));
	pier_conn_destroy(d.conn);
	peer_conn(c.conn, PIER_CONN_RESET);
	IS(pier_pe_retrieve(d.pe, &event), 0);
	OK(pier_task_conn(event.task) == conn);
	IS(pier_conn_state(pier_task_conn(event.task)), PIER_CONN_RESET);
	pier_task_error(event.task, &error);
	IS(error.status, 0);
	pier_task_free(event.task);
	peer_unpair(&c, &d);
}

/* A type without its row in the table has no words; nor has one beyond it. */
static void every_type_has_a_name_and_a_key_of_its_own(void)
{
	const struct pier_devinfo *info = pier_dev_info(dev);
	int last = 0, type, before;
	char range[64];

	while (pier_devinfo_can_task(info, last) != -EINVAL)
		last++;
	OK(last > PIER_TASK_FETCH_ADD);
	snprintf(range, sizeof(range), "task type %d: 0 to %d", last, last - 1);
	LIKE(pier_last_error(), range);
	for (type = 0; type < last; type++) {
		const char *key = pier_task_type_key(type);

		if (!OK(pier_task_type_name(type) && key))
			continue;
		OK(!strchr(key, ' ') && strcmp(key, "unknown"));
		for (before = 0; before < type; before++)
			OK(strcmp(key, pier_task_type_key(before)));
	}
	IS_STR(pier_task_type_name(PIER_TASK_SEND_IMM), "send with immediate");
	IS_STR(pier_task_type_key(PIER_TASK_SEND_IMM), "send_imm");
	IS_STR(pier_task_type_name(last), "unknown");
	IS_STR(pier_task_type_key(last), "unknown");
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	if (!peer_pair(&a, &b, dev, NULL, LEN))
		return tap_done();
	TEST(every_type_has_a_name_and_a_key_of_its_own);
	TEST(a_task_is_submitted_again_and_again);
	TEST(a_submitted_task_is_refused_a_second_time);
	TEST(a_task_without_a_callback_is_retrieved);
	TEST(a_finished_task_may_be_submitted_without_being_retrieved);
	TEST(a_task_in_flight_stays_taken);
	TEST(a_callback_may_submit_its_task_again);
	TEST(a_callback_may_free_its_task);
	TEST(a_batch_goes_out_with_its_last_task);
	TEST(a_batch_without_an_end_goes_out_with_the_next_progress);
	TEST(a_round_tells_of_no_more_than_it_was_allowed);
	TEST(tasks_finish_in_the_order_of_their_submission);
	retrieve_all(a.pe);
	TEST(a_full_connection_says_again_and_goes_on_later);
	TEST(the_send_queue_bounds_all_connections_together);
	TEST(a_full_receive_queue_says_again);
	TEST(a_pool_gives_out_what_it_has);
	TEST(a_task_may_outlive_its_context);
	TEST(tasks_not_freed_are_reported_when_the_context_is_destroyed);
	TEST(a_retrieved_receive_keeps_its_connection);
	peer_unpair(&a, &b);
	pier_dev_close(dev);
	return tap_done();
}
