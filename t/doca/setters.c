/* SPDX-License-Identifier: BSD-2-Clause */
#include <endian.h>

#include "t/doca/trio.h"
#include "t/lib/tap.h"

/*
 * What a task that moves data is changed to between two submits: its getters
 * return it, and the next submit does it; first with the same connection, then
 * with another.
 */
static const union doca_data no_data = { .ptr = NULL };
static struct trio t;
static struct end *const a = &t.a, *const b = &t.b, *const c = &t.c;

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

/* The task of @end that ends as number @i has @imm and @len bytes; free it. */
static void received(struct end *end, int i,
		     struct doca_rdma_task_receive *task, doca_be32_t imm,
		     uint32_t len)
{
	trio_drive(&t, end, i);
	IS(end->error, DOCA_SUCCESS);
	IS(doca_rdma_task_receive_get_result_immediate_data(task), imm);
	IS(doca_rdma_task_receive_get_result_len(task), len);
	doca_task_free(doca_rdma_task_receive_as_task(task));
}

static void a_send_with_a_number_is_changed(void)
{
	struct doca_rdma_task_receive *first, *second, *third;
	struct doca_rdma_task_send_imm *task;
	struct doca_buf *src, *other, *space;

	trio_open(&t);
	src = end_data(a, 0, 3);
	other = end_data(a, 64, 5);
	space = end_space(b, 0, 64);
	first = post(b, NULL);
	second = post(b, space);
	third = post(c, NULL);
	IS(doca_rdma_task_send_imm_allocate_init(a->rdma, t.to_b, NULL,
						 htobe32(1), no_data, &task),
	   DOCA_SUCCESS);
	IS(trio_run(&t, doca_rdma_task_send_imm_as_task(task)), DOCA_SUCCESS);
	received(b, 1, first, htobe32(1), 0);
	memcpy(a->memory + 64, "other", 5);
	doca_rdma_task_send_imm_set_src_buf(task, src);
	OK(doca_rdma_task_send_imm_get_src_buf(task) == src);
	doca_rdma_task_send_imm_set_src_buf(task, other);
	OK(doca_rdma_task_send_imm_get_src_buf(task) == other);
	doca_rdma_task_send_imm_set_immediate_data(task, htobe32(7));
	IS(doca_rdma_task_send_imm_get_immediate_data(task), htobe32(7));
	IS(trio_run(&t, doca_rdma_task_send_imm_as_task(task)), DOCA_SUCCESS);
	received(b, 2, second, htobe32(7), 5);
	OK(!memcmp(b->memory, "otherb", 6));
	doca_rdma_task_send_imm_set_src_buf(task, NULL);
	OK(doca_rdma_task_send_imm_get_rdma_connection(task) == t.to_b);
	doca_rdma_task_send_imm_set_rdma_connection(task, t.to_c);
	OK(doca_rdma_task_send_imm_get_rdma_connection(task) == t.to_c);
	IS(trio_run(&t, doca_rdma_task_send_imm_as_task(task)), DOCA_SUCCESS);
	received(c, 1, third, htobe32(7), 0);
	doca_task_free(doca_rdma_task_send_imm_as_task(task));
	trio_put(src, other);
	IS(doca_buf_dec_refcount(space, NULL), DOCA_SUCCESS);
	trio_close(&t);
}

static doca_error_t send_to(struct doca_rdma_connection *conn,
			    struct doca_buf *src)
{
	struct doca_rdma_task_send *task;
	doca_error_t error;

	IS(doca_rdma_task_send_allocate_init(a->rdma, conn, src, no_data,
					     &task),
	   DOCA_SUCCESS);
	error = trio_run(&t, doca_rdma_task_send_as_task(task));
	doca_task_free(doca_rdma_task_send_as_task(task));
	return error;
}

static void a_receive_is_posted_again_with_another_buffer(void)
{
	struct doca_rdma_task_receive *task;
	struct doca_buf *src, *first, *second;

	trio_open(&t);
	src = end_data(a, 0, 4);
	first = end_space(b, 0, 8);
	second = end_space(b, 100, 8);
	memcpy(a->memory, "text", 4);
	task = post(b, first);
	OK(doca_rdma_task_receive_get_dst_buf(task) == first);
	IS(send_to(t.to_b, src), DOCA_SUCCESS);
	trio_drive(&t, b, 1);
	OK(!memcmp(b->memory, "textb", 5));
	doca_rdma_task_receive_set_dst_buf(task, second);
	OK(doca_rdma_task_receive_get_dst_buf(task) == second);
	IS(doca_task_submit(doca_rdma_task_receive_as_task(task)),
	   DOCA_SUCCESS);
	memcpy(a->memory, "more", 4);
	IS(send_to(t.to_b, src), DOCA_SUCCESS);
	trio_drive(&t, b, 2);
	IS(b->done, 2);
	OK(!memcmp(b->memory, "textb", 5));
	OK(!memcmp(b->memory + 100, "moreb", 5));
	doca_task_free(doca_rdma_task_receive_as_task(task));
	IS(doca_buf_dec_refcount(src, NULL), DOCA_SUCCESS);
	trio_put(first, second);
	trio_close(&t);
}

static void a_read_is_changed(void)
{
	struct doca_buf *src, *dst, *src_c, *dst_c;
	struct doca_rdma_task_read *task;

	trio_open(&t);
	src = trio_far_data(&t, t.of_b, 0, 4);
	src_c = trio_far_data(&t, t.of_c, 8, 2);
	dst = end_space(a, 0, 8);
	dst_c = end_space(a, 100, 8);
	IS(doca_rdma_task_read_allocate_init(a->rdma, t.to_b, src, dst, no_data,
					     &task),
	   DOCA_SUCCESS);
	OK(doca_rdma_task_read_get_src_buf(task) == src);
	OK(doca_rdma_task_read_get_dst_buf(task) == dst);
	OK(doca_rdma_task_read_get_rdma_connection(task) == t.to_b);
	IS(trio_run(&t, doca_rdma_task_read_as_task(task)), DOCA_SUCCESS);
	OK(!memcmp(a->memory, "bbbb\0", 5));
	doca_rdma_task_read_set_dst_buf(task, dst_c);
	IS(trio_run(&t, doca_rdma_task_read_as_task(task)), DOCA_SUCCESS);
	OK(!memcmp(a->memory + 100, "bbbb\0", 5));
	doca_rdma_task_read_set_src_buf(task, src_c);
	doca_rdma_task_read_set_rdma_connection(task, t.to_c);
	OK(doca_rdma_task_read_get_src_buf(task) == src_c);
	OK(doca_rdma_task_read_get_dst_buf(task) == dst_c);
	OK(doca_rdma_task_read_get_rdma_connection(task) == t.to_c);
	IS(trio_run(&t, doca_rdma_task_read_as_task(task)), DOCA_SUCCESS);
	IS(doca_rdma_task_read_get_result_len(task), 2);
	OK(!memcmp(a->memory + 104, "cc\0", 3)); /* appended */
	doca_task_free(doca_rdma_task_read_as_task(task));
	trio_put(src, dst);
	trio_put(src_c, dst_c);
	trio_close(&t);
}

static void a_write_is_changed(void)
{
	struct doca_buf *src, *dst, *src_c, *dst_c;
	struct doca_rdma_task_write *task;

	trio_open(&t);
	src = end_data(a, 0, 4);
	src_c = end_data(a, 8, 2);
	dst = trio_far_space(&t, t.of_b, 0, 8);
	dst_c = trio_far_space(&t, t.of_c, 100, 8);
	memcpy(a->memory, "first...to", 10);
	IS(doca_rdma_task_write_allocate_init(a->rdma, t.to_b, src, dst,
					      no_data, &task),
	   DOCA_SUCCESS);
	OK(doca_rdma_task_write_get_src_buf(task) == src);
	OK(doca_rdma_task_write_get_dst_buf(task) == dst);
	OK(doca_rdma_task_write_get_rdma_connection(task) == t.to_b);
	IS(trio_run(&t, doca_rdma_task_write_as_task(task)), DOCA_SUCCESS);
	OK(!memcmp(b->memory, "firsb", 5));
	doca_rdma_task_write_set_src_buf(task, src_c);
	IS(trio_run(&t, doca_rdma_task_write_as_task(task)), DOCA_SUCCESS);
	OK(!memcmp(b->memory, "firstob", 7)); /* appended */
	doca_rdma_task_write_set_dst_buf(task, dst_c);
	doca_rdma_task_write_set_rdma_connection(task, t.to_c);
	OK(doca_rdma_task_write_get_src_buf(task) == src_c);
	OK(doca_rdma_task_write_get_dst_buf(task) == dst_c);
	OK(doca_rdma_task_write_get_rdma_connection(task) == t.to_c);
	IS(trio_run(&t, doca_rdma_task_write_as_task(task)), DOCA_SUCCESS);
	OK(!memcmp(c->memory + 100, "toc", 3));
	doca_task_free(doca_rdma_task_write_as_task(task));
	trio_put(src, dst);
	trio_put(src_c, dst_c);
	trio_close(&t);
}

static void a_write_with_a_number_is_changed(void)
{
	struct doca_rdma_task_receive *first, *second, *third;
	struct doca_buf *src, *dst, *src_c, *dst_c;
	struct doca_rdma_task_write_imm *task;

	trio_open(&t);
	src = end_data(a, 0, 4);
	src_c = end_data(a, 8, 2);
	dst = trio_far_space(&t, t.of_b, 0, 8);
	dst_c = trio_far_space(&t, t.of_c, 100, 8);
	first = post(b, NULL);
	second = post(b, NULL);
	third = post(c, NULL);
	memcpy(a->memory, "first...to", 10);
	IS(doca_rdma_task_write_imm_allocate_init(a->rdma, t.to_b, src, dst,
						  htobe32(1), no_data, &task),
	   DOCA_SUCCESS);
	IS(doca_rdma_task_write_imm_get_immediate_data(task), htobe32(1));
	OK(doca_rdma_task_write_imm_get_rdma_connection(task) == t.to_b);
	IS(trio_run(&t, doca_rdma_task_write_imm_as_task(task)), DOCA_SUCCESS);
	received(b, 1, first, htobe32(1), 4);
	doca_rdma_task_write_imm_set_src_buf(task, src_c);
	doca_rdma_task_write_imm_set_immediate_data(task, htobe32(9));
	IS(trio_run(&t, doca_rdma_task_write_imm_as_task(task)), DOCA_SUCCESS);
	received(b, 2, second, htobe32(9), 2);
	OK(!memcmp(b->memory, "firstob", 7)); /* appended */
	doca_rdma_task_write_imm_set_dst_buf(task, dst_c);
	doca_rdma_task_write_imm_set_rdma_connection(task, t.to_c);
	OK(doca_rdma_task_write_imm_get_src_buf(task) == src_c);
	OK(doca_rdma_task_write_imm_get_dst_buf(task) == dst_c);
	IS(doca_rdma_task_write_imm_get_immediate_data(task), htobe32(9));
	OK(doca_rdma_task_write_imm_get_rdma_connection(task) == t.to_c);
	IS(trio_run(&t, doca_rdma_task_write_imm_as_task(task)), DOCA_SUCCESS);
	received(c, 1, third, htobe32(9), 2);
	OK(!memcmp(c->memory + 100, "toc", 3));
	doca_task_free(doca_rdma_task_write_imm_as_task(task));
	trio_put(src, dst);
	trio_put(src_c, dst_c);
	trio_close(&t);
}

/* Two of them, of which none asks for a flush. */
static void tasks_that_wait_for_a_flush_get_it(void)
{
	struct doca_rdma_task_write *tasks[2];
	struct doca_buf *src, *dst;

	trio_open(&t);
	src = end_data(a, 0, 4);
	dst = trio_far_space(&t, t.of_b, 0, 8);
	memcpy(a->memory, "text", 4);
	for (int i = 0; i < 2; i++) {
		IS(doca_rdma_task_write_allocate_init(a->rdma, t.to_b, src, dst,
						      no_data, &tasks[i]),
		   DOCA_SUCCESS);
		IS(doca_task_submit_ex(doca_rdma_task_write_as_task(tasks[i]),
				       DOCA_TASK_SUBMIT_FLAG_NONE),
		   DOCA_SUCCESS);
	}
	doca_ctx_flush_tasks(a->ctx);
	trio_drive(&t, a, 2);
	IS(a->done, 2);
	OK(!memcmp(b->memory, "text", 4));
	doca_ctx_flush_tasks(a->ctx);	/* of nothing */
	for (int i = 0; i < 2; i++)
		doca_task_free(doca_rdma_task_write_as_task(tasks[i]));
	trio_put(src, dst);
	trio_close(&t);
}

/* A setter refuses nothing: the submit does. */
static void a_task_that_has_lost_its_connection_is_refused(void)
{
	struct doca_rdma_task_write *task;
	struct doca_buf *src, *dst;

	trio_open(&t);
	src = end_data(a, 0, 4);
	dst = trio_far_space(&t, t.of_b, 0, 4);
	for (int i = 0; i < 2; i++) {	/* the second one is made again */
		IS(doca_rdma_task_write_allocate_init(a->rdma, t.to_b, src, dst,
						      no_data, &task),
		   DOCA_SUCCESS);
		if (i)
			break;
		IS(trio_run(&t, doca_rdma_task_write_as_task(task)),
		   DOCA_SUCCESS);
		doca_task_free(doca_rdma_task_write_as_task(task));
		IS(doca_buf_reset_data_len(dst), DOCA_SUCCESS);
	}
	doca_rdma_task_write_set_rdma_connection(task, NULL);
	OK(!doca_rdma_task_write_get_rdma_connection(task));
	IS(trio_run(&t, doca_rdma_task_write_as_task(task)),
	   DOCA_ERROR_INVALID_VALUE);
	doca_rdma_task_write_set_rdma_connection(task, b->conn);
	IS(trio_run(&t, doca_rdma_task_write_as_task(task)),
	   DOCA_ERROR_INVALID_VALUE);
	doca_rdma_task_write_set_rdma_connection(task, t.to_b);
	IS(trio_run(&t, doca_rdma_task_write_as_task(task)), DOCA_SUCCESS);
	IS(b->memory[3], 0);
	IS(b->memory[4], 'b');
	doca_task_free(doca_rdma_task_write_as_task(task));
	trio_put(src, dst);
	trio_close(&t);
}

int main(void)
{
	TEST(a_send_with_a_number_is_changed);
	TEST(a_receive_is_posted_again_with_another_buffer);
	TEST(a_read_is_changed);
	TEST(a_write_is_changed);
	TEST(a_write_with_a_number_is_changed);
	TEST(tasks_that_wait_for_a_flush_get_it);
	TEST(a_task_that_has_lost_its_connection_is_refused);
	return tap_done();
}
