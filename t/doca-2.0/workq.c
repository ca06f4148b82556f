/* SPDX-License-Identifier: BSD-2-Clause */
#include <poll.h>

#include <doca_dma.h>
#include <doca_sha.h>

#include "t/doca-2.0/desk.h"
#include "t/lib/tap.h"

/* A work queue: what it takes, polled and event-driven, what it refuses. */

static struct desk desk;
static struct doca_dma *dma;
static struct doca_ctx *ctx;

static void begin(void)
{
	desk_open(&desk);
	IS(doca_dma_create(&dma), DOCA_SUCCESS);
	ctx = doca_dma_as_ctx(dma);
	desk_add(&desk, ctx);
}

static void end(void)
{
	desk_rm(&desk, ctx);
	IS(doca_dma_destroy(dma), DOCA_SUCCESS);
	desk_close(&desk);
}

/* Copy byte @i to the second half. */
static doca_error_t submit(struct doca_ctx *on, size_t i)
{
	struct doca_buf *src = desk_data(&desk, i, 1);
	struct doca_buf *dst = desk_space(&desk, DESK_BYTES / 2 + i, 1);
	struct doca_dma_job_memcpy job = {
		.base = { .type = DOCA_DMA_JOB_MEMCPY, .ctx = on,
			  .user_data.u64 = i },
		.src_buff = src,
		.dst_buff = dst,
	};
	doca_error_t error;

	desk.memory[i] = (char)(i + 1);
	error = doca_workq_submit(desk.workq, &job.base);
	IS(doca_buf_refcount_rm(src, NULL), DOCA_SUCCESS);
	IS(doca_buf_refcount_rm(dst, NULL), DOCA_SUCCESS);
	return error;
}

static void without_a_job_there_is_none_to_retrieve(void)
{
	struct doca_event event = { .type = 77 };

	begin();
	IS(doca_workq_progress_retrieve(desk.workq, &event, 0),
	   DOCA_ERROR_AGAIN);
	IS(event.type, 77);
	end();
}

static void bad_calls_are_invalid(void)
{
	struct doca_job job = { .type = DOCA_DMA_JOB_MEMCPY };
	struct doca_event event;

	begin();
	IS(doca_workq_create(0, &desk.workq), DOCA_ERROR_INVALID_VALUE);
	IS(doca_workq_create(1 + (1 << 20), &desk.workq),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_workq_progress_retrieve(NULL, &event, 0),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_workq_progress_retrieve(desk.workq, NULL, 0),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_workq_progress_retrieve(desk.workq, &event, 1),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_workq_submit(desk.workq, NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_workq_submit(desk.workq, &job), DOCA_ERROR_INVALID_VALUE);
	job.ctx = ctx;
	job.flags = 2;
	IS(doca_workq_submit(desk.workq, &job), DOCA_ERROR_INVALID_VALUE);
	job.flags = DOCA_JOB_FLAGS_NONE;
	job.type = DOCA_SHA_JOB_SHA1;
	IS(doca_workq_submit(desk.workq, &job), DOCA_ERROR_NOT_SUPPORTED);
	end();
}

static void more_jobs_than_its_depth_are_refused(void)
{
	struct doca_event event;
	bool seen[DESK_DEPTH + 1] = { false };

	begin();
	for (size_t i = 0; i < DESK_DEPTH; i++)
		IS(submit(ctx, i), DOCA_SUCCESS);
	IS(submit(ctx, DESK_DEPTH), DOCA_ERROR_NO_MEMORY);
	IS(desk_retrieve(&desk, &event), DOCA_SUCCESS);
	seen[event.user_data.u64] = true;
	IS(submit(ctx, DESK_DEPTH), DOCA_SUCCESS);
	for (int i = 0; i < DESK_DEPTH; i++) {
		IS(desk_retrieve(&desk, &event), DOCA_SUCCESS);
		seen[event.user_data.u64] = true;
	}
	for (int i = 0; i <= DESK_DEPTH; i++)
		OK(seen[i]);
	IS(memcmp(desk.memory, desk.memory + DESK_BYTES / 2, DESK_DEPTH + 1),
	   0);
	end();
}

/* Sleep until the handle is readable. */
static void await(doca_event_handle_t handle)
{
	struct pollfd fd = { .fd = handle, .events = POLLIN };

	IS(poll(&fd, 1, 20000), 1);
	IS(doca_workq_event_handle_clear(desk.workq, handle), DOCA_SUCCESS);
}

static void an_event_driven_one_signals_its_events(void)
{
	doca_event_handle_t handle = doca_event_invalid_handle;
	struct doca_event event;
	uint8_t enabled = 0;
	doca_error_t error;

	begin();
	IS(doca_workq_set_event_driven_enable(desk.workq, 1), DOCA_SUCCESS);
	IS(doca_workq_get_event_driven_enable(desk.workq, &enabled),
	   DOCA_SUCCESS);
	IS(enabled, 1);
	IS(doca_workq_get_event_handle(desk.workq, &handle), DOCA_SUCCESS);
	IS(doca_workq_event_handle_arm(desk.workq), DOCA_SUCCESS);
	for (size_t i = 0; i < DESK_DEPTH; i++)
		IS(submit(ctx, i), DOCA_SUCCESS);
	for (int n = 0; n < DESK_DEPTH;) {
		await(handle);
		while (!(error = doca_workq_progress_retrieve(desk.workq,
							      &event, 0)))
			n++;
		if (!IS(error, DOCA_ERROR_AGAIN) || !tap_holds())
			break;
		IS(doca_workq_event_handle_arm(desk.workq), DOCA_SUCCESS);
	}
	end();
}

static void what_has_ended_before_arm_is_signalled(void)
{
	doca_event_handle_t handle = doca_event_invalid_handle;
	struct doca_event event;

	begin();
	IS(doca_workq_set_event_driven_enable(desk.workq, 1), DOCA_SUCCESS);
	IS(doca_workq_get_event_handle(desk.workq, &handle), DOCA_SUCCESS);
	IS(submit(ctx, 1), DOCA_SUCCESS);
	IS(submit(ctx, 2), DOCA_SUCCESS);
	IS(desk_retrieve(&desk, &event), DOCA_SUCCESS);
	IS(doca_workq_event_handle_arm(desk.workq), DOCA_SUCCESS);
	await(handle);
	IS(desk_retrieve(&desk, &event), DOCA_SUCCESS);

	/* Nothing of the last wake is left. */
	IS(submit(ctx, 0), DOCA_SUCCESS);
	IS(doca_workq_event_handle_arm(desk.workq), DOCA_SUCCESS);
	await(handle);
	IS(desk_retrieve(&desk, &event), DOCA_SUCCESS);
	end();
}

static void a_polled_one_has_no_handle(void)
{
	doca_event_handle_t handle;

	begin();
	IS(doca_workq_get_event_handle(desk.workq, &handle),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_workq_event_handle_arm(desk.workq), DOCA_ERROR_BAD_STATE);
	IS(doca_workq_event_handle_clear(desk.workq, 0), DOCA_ERROR_BAD_STATE);
	IS(doca_workq_set_event_driven_enable(desk.workq, 2),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_workq_set_event_driven_enable(desk.workq, 1), DOCA_SUCCESS);
	IS(doca_workq_get_event_handle(desk.workq, &handle), DOCA_SUCCESS);
	IS(doca_workq_event_handle_clear(desk.workq, handle + 1),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_workq_set_event_driven_enable(desk.workq, 0), DOCA_SUCCESS);
	IS(doca_workq_get_event_handle(desk.workq, &handle),
	   DOCA_ERROR_BAD_STATE);
	end();
}

static void its_mode_cannot_change_while_it_has_jobs(void)
{
	struct doca_event event;

	begin();
	IS(submit(ctx, 0), DOCA_SUCCESS);
	IS(doca_workq_set_event_driven_enable(desk.workq, 1),
	   DOCA_ERROR_IN_USE);
	IS(desk_retrieve(&desk, &event), DOCA_SUCCESS);
	IS(doca_workq_set_event_driven_enable(desk.workq, 1), DOCA_SUCCESS);
	end();
}

static void jobs_of_two_contexts_are_retrieved_from_one(void)
{
	struct doca_dma *other;
	struct doca_event event;
	uint64_t sum = 0;

	begin();
	IS(doca_dma_create(&other), DOCA_SUCCESS);
	desk_add(&desk, doca_dma_as_ctx(other));
	IS(submit(ctx, 1), DOCA_SUCCESS);
	IS(submit(doca_dma_as_ctx(other), 2), DOCA_SUCCESS);
	for (int i = 0; i < 2; i++) {
		IS(desk_retrieve(&desk, &event), DOCA_SUCCESS);
		sum += event.user_data.u64;
	}
	IS(sum, 3);
	desk_rm(&desk, doca_dma_as_ctx(other));
	IS(doca_dma_destroy(other), DOCA_SUCCESS);
	end();
}

static void it_is_destroyed_without_contexts_only(void)
{
	begin();
	IS(doca_workq_destroy(desk.workq), DOCA_ERROR_IN_USE);
	IS(doca_workq_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	end();
}

int main(void)
{
	TEST(without_a_job_there_is_none_to_retrieve);
	TEST(bad_calls_are_invalid);
	TEST(more_jobs_than_its_depth_are_refused);
	TEST(an_event_driven_one_signals_its_events);
	TEST(what_has_ended_before_arm_is_signalled);
	TEST(a_polled_one_has_no_handle);
	TEST(its_mode_cannot_change_while_it_has_jobs);
	TEST(jobs_of_two_contexts_are_retrieved_from_one);
	TEST(it_is_destroyed_without_contexts_only);
	return tap_done();
}
