/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_dma.h>

#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* What becomes of tasks, and of the bytes around those that they move. */

static const union doca_data no_data = { .ptr = NULL };
static struct end a, b;

/* A callback frees its task and then looks at it. */

static struct doca_buf *sent, *received, *from, *to;
static int freed;

static void free_send(struct doca_rdma_task_send *task, union doca_data data,
		      union doca_data ctx_data)
{
	struct doca_task *base = doca_rdma_task_send_as_task(task);

	(void)ctx_data;
	doca_task_free(base);
	IS(doca_task_get_status(base), DOCA_SUCCESS);
	IS(doca_task_get_user_data(base).u64, data.u64);
	OK(doca_rdma_task_send_as_task(task) == base);
	OK(doca_rdma_task_send_get_src_buf(task) == sent);
	OK(doca_rdma_task_send_get_rdma_connection(task) == a.conn);
	freed++;
}

static void free_receive(struct doca_rdma_task_receive *task,
			 union doca_data data, union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	doca_task_free(doca_rdma_task_receive_as_task(task));
	IS(doca_task_get_status(doca_rdma_task_receive_as_task(task)),
	   DOCA_SUCCESS);
	OK(doca_rdma_task_receive_get_dst_buf(task) == received);
	IS(doca_rdma_task_receive_get_result_opcode(task),
	   DOCA_RDMA_OPCODE_RECV_SEND);
	IS(doca_rdma_task_receive_get_result_len(task), 5);
	OK(doca_rdma_task_receive_get_result_rdma_connection(task) == b.conn);
	freed++;
}

static void free_read(struct doca_rdma_task_read *task, union doca_data data,
		      union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	doca_task_free(doca_rdma_task_read_as_task(task));
	IS(doca_task_get_status(doca_rdma_task_read_as_task(task)),
	   DOCA_SUCCESS);
	OK(doca_rdma_task_read_get_src_buf(task) == from);
	OK(doca_rdma_task_read_get_dst_buf(task) == to);
	IS(doca_rdma_task_read_get_result_len(task), 8);
	freed++;
}

static void submit_three(void)
{
	union doca_data data = { .u64 = 99 };
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_send *send;
	struct doca_rdma_task_read *read;

	IS(doca_rdma_task_receive_allocate_init(b.rdma, received, no_data,
						&receive), DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_receive_as_task(receive)),
	   DOCA_SUCCESS);
	IS(doca_rdma_task_send_allocate_init(a.rdma, a.conn, sent, data,
					     &send), DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_send_as_task(send)), DOCA_SUCCESS);
	IS(doca_rdma_task_read_allocate_init(a.rdma, a.conn, from, to, no_data,
					     &read), DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_read_as_task(read)), DOCA_SUCCESS);
	ends_drive(&a, &b, &freed, 3);
}

static void a_callback_reads_the_task_that_it_freed(void)
{
	end_open(&a);
	end_open(&b);
	IS(doca_rdma_task_send_set_conf(a.rdma, free_send, free_send, 1),
	   DOCA_SUCCESS);
	IS(doca_rdma_task_read_set_conf(a.rdma, free_read, free_read, 1),
	   DOCA_SUCCESS);
	IS(doca_rdma_task_receive_set_conf(b.rdma, free_receive, free_receive,
					   1), DOCA_SUCCESS);
	end_start(&a);
	end_start(&b);
	ends_connect(&a, &b);
	sent = end_data(&a, 0, 5);
	received = end_space(&b, 0, 8);
	from = end_far_data(&a, 64, 8);
	to = end_space(&a, 64, 8);
	submit_three();
	IS(doca_buf_dec_refcount(sent, NULL), DOCA_SUCCESS);
	IS(doca_buf_dec_refcount(received, NULL), DOCA_SUCCESS);
	IS(doca_buf_dec_refcount(from, NULL), DOCA_SUCCESS);
	IS(doca_buf_dec_refcount(to, NULL), DOCA_SUCCESS);
	end_close(&a);
	end_close(&b);
}


/* One that fails takes along all others of its context, each once. */

#define MANY END_TASKS

static struct doca_task *sends[MANY], *receives[MANY];

static void submit_many(void)
{
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_send *send;

	for (int i = 0; i < MANY; i++) {
		IS(doca_rdma_task_receive_allocate_init(a.rdma, NULL, no_data,
							&receive),
		   DOCA_SUCCESS);
		receives[i] = doca_rdma_task_receive_as_task(receive);
		IS(doca_task_submit(receives[i]), DOCA_SUCCESS);
		IS(doca_rdma_task_send_allocate_init(a.rdma, a.conn,
						     i == 1 ? sent : NULL,
						     no_data, &send),
		   DOCA_SUCCESS);
		sends[i] = doca_rdma_task_send_as_task(send);
		IS(doca_task_submit(sends[i]), DOCA_SUCCESS);
	}
}

static struct doca_task *post(struct doca_buf *buf)
{
	struct doca_rdma_task_receive *receive = NULL;

	IS(doca_rdma_task_receive_allocate_init(b.rdma, buf, no_data, &receive),
	   DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_receive_as_task(receive)),
	   DOCA_SUCCESS);
	return doca_rdma_task_receive_as_task(receive);
}

static void a_failure_fails_what_is_in_flight(void)
{
	struct doca_task *good, *small;
	size_t n = 9;

	end_open(&a);
	end_open(&b);
	end_start(&a);
	end_start(&b);
	ends_connect(&a, &b);
	sent = end_data(&a, 0, 100);
	received = end_space(&b, 0, 10);	/* not long enough */
	good = post(NULL);
	small = post(received);
	submit_many();
	ends_drive(&a, &b, &a.failed, 2 * MANY - 1);
	IS(a.done, 1);
	IS(doca_task_get_status(sends[0]), DOCA_SUCCESS);
	for (int i = 1; i < MANY; i++)
		IS(doca_task_get_status(sends[i]), DOCA_ERROR_IO_FAILED);
	for (int i = 0; i < MANY; i++)
		IS(doca_task_get_status(receives[i]), DOCA_ERROR_IO_FAILED);
	IS(doca_ctx_get_num_inflight_tasks(a.ctx, &n), DOCA_SUCCESS);
	IS(n, 0);
	IS(a.states[a.state_count - 1], DOCA_CTX_STATE_STOPPING);
	for (int i = 0; i < MANY; i++) {
		doca_task_free(sends[i]);
		doca_task_free(receives[i]);
	}
	end_drain(&a);
	IS(a.state_count, 3);
	ends_drive(&b, &b, &b.failed, 1);
	doca_task_free(good);
	doca_task_free(small);
	IS(doca_buf_dec_refcount(sent, NULL), DOCA_SUCCESS);
	IS(doca_buf_dec_refcount(received, NULL), DOCA_SUCCESS);
	end_close(&a);
	end_close(&b);
}

static int copied;

static void on_copied(struct doca_dma_task_memcpy *task, union doca_data data,
		      union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	IS(doca_task_get_status(doca_dma_task_memcpy_as_task(task)),
	   DOCA_SUCCESS);
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	OK(doca_dma_task_memcpy_get_src(task) == sent);
	OK(doca_dma_task_memcpy_get_dst(task) == received);
	copied++;
}

/* A part of memory, with data in it. */
static struct doca_buf *part(size_t at, size_t len, size_t data,
			     size_t data_len)
{
	struct doca_buf *buf = NULL;

	IS(doca_buf_inventory_buf_get_by_args(a.inv, a.mmap, a.memory + at, len,
					      a.memory + data, data_len, &buf),
	   DOCA_SUCCESS);
	return buf;
}

static void copy_once(struct doca_dma *dma)
{
	struct doca_dma_task_memcpy *task = NULL;
	int want = copied + 1;

	IS(doca_dma_task_memcpy_alloc_init(dma, sent, received, no_data, &task),
	   DOCA_SUCCESS);
	IS(doca_task_submit(doca_dma_task_memcpy_as_task(task)), DOCA_SUCCESS);
	ends_drive(&a, &a, &copied, want);
}

/* Head room, the data that was there, and the tail: as they were. */
static void check_bytes(void)
{
	for (int i = 1000; i < 2000; i++) {
		if (i >= 1110 && i < 1150)
			IS(a.memory[i], 's');
		else
			IS(a.memory[i], 'd');
	}
	for (int i = 0; i < 100; i++)
		IS(a.memory[i], i >= 30 && i < 50 ? 's' : 'h');
}

static void a_copy_is_appended_and_leaves_the_rest(void)
{
	struct doca_dma *dma;
	size_t len = 0;
	void *data;

	end_open(&a);
	IS(doca_dma_create(a.dev, &dma), DOCA_SUCCESS);
	IS(doca_dma_task_memcpy_set_conf(dma, on_copied, on_copied, 1),
	   DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(a.pe, doca_dma_as_ctx(dma)), DOCA_SUCCESS);
	IS(doca_ctx_start(doca_dma_as_ctx(dma)), DOCA_SUCCESS);
	memset(a.memory, 'h', 100);
	memset(a.memory + 30, 's', 20);
	memset(a.memory + 1000, 'd', 1000);
	sent = part(0, 100, 30, 20);		/* head room 30, tail 50 */
	received = part(1000, 500, 1100, 10);	/* data already */
	copy_once(dma);
	copy_once(dma);				/* behind the first */
	check_bytes();
	IS(doca_buf_get_data_len(received, &len), DOCA_SUCCESS);
	IS(len, 50);
	IS(doca_buf_get_data(received, &data), DOCA_SUCCESS);
	OK(data == a.memory + 1100);
	IS(doca_buf_get_data_len(sent, &len), DOCA_SUCCESS);
	IS(len, 20);
	IS(doca_buf_dec_refcount(sent, NULL), DOCA_SUCCESS);
	IS(doca_buf_dec_refcount(received, NULL), DOCA_SUCCESS);
	IS(doca_ctx_stop(doca_dma_as_ctx(dma)), DOCA_SUCCESS);
	IS(doca_dma_destroy(dma), DOCA_SUCCESS);
	end_close(&a);
}

int main(void)
{
	TEST(a_callback_reads_the_task_that_it_freed);
	TEST(a_failure_fails_what_is_in_flight);
	TEST(a_copy_is_appended_and_leaves_the_rest);
	return tap_done();
}
