/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* Tasks and their buffers, which may change from one submit to the next. */

#define LEN 65536

static struct pier_dev *dev;
static struct peer a, b;

static void set_bufs_changes_what_the_next_submit_uses(void)
{
	struct pier_buf *src = peer_data(&a, 0, 100);
	struct pier_buf *other = peer_data(&a, 500, 20);
	struct pier_buf *dst = peer_far_tail(&a, 0, 200);
	struct pier_buf *data = peer_data(&a, 0, 10);
	struct pier_task *task;
	int status = -EINPROGRESS;

	peer_fill(&a, 5);
	if (!IS(pier_rdma_task_write(a.conn, src, dst, &task), 0))
		return;
	pier_task_set_done(task, peer_done, &status);
	IS(pier_rdma_task_set_bufs(task, other, dst), 0);
	IS(pier_task_submit(task, 0), 0);
	IS(pier_rdma_task_set_bufs(task, src, dst), -EBUSY);
	IS(peer_await(&status), 0);
	IS(pier_buf_data_len(dst), 20);
	OK(peer_holds(&b, 0, 20, 5, 500));
	IS(pier_rdma_task_set_bufs(task, src, data), -EINVAL);
	pier_task_free(task);
	pier_buf_put(data);
	pier_buf_put(dst);
	pier_buf_put(other);
	pier_buf_put(src);
}

/* Submit @task, which sends @len bytes of pattern 5 from @at on. */
static void send_and_look(struct pier_task *task, size_t at, size_t len)
{
	struct pier_buf *tail = peer_tail(&b, 0, 200);
	int sent = -EINPROGRESS, got = -EINPROGRESS;

	memset(b.mem, 0, b.len);
	IS(pier_rdma_receive(b.rdma, tail, peer_done, &got), 0);
	pier_task_set_done(task, peer_done, &sent);
	IS(pier_task_submit(task, 0), 0);
	IS(peer_await(&sent), 0);
	IS(peer_await(&got), 0);
	IS(pier_buf_data_len(tail), len);
	OK(peer_holds(&b, 0, len, 5, at));
	pier_buf_put(tail);
}

static void a_task_sends_what_became_of_its_buffers(void)
{
	struct pier_buf *src = peer_data(&a, 0, 100);
	struct pier_buf *more = peer_data(&a, 60, 30);
	struct pier_task *task;

	peer_fill(&a, 5);
	if (!IS(pier_rdma_task_send(a.conn, src, &task), 0))
		return;
	send_and_look(task, 0, 100);
	IS(pier_buf_set_data(src, a.mem + 40, 60), 0);
	send_and_look(task, 40, 60);
	IS(pier_buf_set_data(src, a.mem + 40, 20), 0);
	send_and_look(task, 40, 20);
	IS(pier_buf_set_data(src, a.mem + 10, 20), 0);
	send_and_look(task, 10, 20);
	IS(pier_buf_set_data(src, a.mem + 40, 20), 0);
	IS(pier_buf_chain(src, more), 0);
	send_and_look(task, 40, 50);
	IS(pier_buf_unchain(src, more), 0);
	send_and_look(task, 40, 20);
	IS(pier_rdma_task_set_bufs(task, NULL, NULL), 0);
	send_and_look(task, 0, 0);
	IS(pier_rdma_task_set_bufs(task, more, NULL), 0);
	send_and_look(task, 60, 30);
	pier_task_free(task);
	pier_buf_put(more);
	pier_buf_put(src);
}

static void a_buffer_chained_behind_another_since_is_refused(void)
{
	struct pier_buf *src = peer_data(&a, 0, 8);
	struct pier_buf *dst = peer_far_tail(&a, 0, 64);
	struct pier_buf *first = peer_data(&a, 8, 8);
	struct pier_task *task;
	int status = -EINPROGRESS;

	if (!IS(pier_rdma_task_write(a.conn, src, dst, &task), 0))
		return;
	pier_task_set_done(task, peer_done, &status);
	IS(pier_task_submit(task, 0), 0);
	IS(peer_await(&status), 0);
	IS(pier_buf_chain(first, src), 0);
	IS(pier_task_submit(task, 0), -EINVAL);
	LIKE(pier_last_error(), "not the first of its chain");
	IS(pier_buf_unchain(first, src), 0);
	IS(pier_buf_refs(src), 1);
	status = -EINPROGRESS;
	IS(pier_task_submit(task, 0), 0);
	IS(peer_await(&status), 0);
	pier_task_free(task);
	pier_buf_put(first);
	pier_buf_put(dst);
	pier_buf_put(src);
}

static void buffers_put_while_in_flight_go_back_at_the_end(void)
{
	size_t before = pier_buf_inventory_free_count(a.inv);
	struct pier_buf *src = peer_data(&a, 0, 8);
	struct pier_buf *dst = peer_far_tail(&a, 0, 8);
	struct pier_task *task;
	int status = -EINPROGRESS;

	if (!IS(pier_rdma_task_write(a.conn, src, dst, &task), 0))
		return;
	pier_task_set_done(task, peer_done, &status);
	IS(pier_task_submit(task, 0), 0);
	pier_buf_put(dst);
	IS(pier_buf_inventory_free_count(a.inv), before - 2);
	IS(peer_await(&status), 0);
	IS(pier_buf_inventory_free_count(a.inv), before - 1);
	pier_task_free(task);
	pier_buf_put(src);
	IS(pier_buf_inventory_free_count(a.inv), before);
}

/* A task whose buffer is put while it is in flight, and submitted again. */
static void submit_after_put(struct pier_task *task, struct pier_buf *buf,
			     const char *which)
{
	size_t free = pier_buf_inventory_free_count(a.inv);
	int status = -EINPROGRESS, sent;

	pier_task_set_done(task, peer_done, &status);
	IS(pier_task_submit(task, 0), 0);
	pier_buf_put(buf);
	if (pier_task_type(task) == PIER_TASK_RECEIVE) {
		sent = -EINPROGRESS;
		IS(pier_rdma_send(b.conn, NULL, peer_done, &sent), 0);
		IS(peer_await(&sent), 0);
	}
	IS(peer_await(&status), 0);
	IS(pier_buf_inventory_free_count(a.inv), free + 1);
	IS(pier_task_submit(task, 0), -EINVAL);
	LIKE(pier_last_error(), which);
	LIKE(pier_last_error(), "was given back by pier_buf_put()");
	pier_task_free(task);
}

static void a_task_is_not_submitted_with_a_buffer_that_was_given_back(void)
{
	struct pier_buf *src = peer_data(&a, 0, 8);
	struct pier_buf *dst = peer_far_tail(&a, 0, 8);
	struct pier_buf *word = peer_far_data(&a, 64, 8);
	struct pier_buf *tail;
	struct pier_task *task;

	if (IS(pier_rdma_task_write(a.conn, src, dst, &task), 0))
		submit_after_put(task, dst, "write: the destination");
	dst = peer_far_tail(&a, 0, 8);
	if (IS(pier_rdma_task_write(a.conn, src, dst, &task), 0))
		submit_after_put(task, src, "write: the source");
	src = peer_data(&a, 0, 8);
	pier_buf_reset(dst);
	if (IS(pier_rdma_task_write(a.conn, src, dst, &task), 0))
		submit_after_put(task, dst, "write: the destination");
	tail = peer_tail(&a, 0, 8);
	if (IS(pier_rdma_task_read(a.conn, word, tail, &task), 0))
		submit_after_put(task, word, "read: the source");
	word = peer_far_data(&a, 64, 8);
	pier_buf_reset(tail);
	if (IS(pier_rdma_task_fetch_add(a.conn, word, tail, 1, &task), 0))
		submit_after_put(task, tail, "fetch and add: the source");
	tail = peer_tail(&a, 0, 8);
	if (IS(pier_rdma_task_receive(a.rdma, tail, &task), 0))
		submit_after_put(task, tail, "receive: the destination");
	pier_buf_put(word);
	pier_buf_put(src);
}

static void a_chain_that_was_given_back_is_refused(void)
{
	struct pier_buf *tail = peer_tail(&a, 0, 8);
	struct pier_task *task;

	IS(pier_buf_chain(tail, peer_tail(&a, 64, 8)), 0);
	if (!IS(pier_rdma_task_receive(a.rdma, tail, &task), 0))
		return;
	pier_buf_put(tail);
	IS(pier_task_submit(task, 0), -EINVAL);
	LIKE(pier_last_error(), "was given back by pier_buf_put()");
	pier_task_free(task);
}

static void no_task_is_made_of_a_buffer_that_was_given_back(void)
{
	struct pier_buf *tail = peer_tail(&a, 0, 8);
	struct pier_task *task = NULL;

	pier_buf_put(tail);
	IS(pier_rdma_task_receive(a.rdma, tail, &task), -EINVAL);
	LIKE(pier_last_error(), "was given back by pier_buf_put()");
	OK(!task);
}

/* The far side holds pattern 5, this one zeros. */
static void fill_far(void)
{
	peer_fill(&b, 5);
	memset(a.mem, 0, a.len);
}

/* Submit @task to its end. */
static void carry_out(struct pier_task *task)
{
	int status = -EINPROGRESS;

	pier_task_set_done(task, peer_done, &status);
	if (!IS(pier_task_submit(task, 0), 0) || !IS(peer_await(&status), 0))
		tap_note("%s", pier_last_error());
}

static void a_read_stops_where_the_tail_space_ends(void)
{
	struct pier_buf *src = peer_far_data(&a, 0, 100);
	struct pier_buf *dst = peer_tail(&a, 1000, 40);
	struct pier_task *task;

	fill_far();
	IS(pier_buf_set_data(dst, a.mem + 1000, 10), 0);
	if (!IS(pier_rdma_task_read(a.conn, src, dst, &task), 0))
		return;
	carry_out(task);
	IS(pier_read_len(task), 30);
	IS(pier_buf_data_len(dst), 40);
	OK(peer_holds(&a, 1010, 30, 5, 0));
	IS(a.mem[1009] | a.mem[1040], 0);
	IS(pier_task_submit(task, 0), -EINVAL);	/* no tail space remains */
	IS(pier_buf_data_len(dst), 40);
	OK(peer_holds(&a, 1010, 30, 5, 0));
	pier_buf_set_data(dst, a.mem + 1000, 20);
	pier_buf_set_data(src, pier_buf_head(src), 15);
	carry_out(task);
	IS(pier_read_len(task), 15);
	IS(pier_buf_data_len(dst), 35);
	OK(peer_holds(&a, 1020, 15, 5, 0));
	pier_task_free(task);
	pier_buf_put(dst);
	pier_buf_put(src);
}

static void a_read_stops_where_the_tail_space_of_a_chain_ends(void)
{
	struct pier_buf *src = peer_far_data(&a, 0, 100);
	struct pier_buf *dst = peer_tail(&a, 1000, 40);
	struct pier_buf *more = peer_tail(&a, 2000, 24);
	struct pier_task *task;

	fill_far();
	IS(pier_buf_chain(dst, more), 0);
	if (!IS(pier_rdma_task_read(a.conn, src, dst, &task), 0))
		return;
	carry_out(task);
	IS(pier_buf_data_len(dst), 40);
	IS(pier_buf_data_len(more), 24);
	OK(peer_holds(&a, 1000, 40, 5, 0));
	OK(peer_holds(&a, 2000, 24, 5, 40));
	IS(a.mem[1040] | a.mem[2024], 0);
	IS(pier_read_len(task), 64);
	IS(pier_task_submit(task, 0), -EINVAL);
	IS(pier_buf_chain_data_len(dst), 64);
	pier_task_free(task);
	pier_buf_put(dst);
	pier_buf_put(src);
}

static void without_a_source_nothing_is_moved(void)
{
	struct pier_buf *tail = peer_tail(&a, 0, 8);
	struct pier_buf *far = peer_far_tail(&a, 0, 8);
	struct pier_task *tasks[4];
	int i;

	fill_far();
	IS(pier_rdma_task_read(a.conn, NULL, NULL, &tasks[0]), 0);
	IS(pier_rdma_task_read(a.conn, NULL, tail, &tasks[1]), 0);
	IS(pier_rdma_task_write(a.conn, NULL, NULL, &tasks[2]), 0);
	IS(pier_rdma_task_write(a.conn, NULL, far, &tasks[3]), 0);
	if (!tap_holds())
		return;
	for (i = 0; i < 4; i++) {
		carry_out(tasks[i]);
		carry_out(tasks[i]);
		pier_task_free(tasks[i]);
	}
	IS(pier_buf_data_len(tail) + pier_buf_data_len(far), 0);
	IS(a.mem[0], 0);
	OK(peer_holds(&b, 0, 8, 5, 0));
	IS(pier_conn_state(a.conn), PIER_CONN_CONNECTED);
	pier_buf_put(far);
	pier_buf_put(tail);
}

struct bufs_got {
	int status;
	uint32_t len, imm;
	enum pier_recv_opcode opcode;
};

static void received(struct pier_task *task, void *arg)
{
	struct bufs_got *got = arg;

	got->status = pier_task_status(task);
	got->len = pier_recv_len(task);
	got->imm = pier_recv_imm(task);
	got->opcode = pier_recv_opcode(task);
}

static void an_immediate_is_written_alone_without_a_source(void)
{
	struct pier_buf *far = peer_far_tail(&a, 0, 8);
	struct pier_buf *dsts[2] = { NULL, far };
	int i;

	for (i = 0; i < 2; i++) {
		struct bufs_got got = { .status = -EINPROGRESS };
		int status = -EINPROGRESS;

		IS(pier_rdma_receive(b.rdma, NULL, received, &got), 0);
		IS(pier_rdma_write_imm(a.conn, NULL, dsts[i], htonl(9),
				       peer_done, &status), 0);
		IS(peer_await(&status), 0);
		IS(peer_await(&got.status), 0);
		IS(got.opcode, PIER_RECV_WRITE_IMM);
		IS(got.imm, htonl(9));
		IS(got.len, 0);
	}
	IS(pier_buf_data_len(far), 0);
	pier_buf_put(far);
}

static void a_task_moves_something_or_nothing_as_its_buffers_say(void)
{
	struct pier_buf *src = peer_far_data(&a, 100, 50);
	struct pier_buf *dst = peer_tail(&a, 0, 50);
	struct pier_task *task;
	int i;

	if (!IS(pier_rdma_task_read(a.conn, NULL, dst, &task), 0))
		return;
	for (i = 0; i < 2; i++) {
		fill_far();
		carry_out(task);
		IS(pier_buf_data_len(dst), 0);
		IS(a.mem[0], 0);
		IS(pier_rdma_task_set_bufs(task, src, NULL), -EINVAL);
		IS(pier_rdma_task_set_bufs(task, src, dst), 0);
		carry_out(task);
		IS(pier_buf_data_len(dst), 50);
		OK(peer_holds(&a, 0, 50, 5, 100));
		pier_buf_reset(dst);
		IS(pier_rdma_task_set_bufs(task, NULL, i ? NULL : dst), 0);
	}
	carry_out(task);
	pier_task_free(task);
	pier_buf_put(dst);
	pier_buf_put(src);
}

static void tasks_of_nothing_are_submitted_together_with_others(void)
{
	struct pier_buf *src = peer_far_data(&a, 0, 10);
	struct pier_buf *dst = peer_tail(&a, 0, 10);
	struct pier_task *task[3];
	int status[3], i;

	fill_far();
	IS(pier_rdma_task_read(a.conn, NULL, dst, &task[0]), 0);
	IS(pier_rdma_task_read(a.conn, src, dst, &task[1]), 0);
	IS(pier_rdma_task_write(a.conn, NULL, NULL, &task[2]), 0);
	if (!tap_holds())
		return;
	for (i = 0; i < 3; i++) {
		status[i] = -EINPROGRESS;
		pier_task_set_done(task[i], peer_done, &status[i]);
		IS(pier_task_submit(task[i], i < 2 ? PIER_SUBMIT_MORE : 0), 0);
	}
	IS(pier_task_submit(task[0], 0), -EBUSY);
	for (i = 0; i < 3; i++) {
		IS(peer_await(&status[i]), 0);
		pier_task_free(task[i]);
	}
	IS(pier_buf_data_len(dst), 10);
	OK(peer_holds(&a, 0, 10, 5, 0));
	pier_buf_put(dst);
	pier_buf_put(src);
}

static void a_buffer_that_a_task_has_no_use_for_stays_the_caller_s(void)
{
	size_t before = pier_buf_inventory_free_count(a.inv);
	struct pier_buf *data = peer_data(&a, 0, 8);
	struct pier_buf *tail = peer_tail(&a, 0, 8);
	struct pier_task *send, *recv;
	int sent = -EINPROGRESS, got = -EINPROGRESS;

	if (!IS(pier_rdma_task_send(b.conn, NULL, &send), 0) ||
	    !IS(pier_rdma_task_receive(a.rdma, tail, &recv), 0))
		return;
	IS(pier_rdma_task_set_bufs(send, NULL, data), 0);
	IS(pier_rdma_task_set_bufs(recv, data, tail), 0);
	pier_task_set_done(send, peer_done, &sent);
	pier_task_set_done(recv, peer_done, &got);
	IS(pier_task_submit(recv, 0), 0);
	IS(pier_task_submit(send, 0), 0);
	IS(peer_await(&sent), 0);
	IS(peer_await(&got), 0);
	IS(pier_buf_inventory_free_count(a.inv), before - 2);
	pier_task_free(send);
	pier_task_free(recv);
	if (pier_buf_inventory_free_count(a.inv) == before - 2)
		pier_buf_put(data);
	pier_buf_put(tail);
	IS(pier_buf_inventory_free_count(a.inv), before);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	if (!peer_pair(&a, &b, dev, NULL, LEN))
		return tap_done();
	TEST(set_bufs_changes_what_the_next_submit_uses);
	TEST(a_task_sends_what_became_of_its_buffers);
	TEST(a_buffer_chained_behind_another_since_is_refused);
	TEST(buffers_put_while_in_flight_go_back_at_the_end);
	TEST(a_task_is_not_submitted_with_a_buffer_that_was_given_back);
	TEST(a_chain_that_was_given_back_is_refused);
	TEST(no_task_is_made_of_a_buffer_that_was_given_back);
	TEST(a_read_stops_where_the_tail_space_ends);
	TEST(a_read_stops_where_the_tail_space_of_a_chain_ends);
	TEST(without_a_source_nothing_is_moved);
	TEST(an_immediate_is_written_alone_without_a_source);
	TEST(a_task_moves_something_or_nothing_as_its_buffers_say);
	TEST(tasks_of_nothing_are_submitted_together_with_others);
	TEST(a_buffer_that_a_task_has_no_use_for_stays_the_caller_s);
	peer_unpair(&a, &b);
	pier_dev_close(dev);
	return tap_done();
}
