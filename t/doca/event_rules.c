/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>

#include <doca_sync_event.h>

#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* Sync events: what programs on both sides do in turn, values and masks. */

#define SPINS 20000000

static const union doca_data no_data = { .ptr = NULL };
static struct end a, b;

static void destroy(struct doca_sync_event *event)
{
	IS(doca_sync_event_stop(event), DOCA_SUCCESS);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
}

/* The requester is a thread with an engine of its own. */

static struct doca_sync_event_remote_net *remote;

static void set(uint64_t value)
{
	struct doca_rdma_task_remote_net_sync_event_notify_set *task = NULL;
	struct doca_buf *src = end_data(&a, 0, 8);
	struct doca_task *base;

	memcpy(a.memory, &value, 8);
	IS(doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
		a.rdma, a.conn, remote, src, no_data, &task), DOCA_SUCCESS);
	base = doca_rdma_task_remote_net_sync_event_notify_set_as_task(task);
	IS(ends_run(&a, &a, base), DOCA_SUCCESS);
	IS(doca_buf_dec_refcount(src, NULL), DOCA_SUCCESS);
}

/* Submit it again until the value is above @value. */
static uint64_t get_above(uint64_t value)
{
	struct doca_rdma_task_remote_net_sync_event_get *task = NULL;
	struct doca_buf *dst = end_space(&a, 8, 8);
	struct doca_task *base;
	uint64_t now = 0;

	IS(doca_rdma_task_remote_net_sync_event_get_allocate_init(
		a.rdma, a.conn, remote, dst, no_data, &task), DOCA_SUCCESS);
	base = doca_rdma_task_remote_net_sync_event_get_as_task(task);
	while (now <= value && !a.failed) {
		int want = a.done + 1;

		IS(doca_buf_reset_data_len(dst), DOCA_SUCCESS);
		IS(doca_task_submit(base), DOCA_SUCCESS);
		if (!ends_drive(&a, &a, &a.done, want))
			break;
		memcpy(&now, a.memory + 8, 8);
	}
	doca_task_free(base);
	IS(doca_buf_dec_refcount(dst, NULL), DOCA_SUCCESS);
	return now;
}

static void *request(void *arg)
{
	(void)arg;
	set(0xd0ca);
	IS(get_above(0xd0ca), 0xd0cb);
	set(UINT64_MAX);
	return NULL;
}

/* It waits in calls, and makes no progress. */
static void respond(struct doca_sync_event *event)
{
	uint64_t value = 0;

	IS(doca_sync_event_wait_gt(event, 0xd0ca - 1, UINT64_MAX),
	   DOCA_SUCCESS);
	IS(doca_sync_event_get(event, &value), DOCA_SUCCESS);
	IS(value, 0xd0ca);
	IS(doca_sync_event_update_set(event, 0xd0cb), DOCA_SUCCESS);
	IS(doca_sync_event_wait_gt(event, UINT64_MAX - 1, UINT64_MAX),
	   DOCA_SUCCESS);
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

static void both_sides_set_and_wait_in_turn(void)
{
	struct doca_sync_event *event;
	pthread_t thread;

	end_open(&a);
	end_open(&b);
	end_start(&a);
	end_start(&b);
	ends_connect(&a, &b);
	event = share();
	if (IS(pthread_create(&thread, NULL, request, NULL), 0)) {
		respond(event);
		pthread_join(thread, NULL);
	}
	IS(doca_sync_event_remote_net_destroy(remote), DOCA_SUCCESS);
	destroy(event);
	end_close(&a);
	end_close(&b);
}

/* The mask is that of the counter; the value is compared as it is. */
static void a_mask_is_applied_to_the_counter(void)
{
	static const struct masked {
		uint64_t mask, value;
	} masked[] = {
		{ 0, 0 },
		{ 0xff, 0x08 },
		{ 0xff00, 0x0700 },
		{ 0xffff, 0x0708 },
		{ 0xffffffff, 0x05060708 },
		{ UINT64_MAX, 0x0102030405060708 },
	};
	struct doca_dev *dev = end_device();
	struct doca_sync_event *event = end_event(dev);

	IS(doca_sync_event_start(event), DOCA_SUCCESS);
	IS(doca_sync_event_update_set(event, 0x0102030405060708), DOCA_SUCCESS);
	for (int i = 0; i < 6; i++) {
		uint64_t mask = masked[i].mask, value = masked[i].value;

		IS(doca_sync_event_wait_eq(event, value, mask), DOCA_SUCCESS);
		IS(doca_sync_event_wait_eq_yield(event, value, mask),
		   DOCA_SUCCESS);
		IS(doca_sync_event_wait_neq(event, value + 1, mask),
		   DOCA_SUCCESS);
		IS(doca_sync_event_wait_neq_yield(event, value + 1, mask),
		   DOCA_SUCCESS);
		if (!value)
			continue;
		IS(doca_sync_event_wait_gt(event, value - 1, mask),
		   DOCA_SUCCESS);
		IS(doca_sync_event_wait_gt_yield(event, value - 1, mask),
		   DOCA_SUCCESS);
	}
	destroy(event);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
}

static void a_counter_has_64_bits(void)
{
	struct doca_dev *dev = end_device();
	struct doca_sync_event *event = end_event(dev);
	uint64_t value = 0;

	IS(doca_sync_event_start(event), DOCA_SUCCESS);
	IS(doca_sync_event_update_set(event, UINT64_MAX), DOCA_SUCCESS);
	IS(doca_sync_event_wait_gt(event, UINT64_MAX - 1, UINT64_MAX),
	   DOCA_SUCCESS);
	IS(doca_sync_event_update_add(event, 3, &value), DOCA_SUCCESS);
	OK(value == UINT64_MAX);
	IS(doca_sync_event_get(event, &value), DOCA_SUCCESS);
	IS(value, 2);
	destroy(event);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
}

static int ended;

static void on_end(struct doca_sync_event_task_wait_eq *task,
		   union doca_data data, union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	IS(doca_task_get_status(
		doca_sync_event_task_wait_eq_as_doca_task(task)),
	   DOCA_SUCCESS);
	ended++;
}

/* Nothing but the end of a task is progress, however long it lasts. */
static void a_wait_that_lasts_is_no_progress(void)
{
	struct doca_sync_event_task_wait_eq *wait = NULL;
	struct doca_dev *dev = end_device();
	struct doca_sync_event *event = end_event(dev);
	struct doca_ctx *ctx = doca_sync_event_as_ctx(event);
	int progress = 0, calls = 0;
	struct doca_task *base;
	struct doca_pe *pe;

	IS(doca_pe_create(&pe), DOCA_SUCCESS);
	IS(doca_sync_event_task_wait_eq_set_conf(event, on_end, on_end, 1),
	   DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(pe, ctx), DOCA_SUCCESS);
	IS(doca_ctx_start(ctx), DOCA_SUCCESS);
	IS(doca_sync_event_task_wait_eq_alloc_init(event, 3, UINT64_MAX,
						   no_data, &wait),
	   DOCA_SUCCESS);
	base = doca_sync_event_task_wait_eq_as_doca_task(wait);
	IS(doca_task_submit(base), DOCA_SUCCESS);
	for (uint64_t value = 1; value <= 3; value++) {
		for (int i = 0; i < 100000; i++)
			progress += doca_pe_progress(pe);
		IS(doca_sync_event_update_add(event, 1, NULL), DOCA_SUCCESS);
	}
	IS(progress, 0);
	while (!doca_pe_progress(pe) && calls < SPINS)
		calls++;
	IS(ended, 1);
	doca_task_free(base);
	IS(doca_ctx_stop(ctx), DOCA_SUCCESS);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
	IS(doca_pe_destroy(pe), DOCA_SUCCESS);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
}

/* By the device that reaches it, and in the way that was declared. */
static void an_export_is_for_what_was_declared(void)
{
	struct doca_dev *dev = end_device();
	struct doca_dev *other = end_other_device(dev);
	struct doca_sync_event *event = NULL;
	const uint8_t *desc;
	size_t len = 0;

	IS(doca_sync_event_create(&event), DOCA_SUCCESS);
	IS(doca_sync_event_add_publisher_location_remote_pci(event),
	   DOCA_SUCCESS);
	IS(doca_sync_event_add_subscriber_location_cpu(event, dev),
	   DOCA_SUCCESS);
	IS(doca_sync_event_start(event), DOCA_SUCCESS);
	if (other)
		OK(doca_sync_event_export_to_remote_pci(event, other, &desc,
							&len) != DOCA_SUCCESS);
	IS(doca_sync_event_export_to_remote_pci(event, dev, &desc, &len),
	   DOCA_SUCCESS);
	OK(len && len <= 1024);
	*(uint8_t *)(uintptr_t)desc ^= 1;	/* it may be written to */
	destroy(event);
	IS(doca_dev_close(other), DOCA_SUCCESS);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
}

int main(void)
{
	TEST(both_sides_set_and_wait_in_turn);
	TEST(a_mask_is_applied_to_the_counter);
	TEST(a_counter_has_64_bits);
	TEST(a_wait_that_lasts_is_no_progress);
	TEST(an_export_is_for_what_was_declared);
	return tap_done();
}
