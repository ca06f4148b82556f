/* SPDX-License-Identifier: BSD-2-Clause */
#include <poll.h>

#include <doca_mmap_advise.h>

#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* The engine: what it reports when, and how a program sleeps. */

#define TASKS 3

static const union doca_data no_data = { .ptr = NULL };
static struct end a, b;
static int invalidated;

static bool readable(int fd, int timeout_ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, timeout_ms) == 1;
}

static void an_idle_engine_has_nothing_to_do(void)
{
	struct doca_pe *pe;

	IS(doca_pe_create(&pe), DOCA_SUCCESS);
	IS(doca_pe_progress(pe), 0);
	IS(doca_pe_progress(pe), 0);
	IS(doca_pe_set_event_mode(pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL),
	   DOCA_SUCCESS);
	IS(doca_pe_set_event_mode(pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL + 1),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_pe_destroy(pe), DOCA_SUCCESS);
}

static void the_handle_exists_before_contexts(void)
{
	doca_notification_handle_t fd = doca_event_invalid_handle, again;
	struct doca_pe *pe;

	IS(doca_pe_create(&pe), DOCA_SUCCESS);
	IS(doca_pe_get_notification_handle(pe, &fd), DOCA_SUCCESS);
	OK(fd >= 0);
	IS(doca_pe_request_notification(pe), DOCA_SUCCESS);
	OK(!readable(fd, 0));
	IS(doca_pe_clear_notification(pe, fd), DOCA_SUCCESS);
	IS(doca_pe_get_notification_handle(pe, &again), DOCA_SUCCESS);
	IS(again, fd);
	IS(doca_pe_destroy(pe), DOCA_SUCCESS);
}

/* As event-driven programs do: arm, sleep, clear, progress until nothing. */
static void sleep_until_done(struct end *end, int want)
{
	doca_notification_handle_t fd;

	IS(doca_pe_get_notification_handle(end->pe, &fd), DOCA_SUCCESS);
	for (int i = 0; i < 1000 && end->done < want; i++) {
		IS(doca_pe_request_notification(end->pe), DOCA_SUCCESS);
		if (!OK(readable(fd, 20000)))
			return;
		IS(doca_pe_clear_notification(end->pe, 0), DOCA_SUCCESS);
		while (doca_pe_progress(end->pe))
			;
	}
	IS(end->done, want);
}

static void the_handle_wakes_a_sleeping_program(void)
{
	struct doca_buf *src = end_far_data(&a, 0, 64);
	struct doca_buf *dst = end_space(&a, 0, 64);
	struct doca_rdma_task_read *task;
	int before = a.done;

	IS(doca_rdma_task_read_allocate_init(a.rdma, a.conn, src, dst, no_data,
					     &task), DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_read_as_task(task)), DOCA_SUCCESS);
	sleep_until_done(&a, before + 1);
	doca_task_free(doca_rdma_task_read_as_task(task));
	IS(doca_buf_dec_refcount(src, NULL), DOCA_SUCCESS);
	IS(doca_buf_dec_refcount(dst, NULL), DOCA_SUCCESS);
}

static void on_invalidated(struct doca_mmap_advise_task_invalidate_cache *task,
			   union doca_data data, union doca_data ctx_data)
{
	(void)ctx_data;
	IS(doca_task_get_status(
		doca_mmap_advise_task_invalidate_cache_as_doca_task(task)),
	   DOCA_SUCCESS);
	invalidated += (int)data.u64;
}

static struct doca_task *invalidate(struct doca_mmap_advise *advise,
				    struct doca_buf *buf)
{
	struct doca_mmap_advise_task_invalidate_cache *task = NULL;
	union doca_data one = { .u64 = 1 };

	IS(doca_mmap_advise_task_invalidate_cache_alloc_init(advise, buf, one,
							     &task),
	   DOCA_SUCCESS);
	doca_mmap_advise_task_invalidate_cache_set_buf(task, NULL);
	OK(!doca_mmap_advise_task_invalidate_cache_get_buf(task));
	doca_mmap_advise_task_invalidate_cache_set_buf(task, buf);
	OK(doca_mmap_advise_task_invalidate_cache_get_buf(task) == buf);
	return doca_mmap_advise_task_invalidate_cache_as_doca_task(task);
}

static void submit_all(struct doca_task **tasks)
{
	for (int i = 0; i < TASKS; i++)
		IS(doca_task_submit(tasks[i]), DOCA_SUCCESS);
}

/* Tasks of two contexts on one engine, one of them without a device's work. */
static void a_cache_is_invalidated_by_a_task(void)
{
	struct doca_buf *buf = end_data(&a, 0, 64);
	struct doca_mmap_advise *advise;
	struct doca_task *tasks[TASKS];
	doca_notification_handle_t fd;
	enum doca_ctx_states state;
	struct doca_ctx *ctx;
	size_t n = 0;

	IS(doca_mmap_advise_create(a.dev, &advise), DOCA_SUCCESS);
	ctx = doca_mmap_advise_as_ctx(advise);
	IS(doca_mmap_advise_task_invalidate_cache_set_conf(
		advise, on_invalidated, on_invalidated, TASKS), DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(a.pe, ctx), DOCA_SUCCESS);
	IS(doca_ctx_start(ctx), DOCA_SUCCESS);
	for (int i = 0; i < TASKS; i++)
		tasks[i] = invalidate(advise, buf);
	submit_all(tasks);
	IS(invalidated, 0);		/* never inside submit */
	IS(doca_ctx_get_num_inflight_tasks(ctx, &n), DOCA_SUCCESS);
	IS(n, TASKS);
	IS(doca_pe_request_notification(a.pe), DOCA_SUCCESS);
	IS(doca_pe_get_notification_handle(a.pe, &fd), DOCA_SUCCESS);
	OK(readable(fd, 0));
	IS(doca_pe_clear_notification(a.pe, fd), DOCA_SUCCESS);
	IS(doca_pe_progress(a.pe), 1);
	IS(invalidated, 1);		/* one in each call */
	IS(doca_pe_progress(a.pe), 1);
	IS(doca_pe_progress(a.pe), 1);
	IS(invalidated, TASKS);
	IS(doca_pe_progress(a.pe), 0);
	submit_all(tasks);
	IS(doca_pe_set_event_mode(a.pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL),
	   DOCA_SUCCESS);
	IS(doca_pe_progress(a.pe), 1);
	IS(invalidated, 2 * TASKS);	/* all of them in one */
	IS(doca_pe_set_event_mode(a.pe, DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE),
	   DOCA_SUCCESS);
	submit_all(tasks);
	IS(doca_pe_progress(a.pe), 1);
	IS(invalidated, 2 * TASKS + 1);
	while (doca_pe_progress(a.pe))
		;
	IS(invalidated, 3 * TASKS);
	IS(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS);
	doca_pe_progress(a.pe);		/* idle when its tasks are freed */
	IS(doca_pe_progress(a.pe), 0);
	for (int i = 0; i < TASKS; i++)
		doca_task_free(tasks[i]);
	IS(doca_pe_progress(a.pe), 1);
	IS(doca_ctx_get_state(ctx, &state), DOCA_SUCCESS);
	IS(state, DOCA_CTX_STATE_IDLE);
	IS(doca_mmap_advise_destroy(advise), DOCA_SUCCESS);
	IS(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
}

/* By descriptors nothing is reported, so there is no progress. */
static void the_end_of_a_connection_is_no_progress(void)
{
	struct doca_rdma_task_send *task;
	struct doca_task *base;
	int progress = 0;

	IS(doca_rdma_connection_disconnect(b.conn), DOCA_SUCCESS);
	IS(doca_rdma_task_send_allocate_init(a.rdma, a.conn, NULL, no_data,
					     &task), DOCA_SUCCESS);
	base = doca_rdma_task_send_as_task(task);
	for (int i = 0; i < 1000000; i++) {
		progress += doca_pe_progress(b.pe);
		progress += doca_pe_progress(a.pe);
	}
	IS(progress, 0);
	IS(doca_task_submit(base), DOCA_ERROR_NOT_CONNECTED);
	doca_task_free(base);
}

static struct doca_pe *engine;
static uint8_t inside = 9;

static void progress_inside(struct doca_mmap_advise_task_invalidate_cache *task,
			    union doca_data data, union doca_data ctx_data)
{
	(void)task;
	(void)data;
	(void)ctx_data;
	inside = doca_pe_progress(engine);
}

static struct doca_mmap_advise *start_advise(void)
{
	struct doca_mmap_advise *advise = NULL;

	IS(doca_mmap_advise_create(a.dev, &advise), DOCA_SUCCESS);
	IS(doca_mmap_advise_task_invalidate_cache_set_conf(
		advise, progress_inside, progress_inside, 1), DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(engine, doca_mmap_advise_as_ctx(advise)),
	   DOCA_SUCCESS);
	IS(doca_ctx_start(doca_mmap_advise_as_ctx(advise)), DOCA_SUCCESS);
	return advise;
}

static void stop_advise(struct doca_mmap_advise *advise)
{
	IS(doca_ctx_stop(doca_mmap_advise_as_ctx(advise)), DOCA_SUCCESS);
	IS(doca_mmap_advise_destroy(advise), DOCA_SUCCESS);
}

/* One context is to be reported idle while a task of the other ends. */
static void a_call_inside_a_callback_does_nothing(void)
{
	struct doca_buf *buf = end_data(&a, 0, 64);
	struct doca_mmap_advise *one, *two;
	struct doca_task *held, *runs;

	IS(doca_pe_create(&engine), DOCA_SUCCESS);
	one = start_advise();
	two = start_advise();
	held = invalidate(one, buf);
	runs = invalidate(two, buf);
	IS(doca_ctx_stop(doca_mmap_advise_as_ctx(one)),
	   DOCA_ERROR_IN_PROGRESS);
	IS(doca_pe_progress(engine), 0);	/* until its task is freed */
	doca_task_free(held);
	IS(doca_task_submit(runs), DOCA_SUCCESS);
	IS(doca_pe_progress(engine), 1);
	IS(inside, 0);
	IS(doca_pe_progress(engine), 0);
	doca_task_free(runs);
	stop_advise(one);
	stop_advise(two);
	IS(doca_pe_destroy(engine), DOCA_SUCCESS);
	IS(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
}

static bool gone;

static void destroy_all(const union doca_data data, struct doca_ctx *ctx,
			enum doca_ctx_states prev, enum doca_ctx_states next)
{
	(void)ctx;
	(void)prev;
	if (next != DOCA_CTX_STATE_IDLE)
		return;
	IS(doca_rdma_destroy(data.ptr), DOCA_SUCCESS);
	IS(doca_pe_destroy(engine), DOCA_SUCCESS);
	gone = true;
}

static void an_engine_goes_with_its_last_context(void)
{
	struct doca_rdma *rdma;
	union doca_data data;
	struct doca_ctx *ctx;

	IS(doca_pe_create(&engine), DOCA_SUCCESS);
	IS(doca_rdma_create(a.dev, &rdma), DOCA_SUCCESS);
	data.ptr = rdma;
	ctx = doca_rdma_as_ctx(rdma);
	IS(doca_ctx_set_user_data(ctx, data), DOCA_SUCCESS);
	IS(doca_ctx_set_state_changed_cb(ctx, destroy_all), DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(engine, ctx), DOCA_SUCCESS);
	IS(doca_ctx_start(ctx), DOCA_SUCCESS);
	IS(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS);
	for (int i = 0; i < 1000 && !gone; i++)
		doca_pe_progress(engine);
	OK(gone);
}

int main(void)
{
	TEST(an_idle_engine_has_nothing_to_do);
	TEST(the_handle_exists_before_contexts);
	end_open(&a);
	end_open(&b);
	end_start(&a);
	end_start(&b);
	ends_connect(&a, &b);
	TEST(the_handle_wakes_a_sleeping_program);
	TEST(a_cache_is_invalidated_by_a_task);
	TEST(a_call_inside_a_callback_does_nothing);
	TEST(an_engine_goes_with_its_last_context);
	TEST(the_end_of_a_connection_is_no_progress);
	end_close(&a);
	end_close(&b);
	return tap_done();
}
