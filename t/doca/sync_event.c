/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>

#include <doca_ctx.h>
#include <doca_pe.h>
#include <doca_sync_event.h>

#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* Sync events between the threads of a process. */

static struct doca_dev *dev;

static struct doca_sync_event *create(void)
{
	return end_event(dev);
}

static void destroy(struct doca_sync_event *event)
{
	IS(doca_sync_event_stop(event), DOCA_SUCCESS);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
}

static void an_event_has_two_ends(void)
{
	struct doca_sync_event *event;

	IS(doca_sync_event_create(&event), DOCA_SUCCESS);
	IS(doca_sync_event_start(event), DOCA_ERROR_INVALID_VALUE);
	IS(doca_sync_event_add_publisher_location_remote_net(event),
	   DOCA_SUCCESS);
	IS(doca_sync_event_start(event), DOCA_ERROR_INVALID_VALUE);
	IS(doca_sync_event_add_subscriber_location_cpu(event, NULL),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_sync_event_add_subscriber_location_cpu(event, dev),
	   DOCA_SUCCESS);
	IS(doca_sync_event_start(event), DOCA_SUCCESS);
	IS(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
	IS(doca_sync_event_add_subscriber_location_cpu(event, dev),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_sync_event_set_addr(event, &(uint64_t){ 0 }),
	   DOCA_ERROR_BAD_STATE);
	destroy(event);
}

static void values_are_set_and_added_to(void)
{
	struct doca_sync_event *event = create();
	uint64_t value = 9;

	IS(doca_sync_event_update_set(event, 1), DOCA_ERROR_BAD_STATE);
	IS(doca_sync_event_start(event), DOCA_SUCCESS);
	IS(doca_sync_event_get(event, &value), DOCA_SUCCESS);
	IS(value, 0);
	IS(doca_sync_event_update_set(event, 40), DOCA_SUCCESS);
	IS(doca_sync_event_update_add(event, 2, &value), DOCA_SUCCESS);
	IS(value, 40);
	IS(doca_sync_event_get(event, &value), DOCA_SUCCESS);
	IS(value, 42);
	IS(doca_sync_event_wait_gt(event, 41, UINT64_MAX), DOCA_SUCCESS);
	IS(doca_sync_event_wait_eq(event, 10, 0xf), DOCA_SUCCESS);
	IS(doca_sync_event_wait_eq_yield(event, 42, UINT64_MAX), DOCA_SUCCESS);
	IS(doca_sync_event_wait_neq(event, 41, UINT64_MAX), DOCA_SUCCESS);
	destroy(event);
}

static void *set_later(void *arg)
{
	struct doca_sync_event *event = arg;

	doca_sync_event_wait_eq_yield(event, 1, UINT64_MAX);
	doca_sync_event_update_set(event, UINT64_MAX);
	return NULL;
}

static void a_thread_waits_for_another(void)
{
	struct doca_sync_event *event = create();
	pthread_t thread;

	IS(doca_sync_event_start(event), DOCA_SUCCESS);
	if (!IS(pthread_create(&thread, NULL, set_later, event), 0))
		return;
	IS(doca_sync_event_update_add(event, 1, NULL), DOCA_SUCCESS);
	IS(doca_sync_event_wait_gt(event, UINT64_MAX - 1, UINT64_MAX),
	   DOCA_SUCCESS);
	pthread_join(thread, NULL);
	destroy(event);
}

static void the_word_may_be_the_programs(void)
{
	struct doca_sync_event *event = create();
	uint64_t words[2] = { 5, 0 }, value = 0;

	IS(doca_sync_event_set_addr(event, (uint64_t *)(void *)
				    ((char *)words + 1)),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_sync_event_set_addr(event, words), DOCA_SUCCESS);
	IS(doca_sync_event_start(event), DOCA_SUCCESS);
	IS(doca_sync_event_get(event, &value), DOCA_SUCCESS);
	IS(value, 5);
	IS(doca_sync_event_update_set(event, 6), DOCA_SUCCESS);
	IS(words[0], 6);
	destroy(event);
}

static void an_event_without_a_remote_end_is_not_exported(void)
{
	struct doca_sync_event *event = create();
	const uint8_t *desc;
	size_t len;

	IS(doca_sync_event_export_to_remote_pci(event, dev, &desc, &len),
	   DOCA_ERROR_BAD_STATE);		/* that is not started */
	IS(doca_sync_event_export_to_remote_net(event, &desc, &len),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_sync_event_start(event), DOCA_SUCCESS);
	IS(doca_sync_event_export_to_remote_pci(event, dev, &desc, &len),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(doca_sync_event_export_to_remote_pci(event, NULL, &desc, &len),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_sync_event_cap_is_export_to_remote_pci_supported(
		doca_dev_as_devinfo(dev)), DOCA_SUCCESS);
	IS(doca_sync_event_cap_is_create_from_export_supported(
		doca_dev_as_devinfo(dev)), DOCA_SUCCESS);
	destroy(event);
}

static void a_stopped_event_is_only_destroyed(void)
{
	struct doca_sync_event *event = create();
	uint64_t value = 0;

	IS(doca_sync_event_stop(event), DOCA_ERROR_BAD_STATE);
	IS(doca_sync_event_start(event), DOCA_SUCCESS);
	IS(doca_sync_event_stop(event), DOCA_SUCCESS);
	IS(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
	IS(doca_sync_event_get(event, &value), DOCA_ERROR_BAD_STATE);
	IS(doca_sync_event_update_set(event, 1), DOCA_ERROR_BAD_STATE);
	IS(doca_sync_event_wait_gt(event, 1, UINT64_MAX),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_sync_event_add_publisher_location_cpu(event, dev),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
}

static void the_word_may_be_in_a_buffer(void)
{
	struct doca_sync_event *event = create();
	struct doca_buf_inventory *inv;
	uint64_t words[2] = { 5, 0 };
	struct doca_mmap *mmap;
	struct doca_buf *buf;

	IS(doca_mmap_create(&mmap), DOCA_SUCCESS);
	IS(doca_mmap_set_memrange(mmap, words, sizeof(words)), DOCA_SUCCESS);
	IS(doca_mmap_add_dev(mmap, dev), DOCA_SUCCESS);
	IS(doca_mmap_start(mmap), DOCA_SUCCESS);
	IS(doca_buf_inventory_create(1, &inv), DOCA_SUCCESS);
	IS(doca_buf_inventory_start(inv), DOCA_SUCCESS);
	IS(doca_buf_inventory_buf_get_by_data(inv, mmap, words, 7, &buf),
	   DOCA_SUCCESS);
	IS(doca_sync_event_set_doca_buf(event, NULL),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_sync_event_set_doca_buf(event, buf), DOCA_ERROR_NOT_PERMITTED);
	IS(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
	IS(doca_buf_inventory_buf_get_by_data(inv, mmap, words, 8, &buf),
	   DOCA_SUCCESS);
	IS(doca_sync_event_set_doca_buf(event, buf), DOCA_SUCCESS);
	IS(doca_sync_event_start(event), DOCA_SUCCESS);
	IS(doca_sync_event_set_doca_buf(event, buf), DOCA_ERROR_BAD_STATE);
	IS(doca_sync_event_update_add(event, 2, NULL), DOCA_SUCCESS);
	IS(words[0], 7);
	destroy(event);
	IS(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
	IS(doca_buf_inventory_destroy(inv), DOCA_SUCCESS);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void calls_without_an_event_fail(void)
{
	const union doca_data none = { .ptr = NULL };
	struct doca_sync_event_task_get *get;
	struct doca_sync_event *event = create();

	OK(!doca_sync_event_as_ctx(NULL));
	IS(doca_sync_event_create(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_sync_event_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_sync_event_start(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_sync_event_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_sync_event_get(event, NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_sync_event_update_set(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	IS(doca_sync_event_update_add(NULL, 1, NULL),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_sync_event_wait_eq(NULL, 1, 1), DOCA_ERROR_INVALID_VALUE);
	IS(doca_sync_event_task_get_alloc_init(event, NULL, none, &get),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_sync_event_cap_task_wait_eq_is_supported(NULL),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
}

/* Context mode. */

static int ended;

static void on_get(struct doca_sync_event_task_get *task, union doca_data data,
		   union doca_data ctx_data)
{
	(void)ctx_data;
	ended += (int)data.u64;
	IS(doca_task_get_status(doca_sync_event_task_get_as_doca_task(task)),
	   DOCA_SUCCESS);
}

static void on_set(struct doca_sync_event_task_notify_set *task,
		   union doca_data data, union doca_data ctx_data)
{
	(void)task;
	(void)ctx_data;
	ended += (int)data.u64;
}

static void on_add(struct doca_sync_event_task_notify_add *task,
		   union doca_data data, union doca_data ctx_data)
{
	(void)task;
	(void)ctx_data;
	ended += (int)data.u64;
}

static void on_wait(struct doca_sync_event_task_wait_eq *task,
		    union doca_data data, union doca_data ctx_data)
{
	(void)task;
	(void)ctx_data;
	ended += (int)data.u64;
}

static struct doca_sync_event *create_ctx(struct doca_pe **pe)
{
	struct doca_sync_event *event = create();

	IS(doca_pe_create(pe), DOCA_SUCCESS);
	IS(doca_sync_event_task_get_set_conf(event, on_get, on_get, 1),
	   DOCA_SUCCESS);
	IS(doca_sync_event_task_notify_set_set_conf(event, on_set, on_set, 1),
	   DOCA_SUCCESS);
	IS(doca_sync_event_task_notify_add_set_conf(event, on_add, on_add, 1),
	   DOCA_SUCCESS);
	IS(doca_sync_event_task_wait_eq_set_conf(event, on_wait, on_wait, 1),
	   DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(*pe, doca_sync_event_as_ctx(event)),
	   DOCA_SUCCESS);
	IS(doca_ctx_start(doca_sync_event_as_ctx(event)), DOCA_SUCCESS);
	IS(doca_sync_event_task_get_set_conf(event, on_get, on_get, 1),
	   DOCA_ERROR_NOT_PERMITTED);
	return event;
}

/* Submit it, and progress until @want have ended. */
static void run(struct doca_pe *pe, struct doca_task *task, int want)
{
	IS(doca_task_submit(task), DOCA_SUCCESS);
	for (int i = 0; i < 1000000 && ended < want; i++)
		doca_pe_progress(pe);
	IS(ended, want);
}

static void tasks_do_what_the_calls_do(void)
{
	const union doca_data one = { .u64 = 1 };
	struct doca_sync_event_task_wait_eq *wait;
	struct doca_sync_event_task_notify_set *set;
	struct doca_sync_event_task_notify_add *add;
	struct doca_sync_event_task_get *get;
	uint64_t value = 0, fetched = 0;
	struct doca_sync_event *event;
	enum doca_ctx_states state;
	struct doca_pe *pe;

	event = create_ctx(&pe);
	IS(doca_sync_event_task_wait_eq_alloc_init(event, 42, UINT64_MAX, one,
						   &wait), DOCA_SUCCESS);
	IS(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(wait)),
	   DOCA_SUCCESS);
	IS(doca_pe_progress(pe), 0);	/* nothing that a program sees */
	IS(doca_sync_event_task_notify_set_alloc_init(event, 40, one, &set),
	   DOCA_SUCCESS);
	run(pe, doca_sync_event_task_notify_set_as_doca_task(set), 1);
	IS(doca_sync_event_task_notify_add_alloc_init(event, 2, &fetched, one,
						      &add), DOCA_SUCCESS);
	run(pe, doca_sync_event_task_notify_add_as_doca_task(add), 3);
	IS(fetched, 40);
	IS(doca_sync_event_task_get_alloc_init(event, &value, one, &get),
	   DOCA_SUCCESS);
	run(pe, doca_sync_event_task_get_as_doca_task(get), 4);
	IS(value, 42);
	doca_sync_event_task_notify_set_set_set_val(set, 7);
	run(pe, doca_sync_event_task_notify_set_as_doca_task(set), 5);
	run(pe, doca_sync_event_task_get_as_doca_task(get), 6);
	IS(value, 7);
	doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(wait));
	doca_task_free(doca_sync_event_task_notify_set_as_doca_task(set));
	doca_task_free(doca_sync_event_task_notify_add_as_doca_task(add));
	doca_task_free(doca_sync_event_task_get_as_doca_task(get));
	IS(doca_sync_event_destroy(event), DOCA_ERROR_BAD_STATE);
	IS(doca_ctx_stop(doca_sync_event_as_ctx(event)), DOCA_SUCCESS);
	IS(doca_ctx_get_state(doca_sync_event_as_ctx(event), &state),
	   DOCA_SUCCESS);
	IS(state, DOCA_CTX_STATE_IDLE);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
	IS(doca_pe_destroy(pe), DOCA_SUCCESS);
}

static void on_change(struct doca_sync_event_task_wait_neq *task,
		      union doca_data data, union doca_data ctx_data)
{
	(void)ctx_data;
	ended += (int)data.u64;
	IS(doca_task_get_status(
		doca_sync_event_task_wait_neq_as_doca_task(task)),
	   DOCA_SUCCESS);
}

/* The mask is that of the counter. */
static void waits_end_when_the_counter_is_so(void)
{
	const union doca_data one = { .u64 = 1 };
	struct doca_sync_event_task_wait_neq *neq;
	struct doca_sync_event_task_wait_eq *eq;
	struct doca_sync_event *event = create();
	struct doca_ctx *ctx = doca_sync_event_as_ctx(event);
	struct doca_pe *pe;

	ended = 0;
	IS(doca_pe_create(&pe), DOCA_SUCCESS);
	IS(doca_sync_event_task_wait_neq_set_conf(event, on_change, on_change,
						  1), DOCA_SUCCESS);
	IS(doca_sync_event_task_wait_eq_set_conf(event, on_wait, on_wait, 1),
	   DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(pe, ctx), DOCA_SUCCESS);
	IS(doca_ctx_start(ctx), DOCA_SUCCESS);
	IS(doca_sync_event_task_wait_neq_alloc_init(event, 0, 0xff, one, &neq),
	   DOCA_SUCCESS);
	IS(doca_sync_event_task_wait_eq_alloc_init(event, 0x100, UINT64_MAX,
						   one, &eq), DOCA_SUCCESS);
	IS(doca_sync_event_task_wait_eq_get_wait_val(eq), 0x100);
	IS(doca_sync_event_task_wait_neq_get_mask(neq), 0xff);
	doca_sync_event_task_wait_eq_set_mask(eq, 0xffff);
	IS(doca_task_submit(doca_sync_event_task_wait_neq_as_doca_task(neq)),
	   DOCA_SUCCESS);
	IS(doca_sync_event_update_set(event, 0x7000100), DOCA_SUCCESS);
	for (int i = 0; i < 1000; i++)
		IS(doca_pe_progress(pe), 0);
	run(pe, doca_sync_event_task_wait_eq_as_doca_task(eq), 1);
	IS(doca_sync_event_update_add(event, 1, NULL), DOCA_SUCCESS);
	for (int i = 0; i < 1000000 && ended < 2; i++)
		doca_pe_progress(pe);
	IS(ended, 2);
	doca_task_free(doca_sync_event_task_wait_neq_as_doca_task(neq));
	doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(eq));
	IS(doca_ctx_stop(ctx), DOCA_SUCCESS);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
	IS(doca_pe_destroy(pe), DOCA_SUCCESS);
}

static void free_waiting(struct doca_sync_event_task_wait_eq *task,
			 union doca_data data, union doca_data ctx_data)
{
	struct doca_task *base =
		doca_sync_event_task_wait_eq_as_doca_task(task);

	(void)ctx_data;
	ended += (int)data.u64;
	IS(doca_task_get_status(base), DOCA_ERROR_IO_FAILED);
	doca_task_free(base);
}

/* As programs do: stop, progress until none is in flight, look. */
static void the_call_that_flushes_the_last_wait_reports_idle(void)
{
	const union doca_data one = { .u64 = 1 };
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;
	struct doca_sync_event_task_wait_eq *wait;
	struct doca_sync_event *event = create();
	struct doca_ctx *ctx = doca_sync_event_as_ctx(event);
	struct doca_pe *pe;
	size_t n = 1;

	ended = 0;
	IS(doca_pe_create(&pe), DOCA_SUCCESS);
	IS(doca_sync_event_task_wait_eq_set_conf(event, on_wait, free_waiting,
						 1), DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(pe, ctx), DOCA_SUCCESS);
	IS(doca_ctx_start(ctx), DOCA_SUCCESS);
	IS(doca_sync_event_task_wait_eq_alloc_init(event, 1, UINT64_MAX, one,
						   &wait), DOCA_SUCCESS);
	IS(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(wait)),
	   DOCA_SUCCESS);
	IS(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS);
	for (int i = 0; i < 1000 && n; i++) {
		doca_pe_progress(pe);
		IS(doca_ctx_get_num_inflight_tasks(ctx, &n), DOCA_SUCCESS);
	}
	IS(ended, 1);
	IS(doca_ctx_get_state(ctx, &state), DOCA_SUCCESS);
	IS(state, DOCA_CTX_STATE_IDLE);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
	IS(doca_pe_destroy(pe), DOCA_SUCCESS);
}

/* A peer changes and reads an event while its owner waits for it. */

static struct end a, b;

static struct doca_sync_event *create_shared(struct end *end)
{
	struct doca_sync_event *event;

	IS(doca_sync_event_create(&event), DOCA_SUCCESS);
	IS(doca_sync_event_add_publisher_location_remote_net(event),
	   DOCA_SUCCESS);
	IS(doca_sync_event_add_subscriber_location_cpu(event, end->dev),
	   DOCA_SUCCESS);
	IS(doca_sync_event_start(event), DOCA_SUCCESS);
	return event;
}

static struct doca_sync_event_remote_net *import(struct doca_sync_event *event,
						 struct end *end)
{
	struct doca_sync_event_remote_net *ret = NULL;
	const uint8_t *desc;
	size_t len = 0;

	IS(doca_sync_event_export_to_remote_net(event, &desc, &len),
	   DOCA_SUCCESS);
	OK(len <= 4096);
	IS(doca_sync_event_remote_net_create_from_export(end->dev, desc, len,
							 &ret), DOCA_SUCCESS);
	IS(doca_sync_event_remote_net_create_from_export(
		end->dev, (const uint8_t *)"x", 1, &ret),
	   DOCA_ERROR_INVALID_VALUE);
	return ret;
}

static void peers_change_an_event_and_read_it(void)
{
	const union doca_data none = { .ptr = NULL };
	struct doca_rdma_task_remote_net_sync_event_notify_set *set;
	struct doca_rdma_task_remote_net_sync_event_notify_add *add;
	struct doca_rdma_task_remote_net_sync_event_get *get;
	struct doca_sync_event *event = create_shared(&b);
	struct doca_sync_event_remote_net *remote = import(event, &a);
	struct doca_buf *src = end_data(&a, 0, 8), *dst = end_space(&a, 8, 8);
	uint64_t *word = (uint64_t *)(void *)a.memory;

	word[0] = 0xd0ca;
	IS(doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
		a.rdma, a.conn, remote, src, none, &set), DOCA_SUCCESS);
	IS(ends_run(&a, &a,
		    doca_rdma_task_remote_net_sync_event_notify_set_as_task(
			    set)), DOCA_SUCCESS);
	IS(doca_sync_event_wait_gt(event, 0xd0ca - 1, UINT64_MAX),
	   DOCA_SUCCESS);
	IS(doca_sync_event_update_set(event, 0xd0cb), DOCA_SUCCESS);
	IS(doca_rdma_task_remote_net_sync_event_get_allocate_init(
		a.rdma, a.conn, remote, dst, none, &get), DOCA_SUCCESS);
	IS(ends_run(&a, &a,
		    doca_rdma_task_remote_net_sync_event_get_as_task(get)),
	   DOCA_SUCCESS);
	IS(word[1], 0xd0cb);
	OK(doca_rdma_task_remote_net_sync_event_get_get_dst_buf(get) == dst);
	IS(doca_buf_reset_data_len(dst), DOCA_SUCCESS);
	IS(doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
		a.rdma, a.conn, remote, dst, 3, none, &add), DOCA_SUCCESS);
	IS(ends_run(&a, &a,
		    doca_rdma_task_remote_net_sync_event_notify_add_as_task(
			    add)), DOCA_SUCCESS);
	IS(word[1], 0xd0cb);
	IS(doca_sync_event_wait_eq(event, 0xd0ce, UINT64_MAX), DOCA_SUCCESS);
	IS(doca_buf_dec_refcount(src, NULL), DOCA_SUCCESS);
	IS(doca_buf_dec_refcount(dst, NULL), DOCA_SUCCESS);
	IS(doca_sync_event_remote_net_destroy(remote), DOCA_SUCCESS);
	destroy(event);
}

int main(void)
{
	dev = end_device();
	if (!dev)
		return tap_skip_all("there is no such device");
	TEST(an_event_has_two_ends);
	TEST(values_are_set_and_added_to);
	TEST(a_thread_waits_for_another);
	TEST(the_word_may_be_the_programs);
	TEST(a_stopped_event_is_only_destroyed);
	TEST(the_word_may_be_in_a_buffer);
	TEST(calls_without_an_event_fail);
	TEST(an_event_without_a_remote_end_is_not_exported);
	TEST(tasks_do_what_the_calls_do);
	TEST(waits_end_when_the_counter_is_so);
	TEST(the_call_that_flushes_the_last_wait_reports_idle);
	doca_dev_close(dev);
	end_open(&a);
	end_open(&b);
	end_start(&a);
	end_start(&b);
	ends_connect(&a, &b);
	TEST(peers_change_an_event_and_read_it);
	end_close(&a);
	end_close(&b);
	return tap_done();
}
