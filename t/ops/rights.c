/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* What submit refuses, as the connection would end or nothing would happen. */

#define LEN 4096

static struct pier_dev *dev;
static struct peer a, b;
static struct pier_mmap *read_only;	/* a.mem, once more */
static struct pier_task *task;

static bool open_pair(const struct pier_rdma_config *cfg, uint32_t access)
{
	return peer_pair(&a, &b, dev, cfg, LEN) &&
	       IS(pier_mmap_map(dev, a.mem, LEN, access, &read_only), 0);
}

static void close_pair(void)
{
	pier_mmap_destroy(read_only);
	read_only = NULL;
	peer_unpair(&a, &b);
}

static struct pier_buf *read_only_tail(size_t len)
{
	struct pier_buf *buf = NULL;

	IS(pier_buf_by_addr(a.inv, read_only, a.mem, len, &buf), 0);
	return buf;
}

/* Submit @task, which is refused with @err and @text, and free it. */
static void refused(int err, const char *text)
{
	IS(pier_task_submit(task, 0), err);
	LIKE(pier_last_error(), text);
	IS(pier_task_free(task), 0);
}

/* Submit @task to its end, and free it. */
static void succeeds(void)
{
	int status = -EINPROGRESS;

	pier_task_set_done(task, peer_done, &status);
	if (!IS(pier_task_submit(task, 0), 0) || !IS(peer_await(&status), 0))
		tap_note("%s", pier_last_error());
	IS(pier_task_free(task), 0);
}

/* The connection is as it was. */
static void reads_still(void)
{
	struct pier_buf *src = peer_far_data(&a, 0, 8);
	struct pier_buf *dst = peer_tail(&a, 0, 8);

	IS(pier_rdma_task_read(a.conn, src, dst, &task), 0);
	succeeds();
	IS(pier_conn_state(a.conn), PIER_CONN_CONNECTED);
	pier_buf_put(src);
	pier_buf_put(dst);
}

static void a_read_needs_local_write(void)
{
	struct pier_buf *src = peer_far_data(&a, 0, 16);
	struct pier_buf *dst = read_only_tail(16);

	IS(pier_rdma_task_read(a.conn, src, dst, &task), 0);
	refused(-EACCES, "read: the destination is memory with "
		"PIER_LOCAL_READ, this needs PIER_LOCAL_WRITE");
	reads_still();
	pier_buf_put(dst);
	pier_buf_put(src);
}

static void each_part_of_a_chain_needs_local_write(void)
{
	struct pier_buf *src = peer_far_data(&a, 0, 16);
	struct pier_buf *dst = peer_tail(&a, 100, 8);
	struct pier_buf *more = read_only_tail(8);

	IS(pier_buf_chain(dst, more), 0);
	IS(pier_rdma_task_read(a.conn, src, dst, &task), 0);
	refused(-EACCES, "this needs PIER_LOCAL_WRITE");
	IS(pier_buf_set_data(src, b.mem, 8), 0);
	IS(pier_rdma_task_read(a.conn, src, dst, &task), 0);
	succeeds();	/* the second one is not written to */
	pier_buf_put(dst);
	pier_buf_put(src);
}

static void a_receive_needs_local_write(void)
{
	struct pier_buf *dst = read_only_tail(16);

	IS(pier_rdma_task_receive(a.rdma, dst, &task), 0);
	refused(-EACCES, "receive: the destination is memory with "
		"PIER_LOCAL_READ, this needs PIER_LOCAL_WRITE");
	reads_still();
	pier_buf_put(dst);
}

static void the_result_of_an_atomic_needs_local_write(void)
{
	struct pier_buf *word = peer_far_data(&a, 0, 8);
	struct pier_buf *result = read_only_tail(8);

	IS(pier_rdma_task_fetch_add(a.conn, word, result, 1, &task), 0);
	refused(-EACCES, "fetch and add: the result is memory with "
		"PIER_LOCAL_READ, this needs PIER_LOCAL_WRITE");
	IS(pier_rdma_task_compare_swap(a.conn, word, result, 0, 1, &task), 0);
	refused(-EACCES, "compare and swap: the result is memory with");
	reads_still();
	pier_buf_put(result);
	pier_buf_put(word);
}

static void what_is_read_from_needs_no_right(void)
{
	struct pier_buf *dst = peer_far_tail(&a, 0, 16);
	struct pier_buf *src = NULL;

	peer_fill(&a, 3);
	IS(pier_buf_by_data(a.inv, read_only, a.mem, 16, &src), 0);
	IS(pier_rdma_task_write(a.conn, src, dst, &task), 0);
	succeeds();
	OK(peer_holds(&b, 0, 16, 3, 0));
	pier_buf_put(dst);
	pier_buf_put(src);
}

static void what_peers_may_read_is_not_thereby_writable(void)
{
	struct pier_buf *dst;

	if (open_pair(NULL, PIER_REMOTE_READ | PIER_PEER_READ)) {
		dst = read_only_tail(16);
		IS(pier_rdma_task_receive(a.rdma, dst, &task), 0);
		refused(-EACCES, "memory with PIER_REMOTE_READ | "
			"PIER_PEER_READ, this needs PIER_LOCAL_WRITE");
		pier_buf_put(dst);
	}
	close_pair();
}

static void what_peers_may_write_is_thereby_writable(void)
{
	struct pier_buf *src, *dst;

	if (open_pair(NULL, PIER_REMOTE_WRITE)) {
		src = peer_far_data(&a, 0, 16);
		dst = read_only_tail(16);
		IS(pier_rdma_task_read(a.conn, src, dst, &task), 0);
		succeeds();
		pier_buf_put(dst);
		pier_buf_put(src);
	}
	close_pair();
}

static void the_rights_of_a_connection_are_named(void)
{
	const struct pier_rdma_config cfg = {
		.size = sizeof(cfg),
		.access = PIER_REMOTE_READ | PIER_REMOTE_ATOMIC
	};
	struct pier_buf *src, *dst;

	if (open_pair(&cfg, 0)) {
		src = peer_data(&a, 0, 16);
		dst = peer_far_tail(&a, 0, 16);
		IS(pier_rdma_task_write(a.conn, src, dst, &task), 0);
		refused(-EACCES, "write: the peer grants PIER_REMOTE_READ | "
			"PIER_REMOTE_ATOMIC on this connection, this needs "
			"PIER_REMOTE_WRITE");
		pier_buf_put(dst);
		pier_buf_put(src);
	}
	close_pair();
}

static void the_rights_of_an_mmap_are_named(void)
{
	struct pier_mmap_config cfg = { .size = sizeof(cfg), .len = LEN };
	struct pier_mmap *mmap;
	const void *desc;
	size_t len;

	if (!IS(pier_mmap_create(&mmap), 0))
		return;
	cfg.access = PIER_LOCAL_READ | 1u << 20;
	IS(pier_mmap_configure(mmap, &cfg), -EINVAL);
	LIKE(pier_last_error(), "access PIER_LOCAL_READ | 0x100000, allowed is "
	     "PIER_LOCAL_READ | PIER_LOCAL_WRITE | PIER_REMOTE_READ");
	cfg.access = PIER_LOCAL_WRITE;
	IS(pier_mmap_configure(mmap, &cfg), 0);
	IS(pier_mmap_add_dev(mmap, dev), 0);
	IS(pier_mmap_start(mmap), 0);
	IS(pier_mmap_export(mmap, &desc, &len), -EACCES);
	LIKE(pier_last_error(), "with PIER_LOCAL_WRITE: add PIER_REMOTE_READ");
	pier_mmap_destroy(mmap);
}

/* Tasks that move nothing. */

static void a_read_into_a_full_buffer_is_refused(void)
{
	struct pier_buf *src = peer_far_data(&a, 0, 16);
	struct pier_buf *dst = peer_data(&a, 0, 16);

	IS(pier_rdma_task_read(a.conn, src, dst, &task), 0);
	refused(-EINVAL, "read: the destination has no tail space, only 16 "
		"bytes of data: remove them by pier_buf_reset(), or use NULL "
		"as source to move nothing");
	pier_buf_reset(dst);
	IS(pier_rdma_task_read(a.conn, src, dst, &task), 0);
	succeeds();
	IS(pier_buf_data_len(dst), 16);
	pier_buf_put(dst);
	pier_buf_put(src);
}

static void a_read_of_no_data_is_refused(void)
{
	struct pier_buf *src = peer_far_tail(&a, 0, 16);
	struct pier_buf *dst = peer_tail(&a, 0, 16);

	IS(pier_rdma_task_read(a.conn, src, dst, &task), 0);
	refused(-EINVAL, "read: the source has no data, only 16 bytes of tail "
		"space: set its data by pier_buf_set_data()");
	pier_buf_put(dst);
	pier_buf_put(src);
}

static void a_send_of_no_data_is_refused(void)
{
	struct pier_buf *src = peer_tail(&a, 0, 16);

	IS(pier_rdma_task_send(a.conn, src, &task), 0);
	refused(-EINVAL, "send: the source has no data, only 16 bytes of tail "
		"space: set its data by pier_buf_set_data(), or use NULL as "
		"source to move nothing");
	pier_buf_put(src);
}

static void a_write_of_no_data_is_refused(void)
{
	struct pier_buf *src = peer_tail(&a, 0, 16);
	struct pier_buf *dst = peer_far_tail(&a, 0, 16);

	IS(pier_rdma_task_write(a.conn, src, dst, &task), 0);
	refused(-EINVAL, "write: the source has no data");
	IS(pier_rdma_task_write_imm(a.conn, src, dst, 1, &task), 0);
	refused(-EINVAL, "write with immediate: the source has no data");
	pier_buf_put(dst);
	pier_buf_put(src);
}

static void a_receive_into_a_full_buffer_is_refused(void)
{
	struct pier_buf *dst = peer_data(&a, 0, 16);

	IS(pier_rdma_task_receive(a.rdma, dst, &task), 0);
	refused(-EINVAL, "receive: the destination has no tail space, only 16 "
		"bytes of data: remove them by pier_buf_reset(), or use NULL "
		"as destination to move nothing");
	pier_buf_put(dst);
}

/* With empty_bufs: the minimum is moved, 0 included. */
static void moves_nothing(struct pier_buf *src, struct pier_buf *dst)
{
	struct pier_buf *far_data = peer_far_data(&a, 0, 16);
	struct pier_buf *far_tail = peer_far_tail(&a, 0, 16);
	struct pier_task *recv;
	int got = -EINPROGRESS;

	IS(pier_rdma_task_read(a.conn, far_data, dst, &task), 0);
	succeeds();
	IS(pier_rdma_task_read(a.conn, far_tail, src, &task), 0);
	succeeds();
	IS(pier_rdma_task_write(a.conn, src, far_tail, &task), 0);
	succeeds();
	IS(pier_rdma_task_receive(b.rdma, NULL, &recv), 0);
	pier_task_set_done(recv, peer_done, &got);
	IS(pier_task_submit(recv, 0), 0);
	IS(pier_rdma_task_send(a.conn, src, &task), 0);
	succeeds();
	IS(peer_await(&got), 0);
	IS(pier_recv_len(recv), 0);
	IS(pier_task_free(recv), 0);
	IS(pier_buf_data_len(src) + pier_buf_data_len(far_tail), 0);
	pier_buf_put(far_tail);
	pier_buf_put(far_data);
}

static void empty_buffers_move_nothing_where_configured(void)
{
	const struct pier_rdma_config cfg = { .size = sizeof(cfg),
					      .empty_bufs = 1 };
	struct pier_buf *src, *dst;

	if (open_pair(&cfg, 0)) {
		src = peer_tail(&a, 0, 16);
		dst = peer_data(&a, 64, 16);
		moves_nothing(src, dst);
		IS(pier_buf_data_len(dst), 16);
		IS(pier_conn_state(a.conn), PIER_CONN_CONNECTED);
		pier_buf_put(dst);
		pier_buf_put(src);
	}
	close_pair();
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	if (open_pair(NULL, PIER_LOCAL_READ)) {
		TEST(a_read_needs_local_write);
		TEST(each_part_of_a_chain_needs_local_write);
		TEST(a_receive_needs_local_write);
		TEST(the_result_of_an_atomic_needs_local_write);
		TEST(what_is_read_from_needs_no_right);
		TEST(a_read_into_a_full_buffer_is_refused);
		TEST(a_read_of_no_data_is_refused);
		TEST(a_send_of_no_data_is_refused);
		TEST(a_write_of_no_data_is_refused);
		TEST(a_receive_into_a_full_buffer_is_refused);
	}
	close_pair();
	TEST(what_peers_may_read_is_not_thereby_writable);
	TEST(what_peers_may_write_is_thereby_writable);
	TEST(the_rights_of_a_connection_are_named);
	TEST(the_rights_of_an_mmap_are_named);
	TEST(empty_buffers_move_nothing_where_configured);
	pier_dev_close(dev);
	return tap_done();
}
