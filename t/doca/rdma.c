/* SPDX-License-Identifier: BSD-2-Clause */
#include "t/doca/ends.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"

/* Tasks on a connection made by descriptors, in DOCA's terms. */

static const union doca_data no_data = { .ptr = NULL };
static struct end a, b;

static struct doca_rdma_task_receive *post(struct end *end,
					   struct doca_buf *dst)
{
	struct doca_rdma_task_receive *task = NULL;

	IS(doca_rdma_task_receive_allocate_init(end->rdma, dst, no_data, &task),
	   DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_receive_as_task(task)),
	   DOCA_SUCCESS);
	return task;
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

static void a_message_is_appended_to_its_receive(void)
{
	struct doca_buf *src = end_data(&a, 0, 5), *dst = end_space(&b, 0, 64);
	struct doca_rdma_task_receive *receive = post(&b, dst);
	struct doca_rdma_task_send *send;
	int before = b.done;

	memcpy(a.memory, "hello", 5);
	IS(doca_rdma_task_send_allocate_init(a.rdma, a.conn, src, no_data,
					     &send), DOCA_SUCCESS);
	OK(doca_rdma_task_send_get_rdma_connection(send) == a.conn);
	IS(ends_run(&a, &b, doca_rdma_task_send_as_task(send)), DOCA_SUCCESS);
	OK(doca_rdma_task_send_get_src_buf(send) == src);
	if (!ends_drive(&a, &b, &b.done, before + 1))
		return;
	IS(doca_rdma_task_receive_get_result_opcode(receive),
	   DOCA_RDMA_OPCODE_RECV_SEND);
	IS(doca_rdma_task_receive_get_result_len(receive), 5);
	OK(doca_rdma_task_receive_get_result_rdma_connection(receive) ==
	   b.conn);
	IS(data_len(dst), 5);
	OK(!memcmp(b.memory, "hello", 5));
	doca_task_free(doca_rdma_task_receive_as_task(receive));

	/* what it was about stays readable */
	OK(doca_rdma_task_receive_get_dst_buf(receive) == dst);
	IS(doca_rdma_task_receive_get_result_len(receive), 5);
	OK(doca_rdma_task_receive_get_result_rdma_connection(receive) ==
	   b.conn);
	put(src);
	put(dst);
}

static void an_immediate_passes_through(void)
{
	struct doca_rdma_task_receive *receive = post(&b, NULL);
	struct doca_rdma_task_send_imm *send;
	int before = b.done;

	IS(doca_rdma_task_send_imm_allocate_init(a.rdma, a.conn, NULL, 0xabcd,
						 no_data, &send),
	   DOCA_SUCCESS);
	IS(doca_rdma_task_send_imm_get_immediate_data(send), 0xabcd);
	IS(ends_run(&a, &b, doca_rdma_task_send_imm_as_task(send)),
	   DOCA_SUCCESS);
	if (!ends_drive(&a, &b, &b.done, before + 1))
		return;
	IS(doca_rdma_task_receive_get_result_opcode(receive),
	   DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM);
	IS(doca_rdma_task_receive_get_result_immediate_data(receive), 0xabcd);
	IS(doca_rdma_task_receive_get_result_len(receive), 0);
	doca_task_free(doca_rdma_task_receive_as_task(receive));
}

static void a_read_appends_what_the_destination_has_space_for(void)
{
	struct doca_buf *src = end_far_data(&a, 100, 50);
	struct doca_buf *dst = end_space(&a, 200, 20);
	struct doca_rdma_task_read *task;

	memset(b.memory + 100, 'r', 50);
	memset(a.memory + 200, 0, 50);
	IS(doca_rdma_task_read_allocate_init(a.rdma, a.conn, src, dst, no_data,
					     &task), DOCA_SUCCESS);
	IS(ends_run(&a, &b, doca_rdma_task_read_as_task(task)), DOCA_SUCCESS);
	IS(doca_rdma_task_read_get_result_len(task), 20);
	IS(data_len(dst), 20);
	IS(a.memory[219], 'r');
	IS(a.memory[220], 0);
	put(src);
	put(dst);
}

static void submit(struct doca_task *task)
{
	int before = a.done;

	IS(doca_task_submit(task), DOCA_SUCCESS);
	ends_drive(&a, &b, &a.done, before + 1);
}

/* Each buffer is changed, and then another one is set. */
static void a_read_again_has_another_length(void)
{
	struct doca_buf *src = end_far_data(&a, 100, 50);
	struct doca_buf *dst = end_space(&a, 200, 40);
	struct doca_buf *other = end_far_data(&a, 100, 7);
	struct doca_rdma_task_read *read;
	struct doca_task *task;

	IS(doca_rdma_task_read_allocate_init(a.rdma, a.conn, src, dst, no_data,
					     &read), DOCA_SUCCESS);
	task = doca_rdma_task_read_as_task(read);
	submit(task);
	IS(doca_rdma_task_read_get_result_len(read), 40);
	submit(task);		/* no space remains */
	IS(doca_rdma_task_read_get_result_len(read), 0);
	IS(doca_buf_set_data(dst, a.memory + 210, 0), DOCA_SUCCESS);
	submit(task);
	IS(doca_rdma_task_read_get_result_len(read), 30);
	IS(doca_buf_reset_data_len(dst), DOCA_SUCCESS);
	IS(doca_buf_set_data_len(src, 12), DOCA_SUCCESS);
	submit(task);
	IS(doca_rdma_task_read_get_result_len(read), 12);
	IS(doca_buf_reset_data_len(dst), DOCA_SUCCESS);
	doca_rdma_task_read_set_src_buf(read, other);
	IS(ends_run(&a, &b, task), DOCA_SUCCESS);
	IS(doca_rdma_task_read_get_result_len(read), 7);	/* is freed */
	put(src);
	put(other);
	put(dst);
}

static void a_write_goes_behind_the_data_of_its_destination(void)
{
	struct doca_buf *src = end_data(&a, 0, 10);
	struct doca_buf *dst = end_far_space(&a, 300, 30);
	struct doca_rdma_task_write *task;
	void *head;

	memset(a.memory, 'w', 10);
	memset(b.memory + 300, 0, 30);
	IS(doca_buf_get_head(dst, &head), DOCA_SUCCESS);
	IS(doca_buf_set_data(dst, (char *)head + 5, 0), DOCA_SUCCESS);
	IS(doca_rdma_task_write_allocate_init(a.rdma, a.conn, src, dst, no_data,
					      &task), DOCA_SUCCESS);
	IS(ends_run(&a, &b, doca_rdma_task_write_as_task(task)), DOCA_SUCCESS);
	IS(data_len(dst), 10);
	IS(b.memory[304], 0);
	OK(!memcmp(b.memory + 305, "wwwwwwwwww", 11));
	put(src);
	put(dst);
}

static void a_write_with_immediate_uses_one_receive(void)
{
	struct doca_buf *src = end_data(&a, 0, 7);
	struct doca_buf *dst = end_far_space(&a, 400, 7);
	struct doca_rdma_task_receive *receive = post(&b, NULL);
	struct doca_rdma_task_write_imm *task;
	int before = b.done;

	memcpy(a.memory, "written", 7);
	IS(doca_rdma_task_write_imm_allocate_init(a.rdma, a.conn, src, dst, 77,
						  no_data, &task),
	   DOCA_SUCCESS);
	IS(ends_run(&a, &b, doca_rdma_task_write_imm_as_task(task)),
	   DOCA_SUCCESS);
	if (!ends_drive(&a, &b, &b.done, before + 1))
		return;
	IS(doca_rdma_task_receive_get_result_opcode(receive),
	   DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM);
	IS(doca_rdma_task_receive_get_result_immediate_data(receive), 77);
	IS(doca_rdma_task_receive_get_result_len(receive), 7);
	OK(!memcmp(b.memory + 400, "written", 7));
	doca_task_free(doca_rdma_task_receive_as_task(receive));
	put(src);
	put(dst);
}

static void atomics_return_the_value_before(void)
{
	struct doca_buf *dst = end_far_data(&a, 512, 8);
	struct doca_buf *result = end_space(&a, 512, 8);
	struct doca_rdma_task_atomic_fetch_add *add;
	struct doca_rdma_task_atomic_cmp_swp *swap;
	uint64_t *far = (uint64_t *)(void *)(b.memory + 512);
	uint64_t *near = (uint64_t *)(void *)(a.memory + 512);

	*far = 40;
	IS(doca_rdma_task_atomic_fetch_add_allocate_init(
		a.rdma, a.conn, dst, result, 2, no_data, &add), DOCA_SUCCESS);
	IS(doca_rdma_task_atomic_fetch_add_get_add_data(add), 2);
	IS(ends_run(&a, &b, doca_rdma_task_atomic_fetch_add_as_task(add)),
	   DOCA_SUCCESS);
	IS(*far, 42);
	IS(*near, 40);
	IS(data_len(result), 8);
	IS(doca_buf_reset_data_len(result), DOCA_SUCCESS);
	IS(doca_rdma_task_atomic_cmp_swp_allocate_init(
		a.rdma, a.conn, dst, result, 42, 7, no_data, &swap),
	   DOCA_SUCCESS);
	IS(ends_run(&a, &b, doca_rdma_task_atomic_cmp_swp_as_task(swap)),
	   DOCA_SUCCESS);
	IS(*far, 7);
	IS(*near, 42);
	put(dst);
	put(result);
}

static void a_task_is_submitted_again_with_other_arguments(void)
{
	struct doca_buf *one = end_data(&a, 0, 3), *two = end_data(&a, 10, 4);
	struct doca_buf *dst = end_space(&b, 0, 64);
	struct doca_rdma_task_receive *receive = post(&b, dst);
	struct doca_rdma_task_send *send;
	union doca_data data = { .u64 = 9 };
	int before = b.done, sent = a.done;

	memcpy(a.memory, "one", 3);
	memcpy(a.memory + 10, "four", 4);
	IS(doca_rdma_task_send_allocate_init(a.rdma, a.conn, one, data, &send),
	   DOCA_SUCCESS);
	IS(doca_task_get_user_data(doca_rdma_task_send_as_task(send)).u64, 9);
	OK(doca_task_get_ctx(doca_rdma_task_send_as_task(send)) == a.ctx);
	IS(doca_task_submit(doca_rdma_task_send_as_task(send)), DOCA_SUCCESS);
	ends_drive(&a, &b, &a.done, sent + 1);
	ends_drive(&a, &b, &b.done, before + 1);
	IS(doca_task_submit(doca_rdma_task_receive_as_task(receive)),
	   DOCA_SUCCESS);
	doca_rdma_task_send_set_src_buf(send, two);
	IS(doca_task_try_submit(doca_rdma_task_send_as_task(send)),
	   DOCA_SUCCESS);
	ends_drive(&a, &b, &a.done, sent + 2);
	ends_drive(&a, &b, &b.done, before + 2);
	IS(data_len(dst), 7);
	OK(!memcmp(b.memory, "onefour", 7));
	doca_task_free(doca_rdma_task_send_as_task(send));
	doca_task_free(doca_rdma_task_receive_as_task(receive));
	put(one);
	put(two);
	put(dst);
}

static void lists_are_sent_and_filled_in_order(void)
{
	struct doca_buf *one = end_data(&a, 0, 3), *two = end_data(&a, 10, 3);
	struct doca_buf *head = end_space(&b, 0, 4);
	struct doca_buf *tail = end_space(&b, 100, 4);
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_send *send;
	int before = b.done;

	memcpy(a.memory, "abc", 3);
	memcpy(a.memory + 10, "def", 3);
	IS(doca_buf_chain_list(one, two), DOCA_SUCCESS);
	IS(doca_buf_chain_list(head, tail), DOCA_SUCCESS);
	receive = post(&b, head);
	IS(doca_rdma_task_send_allocate_init(a.rdma, a.conn, one, no_data,
					     &send), DOCA_SUCCESS);
	IS(ends_run(&a, &b, doca_rdma_task_send_as_task(send)), DOCA_SUCCESS);
	ends_drive(&a, &b, &b.done, before + 1);
	IS(data_len(head), 4);
	IS(data_len(tail), 2);
	OK(!memcmp(b.memory, "abcd", 4) && !memcmp(b.memory + 100, "ef", 2));
	doca_task_free(doca_rdma_task_receive_as_task(receive));
	put(one);
	put(head);
}

/* The responder's program is busy with something else. */
static void a_responder_is_served_without_progress(void)
{
	struct doca_buf *src = end_far_data(&a, 0, 8);
	struct doca_buf *dst = end_space(&a, 0, 8);
	struct doca_rdma_task_read *task;
	int before = a.done;

	memcpy(b.memory, "sleeping", 8);
	IS(doca_rdma_task_read_allocate_init(a.rdma, a.conn, src, dst, no_data,
					     &task), DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_read_as_task(task)), DOCA_SUCCESS);
	ends_drive(&a, &a, &a.done, before + 1);
	OK(!memcmp(a.memory, "sleeping", 8));
	doca_task_free(doca_rdma_task_read_as_task(task));
	put(src);
	put(dst);
}

/* Wait for @byte at @at of the peer, without any progress. */
static bool arrives(size_t at, char byte)
{
	long long limit = limit_from_now();

	while (__atomic_load_n(&b.memory[at], __ATOMIC_ACQUIRE) != byte)
		if (!limit_nap(limit))
			return false;
	return true;
}

/* Submit writes of the two bytes at 0 there, without a flush. */
static void submit_later(struct doca_rdma_task_write **tasks,
			 struct doca_buf **bufs)
{
	a.memory[0] = a.memory[1] = 'd';
	b.memory[600] = b.memory[601] = 0;
	for (size_t i = 0; i < 2; i++) {
		bufs[2 * i] = end_data(&a, i, 1);
		bufs[2 * i + 1] = end_far_space(&a, 600 + i, 1);
		IS(doca_rdma_task_write_allocate_init(
			   a.rdma, a.conn, bufs[2 * i], bufs[2 * i + 1],
			   no_data, &tasks[i]),
		   DOCA_SUCCESS);
		IS(doca_task_submit_ex(doca_rdma_task_write_as_task(tasks[i]),
				       DOCA_TASK_SUBMIT_FLAG_NONE),
		   DOCA_SUCCESS);
	}
}

static void tasks_without_a_flush_are_posted_later(void)
{
	struct doca_rdma_task_write *tasks[2];
	struct doca_buf *bufs[4];

	for (int i = 0; i < 2; i++) {
		int before = a.done;

		submit_later(tasks, bufs);
		if (i) {
			doca_ctx_flush_tasks(a.ctx);
			OK(arrives(601, 'd'));
			IS(a.done, before);
		}
		ends_drive(&a, &a, &a.done, before + 2);
		OK(arrives(600, 'd') && arrives(601, 'd'));
		for (int j = 0; j < 2; j++)
			doca_task_free(doca_rdma_task_write_as_task(tasks[j]));
		for (int j = 0; j < 4; j++)
			put(bufs[j]);
	}
	doca_ctx_flush_tasks(NULL);
}

static void tasks_come_from_pools_of_their_type(void)
{
	struct doca_rdma_task_send *tasks[END_TASKS], *more;
	struct doca_rdma_task_receive *other;

	for (int i = 0; i < END_TASKS; i++)
		IS(doca_rdma_task_send_allocate_init(a.rdma, a.conn, NULL,
						     no_data, &tasks[i]),
		   DOCA_SUCCESS);
	IS(doca_rdma_task_send_allocate_init(a.rdma, a.conn, NULL, no_data,
					     &more), DOCA_ERROR_NO_MEMORY);
	IS(doca_rdma_task_receive_allocate_init(a.rdma, NULL, no_data, &other),
	   DOCA_SUCCESS);
	doca_task_free(doca_rdma_task_receive_as_task(other));
	for (int i = 0; i < END_TASKS; i++)
		doca_task_free(doca_rdma_task_send_as_task(tasks[i]));
	IS(doca_rdma_task_send_allocate_init(a.rdma, a.conn, NULL, no_data,
					     &more), DOCA_SUCCESS);
	doca_task_free(doca_rdma_task_send_as_task(more));
	IS(doca_rdma_task_send_allocate_init(a.rdma, b.conn, NULL, no_data,
					     &more), DOCA_ERROR_INVALID_VALUE);
}

static void in_flight_tasks_are_counted(void)
{
	struct doca_rdma_task_receive *task = post(&b, NULL);
	struct doca_rdma_task_send *send;
	int before = b.done;
	size_t n = 0;

	IS(doca_ctx_get_num_inflight_tasks(b.ctx, &n), DOCA_SUCCESS);
	IS(n, 1);
	IS(doca_pe_get_num_inflight_tasks(b.pe, &n), DOCA_SUCCESS);
	IS(n, 1);
	IS(doca_rdma_task_send_allocate_init(a.rdma, a.conn, NULL, no_data,
					     &send), DOCA_SUCCESS);
	IS(ends_run(&a, &b, doca_rdma_task_send_as_task(send)), DOCA_SUCCESS);
	ends_drive(&a, &b, &b.done, before + 1);
	IS(doca_ctx_get_num_inflight_tasks(b.ctx, &n), DOCA_SUCCESS);
	IS(n, 0);
	doca_task_free(doca_rdma_task_receive_as_task(task));
}

static void a_connection_has_data_and_a_number(void)
{
	union doca_data data = { .u64 = 5 };
	uint32_t id = 0;

	IS(doca_rdma_connection_set_user_data(a.conn, data), DOCA_SUCCESS);
	data.u64 = 0;
	IS(doca_rdma_connection_get_user_data(a.conn, &data), DOCA_SUCCESS);
	IS(data.u64, 5);
	IS(doca_rdma_connection_get_id(a.conn, &id), DOCA_SUCCESS);
	OK(id != 0);
}

static void there_are_as_many_connections_as_were_set(void)
{
	struct doca_rdma_connection *conn;
	const void *desc;
	size_t len;

	IS(doca_rdma_export(a.rdma, &desc, &len, &conn), DOCA_ERROR_FULL);
	IS(doca_rdma_connect(a.rdma, "nonsense", 8, a.conn),
	   DOCA_ERROR_BAD_STATE);
}

int main(void)
{
	end_open(&a);
	end_open(&b);
	end_start(&a);
	end_start(&b);
	ends_connect(&a, &b);
	TEST(a_message_is_appended_to_its_receive);
	TEST(an_immediate_passes_through);
	TEST(a_read_appends_what_the_destination_has_space_for);
	TEST(a_read_again_has_another_length);
	TEST(a_write_goes_behind_the_data_of_its_destination);
	TEST(a_write_with_immediate_uses_one_receive);
	TEST(atomics_return_the_value_before);
	TEST(a_task_is_submitted_again_with_other_arguments);
	TEST(lists_are_sent_and_filled_in_order);
	TEST(a_responder_is_served_without_progress);
	TEST(tasks_without_a_flush_are_posted_later);
	TEST(tasks_come_from_pools_of_their_type);
	TEST(in_flight_tasks_are_counted);
	TEST(a_connection_has_data_and_a_number);
	TEST(there_are_as_many_connections_as_were_set);
	end_close(&a);
	end_close(&b);
	return tap_done();
}
