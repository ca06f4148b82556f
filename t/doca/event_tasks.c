/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_ctx.h>
#include <doca_pe.h>
#include <doca_sync_event.h>

#include "t/doca/ends.h"
#include "t/lib/tap.h"

/*
 * What a task of a sync event is changed to between two submits: its getters
 * return it, and the second submit does it.
 */
static const union doca_data no_data = { .ptr = NULL };
static struct doca_dev *dev;
static struct doca_sync_event *event;
static struct doca_pe *pe;
static int ended;

static void count(doca_error_t status)
{
	IS(status, DOCA_SUCCESS);
	ended++;
}

static void on_get(struct doca_sync_event_task_get *task, union doca_data data,
		   union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	count(doca_task_get_status(
		doca_sync_event_task_get_as_doca_task(task)));
}

static void on_set(struct doca_sync_event_task_notify_set *task,
		   union doca_data data, union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	count(doca_task_get_status(
		doca_sync_event_task_notify_set_as_doca_task(task)));
}

static void on_add(struct doca_sync_event_task_notify_add *task,
		   union doca_data data, union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	count(doca_task_get_status(
		doca_sync_event_task_notify_add_as_doca_task(task)));
}

static void on_eq(struct doca_sync_event_task_wait_eq *task,
		  union doca_data data, union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	count(doca_task_get_status(
		doca_sync_event_task_wait_eq_as_doca_task(task)));
}

static void on_neq(struct doca_sync_event_task_wait_neq *task,
		   union doca_data data, union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	count(doca_task_get_status(
		doca_sync_event_task_wait_neq_as_doca_task(task)));
}

static void open_event(void)
{
	struct doca_ctx *ctx;

	IS(doca_pe_create(&pe), DOCA_SUCCESS);
	event = end_event(dev);
	IS(doca_sync_event_task_get_set_conf(event, on_get, on_get, 1),
	   DOCA_SUCCESS);
	IS(doca_sync_event_task_notify_set_set_conf(event, on_set, on_set, 2),
	   DOCA_SUCCESS);
	IS(doca_sync_event_task_notify_add_set_conf(event, on_add, on_add, 1),
	   DOCA_SUCCESS);
	IS(doca_sync_event_task_wait_eq_set_conf(event, on_eq, on_eq, 1),
	   DOCA_SUCCESS);
	IS(doca_sync_event_task_wait_neq_set_conf(event, on_neq, on_neq, 1),
	   DOCA_SUCCESS);
	ctx = doca_sync_event_as_ctx(event);
	IS(doca_pe_connect_ctx(pe, ctx), DOCA_SUCCESS);
	IS(doca_ctx_start(ctx), DOCA_SUCCESS);
	ended = 0;
}

static void close_event(struct doca_task *task)
{
	doca_task_free(task);
	IS(doca_ctx_stop(doca_sync_event_as_ctx(event)), DOCA_SUCCESS);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
	IS(doca_pe_destroy(pe), DOCA_SUCCESS);
}

static void drive(int want)
{
	for (int i = 0; i < 1000000 && ended < want; i++)
		doca_pe_progress(pe);
	IS(ended, want);
}

/* Submit it, and wait for its end. */
static void run(struct doca_task *task)
{
	int before = ended;

	IS(doca_task_submit(task), DOCA_SUCCESS);
	drive(before + 1);
}

/* By another task, which is freed. */
static void set(uint64_t value)
{
	struct doca_sync_event_task_notify_set *task;

	IS(doca_sync_event_task_notify_set_alloc_init(event, value, no_data,
						      &task),
	   DOCA_SUCCESS);
	IS(doca_sync_event_task_notify_set_get_set_val(task), value);
	run(doca_sync_event_task_notify_set_as_doca_task(task));
	doca_task_free(doca_sync_event_task_notify_set_as_doca_task(task));
}

/* The value of the event, by another task. */
static uint64_t value(void)
{
	struct doca_sync_event_task_get *task;
	uint64_t ret = 0;

	IS(doca_sync_event_task_get_alloc_init(event, &ret, no_data, &task),
	   DOCA_SUCCESS);
	run(doca_sync_event_task_get_as_doca_task(task));
	doca_task_free(doca_sync_event_task_get_as_doca_task(task));
	return ret;
}

static void a_get_is_changed(void)
{
	struct doca_sync_event_task_get *task;
	uint64_t one = 0, two = 0;

	open_event();
	IS(doca_sync_event_task_get_alloc_init(event, &one, no_data, &task),
	   DOCA_SUCCESS);
	OK(doca_sync_event_task_get_get_ret_val_ptr(task) == &one);
	set(11);
	run(doca_sync_event_task_get_as_doca_task(task));
	IS(one, 11);
	doca_sync_event_task_get_set_ret_val_ptr(task, &two);
	OK(doca_sync_event_task_get_get_ret_val_ptr(task) == &two);
	set(UINT64_MAX);
	run(doca_sync_event_task_get_as_doca_task(task));
	IS(one, 11);
	OK(two == UINT64_MAX);
	close_event(doca_sync_event_task_get_as_doca_task(task));
}

static void a_set_is_changed(void)
{
	struct doca_sync_event_task_notify_set *task;

	open_event();
	IS(doca_sync_event_task_notify_set_alloc_init(event, 5, no_data, &task),
	   DOCA_SUCCESS);
	IS(doca_sync_event_task_notify_set_get_set_val(task), 5);
	doca_sync_event_task_notify_set_set_set_val(task, 6);
	IS(doca_sync_event_task_notify_set_get_set_val(task), 6);
	run(doca_sync_event_task_notify_set_as_doca_task(task));
	IS(value(), 6);
	doca_sync_event_task_notify_set_set_set_val(task, 7);
	IS(doca_sync_event_task_notify_set_get_set_val(task), 7);
	run(doca_sync_event_task_notify_set_as_doca_task(task));
	IS(value(), 7);
	close_event(doca_sync_event_task_notify_set_as_doca_task(task));
}

static void an_add_is_changed(void)
{
	struct doca_sync_event_task_notify_add *task;
	uint64_t one = 9, two = 9;

	open_event();
	IS(doca_sync_event_task_notify_add_alloc_init(event, 3, &one, no_data,
						      &task),
	   DOCA_SUCCESS);
	IS(doca_sync_event_task_notify_add_get_inc_val(task), 3);
	OK(doca_sync_event_task_notify_add_get_fetched_val_ptr(task) == &one);
	run(doca_sync_event_task_notify_add_as_doca_task(task));
	IS(one, 0);
	doca_sync_event_task_notify_add_set_inc_val(task, 40);
	doca_sync_event_task_notify_add_set_fetched_val_ptr(task, &two);
	IS(doca_sync_event_task_notify_add_get_inc_val(task), 40);
	OK(doca_sync_event_task_notify_add_get_fetched_val_ptr(task) == &two);
	run(doca_sync_event_task_notify_add_as_doca_task(task));
	IS(two, 3);
	doca_sync_event_task_notify_add_set_fetched_val_ptr(task, NULL);
	OK(!doca_sync_event_task_notify_add_get_fetched_val_ptr(task));
	run(doca_sync_event_task_notify_add_as_doca_task(task));
	doca_sync_event_task_notify_add_set_fetched_val_ptr(task, &one);
	run(doca_sync_event_task_notify_add_as_doca_task(task));
	IS(one, 83);
	IS(two, 3);
	close_event(doca_sync_event_task_notify_add_as_doca_task(task));
}

/* The mask first hides what differs. */
static void a_wait_for_a_value_is_changed(void)
{
	struct doca_sync_event_task_wait_eq *task;

	open_event();
	IS(doca_sync_event_task_wait_eq_alloc_init(event, 1, 0xf, no_data,
						   &task),
	   DOCA_SUCCESS);
	IS(doca_sync_event_task_wait_eq_get_wait_val(task), 1);
	IS(doca_sync_event_task_wait_eq_get_mask(task), 0xf);
	set(0x21);
	run(doca_sync_event_task_wait_eq_as_doca_task(task));
	doca_sync_event_task_wait_eq_set_wait_val(task, 0x30);
	doca_sync_event_task_wait_eq_set_mask(task, 0xf0);
	IS(doca_sync_event_task_wait_eq_get_wait_val(task), 0x30);
	IS(doca_sync_event_task_wait_eq_get_mask(task), 0xf0);
	IS(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(task)),
	   DOCA_SUCCESS);
	ended = 0;
	set(0x2f); /* the set alone */
	IS(doca_pe_progress(pe), 0);
	IS(ended, 1);
	set(0x3f);
	drive(3);
	close_event(doca_sync_event_task_wait_eq_as_doca_task(task));
}

static void a_wait_for_another_value_is_changed(void)
{
	struct doca_sync_event_task_wait_neq *task;

	open_event();
	IS(doca_sync_event_task_wait_neq_alloc_init(event, 1, 0xf, no_data,
						    &task),
	   DOCA_SUCCESS);
	IS(doca_sync_event_task_wait_neq_get_wait_val(task), 1);
	IS(doca_sync_event_task_wait_neq_get_mask(task), 0xf);
	set(0x22);
	run(doca_sync_event_task_wait_neq_as_doca_task(task));
	doca_sync_event_task_wait_neq_set_wait_val(task, 0x20);
	doca_sync_event_task_wait_neq_set_mask(task, 0xf0);
	IS(doca_sync_event_task_wait_neq_get_wait_val(task), 0x20);
	IS(doca_sync_event_task_wait_neq_get_mask(task), 0xf0);
	IS(doca_task_submit(doca_sync_event_task_wait_neq_as_doca_task(task)),
	   DOCA_SUCCESS);
	ended = 0;
	set(0x2f); /* the set alone */
	IS(doca_pe_progress(pe), 0);
	IS(ended, 1);
	set(0x1f);
	drive(3);
	close_event(doca_sync_event_task_wait_neq_as_doca_task(task));
}

int main(void)
{
	dev = end_device();
	if (!dev)
		return tap_skip_all("there is no such device");
	TEST(a_get_is_changed);
	TEST(a_set_is_changed);
	TEST(an_add_is_changed);
	TEST(a_wait_for_a_value_is_changed);
	TEST(a_wait_for_another_value_is_changed);
	doca_dev_close(dev);
	return tap_done();
}
