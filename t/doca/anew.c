/* SPDX-License-Identifier: BSD-2-Clause */
#include "t/doca/trio.h"
#include "t/lib/tap.h"

/*
 * A task that is freed and taken again, which the library makes of the same
 * task of pier's if it can, is one of its new arguments only.
 */

#define ROUNDS 8
#define LEN 8

static const union doca_data no_data = { .ptr = NULL };
static struct trio trio;

static bool is_b(int i)
{
	return i / 2 % 2;	/* twice the same, then the other */
}

static struct doca_rdma_connection *conn_of(int i)
{
	return is_b(i) ? trio.to_b : trio.to_c;
}

static struct doca_mmap *mmap_of(int i)
{
	return is_b(i) ? trio.of_b : trio.of_c;
}

static struct end *end_of(int i)
{
	return is_b(i) ? &trio.b : &trio.c;
}

static void a_read_has_its_own_buffers_and_connection(void)
{
	struct doca_rdma_task_read *task;

	trio_open(&trio);
	for (int i = 0; i < ROUNDS; i++) {
		const size_t at = (size_t)i * 64;
		struct doca_buf *src, *dst = end_space(&trio.a, at, LEN);

		end_of(i)->memory[at] = (char)('0' + i);
		src = trio_far_data(&trio, mmap_of(i), at, LEN);
		trio.a.memory[at + LEN] = '!';
		IS(doca_rdma_task_read_allocate_init(trio.a.rdma, conn_of(i),
						     src, dst, no_data, &task),
		   DOCA_SUCCESS);
		IS(doca_task_get_status(doca_rdma_task_read_as_task(task)),
		   DOCA_SUCCESS);
		IS(doca_rdma_task_read_get_result_len(task), 0);
		IS(trio_run(&trio, doca_rdma_task_read_as_task(task)),
		   DOCA_SUCCESS);
		doca_task_free(doca_rdma_task_read_as_task(task));
		IS(doca_rdma_task_read_get_result_len(task), LEN);
		IS(trio.a.memory[at], '0' + i);
		IS(trio.a.memory[at + 1], is_b(i) ? 'b' : 'c');
		IS(trio.a.memory[at + LEN], '!');
		trio_put(src, dst);
	}
	trio_close(&trio);
}

static void an_atomic_has_its_own_operand(void)
{
	struct doca_rdma_task_atomic_fetch_add *task;
	uint64_t sum[2] = { 0, 0 };

	trio_open(&trio);
	*trio_word(&trio.b, 0) = *trio_word(&trio.c, 0) = 0;
	for (int i = 0; i < ROUNDS; i++) {
		const uint64_t more = (uint64_t)(i % 3) + 1;
		struct doca_buf *result = end_space(&trio.a, 64, LEN);
		struct doca_buf *dst = trio_far_data(&trio, mmap_of(i), 0, LEN);

		IS(doca_rdma_task_atomic_fetch_add_allocate_init(
			   trio.a.rdma, conn_of(i), dst, result, more, no_data,
			   &task), DOCA_SUCCESS);
		IS(trio_run(&trio,
			    doca_rdma_task_atomic_fetch_add_as_task(task)),
		   DOCA_SUCCESS);
		doca_task_free(doca_rdma_task_atomic_fetch_add_as_task(task));
		IS(*trio_word(&trio.a, 8), sum[is_b(i)]);
		sum[is_b(i)] += more;
		IS(*trio_word(end_of(i), 0), sum[is_b(i)]);
		trio_put(dst, result);
	}
	trio_close(&trio);
}

/* Tasks are freed before and after their connection has ended. */
static void one_of_a_connection_that_has_ended_is_not_used_again(void)
{
	struct doca_rdma_task_read *task, *other;
	struct doca_buf *src, *dst;

	trio_open(&trio);
	dst = end_space(&trio.a, 0, 2 * LEN);
	src = trio_far_data(&trio, trio.of_b, 0, LEN);
	for (int i = 0; i < 2; i++)
		IS(doca_rdma_task_read_allocate_init(
			   trio.a.rdma, trio.to_b, src, dst, no_data,
			   i ? &other : &task), DOCA_SUCCESS);
	IS(trio_run(&trio, doca_rdma_task_read_as_task(task)), DOCA_SUCCESS);
	IS(trio_run(&trio, doca_rdma_task_read_as_task(other)), DOCA_SUCCESS);
	doca_task_free(doca_rdma_task_read_as_task(task));
	IS(doca_rdma_connection_disconnect(trio.to_b), DOCA_SUCCESS);
	doca_task_free(doca_rdma_task_read_as_task(other));
	IS(doca_rdma_task_read_get_result_len(other), LEN);
	trio_put(src, dst);
	dst = end_space(&trio.a, 64, LEN);
	src = trio_far_data(&trio, trio.of_c, 0, LEN);
	for (int i = 0; i < 2; i++) {
		IS(doca_buf_reset_data_len(dst), DOCA_SUCCESS);
		IS(doca_rdma_task_read_allocate_init(trio.a.rdma, trio.to_c,
						     src, dst, no_data, &task),
		   DOCA_SUCCESS);
		IS(trio_run(&trio, doca_rdma_task_read_as_task(task)),
		   DOCA_SUCCESS);
		IS(trio.a.memory[64], 'c');
		doca_task_free(doca_rdma_task_read_as_task(task));
	}
	trio_put(src, dst);
	trio_close(&trio);
}

int main(void)
{
	TEST(a_read_has_its_own_buffers_and_connection);
	TEST(an_atomic_has_its_own_operand);
	TEST(one_of_a_connection_that_has_ended_is_not_used_again);
	return tap_done();
}
