/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_dpa_sync_event.h>

#include "t/doca-2.0/desk.h"
#include "t/lib/tap.h"

/* Sync events of DOCA 2.0: by calls, by jobs, of another process. */

#define ALL UINT64_MAX

static struct desk desk;
static struct doca_sync_event *event;

static void begin(void)
{
	desk_open(&desk);
	event = desk_event(&desk);
}

static void end(void)
{
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
	desk_close(&desk);
}

static void calls_set_add_get_and_wait(void)
{
	uint64_t value = 0;

	begin();
	IS(doca_sync_event_start(event), DOCA_SUCCESS);
	IS(doca_sync_event_update_set(event, 7), DOCA_SUCCESS);
	IS(doca_sync_event_update_add(event, 2, &value), DOCA_SUCCESS);
	IS(value, 7);
	IS(doca_sync_event_get(event, &value), DOCA_SUCCESS);
	IS(value, 9);
	IS(doca_sync_event_wait_gt(event, 8, ALL), DOCA_SUCCESS);
	IS(doca_sync_event_wait_gt_yield(event, 8, ALL), DOCA_SUCCESS);
	IS(doca_sync_event_stop(event), DOCA_SUCCESS);
	IS(doca_sync_event_get(event, &value), DOCA_ERROR_BAD_STATE);
	end();
}

static void its_value_may_be_memory_of_the_program(void)
{
	static uint64_t word;

	begin();
	IS(doca_sync_event_set_addr(event, (uint64_t *)((char *)&word + 1)),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_sync_event_set_addr(event, &word), DOCA_SUCCESS);
	IS(doca_sync_event_start(event), DOCA_SUCCESS);
	IS(doca_sync_event_set_addr(event, &word), DOCA_ERROR_BAD_STATE);
	IS(doca_sync_event_update_set(event, 5), DOCA_SUCCESS);
	IS(word, 5);
	end();
}

/* Submit @job of @type, and have its result. */
static uint64_t run(struct doca_ctx *ctx, int type, struct doca_job *job)
{
	struct doca_sync_event_result result = { .value = 99 };
	struct doca_event done = { .result.ptr = &result };

	job->type = type;
	job->ctx = ctx;
	IS(doca_workq_submit(desk.workq, job), DOCA_SUCCESS);
	IS(desk_retrieve(&desk, &done), DOCA_SUCCESS);
	IS(done.type, type);
	IS(result.result, DOCA_SUCCESS);
	return result.value;
}

static void jobs_set_add_get_and_wait(void)
{
	struct doca_sync_event_job_update_set set = { .value = 7 };
	struct doca_sync_event_job_update_add add = { .value = 2 };
	struct doca_sync_event_job_wait wait = { .value = 8, .mask = ALL };
	struct doca_sync_event_job_get get = { .base.flags = 0 };
	struct doca_ctx *ctx;

	begin();
	ctx = doca_sync_event_as_ctx(event);
	IS(doca_ctx_start(ctx), DOCA_SUCCESS);
	IS(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
	IS(doca_ctx_workq_add(ctx, desk.workq), DOCA_SUCCESS);
	run(ctx, DOCA_SYNC_EVENT_JOB_UPDATE_SET, &set.base);
	IS(run(ctx, DOCA_SYNC_EVENT_JOB_UPDATE_ADD, &add.base), 7);
	IS(run(ctx, DOCA_SYNC_EVENT_JOB_GET, &get.base), 9);
	run(ctx, DOCA_SYNC_EVENT_JOB_WAIT, &wait.base);
	IS(doca_sync_event_destroy(event), DOCA_ERROR_BAD_STATE);
	IS(doca_ctx_workq_rm(ctx, desk.workq), DOCA_SUCCESS);
	IS(doca_ctx_stop(ctx), DOCA_SUCCESS);
	end();
}

static void a_wait_that_is_removed_fails(void)
{
	struct doca_sync_event_job_wait wait = {
		.base.type = DOCA_SYNC_EVENT_JOB_WAIT, .value = 1, .mask = ALL,
	};
	struct doca_event done = { .result.ptr = NULL };

	begin();
	wait.base.ctx = doca_sync_event_as_ctx(event);
	IS(doca_ctx_start(wait.base.ctx), DOCA_SUCCESS);
	IS(doca_ctx_workq_add(wait.base.ctx, desk.workq), DOCA_SUCCESS);
	IS(doca_workq_submit(desk.workq, &wait.base), DOCA_SUCCESS);
	IS(doca_workq_progress_retrieve(desk.workq, &done, 0),
	   DOCA_ERROR_AGAIN);
	IS(doca_ctx_workq_rm(wait.base.ctx, desk.workq), DOCA_SUCCESS);
	IS(desk_retrieve(&desk, &done), DOCA_ERROR_IO_FAILED);
	OK(!done.result.ptr);
	IS(doca_ctx_stop(wait.base.ctx), DOCA_SUCCESS);
	end();
}

static void an_export_is_the_same_event(void)
{
	struct doca_sync_event *imported;
	const uint8_t *data;
	uint64_t value = 0;
	size_t sz;

	begin();
	IS(doca_sync_event_start(event), DOCA_SUCCESS);
	IS(doca_sync_event_export_to_dpu(event, desk.dev, &data, &sz),
	   DOCA_SUCCESS);
	IS(doca_sync_event_create_from_export(desk.dev, data, sz, &imported),
	   DOCA_SUCCESS);
	IS(doca_sync_event_publisher_add_location_cpu(imported, desk.dev),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(doca_sync_event_start(imported), DOCA_SUCCESS);
	IS(doca_sync_event_update_set(imported, 6), DOCA_SUCCESS);
	IS(doca_sync_event_get(event, &value), DOCA_SUCCESS);
	IS(value, 6);
	IS(doca_sync_event_stop(imported), DOCA_SUCCESS);
	IS(doca_sync_event_destroy(imported), DOCA_SUCCESS);
	IS(doca_sync_event_stop(event), DOCA_SUCCESS);
	end();
}

static void a_start_needs_both_locations(void)
{
	desk_open(&desk);
	IS(doca_sync_event_create(&event), DOCA_SUCCESS);
	IS(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
	IS(doca_sync_event_publisher_add_location_cpu(event, NULL),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_sync_event_publisher_add_location_cpu(event, desk.dev),
	   DOCA_SUCCESS);
	IS(doca_sync_event_start(event), DOCA_ERROR_INVALID_VALUE);
	end();
}

static void other_processors_are_not_supported(void)
{
	doca_dpa_dev_sync_event_t dpa;
	doca_gpu_dev_sync_event_t gpu;
	const struct doca_devinfo *info;

	begin();
	info = doca_dev_as_devinfo(desk.dev);
	IS(doca_sync_event_publisher_add_location_dpa(event, NULL),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_sync_event_publisher_add_location_gpu(event, NULL),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_sync_event_subscriber_add_location_dpa(event, NULL),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_sync_event_subscriber_add_location_gpu(event, NULL),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_sync_event_export_to_dpa(event, NULL, &dpa),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_sync_event_export_to_gpu(event, NULL, &gpu),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_sync_event_get_export_to_dpa_supported(info),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_sync_event_get_export_to_gpu_supported(info),
	   DOCA_ERROR_NOT_SUPPORTED);
	end();
}

static void the_device_answers_for_its_jobs(void)
{
	struct doca_dev *dev = desk_device();
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);

	IS(doca_sync_event_get_create_from_export_supported(info),
	   DOCA_SUCCESS);
	IS(doca_sync_event_get_export_to_dpu_supported(info), DOCA_SUCCESS);
	for (int type = DOCA_SYNC_EVENT_JOB_GET;
	     type <= DOCA_SYNC_EVENT_JOB_WAIT; type++)
		IS(doca_sync_event_job_get_supported(
			info, (enum doca_sync_event_job_type)type),
		   DOCA_SUCCESS);
	IS(doca_sync_event_job_get_supported(
		info, (enum doca_sync_event_job_type)1),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
}

int main(void)
{
	TEST(calls_set_add_get_and_wait);
	TEST(its_value_may_be_memory_of_the_program);
	TEST(jobs_set_add_get_and_wait);
	TEST(a_wait_that_is_removed_fails);
	TEST(an_export_is_the_same_event);
	TEST(a_start_needs_both_locations);
	TEST(other_processors_are_not_supported);
	TEST(the_device_answers_for_its_jobs);
	return tap_done();
}
