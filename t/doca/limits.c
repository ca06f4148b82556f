/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_sync_event.h>

#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* What tasks of RDMA take as arguments, and how many of them there may be. */

static const union doca_data no_data = { .ptr = NULL };
static struct end a, b;

static void open_pair(uint32_t list_len)
{
	end_open(&a);
	end_open(&b);
	IS(doca_rdma_set_max_send_buf_list_len(a.rdma, list_len), DOCA_SUCCESS);
	IS(doca_rdma_task_receive_set_dst_buf_list_len(b.rdma, list_len),
	   DOCA_SUCCESS);
	end_start(&a);
	end_start(&b);
	ends_connect(&a, &b);
}

static void close_pair(void)
{
	IS(a.failed, 0);
	end_close(&a);
	end_close(&b);
}

static void put(struct doca_buf *buf)
{
	IS(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
}

/* Each of these runs a task from @src to @dst, and puts both. */

static doca_error_t send_from(struct doca_buf *src)
{
	struct doca_rdma_task_send *task = NULL;
	doca_error_t error;

	IS(doca_rdma_task_send_allocate_init(a.rdma, a.conn, src, no_data,
					     &task), DOCA_SUCCESS);
	error = ends_run(&a, &b, doca_rdma_task_send_as_task(task));
	put(src);
	return error;
}

static doca_error_t read_to(struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_rdma_task_read *task = NULL;
	doca_error_t error;

	IS(doca_rdma_task_read_allocate_init(a.rdma, a.conn, src, dst, no_data,
					     &task), DOCA_SUCCESS);
	error = ends_run(&a, &a, doca_rdma_task_read_as_task(task));
	put(src);
	put(dst);
	return error;
}

static doca_error_t write_from(struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_rdma_task_write *task = NULL;
	doca_error_t error;

	IS(doca_rdma_task_write_allocate_init(a.rdma, a.conn, src, dst, no_data,
					      &task), DOCA_SUCCESS);
	error = ends_run(&a, &a, doca_rdma_task_write_as_task(task));
	put(src);
	put(dst);
	return error;
}

static doca_error_t add_to(struct doca_buf *dst, struct doca_buf *result)
{
	struct doca_rdma_task_atomic_fetch_add *task = NULL;
	doca_error_t error;

	IS(doca_rdma_task_atomic_fetch_add_allocate_init(
		a.rdma, a.conn, dst, result, 2, no_data, &task), DOCA_SUCCESS);
	error = ends_run(&a, &a, doca_rdma_task_atomic_fetch_add_as_task(task));
	put(dst);
	put(result);
	return error;
}

static struct doca_buf *list(struct doca_buf *one, struct doca_buf *two)
{
	IS(doca_buf_chain_list(one, two), DOCA_SUCCESS);
	return one;
}

static doca_error_t submit_receive(struct doca_buf *dst)
{
	struct doca_rdma_task_receive *task = NULL;
	doca_error_t error;

	IS(doca_rdma_task_receive_allocate_init(b.rdma, dst, no_data, &task),
	   DOCA_SUCCESS);
	error = doca_task_submit(doca_rdma_task_receive_as_task(task));
	doca_task_free(doca_rdma_task_receive_as_task(task));
	put(dst);
	return error;
}

static void a_list_is_as_long_as_was_set(void)
{
	open_pair(1);
	IS(send_from(list(end_data(&a, 0, 8), end_data(&a, 8, 8))),
	   DOCA_ERROR_INVALID_VALUE);
	IS(write_from(list(end_data(&a, 0, 8), end_data(&a, 8, 8)),
		      end_far_space(&a, 0, 16)), DOCA_ERROR_INVALID_VALUE);
	IS(submit_receive(list(end_space(&b, 0, 8), end_space(&b, 8, 8))),
	   DOCA_ERROR_INVALID_VALUE);
	close_pair();
	open_pair(2);
	IS(write_from(list(end_data(&a, 0, 8), end_data(&a, 8, 8)),
		      end_far_space(&a, 0, 16)), DOCA_SUCCESS);
	close_pair();
}

/* An address of the peer is one: lists are of local memory. */
static void what_is_remote_is_one_buffer(void)
{
	open_pair(4);
	IS(read_to(list(end_far_data(&a, 0, 8), end_far_data(&a, 8, 8)),
		   end_space(&a, 0, 16)), DOCA_ERROR_INVALID_VALUE);
	IS(write_from(end_data(&a, 0, 16), list(end_far_space(&a, 0, 8),
						end_far_space(&a, 8, 8))),
	   DOCA_ERROR_INVALID_VALUE);
	close_pair();
}

static void what_has_no_space_is_refused(void)
{
	open_pair(4);
	IS(write_from(end_data(&a, 0, 8), end_far_space(&a, 0, 7)),
	   DOCA_ERROR_INVALID_VALUE);
	IS(add_to(end_far_data(&a, 0, 8), end_space(&a, 0, 7)),
	   DOCA_ERROR_INVALID_VALUE);
	IS(add_to(end_far_data(&a, 0, 7), end_space(&a, 0, 8)),
	   DOCA_ERROR_INVALID_VALUE);
	IS(write_from(end_data(&a, 0, 8), end_far_space(&a, 0, 8)),
	   DOCA_SUCCESS);
	close_pair();
}

/* Memory of the wrong side. */
static void sides_are_not_exchanged(void)
{
	open_pair(4);
	IS(send_from(end_far_data(&a, 0, 8)), DOCA_ERROR_INVALID_VALUE);
	IS(read_to(end_data(&a, 0, 8), end_space(&a, 8, 8)),
	   DOCA_ERROR_INVALID_VALUE);
	IS(write_from(end_data(&a, 0, 8), end_space(&a, 8, 8)),
	   DOCA_ERROR_INVALID_VALUE);
	IS(read_to(end_far_data(&a, 0, 8), end_far_space(&a, 8, 8)),
	   DOCA_ERROR_INVALID_VALUE);
	close_pair();
}

/* The program of the target sleeps. */
static void additions_are_done_while_the_target_sleeps(void)
{
	uint64_t *there = (uint64_t *)(void *)b.memory;
	uint64_t *here = (uint64_t *)(void *)a.memory;

	open_pair(4);
	there[0] = 40;
	IS(add_to(end_far_data(&a, 0, 8), end_space(&a, 0, 8)), DOCA_SUCCESS);
	IS(add_to(end_far_data(&a, 0, 8), end_space(&a, 8, 8)), DOCA_SUCCESS);
	IS(here[0], 40);
	IS(here[1], 42);
	IS(there[0], 44);
	close_pair();
}

static doca_error_t set_from(struct doca_sync_event_remote_net *event,
			     struct doca_buf *src)
{
	struct doca_rdma_task_remote_net_sync_event_notify_set *task = NULL;
	struct doca_task *base;
	doca_error_t error;

	IS(doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
		a.rdma, a.conn, event, src, no_data, &task), DOCA_SUCCESS);
	base = doca_rdma_task_remote_net_sync_event_notify_set_as_task(task);
	error = ends_run(&a, &a, base);
	put(src);
	return error;
}

static doca_error_t get_to(struct doca_sync_event_remote_net *event,
			   struct doca_buf *dst)
{
	struct doca_rdma_task_remote_net_sync_event_get *task = NULL;
	struct doca_task *base;
	doca_error_t error;

	IS(doca_rdma_task_remote_net_sync_event_get_allocate_init(
		a.rdma, a.conn, event, dst, no_data, &task), DOCA_SUCCESS);
	base = doca_rdma_task_remote_net_sync_event_get_as_task(task);
	error = ends_run(&a, &a, base);
	put(dst);
	return error;
}

static void the_value_of_an_event_has_8_bytes(void)
{
	struct doca_sync_event_remote_net *remote = NULL;
	struct doca_sync_event *event = NULL;
	const uint8_t *desc;
	uint64_t value = 0;
	size_t len;

	open_pair(4);
	IS(doca_sync_event_create(&event), DOCA_SUCCESS);
	IS(doca_sync_event_add_publisher_location_remote_net(event),
	   DOCA_SUCCESS);
	IS(doca_sync_event_add_subscriber_location_cpu(event, b.dev),
	   DOCA_SUCCESS);
	IS(doca_sync_event_start(event), DOCA_SUCCESS);
	IS(doca_sync_event_export_to_remote_net(event, &desc, &len),
	   DOCA_SUCCESS);
	IS(doca_sync_event_remote_net_create_from_export(a.dev, desc, len,
							 &remote),
	   DOCA_SUCCESS);
	memset(a.memory, 0xff, 8);
	IS(set_from(remote, end_data(&a, 0, 7)), DOCA_ERROR_INVALID_VALUE);
	IS(get_to(remote, end_space(&a, 8, 7)), DOCA_ERROR_INVALID_VALUE);
	IS(doca_sync_event_get(event, &value), DOCA_SUCCESS);
	IS(value, 0);
	IS(set_from(remote, end_data(&a, 0, 8)), DOCA_SUCCESS);
	IS(doca_sync_event_wait_gt(event, UINT64_MAX - 1, UINT64_MAX),
	   DOCA_SUCCESS);
	IS(doca_sync_event_remote_net_destroy(remote), DOCA_SUCCESS);
	IS(doca_sync_event_stop(event), DOCA_SUCCESS);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
	close_pair();
}

/* All tasks of all types that send are in flight at once. */
static void the_queue_has_space_for_all_tasks(void)
{
	struct doca_rdma_task_send_imm *imm[END_TASKS];
	struct doca_rdma_task_send *plain[END_TASKS];
	size_t n = 0;

	open_pair(4);
	for (int i = 0; i < END_TASKS; i++) {
		IS(doca_rdma_task_send_allocate_init(a.rdma, a.conn, NULL,
						     no_data, &plain[i]),
		   DOCA_SUCCESS);
		IS(doca_task_submit(doca_rdma_task_send_as_task(plain[i])),
		   DOCA_SUCCESS);
		IS(doca_rdma_task_send_imm_allocate_init(a.rdma, a.conn, NULL,
							 1, no_data, &imm[i]),
		   DOCA_SUCCESS);
		IS(doca_task_submit(doca_rdma_task_send_imm_as_task(imm[i])),
		   DOCA_SUCCESS);
	}
	IS(doca_ctx_get_num_inflight_tasks(a.ctx, &n), DOCA_SUCCESS);
	IS(n, 2 * END_TASKS);
	IS(doca_ctx_stop(a.ctx), DOCA_ERROR_IN_PROGRESS);
	ends_drive(&a, &a, &a.failed, 2 * END_TASKS);
	IS(a.error, DOCA_ERROR_IO_FAILED);
	for (int i = 0; i < END_TASKS; i++) {
		doca_task_free(doca_rdma_task_send_as_task(plain[i]));
		doca_task_free(doca_rdma_task_send_imm_as_task(imm[i]));
	}
	a.failed = 0;
	close_pair();
}

static void properties_have_limits_of_the_device(void)
{
	struct doca_dev *dev = end_device();
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	uint32_t most = 0, size = 0;
	struct doca_rdma *rdma;

	IS(doca_rdma_create(dev, &rdma), DOCA_SUCCESS);
	IS(doca_rdma_get_send_queue_size(rdma, &size), DOCA_SUCCESS);
	OK(size > 0 && !(size & (size - 1)));
	IS(doca_rdma_cap_get_max_send_queue_size(info, &most), DOCA_SUCCESS);
	IS(doca_rdma_set_send_queue_size(rdma, most), DOCA_SUCCESS);
	IS(doca_rdma_get_send_queue_size(rdma, &size), DOCA_SUCCESS);
	IS(size, most);
	IS(doca_rdma_set_send_queue_size(rdma, most + 1),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_rdma_cap_get_max_recv_queue_size(info, &most), DOCA_SUCCESS);
	IS(doca_rdma_set_recv_queue_size(rdma, most), DOCA_SUCCESS);
	IS(doca_rdma_get_recv_queue_size(rdma, &size), DOCA_SUCCESS);
	IS(size, most);
	IS(doca_rdma_set_recv_queue_size(rdma, most + 1),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_rdma_set_max_num_connections(rdma, 0),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_set_max_send_buf_list_len(rdma, 0),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_cap_get_max_message_size(info, &most), DOCA_SUCCESS);
	OK(most >= 1 << 20);
	IS(doca_rdma_destroy(rdma), DOCA_SUCCESS);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
}

int main(void)
{
	TEST(a_list_is_as_long_as_was_set);
	TEST(what_is_remote_is_one_buffer);
	TEST(what_has_no_space_is_refused);
	TEST(sides_are_not_exchanged);
	TEST(additions_are_done_while_the_target_sleeps);
	TEST(the_value_of_an_event_has_8_bytes);
	TEST(the_queue_has_space_for_all_tasks);
	TEST(properties_have_limits_of_the_device);
	return tap_done();
}
