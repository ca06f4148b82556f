/* SPDX-License-Identifier: BSD-2-Clause */
#include "t/doca/trio.h"
#include "t/lib/tap.h"

/*
 * What an atomic, or a task on a sync event of a peer, is changed to between
 * two submits: its getters return it, and the next submit does it; first with
 * the same connection, then with another.
 */
static const union doca_data no_data = { .ptr = NULL };
static struct trio t;
static struct end *const a = &t.a, *const b = &t.b, *const c = &t.c;

static void a_compare_and_swap_is_changed(void)
{
	struct doca_buf *dst, *result, *dst_c, *result_c;
	struct doca_rdma_task_atomic_cmp_swp *task;

	trio_open(&t);
	*trio_word(b, 0) = 5;
	*trio_word(c, 1) = 6;
	dst = trio_far_data(&t, t.of_b, 0, 8);
	dst_c = trio_far_data(&t, t.of_c, 8, 8);
	result = end_space(a, 0, 8);
	result_c = end_space(a, 8, 8);
	IS(doca_rdma_task_atomic_cmp_swp_allocate_init(
		   a->rdma, t.to_b, dst, result, 5, 50, no_data, &task),
	   DOCA_SUCCESS);
	IS(trio_run(&t, doca_rdma_task_atomic_cmp_swp_as_task(task)),
	   DOCA_SUCCESS);
	IS(*trio_word(a, 0), 5);
	IS(*trio_word(b, 0), 50);
	IS(doca_buf_reset_data_len(result), DOCA_SUCCESS);
	*trio_word(b, 0) = 5;
	doca_rdma_task_atomic_cmp_swp_set_swap_data(task, 7);
	IS(trio_run(&t, doca_rdma_task_atomic_cmp_swp_as_task(task)),
	   DOCA_SUCCESS);
	IS(*trio_word(b, 0), 7);
	doca_rdma_task_atomic_cmp_swp_set_cmp_data(task, 8);
	doca_rdma_task_atomic_cmp_swp_set_result_buf(task, result_c);
	IS(trio_run(&t, doca_rdma_task_atomic_cmp_swp_as_task(task)),
	   DOCA_SUCCESS);
	IS(*trio_word(b, 0), 7);
	IS(*trio_word(a, 1), 7);
	IS(doca_buf_reset_data_len(result_c), DOCA_SUCCESS);
	doca_rdma_task_atomic_cmp_swp_set_dst_buf(task, dst_c);
	doca_rdma_task_atomic_cmp_swp_set_cmp_data(task, 6);
	doca_rdma_task_atomic_cmp_swp_set_swap_data(task, UINT64_MAX);
	doca_rdma_task_atomic_cmp_swp_set_rdma_connection(task, t.to_c);
	OK(doca_rdma_task_atomic_cmp_swp_get_dst_buf(task) == dst_c);
	OK(doca_rdma_task_atomic_cmp_swp_get_result_buf(task) == result_c);
	IS(doca_rdma_task_atomic_cmp_swp_get_cmp_data(task), 6);
	OK(doca_rdma_task_atomic_cmp_swp_get_swap_data(task) == UINT64_MAX);
	OK(doca_rdma_task_atomic_cmp_swp_get_rdma_connection(task) == t.to_c);
	IS(trio_run(&t, doca_rdma_task_atomic_cmp_swp_as_task(task)),
	   DOCA_SUCCESS);
	IS(*trio_word(a, 1), 6);
	OK(*trio_word(c, 1) == UINT64_MAX);
	IS(*trio_word(b, 0), 7);
	doca_task_free(doca_rdma_task_atomic_cmp_swp_as_task(task));
	trio_put(dst, result);
	trio_put(dst_c, result_c);
	trio_close(&t);
}

static void a_fetch_and_add_is_changed(void)
{
	struct doca_buf *dst, *result, *dst_c, *result_c;
	struct doca_rdma_task_atomic_fetch_add *task;

	trio_open(&t);
	*trio_word(b, 0) = 5;
	*trio_word(c, 1) = 6;
	dst = trio_far_data(&t, t.of_b, 0, 8);
	dst_c = trio_far_data(&t, t.of_c, 8, 8);
	result = end_space(a, 0, 8);
	result_c = end_space(a, 8, 8);
	IS(doca_rdma_task_atomic_fetch_add_allocate_init(
		   a->rdma, t.to_b, dst, result, 1, no_data, &task),
	   DOCA_SUCCESS);
	IS(trio_run(&t, doca_rdma_task_atomic_fetch_add_as_task(task)),
	   DOCA_SUCCESS);
	IS(*trio_word(a, 0), 5);
	IS(*trio_word(b, 0), 6);
	doca_rdma_task_atomic_fetch_add_set_result_buf(task, result_c);
	IS(trio_run(&t, doca_rdma_task_atomic_fetch_add_as_task(task)),
	   DOCA_SUCCESS);
	IS(*trio_word(a, 1), 6);
	IS(doca_buf_reset_data_len(result_c), DOCA_SUCCESS);
	doca_rdma_task_atomic_fetch_add_set_add_data(task, 100);
	IS(trio_run(&t, doca_rdma_task_atomic_fetch_add_as_task(task)),
	   DOCA_SUCCESS);
	IS(*trio_word(a, 1), 7);
	IS(*trio_word(b, 0), 107);
	IS(doca_buf_reset_data_len(result_c), DOCA_SUCCESS);
	doca_rdma_task_atomic_fetch_add_set_dst_buf(task, dst_c);
	doca_rdma_task_atomic_fetch_add_set_rdma_connection(task, t.to_c);
	OK(doca_rdma_task_atomic_fetch_add_get_dst_buf(task) == dst_c);
	OK(doca_rdma_task_atomic_fetch_add_get_result_buf(task) == result_c);
	IS(doca_rdma_task_atomic_fetch_add_get_add_data(task), 100);
	OK(doca_rdma_task_atomic_fetch_add_get_rdma_connection(task) == t.to_c);
	IS(trio_run(&t, doca_rdma_task_atomic_fetch_add_as_task(task)),
	   DOCA_SUCCESS);
	IS(*trio_word(a, 1), 6);
	IS(*trio_word(c, 1), 106);
	IS(*trio_word(b, 0), 107);
	doca_task_free(doca_rdma_task_atomic_fetch_add_as_task(task));
	trio_put(dst, result);
	trio_put(dst_c, result_c);
	trio_close(&t);
}

static void unshare(struct doca_sync_event *event,
		    struct doca_sync_event_remote_net *remote)
{
	IS(doca_sync_event_remote_net_destroy(remote), DOCA_SUCCESS);
	IS(doca_sync_event_stop(event), DOCA_SUCCESS);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
}

static void a_get_of_an_event_is_changed(void)
{
	struct doca_rdma_task_remote_net_sync_event_get *task;
	struct doca_sync_event_remote_net *at_b, *at_c;
	struct doca_sync_event *event_b, *event_c;
	struct doca_buf *dst, *dst_c;

	trio_open(&t);
	event_b = end_share_event(b, a, &at_b);
	event_c = end_share_event(c, a, &at_c);
	dst = end_space(a, 0, 8);
	dst_c = end_space(a, 8, 8);
	IS(doca_sync_event_update_set(event_b, 22), DOCA_SUCCESS);
	IS(doca_sync_event_update_set(event_c, 33), DOCA_SUCCESS);
	IS(doca_rdma_task_remote_net_sync_event_get_allocate_init(
		   a->rdma, t.to_b, at_b, dst, no_data, &task),
	   DOCA_SUCCESS);
	OK(doca_rdma_task_remote_net_sync_event_get_get_dst_buf(task) == dst);
	IS(trio_run(&t, doca_rdma_task_remote_net_sync_event_get_as_task(task)),
	   DOCA_SUCCESS);
	IS(*trio_word(a, 0), 22);
	doca_rdma_task_remote_net_sync_event_get_set_dst_buf(task, dst_c);
	IS(trio_run(&t, doca_rdma_task_remote_net_sync_event_get_as_task(task)),
	   DOCA_SUCCESS);
	IS(*trio_word(a, 1), 22);
	IS(doca_buf_reset_data_len(dst_c), DOCA_SUCCESS);
	doca_rdma_task_remote_net_sync_event_get_set_sync_event(task, at_c);
	doca_rdma_task_remote_net_sync_event_get_set_rdma_connection(task,
								     t.to_c);
	OK(doca_rdma_task_remote_net_sync_event_get_get_sync_event(task) ==
	   at_c);
	OK(doca_rdma_task_remote_net_sync_event_get_get_dst_buf(task) == dst_c);
	OK(doca_rdma_task_remote_net_sync_event_get_get_rdma_connection(task) ==
	   t.to_c);
	IS(trio_run(&t, doca_rdma_task_remote_net_sync_event_get_as_task(task)),
	   DOCA_SUCCESS);
	IS(*trio_word(a, 1), 33);
	doca_task_free(doca_rdma_task_remote_net_sync_event_get_as_task(task));
	trio_put(dst, dst_c);
	unshare(event_b, at_b);
	unshare(event_c, at_c);
	trio_close(&t);
}

static void a_set_of_an_event_is_changed(void)
{
	struct doca_rdma_task_remote_net_sync_event_notify_set *task;
	struct doca_sync_event_remote_net *at_b, *at_c;
	struct doca_sync_event *event_b, *event_c;
	struct doca_buf *src, *src_c;

	trio_open(&t);
	event_b = end_share_event(b, a, &at_b);
	event_c = end_share_event(c, a, &at_c);
	src = end_data(a, 0, 8);
	src_c = end_data(a, 8, 8);
	*trio_word(a, 0) = 44;
	*trio_word(a, 1) = 55;
	IS(doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
		   a->rdma, t.to_b, at_b, src, no_data, &task),
	   DOCA_SUCCESS);
	OK(doca_rdma_task_remote_net_sync_event_notify_set_get_src_buf(task) ==
	   src);
	IS(trio_run(&t, doca_rdma_task_remote_net_sync_event_notify_set_as_task(
				task)),
	   DOCA_SUCCESS);
	IS(doca_sync_event_wait_eq(event_b, 44, UINT64_MAX), DOCA_SUCCESS);
	doca_rdma_task_remote_net_sync_event_notify_set_set_src_buf(task,
								    src_c);
	IS(trio_run(&t, doca_rdma_task_remote_net_sync_event_notify_set_as_task(
				task)),
	   DOCA_SUCCESS);
	IS(doca_sync_event_wait_eq(event_b, 55, UINT64_MAX), DOCA_SUCCESS);
	*trio_word(a, 1) = 66;
	doca_rdma_task_remote_net_sync_event_notify_set_set_sync_event(task,
								       at_c);
	doca_rdma_task_remote_net_sync_event_notify_set_set_rdma_connection(
		task, t.to_c);
	OK(doca_rdma_task_remote_net_sync_event_notify_set_get_sync_event(
		   task) == at_c);
	OK(doca_rdma_task_remote_net_sync_event_notify_set_get_src_buf(task) ==
	   src_c);
	OK(doca_rdma_task_remote_net_sync_event_notify_set_get_rdma_connection(
		   task) == t.to_c);
	IS(trio_run(&t, doca_rdma_task_remote_net_sync_event_notify_set_as_task(
				task)),
	   DOCA_SUCCESS);
	IS(doca_sync_event_wait_eq(event_c, 66, UINT64_MAX), DOCA_SUCCESS);
	IS(doca_sync_event_wait_eq(event_b, 55, UINT64_MAX), DOCA_SUCCESS);
	doca_task_free(
		doca_rdma_task_remote_net_sync_event_notify_set_as_task(task));
	trio_put(src, src_c);
	unshare(event_b, at_b);
	unshare(event_c, at_c);
	trio_close(&t);
}

static void
change_add(struct doca_rdma_task_remote_net_sync_event_notify_add *task,
	   struct doca_sync_event_remote_net *event, struct doca_buf *result,
	   uint64_t add)
{
	doca_rdma_task_remote_net_sync_event_notify_add_set_sync_event(task,
								       event);
	doca_rdma_task_remote_net_sync_event_notify_add_set_result_buf(task,
								       result);
	doca_rdma_task_remote_net_sync_event_notify_add_set_add_data(task, add);
	OK(doca_rdma_task_remote_net_sync_event_notify_add_get_sync_event(
		   task) == event);
	OK(doca_rdma_task_remote_net_sync_event_notify_add_get_result_buf(
		   task) == result);
	IS(doca_rdma_task_remote_net_sync_event_notify_add_get_add_data(task),
	   add);
}

static void an_add_to_an_event_is_changed(void)
{
	struct doca_rdma_task_remote_net_sync_event_notify_add *task;
	struct doca_sync_event_remote_net *at_b, *at_c;
	struct doca_sync_event *event_b, *event_c;
	struct doca_buf *result, *result_c;

	trio_open(&t);
	event_b = end_share_event(b, a, &at_b);
	event_c = end_share_event(c, a, &at_c);
	result = end_space(a, 0, 8);
	result_c = end_space(a, 8, 8);
	IS(doca_sync_event_update_set(event_c, 33), DOCA_SUCCESS);
	IS(doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
		   a->rdma, t.to_b, at_b, result, 2, no_data, &task),
	   DOCA_SUCCESS);
	IS(trio_run(&t, doca_rdma_task_remote_net_sync_event_notify_add_as_task(
				task)),
	   DOCA_SUCCESS);
	IS(*trio_word(a, 0), 0);
	IS(doca_sync_event_wait_eq(event_b, 2, UINT64_MAX), DOCA_SUCCESS);
	doca_rdma_task_remote_net_sync_event_notify_add_set_result_buf(
		task, result_c);
	IS(trio_run(&t, doca_rdma_task_remote_net_sync_event_notify_add_as_task(
				task)),
	   DOCA_SUCCESS);
	IS(*trio_word(a, 1), 2);
	IS(doca_buf_reset_data_len(result_c), DOCA_SUCCESS);
	change_add(task, at_b, result_c, 5);
	IS(trio_run(&t, doca_rdma_task_remote_net_sync_event_notify_add_as_task(
				task)),
	   DOCA_SUCCESS);
	IS(*trio_word(a, 1), 4);
	IS(doca_sync_event_wait_eq(event_b, 9, UINT64_MAX), DOCA_SUCCESS);
	IS(doca_buf_reset_data_len(result), DOCA_SUCCESS);
	change_add(task, at_c, result, 7);
	doca_rdma_task_remote_net_sync_event_notify_add_set_rdma_connection(
		task, t.to_c);
	OK(doca_rdma_task_remote_net_sync_event_notify_add_get_rdma_connection(
		   task) == t.to_c);
	IS(trio_run(&t, doca_rdma_task_remote_net_sync_event_notify_add_as_task(
				task)),
	   DOCA_SUCCESS);
	IS(*trio_word(a, 0), 33);
	IS(doca_sync_event_wait_eq(event_c, 40, UINT64_MAX), DOCA_SUCCESS);
	IS(doca_sync_event_wait_eq(event_b, 9, UINT64_MAX), DOCA_SUCCESS);
	doca_task_free(
		doca_rdma_task_remote_net_sync_event_notify_add_as_task(task));
	trio_put(result, result_c);
	unshare(event_b, at_b);
	unshare(event_c, at_c);
	trio_close(&t);
}

int main(void)
{
	TEST(a_compare_and_swap_is_changed);
	TEST(a_fetch_and_add_is_changed);
	TEST(a_get_of_an_event_is_changed);
	TEST(a_set_of_an_event_is_changed);
	TEST(an_add_to_an_event_is_changed);
	return tap_done();
}
