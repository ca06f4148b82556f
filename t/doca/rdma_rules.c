/* SPDX-License-Identifier: BSD-2-Clause */
#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* What tasks do at their limits: lists, nothing, other values, failures. */

static const union doca_data no_data = { .ptr = NULL };
static struct end a, b;

static void open_pair(uint8_t rnr_retries)
{
	end_open(&a);
	end_open(&b);
	IS(doca_rdma_set_rnr_retry_count(a.rdma, rnr_retries), DOCA_SUCCESS);
	end_start(&a);
	end_start(&b);
	ends_connect(&a, &b);
}

static void close_pair(void)
{
	end_close(&a);
	end_close(&b);
}

static void put(struct doca_buf *buf)
{
	IS(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
}

static size_t data_len(const struct doca_buf *buf)
{
	size_t len = 0;

	IS(doca_buf_get_data_len(buf, &len), DOCA_SUCCESS);
	return len;
}

static doca_error_t read_to(struct doca_buf *src, struct doca_buf *dst,
			    uint32_t *len)
{
	struct doca_rdma_task_read *task;
	doca_error_t error;

	IS(doca_rdma_task_read_allocate_init(a.rdma, a.conn, src, dst, no_data,
					     &task), DOCA_SUCCESS);
	error = ends_run(&a, &a, doca_rdma_task_read_as_task(task));
	*len = doca_rdma_task_read_get_result_len(task);
	return error;
}

static doca_error_t write_from(struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_rdma_task_write *task;

	IS(doca_rdma_task_write_allocate_init(a.rdma, a.conn, src, dst, no_data,
					      &task), DOCA_SUCCESS);
	return ends_run(&a, &a, doca_rdma_task_write_as_task(task));
}

static void a_read_fills_a_list(void)
{
	struct doca_buf *src, *one, *two;
	uint32_t len = 0;

	open_pair(7);
	src = end_far_data(&a, 0, 50);
	one = end_space(&a, 0, 20);
	two = end_space(&a, 100, 40);
	memset(b.memory, 'r', 50);
	IS(doca_buf_chain_list(one, two), DOCA_SUCCESS);
	IS(read_to(src, one, &len), DOCA_SUCCESS);
	IS(len, 50);
	IS(data_len(one), 20);
	IS(data_len(two), 30);
	IS(a.memory[19], 'r');
	IS(a.memory[20], 0);
	IS(a.memory[129], 'r');
	IS(a.memory[130], 0);
	put(src);
	put(one);
	close_pair();
}

/* The peer's program does nothing meanwhile. */
static void a_write_takes_from_a_list(void)
{
	struct doca_buf *one, *two, *dst;

	open_pair(7);
	one = end_data(&a, 0, 3);
	two = end_data(&a, 10, 2);
	dst = end_far_space(&a, 200, 8);
	memcpy(a.memory, "abc.......de", 12);
	IS(doca_buf_chain_list(one, two), DOCA_SUCCESS);
	IS(write_from(one, dst), DOCA_SUCCESS);
	IS(data_len(dst), 5);
	OK(!memcmp(b.memory + 200, "abcde\0", 6));
	put(one);
	put(dst);
	close_pair();
}

static void nothing_is_read_and_written(void)
{
	uint32_t len = 9;

	open_pair(7);
	IS(read_to(NULL, NULL, &len), DOCA_SUCCESS);
	IS(len, 0);
	IS(write_from(NULL, NULL), DOCA_SUCCESS);
	close_pair();
}

static doca_error_t swap(struct doca_buf *dst, struct doca_buf *result,
			 uint64_t compare, uint64_t value)
{
	struct doca_rdma_task_atomic_cmp_swp *task;

	IS(doca_rdma_task_atomic_cmp_swp_allocate_init(
		a.rdma, a.conn, dst, result, compare, value, no_data, &task),
	   DOCA_SUCCESS);
	return ends_run(&a, &a, doca_rdma_task_atomic_cmp_swp_as_task(task));
}

static void another_value_is_not_replaced(void)
{
	uint64_t *here = (uint64_t *)(void *)a.memory;
	uint64_t *there = (uint64_t *)(void *)b.memory;
	struct doca_buf *dst, *result;

	open_pair(7);
	dst = end_far_data(&a, 0, 8);
	result = end_space(&a, 0, 8);
	there[0] = 5;
	IS(swap(dst, result, 4, 9), DOCA_SUCCESS);
	IS(here[0], 5);
	IS(there[0], 5);
	IS(doca_buf_reset_data_len(result), DOCA_SUCCESS);
	IS(swap(dst, result, 5, 9), DOCA_SUCCESS);
	IS(here[0], 5);
	IS(there[0], 9);
	put(dst);
	put(result);
	close_pair();
}

static void an_atomic_needs_an_aligned_word(void)
{
	struct doca_buf *dst, *result;

	open_pair(7);
	dst = end_far_data(&a, 4, 8);
	result = end_space(&a, 0, 8);
	IS(swap(dst, result, 0, 9), DOCA_ERROR_INVALID_VALUE);
	put(dst);
	put(result);
	close_pair();
}

/* The bytes go to the mmap, the number to the receive. */
static void a_write_leaves_the_buffer_of_its_receive(void)
{
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_write_imm *task;
	struct doca_buf *src, *dst, *unused;

	open_pair(7);
	src = end_data(&a, 0, 7);
	dst = end_far_space(&a, 300, 7);
	unused = end_space(&b, 0, 64);
	memset(a.memory, 'i', 7);
	IS(doca_rdma_task_receive_allocate_init(b.rdma, unused, no_data,
						&receive), DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_receive_as_task(receive)),
	   DOCA_SUCCESS);
	IS(doca_rdma_task_write_imm_allocate_init(a.rdma, a.conn, src, dst, 3,
						  no_data, &task),
	   DOCA_SUCCESS);
	IS(ends_run(&a, &b, doca_rdma_task_write_imm_as_task(task)),
	   DOCA_SUCCESS);
	ends_drive(&a, &b, &b.done, 1);
	IS(doca_rdma_task_receive_get_result_opcode(receive),
	   DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM);
	IS(doca_rdma_task_receive_get_result_len(receive), 7);
	IS(data_len(unused), 0);
	IS(b.memory[0], 0);
	IS(b.memory[306], 'i');
	doca_task_free(doca_rdma_task_receive_as_task(receive));
	put(src);
	put(dst);
	put(unused);
	close_pair();
}

static void a_sender_that_does_not_wait_runs_out_of_time(void)
{
	struct doca_rdma_task_send *task;

	open_pair(1);
	IS(doca_rdma_task_send_allocate_init(a.rdma, a.conn, NULL, no_data,
					     &task), DOCA_SUCCESS);
	IS(ends_run(&a, &b, doca_rdma_task_send_as_task(task)),
	   DOCA_ERROR_TIME_OUT);
	close_pair();
}

static void a_message_that_is_too_long_fails_on_both_sides(void)
{
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_send *task;
	struct doca_buf *src, *dst;

	open_pair(7);
	src = end_data(&a, 0, 100);
	dst = end_space(&b, 0, 10);
	IS(doca_rdma_task_receive_allocate_init(b.rdma, dst, no_data, &receive),
	   DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_receive_as_task(receive)),
	   DOCA_SUCCESS);
	IS(doca_rdma_task_send_allocate_init(a.rdma, a.conn, src, no_data,
					     &task), DOCA_SUCCESS);
	IS(ends_run(&a, &b, doca_rdma_task_send_as_task(task)),
	   DOCA_ERROR_IO_FAILED);
	ends_drive(&a, &b, &b.failed, 1);
	IS(b.error, DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_rdma_task_receive_as_task(receive));
	put(src);
	put(dst);
	close_pair();
}

/* Submit it once more; it is not freed. */
static void run(struct doca_task *task)
{
	int before = a.done;

	IS(doca_task_submit(task), DOCA_SUCCESS);
	ends_drive(&a, &a, &a.done, before + 1);
}

static void an_event_is_set_to_what_memory_has_then(void)
{
	struct doca_rdma_task_remote_net_sync_event_notify_set *set;
	struct doca_sync_event_remote_net *remote;
	uint64_t *words = (uint64_t *)(void *)a.memory;
	struct doca_sync_event *event;
	struct doca_buf *src, *other;
	struct doca_task *task;

	open_pair(7);
	event = end_share_event(&b, &a, &remote);
	src = end_data(&a, 0, 8);
	other = end_data(&a, 8, 8);
	IS(doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
		a.rdma, a.conn, remote, src, no_data, &set), DOCA_SUCCESS);
	task = doca_rdma_task_remote_net_sync_event_notify_set_as_task(set);
	words[0] = 1;
	run(task);
	IS(doca_sync_event_wait_eq(event, 1, UINT64_MAX), DOCA_SUCCESS);
	words[0] = 2;
	run(task);
	IS(doca_sync_event_wait_eq(event, 2, UINT64_MAX), DOCA_SUCCESS);
	words[1] = 3;
	doca_rdma_task_remote_net_sync_event_notify_set_set_src_buf(set, other);
	run(task);
	IS(doca_sync_event_wait_eq(event, 3, UINT64_MAX), DOCA_SUCCESS);
	doca_rdma_task_remote_net_sync_event_notify_set_set_sync_event(set,
								       NULL);
	IS(doca_task_submit(task), DOCA_ERROR_INVALID_VALUE);
	doca_task_free(task);
	put(src);
	put(other);
	IS(doca_sync_event_remote_net_destroy(remote), DOCA_SUCCESS);
	IS(doca_sync_event_stop(event), DOCA_SUCCESS);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
	close_pair();
}

static void the_value_of_an_event_is_appended(void)
{
	struct doca_rdma_task_remote_net_sync_event_get *get;
	struct doca_sync_event_remote_net *remote;
	uint64_t *words = (uint64_t *)(void *)a.memory;
	struct doca_sync_event *event;
	struct doca_buf *dst;
	struct doca_task *task;

	open_pair(7);
	event = end_share_event(&b, &a, &remote);
	dst = end_space(&a, 0, 24);
	IS(doca_sync_event_update_set(event, 77), DOCA_SUCCESS);
	IS(doca_rdma_task_remote_net_sync_event_get_allocate_init(
		a.rdma, a.conn, remote, dst, no_data, &get), DOCA_SUCCESS);
	task = doca_rdma_task_remote_net_sync_event_get_as_task(get);
	run(task);
	IS(doca_sync_event_update_set(event, 78), DOCA_SUCCESS);
	run(task);
	IS(data_len(dst), 16);
	IS(words[0], 77);
	IS(words[1], 78);
	IS(words[2], 0);
	IS(doca_rdma_task_remote_net_sync_event_get_get_result_len(get), 8);
	doca_task_free(task);
	put(dst);
	IS(doca_sync_event_remote_net_destroy(remote), DOCA_SUCCESS);
	IS(doca_sync_event_stop(event), DOCA_SUCCESS);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
	close_pair();
}

int main(void)
{
	TEST(a_read_fills_a_list);
	TEST(a_write_takes_from_a_list);
	TEST(nothing_is_read_and_written);
	TEST(another_value_is_not_replaced);
	TEST(an_atomic_needs_an_aligned_word);
	TEST(a_write_leaves_the_buffer_of_its_receive);
	TEST(a_sender_that_does_not_wait_runs_out_of_time);
	TEST(a_message_that_is_too_long_fails_on_both_sides);
	TEST(an_event_is_set_to_what_memory_has_then);
	TEST(the_value_of_an_event_is_appended);
	return tap_done();
}
