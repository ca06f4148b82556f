/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * What RDMA tasks do to memory, the same on every device: a requester, a, and
 * a responder, b, on one engine.
 */
#define LEN (3u << 20)
#define MEGA (1u << 20)
#define EMPTY 0xa5	/* what no task may touch */

static struct pier_dev *dev;
static struct peer a, b;

/* What a receive took. */
struct got {
	int status;
	int calls;
	uint32_t len, imm;
	enum pier_recv_opcode opcode;
	struct pier_conn *conn;
};

static void received(struct pier_task *task, void *arg)
{
	struct got *got = arg;

	got->calls++;
	got->len = pier_recv_len(task);
	got->imm = pier_recv_imm(task);
	got->opcode = pier_recv_opcode(task);
	got->conn = pier_task_conn(task);
	got->status = pier_task_status(task);
}

/* Post @dst at b and await the result of a's task in @err and *@status. */
static void expect(struct pier_buf *dst, struct got *got)
{
	memset(got, 0, sizeof(*got));
	got->status = -EINPROGRESS;
	IS(pier_rdma_receive(b.rdma, dst, received, got), 0);
}

static bool done(int err, const int *status)
{
	if (IS(err, 0) && IS(peer_await(status), 0))
		return true;
	tap_note("%s", pier_last_error());
	return false;
}

/* Memory of a holds pattern 1, of b nothing. */
static void wipe(void)
{
	peer_fill(&a, 1);
	memset(b.mem, EMPTY, b.len);
}

/* Was nothing of b's memory written but [@from, @to)? */
static bool untouched(size_t from, size_t to)
{
	size_t i;

	for (i = 0; i < b.len; i++) {
		if ((i >= from && i < to) || b.mem[i] == EMPTY)
			continue;
		tap_note("byte %zu was written", i);
		return false;
	}
	return true;
}

static void a_send_fills_the_receive(void)
{
	struct pier_buf *src = peer_data(&a, 100, 1000);
	struct pier_buf *dst = peer_tail(&b, 50, 2000);
	int status = -EINPROGRESS;
	struct got got;

	wipe();
	expect(dst, &got);
	if (!done(pier_rdma_send(a.conn, src, peer_done, &status), &status))
		return;
	IS(peer_await(&got.status), 0);
	IS(got.len, 1000);
	IS(got.opcode, PIER_RECV_SEND);
	OK(got.conn == b.conn);
	IS(pier_buf_data_len(dst), 1000);
	OK(peer_holds(&b, 50, 1000, 1, 100));
	OK(untouched(50, 1050));
	IS(pier_buf_data_len(src), 1000);
	pier_buf_put(dst);
	pier_buf_put(src);
}

static void an_empty_send_takes_a_receive_without_a_buffer(void)
{
	int status = -EINPROGRESS;
	struct got got;

	expect(NULL, &got);
	if (!done(pier_rdma_send(a.conn, NULL, peer_done, &status), &status))
		return;
	IS(peer_await(&got.status), 0);
	IS(got.len, 0);
	IS(got.opcode, PIER_RECV_SEND);
}

static void an_empty_send_leaves_the_buffer_of_a_receive_alone(void)
{
	struct pier_buf *dst = peer_tail(&b, 0, 64);
	int status = -EINPROGRESS;
	struct got got;

	wipe();
	expect(dst, &got);
	if (!done(pier_rdma_send(a.conn, NULL, peer_done, &status), &status))
		return;
	IS(peer_await(&got.status), 0);
	IS(got.len, 0);
	IS(pier_buf_data_len(dst), 0);
	OK(untouched(0, 0));
	pier_buf_put(dst);
}

static void an_immediate_arrives_as_it_was_sent(void)
{
	struct pier_buf *src = peer_data(&a, 0, 8);
	struct pier_buf *dst = peer_tail(&b, 0, 8);
	uint32_t imm = htonl(0x01020304);
	int status = -EINPROGRESS;
	struct got got;

	wipe();
	expect(dst, &got);
	if (!done(pier_rdma_send_imm(a.conn, src, imm, peer_done, &status),
		  &status))
		return;
	IS(peer_await(&got.status), 0);
	IS(got.opcode, PIER_RECV_SEND_IMM);
	IS(got.imm, imm);
	IS(got.len, 8);
	pier_buf_put(dst);
	pier_buf_put(src);
}

static void an_immediate_can_come_alone(void)
{
	int status = -EINPROGRESS;
	struct got got;

	expect(NULL, &got);
	if (!done(pier_rdma_send_imm(a.conn, NULL, 7, peer_done, &status),
		  &status))
		return;
	IS(peer_await(&got.status), 0);
	IS(got.opcode, PIER_RECV_SEND_IMM);
	IS(got.imm, 7);
	IS(got.len, 0);
}

/* b reads: it is the one whose memory is watched. */
static void a_read_appends_to_its_destination(void)
{
	struct pier_buf *src = peer_far_data(&b, 300, 500);
	struct pier_buf *dst = peer_tail(&b, 1000, 1000);
	int status = -EINPROGRESS;

	wipe();
	IS(pier_buf_set_data(dst, b.mem + 1100, 200), 0);
	if (!done(pier_rdma_read(b.conn, src, dst, peer_done, &status),
		  &status))
		return;
	IS(pier_buf_data_len(dst), 700);
	OK(pier_buf_data(dst) == b.mem + 1100);
	OK(peer_holds(&b, 1300, 500, 1, 300));
	OK(untouched(1300, 1800));
	pier_buf_put(dst);
	pier_buf_put(src);
}

static void a_read_of_nothing_succeeds(void)
{
	struct pier_buf *dst = peer_tail(&b, 0, 16);
	int status = -EINPROGRESS;

	wipe();
	if (!done(pier_rdma_read(b.conn, NULL, dst, peer_done, &status),
		  &status))
		return;
	IS(pier_buf_data_len(dst), 0);
	OK(untouched(0, 0));
	pier_buf_put(dst);
}

static void a_write_appends_to_its_destination(void)
{
	struct pier_buf *src = peer_data(&a, 300, 500);
	struct pier_buf *dst = peer_far_tail(&a, 1000, 1000);
	int status = -EINPROGRESS;

	wipe();
	IS(pier_buf_set_data(dst, (char *)pier_buf_head(dst) + 100, 200), 0);
	if (!done(pier_rdma_write(a.conn, src, dst, peer_done, &status),
		  &status))
		return;
	IS(pier_buf_data_len(dst), 700);
	OK(peer_holds(&b, 1300, 500, 1, 300));
	OK(untouched(1300, 1800));
	pier_buf_put(dst);
	pier_buf_put(src);
}

static void a_write_with_immediate_takes_a_receive(void)
{
	struct pier_buf *src = peer_data(&a, 0, 100);
	struct pier_buf *dst = peer_far_tail(&a, 64, 100);
	struct pier_buf *tail = peer_tail(&b, 4096, 100);
	int status = -EINPROGRESS;
	struct got got;

	wipe();
	expect(tail, &got);
	if (!done(pier_rdma_write_imm(a.conn, src, dst, htonl(9), peer_done,
				      &status), &status))
		return;
	IS(peer_await(&got.status), 0);
	IS(got.opcode, PIER_RECV_WRITE_IMM);
	IS(got.imm, htonl(9));
	IS(got.len, 100);
	OK(got.conn == b.conn);
	IS(pier_buf_data_len(tail), 0);
	OK(peer_holds(&b, 64, 100, 1, 0));
	OK(untouched(64, 164));
	pier_buf_put(tail);
	pier_buf_put(dst);
	pier_buf_put(src);
}

/* One atomic on the word at 64 of b; returns what it found. */
static uint64_t atomic(bool add, uint64_t one, uint64_t two)
{
	struct pier_buf *dst = peer_far_data(&a, 64, 8);
	struct pier_buf *old = peer_tail(&a, 8, 16);
	uint64_t value = 0;
	int status = -EINPROGRESS, err;

	IS(pier_buf_set_data(old, a.mem + 8, 8), 0);
	err = add ? pier_rdma_fetch_add(a.conn, dst, old, one, peer_done,
					&status) :
		    pier_rdma_compare_swap(a.conn, dst, old, one, two,
					   peer_done, &status);
	if (done(err, &status)) {
		IS(pier_buf_data_len(old), 16);
		memcpy(&value, a.mem + 16, 8);
	}
	pier_buf_put(old);
	pier_buf_put(dst);
	return value;
}

static bool has_atomics(void)
{
	const struct pier_devinfo *info = pier_dev_info(dev);

	if (!pier_devinfo_can_task(info, PIER_TASK_FETCH_ADD) &&
	    !pier_devinfo_can_task(info, PIER_TASK_COMPARE_SWAP))
		return true;
	tap_skip("this device has no atomics");
	return false;
}

static void compare_and_swap_swaps_only_what_it_expects(void)
{
	uint64_t word = 40, now;

	if (!has_atomics())
		return;
	wipe();
	memcpy(b.mem + 64, &word, 8);
	IS(atomic(false, 41, 50), 40);
	memcpy(&now, b.mem + 64, 8);
	IS(now, 40);
	IS(atomic(false, 40, 50), 40);
	memcpy(&now, b.mem + 64, 8);
	IS(now, 50);
	OK(peer_holds(&a, 8, 8, 1, 8));		/* what was there before */
	OK(peer_holds(&a, 24, 64, 1, 24));
	OK(untouched(64, 72));
}

static void fetch_and_add_adds_and_tells_the_old_value(void)
{
	uint64_t word = UINT64_MAX, now;

	if (!has_atomics())
		return;
	wipe();
	memcpy(b.mem + 64, &word, 8);
	OK(atomic(true, 3, 0) == UINT64_MAX);
	IS(atomic(true, 0x500000000, 0), 2);
	memcpy(&now, b.mem + 64, 8);
	IS(now, 0x500000002);
	OK(untouched(64, 72));
}

/* Sizes at which messages are cut differently. */
static size_t size_of(size_t i)
{
	static const size_t sizes[] = {
		0, 1, 3, 8, 255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4097,
		8191, 8192, 8193, 65535, 65537, MEGA - 1, MEGA, MEGA + 1,
	};
	uint64_t most = peer_limit(dev, PIER_LIMIT_MESSAGE);

	if (i >= sizeof(sizes) / sizeof(sizes[0]))
		return SIZE_MAX;
	return sizes[i] < most ? sizes[i] : most;
}

/* A buffer without data is NULL. */
static struct pier_buf *or_null(struct pier_buf *buf)
{
	return pier_buf_data_len(buf) ? buf : NULL;
}

static void sends_of_many_sizes_arrive_whole(void)
{
	size_t i, len;

	for (i = 0; (len = size_of(i)) != SIZE_MAX && tap_holds(); i++) {
		struct pier_buf *src = peer_data(&a, i + 1, len);
		struct pier_buf *dst = peer_tail(&b, 7, MEGA + 1);
		int status = -EINPROGRESS;
		struct got got;

		wipe();
		expect(dst, &got);
		done(pier_rdma_send(a.conn, or_null(src), peer_done, &status),
		     &status);
		IS(peer_await(&got.status), 0);
		IS(got.len, len);
		IS(pier_buf_data_len(dst), len);
		OK(peer_holds(&b, 7, len, 1, i + 1));
		OK(untouched(7, 7 + len));
		pier_buf_put(dst);
		pier_buf_put(src);
	}
}

static void reads_of_many_sizes_arrive_whole(void)
{
	size_t i, len;

	for (i = 0; (len = size_of(i)) != SIZE_MAX && tap_holds(); i++) {
		struct pier_buf *src = peer_far_data(&b, i + 1, len);
		struct pier_buf *dst = peer_tail(&b, 7, MEGA + 1);
		int status = -EINPROGRESS;

		wipe();
		done(pier_rdma_read(b.conn, or_null(src), dst, peer_done,
				    &status), &status);
		IS(pier_buf_data_len(dst), len);
		OK(peer_holds(&b, 7, len, 1, i + 1));
		OK(untouched(7, 7 + len));
		pier_buf_put(dst);
		pier_buf_put(src);
	}
}

static void writes_of_many_sizes_arrive_whole(void)
{
	size_t i, len;

	for (i = 0; (len = size_of(i)) != SIZE_MAX && tap_holds(); i++) {
		struct pier_buf *src = peer_data(&a, i + 1, len);
		struct pier_buf *dst = peer_far_tail(&a, 7, MEGA + 1);
		int status = -EINPROGRESS;

		wipe();
		done(pier_rdma_write(a.conn, or_null(src), dst, peer_done,
				     &status), &status);
		IS(pier_buf_data_len(dst), len);
		OK(peer_holds(&b, 7, len, 1, i + 1));
		OK(untouched(7, 7 + len));
		pier_buf_put(dst);
		pier_buf_put(src);
	}
}

/* Three buffers, one after another with a gap; @make makes each. */
static struct pier_buf *chain(struct peer *peer, size_t off, const size_t *len,
			      struct pier_buf *(*make)(struct peer *, size_t,
						       size_t))
{
	struct pier_buf *head = make(peer, off, len[0]);
	int i;

	for (i = 1; i < 3; i++)
		IS(pier_buf_chain(head, make(peer, off + 1000u * i, len[i])),
		   0);
	return head;
}

static void a_chain_is_gathered_into_one_message(void)
{
	static const size_t lens[] = { 700, 0, 333 };
	struct pier_buf *src = chain(&a, 0, lens, peer_data);
	struct pier_buf *dst = peer_tail(&b, 0, 4096);
	int status = -EINPROGRESS;
	struct got got;

	wipe();
	expect(dst, &got);
	done(pier_rdma_send(a.conn, src, peer_done, &status), &status);
	IS(peer_await(&got.status), 0);
	IS(got.len, 1033);
	OK(peer_holds(&b, 0, 700, 1, 0));
	OK(peer_holds(&b, 700, 333, 1, 2000));
	OK(untouched(0, 1033));
	pier_buf_put(dst);
	pier_buf_put(src);
}

static void a_chain_is_gathered_into_one_write(void)
{
	static const size_t lens[] = { 5, 1000, 333 };
	struct pier_buf *src = chain(&a, 0, lens, peer_data);
	struct pier_buf *dst = peer_far_tail(&a, 11, 4096);
	int status = -EINPROGRESS;

	wipe();
	done(pier_rdma_write(a.conn, src, dst, peer_done, &status), &status);
	IS(pier_buf_data_len(dst), 1338);
	OK(peer_holds(&b, 11, 5, 1, 0));
	OK(peer_holds(&b, 16, 1000, 1, 1000));
	OK(peer_holds(&b, 1016, 333, 1, 2000));
	OK(untouched(11, 1349));
	pier_buf_put(dst);
	pier_buf_put(src);
}

/* 1100 bytes into tails of 600, 400 and 900, the second behind 50 of data. */
static void check_scattered(struct pier_buf *dst)
{
	struct pier_buf *second = pier_buf_next(dst);
	struct pier_buf *third = pier_buf_next(second);

	IS(pier_buf_data_len(dst), 600);
	IS(pier_buf_data_len(second), 450);
	IS(pier_buf_data_len(third), 100);
	OK(peer_holds(&b, 0, 600, 1, 2000));
	OK(peer_holds(&b, 1050, 400, 1, 2600));
	OK(peer_holds(&b, 2000, 100, 1, 3000));
	IS(b.mem[600], EMPTY);
	IS(b.mem[999], EMPTY);
	IS(b.mem[1049], EMPTY);
	IS(b.mem[1450], EMPTY);
	OK(untouched(0, 2100));
}

static struct pier_buf *three_tails(void)
{
	static const size_t lens[] = { 600, 450, 900 };
	struct pier_buf *dst = chain(&b, 0, lens, peer_tail);

	IS(pier_buf_set_data(pier_buf_next(dst), b.mem + 1000, 50), 0);
	return dst;
}

static void a_message_is_scattered_over_a_chain(void)
{
	struct pier_buf *src = peer_data(&a, 2000, 1100);
	struct pier_buf *dst = three_tails();
	int status = -EINPROGRESS;
	struct got got;

	wipe();
	expect(dst, &got);
	done(pier_rdma_send(a.conn, src, peer_done, &status), &status);
	IS(peer_await(&got.status), 0);
	IS(got.len, 1100);
	check_scattered(dst);
	pier_buf_put(dst);
	pier_buf_put(src);
}

static void a_read_is_scattered_over_a_chain(void)
{
	struct pier_buf *src = peer_far_data(&b, 2000, 1100);
	struct pier_buf *dst = three_tails();
	int status = -EINPROGRESS;

	wipe();
	done(pier_rdma_read(b.conn, src, dst, peer_done, &status), &status);
	check_scattered(dst);
	pier_buf_put(dst);
	pier_buf_put(src);
}

static void receives_append_one_behind_the_other(void)
{
	struct pier_buf *src = peer_data(&a, 0, 40);
	struct pier_buf *dst = peer_tail(&b, 16, 100);
	struct got got;
	int i;

	wipe();
	for (i = 0; i < 2; i++) {
		int status = -EINPROGRESS;

		expect(dst, &got);
		done(pier_rdma_send(a.conn, or_null(src), peer_done, &status),
		     &status);
		IS(peer_await(&got.status), 0);
	}
	IS(pier_buf_data_len(dst), 80);
	OK(peer_holds(&b, 16, 40, 1, 0));
	OK(peer_holds(&b, 56, 40, 1, 0));
	OK(untouched(16, 96));
	pier_buf_put(dst);
	pier_buf_put(src);
}

/* Data need not begin where its buffer does. */
static void head_space_is_neither_sent_nor_written(void)
{
	struct pier_buf *src = peer_tail(&a, 0, 1000);
	struct pier_buf *dst = peer_tail(&b, 0, 1000);
	int status = -EINPROGRESS;
	struct got got;

	wipe();
	IS(pier_buf_set_data(src, a.mem + 400, 100), 0);
	IS(pier_buf_set_data(dst, b.mem + 600, 0), 0);
	expect(dst, &got);
	done(pier_rdma_send(a.conn, src, peer_done, &status), &status);
	IS(peer_await(&got.status), 0);
	IS(got.len, 100);
	OK(pier_buf_data(dst) == b.mem + 600);
	IS(pier_buf_data_len(dst), 100);
	OK(peer_holds(&b, 600, 100, 1, 400));
	OK(untouched(600, 700));
	pier_buf_put(dst);
	pier_buf_put(src);
}

static void run(void)
{
	TEST(a_send_fills_the_receive);
	TEST(an_empty_send_takes_a_receive_without_a_buffer);
	TEST(an_empty_send_leaves_the_buffer_of_a_receive_alone);
	TEST(an_immediate_arrives_as_it_was_sent);
	TEST(an_immediate_can_come_alone);
	TEST(a_read_appends_to_its_destination);
	TEST(a_read_of_nothing_succeeds);
	TEST(a_write_appends_to_its_destination);
	TEST(a_write_with_immediate_takes_a_receive);
	TEST(compare_and_swap_swaps_only_what_it_expects);
	TEST(fetch_and_add_adds_and_tells_the_old_value);
	TEST(sends_of_many_sizes_arrive_whole);
	TEST(reads_of_many_sizes_arrive_whole);
	TEST(writes_of_many_sizes_arrive_whole);
	TEST(a_chain_is_gathered_into_one_message);
	TEST(a_chain_is_gathered_into_one_write);
	TEST(a_message_is_scattered_over_a_chain);
	TEST(a_read_is_scattered_over_a_chain);
	TEST(receives_append_one_behind_the_other);
	TEST(head_space_is_neither_sent_nor_written);
}

static void the_pair_ends_clean(void)
{
	IS(pier_ctx_inflight(pier_rdma_ctx(a.rdma)), 0);
	IS(pier_ctx_inflight(pier_rdma_ctx(b.rdma)), 0);
	peer_unpair(&a, &b);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	if (peer_pair(&a, &b, dev, NULL, LEN))
		run();
	TEST(the_pair_ends_clean);
	pier_dev_close(dev);
	return tap_done();
}
