/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_sync_event.h>

#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* What a peer may do: what both memory and context of its target permit. */

#define AT 64		/* where the target's 8 bytes are */
#define LOCAL DOCA_ACCESS_FLAG_LOCAL_READ_WRITE

static const union doca_data no_data = { .ptr = NULL };
static struct end a, b;
static struct doca_buf *near, *far;	/* of the task that runs */

static void open_pair(uint32_t own, uint32_t memory, uint32_t context)
{
	end_open_with(&a, own, 0);
	end_open_with(&b, memory, context);
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

/* One task of each type, between 8 bytes of each. */

static struct doca_task *read_task(void)
{
	struct doca_rdma_task_read *task = NULL;

	near = end_space(&a, 0, 8);
	far = end_far_data(&a, AT, 8);
	IS(doca_rdma_task_read_allocate_init(a.rdma, a.conn, far, near,
					     no_data, &task), DOCA_SUCCESS);
	return doca_rdma_task_read_as_task(task);
}

static struct doca_task *write_task(void)
{
	struct doca_rdma_task_write *task = NULL;

	near = end_data(&a, 0, 8);
	far = end_far_space(&a, AT, 8);
	IS(doca_rdma_task_write_allocate_init(a.rdma, a.conn, near, far,
					      no_data, &task), DOCA_SUCCESS);
	return doca_rdma_task_write_as_task(task);
}

static struct doca_task *write_imm_task(void)
{
	struct doca_rdma_task_write_imm *task = NULL;

	near = end_data(&a, 0, 8);
	far = end_far_space(&a, AT, 8);
	IS(doca_rdma_task_write_imm_allocate_init(a.rdma, a.conn, near, far, 1,
						  no_data, &task),
	   DOCA_SUCCESS);
	return doca_rdma_task_write_imm_as_task(task);
}

static struct doca_task *cmp_swp_task(void)
{
	struct doca_rdma_task_atomic_cmp_swp *task = NULL;

	near = end_space(&a, 0, 8);
	far = end_far_data(&a, AT, 8);
	IS(doca_rdma_task_atomic_cmp_swp_allocate_init(
		a.rdma, a.conn, far, near, 0, 1, no_data, &task), DOCA_SUCCESS);
	return doca_rdma_task_atomic_cmp_swp_as_task(task);
}

static struct doca_task *fetch_add_task(void)
{
	struct doca_rdma_task_atomic_fetch_add *task = NULL;

	near = end_space(&a, 0, 8);
	far = end_far_data(&a, AT, 8);
	IS(doca_rdma_task_atomic_fetch_add_allocate_init(
		a.rdma, a.conn, far, near, 1, no_data, &task), DOCA_SUCCESS);
	return doca_rdma_task_atomic_fetch_add_as_task(task);
}

static struct doca_task *post(void)
{
	struct doca_rdma_task_receive *task = NULL;

	IS(doca_rdma_task_receive_allocate_init(b.rdma, NULL, no_data, &task),
	   DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_receive_as_task(task)),
	   DOCA_SUCCESS);
	return doca_rdma_task_receive_as_task(task);
}

/* Run one on a connection of its own; the program of the target sleeps. */
static doca_error_t run(struct doca_task *(*fn)(void), uint32_t memory,
			uint32_t context)
{
	struct doca_task *receive;
	int ended = 0;
	doca_error_t error;

	open_pair(LOCAL, memory, context);
	memset(a.memory, 1, 8);
	receive = post();
	error = ends_run(&a, &a, fn());
	put(near);
	put(far);
	doca_ctx_stop(b.ctx);
	for (long i = 0; i < 20000000 && !ended; i++) {
		doca_pe_progress(b.pe);
		ended = b.done + b.failed;
	}
	IS(ended, 1);
	doca_task_free(receive);
	return error;
}

static void is_refused(struct doca_task *(*fn)(void), uint32_t memory,
		       uint32_t context)
{
	static const char zero[8];

	IS(run(fn, LOCAL | memory, context), DOCA_ERROR_NOT_PERMITTED);
	OK(!memcmp(b.memory + AT, zero, 8));
	IS(a.done + a.failed, 0);	/* it was not submitted */
	IS(a.state_count, 1);		/* and the context runs on */
	close_pair();
}

/* The one bit is enough on both sides, and is needed on each of them. */
static void needs(struct doca_task *(*fn)(void), uint32_t access,
		  bool changes)
{
	IS(run(fn, LOCAL | access, access), DOCA_SUCCESS);
	IS(b.memory[AT] != 0, changes);
	IS(a.failed, 0);
	close_pair();
	is_refused(fn, END_RDMA & ~access, END_RDMA);
	is_refused(fn, END_RDMA, END_RDMA & ~access);
}

static void a_read_needs_the_permission_of_both(void)
{
	needs(read_task, DOCA_ACCESS_FLAG_RDMA_READ, false);
}

static void a_write_needs_the_permission_of_both(void)
{
	needs(write_task, DOCA_ACCESS_FLAG_RDMA_WRITE, true);
}

static void a_write_with_immediate_needs_the_permission_of_both(void)
{
	needs(write_imm_task, DOCA_ACCESS_FLAG_RDMA_WRITE, true);
}

static void a_compare_and_swap_needs_the_permission_of_both(void)
{
	needs(cmp_swp_task, DOCA_ACCESS_FLAG_RDMA_ATOMIC, true);
}

static void an_addition_needs_the_permission_of_both(void)
{
	needs(fetch_add_task, DOCA_ACCESS_FLAG_RDMA_ATOMIC, true);
}

/* The local bit of a context is accepted, and changes nothing. */
static void the_local_permission_of_a_context_is_none(void)
{
	IS(run(read_task, LOCAL | END_RDMA, LOCAL),
	   DOCA_ERROR_NOT_PERMITTED);
	close_pair();
	IS(run(read_task, LOCAL | END_RDMA, LOCAL | DOCA_ACCESS_FLAG_RDMA_READ),
	   DOCA_SUCCESS);
	close_pair();
}

static doca_error_t send_between(uint32_t own, uint32_t memory)
{
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_send *send;
	struct doca_buf *src, *dst;
	doca_error_t error;
	int ended = 0;

	open_pair(own, memory, 0);
	src = end_data(&a, 0, 8);
	dst = end_space(&b, 0, 8);
	IS(doca_rdma_task_receive_allocate_init(b.rdma, dst, no_data, &receive),
	   DOCA_SUCCESS);
	error = doca_task_submit(doca_rdma_task_receive_as_task(receive));
	if (!error) {
		IS(doca_rdma_task_send_allocate_init(a.rdma, a.conn, src,
						     no_data, &send),
		   DOCA_SUCCESS);
		ends_run(&a, &b, doca_rdma_task_send_as_task(send));
		for (long i = 0; i < 20000000 && !ended; i++) {
			doca_pe_progress(b.pe);
			ended = b.done + b.failed;
		}
		error = b.error;
	}
	doca_task_free(doca_rdma_task_receive_as_task(receive));
	put(src);
	put(dst);
	close_pair();
	return error;
}

static void messages_need_no_permission_of_rdma(void)
{
	IS(send_between(LOCAL, LOCAL), DOCA_SUCCESS);
	IS(send_between(DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, LOCAL),
	   DOCA_SUCCESS);
}

static doca_error_t into_own(struct doca_task *(*fn)(void), uint32_t own)
{
	doca_error_t error;

	open_pair(own, LOCAL | END_RDMA, END_RDMA);
	error = ends_run(&a, &a, fn());
	put(near);
	put(far);
	close_pair();
	return error;
}

static void what_is_written_to_is_writable(void)
{
	const uint32_t only = DOCA_ACCESS_FLAG_LOCAL_READ_ONLY;

	IS(send_between(LOCAL, only), DOCA_ERROR_NOT_PERMITTED);
	IS(into_own(read_task, only), DOCA_ERROR_NOT_PERMITTED);
	IS(into_own(fetch_add_task, only), DOCA_ERROR_NOT_PERMITTED);
	IS(into_own(write_task, only), DOCA_SUCCESS);
}

/* Events of other hosts: their memory is the library's. */

static struct doca_sync_event_remote_net *remote;

static struct doca_task *set_task(void)
{
	struct doca_rdma_task_remote_net_sync_event_notify_set *task = NULL;

	near = end_data(&a, 0, 8);
	IS(doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
		a.rdma, a.conn, remote, near, no_data, &task), DOCA_SUCCESS);
	return doca_rdma_task_remote_net_sync_event_notify_set_as_task(task);
}

static struct doca_task *get_task(void)
{
	struct doca_rdma_task_remote_net_sync_event_get *task = NULL;

	near = end_space(&a, 0, 8);
	IS(doca_rdma_task_remote_net_sync_event_get_allocate_init(
		a.rdma, a.conn, remote, near, no_data, &task), DOCA_SUCCESS);
	return doca_rdma_task_remote_net_sync_event_get_as_task(task);
}

static struct doca_task *add_task(void)
{
	struct doca_rdma_task_remote_net_sync_event_notify_add *task = NULL;

	near = end_space(&a, 0, 8);
	IS(doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
		a.rdma, a.conn, remote, near, 1, no_data, &task), DOCA_SUCCESS);
	return doca_rdma_task_remote_net_sync_event_notify_add_as_task(task);
}

static struct doca_sync_event *share(void)
{
	struct doca_sync_event *event = NULL;
	const uint8_t *desc;
	size_t len;

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
	return event;
}

static doca_error_t run_on_event(struct doca_task *(*fn)(void),
				 uint32_t context)
{
	struct doca_sync_event *event;
	doca_error_t error;

	open_pair(LOCAL, LOCAL, context);
	event = share();
	error = ends_run(&a, &a, fn());
	put(near);
	IS(doca_sync_event_remote_net_destroy(remote), DOCA_SUCCESS);
	IS(doca_sync_event_stop(event), DOCA_SUCCESS);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
	close_pair();
	return error;
}

static void event_needs(struct doca_task *(*fn)(void), uint32_t access)
{
	IS(run_on_event(fn, access), DOCA_SUCCESS);
	IS(run_on_event(fn, END_RDMA & ~access),
	   DOCA_ERROR_NOT_PERMITTED);
}

static void an_event_needs_the_permission_of_the_context(void)
{
	event_needs(set_task, DOCA_ACCESS_FLAG_RDMA_WRITE);
	event_needs(get_task, DOCA_ACCESS_FLAG_RDMA_READ);
	event_needs(add_task, DOCA_ACCESS_FLAG_RDMA_ATOMIC);
}

int main(void)
{
	TEST(a_read_needs_the_permission_of_both);
	TEST(a_write_needs_the_permission_of_both);
	TEST(a_write_with_immediate_needs_the_permission_of_both);
	TEST(a_compare_and_swap_needs_the_permission_of_both);
	TEST(an_addition_needs_the_permission_of_both);
	TEST(the_local_permission_of_a_context_is_none);
	TEST(messages_need_no_permission_of_rdma);
	TEST(what_is_written_to_is_writable);
	TEST(an_event_needs_the_permission_of_the_context);
	return tap_done();
}
