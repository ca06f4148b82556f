/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_dma.h>
#include <doca_graph.h>
#include <doca_rdma.h>
#include <doca_sha.h>
#include <doca_sync_event.h>

#include <pier/log.h>

#include "t/doca-2.0/desk.h"
#include "t/lib/tap.h"

/* The life of a context: its device, its start, its work queue. */

static struct desk desk;
static struct doca_dma *dma;
static struct doca_ctx *ctx;

static void begin(void)
{
	desk_open(&desk);
	IS(doca_dma_create(&dma), DOCA_SUCCESS);
	ctx = doca_dma_as_ctx(dma);
}

static void end(void)
{
	IS(doca_dma_destroy(dma), DOCA_SUCCESS);
	desk_close(&desk);
}

static void steps_out_of_order_are_refused(void)
{
	begin();
	IS(doca_ctx_start(ctx), DOCA_ERROR_BAD_STATE);
	IS(doca_ctx_stop(ctx), DOCA_ERROR_BAD_STATE);
	IS(doca_ctx_dev_add(ctx, desk.dev), DOCA_SUCCESS);
	IS(doca_ctx_workq_add(ctx, desk.workq), DOCA_ERROR_BAD_STATE);
	IS(doca_ctx_start(ctx), DOCA_SUCCESS);
	IS(doca_ctx_start(ctx), DOCA_ERROR_BAD_STATE);
	IS(doca_ctx_dev_add(ctx, desk.dev), DOCA_ERROR_BAD_STATE);
	IS(doca_ctx_dev_rm(ctx, desk.dev), DOCA_ERROR_BAD_STATE);
	IS(doca_ctx_workq_rm(ctx, desk.workq), DOCA_ERROR_NOT_FOUND);
	IS(doca_ctx_workq_add(ctx, desk.workq), DOCA_SUCCESS);
	IS(doca_dma_destroy(dma), DOCA_ERROR_BAD_STATE);
	IS(doca_ctx_stop(ctx), DOCA_ERROR_IN_USE);
	IS(doca_ctx_workq_rm(ctx, desk.workq), DOCA_SUCCESS);
	IS(doca_ctx_stop(ctx), DOCA_SUCCESS);
	end();
}

static void it_has_one_device(void)
{
	struct doca_dev *other = (struct doca_dev *)&desk;

	begin();
	IS(doca_ctx_dev_rm(ctx, desk.dev), DOCA_ERROR_NOT_FOUND);
	IS(doca_ctx_dev_add(ctx, desk.dev), DOCA_SUCCESS);
	IS(doca_ctx_dev_add(ctx, desk.dev), DOCA_ERROR_ALREADY_EXIST);
	IS(doca_ctx_dev_add(ctx, other), DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_ctx_dev_rm(ctx, other), DOCA_ERROR_NOT_FOUND);
	IS(doca_ctx_dev_rm(ctx, desk.dev), DOCA_SUCCESS);
	IS(doca_ctx_dev_add(ctx, desk.dev), DOCA_SUCCESS);
	end();
}

static void a_device_that_it_has_is_not_closed(void)
{
	struct doca_sha *sha;
	struct doca_dev *dev = desk_device();

	IS(doca_sha_create(&sha), DOCA_SUCCESS);
	IS(doca_ctx_dev_add(doca_sha_as_ctx(sha), dev), DOCA_SUCCESS);
	IS(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	IS(doca_sha_destroy(sha), DOCA_SUCCESS);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
}

static void it_has_one_work_queue(void)
{
	struct doca_workq *other;

	begin();
	desk_add(&desk, ctx);
	IS(doca_workq_create(1, &other), DOCA_SUCCESS);
	IS(doca_ctx_workq_add(ctx, other), DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_ctx_workq_add(ctx, desk.workq), DOCA_ERROR_ALREADY_EXIST);
	IS(doca_ctx_workq_rm(ctx, other), DOCA_ERROR_NOT_FOUND);
	IS(doca_ctx_workq_rm(ctx, desk.workq), DOCA_SUCCESS);
	IS(doca_ctx_workq_add(ctx, other), DOCA_SUCCESS);
	IS(doca_ctx_workq_rm(ctx, other), DOCA_SUCCESS);
	IS(doca_workq_destroy(other), DOCA_SUCCESS);
	IS(doca_ctx_stop(ctx), DOCA_SUCCESS);
	end();
}

static void jobs_are_of_contexts_that_were_added(void)
{
	struct doca_dma_job_memcpy job = {
		.base = { .type = DOCA_DMA_JOB_MEMCPY },
	};

	begin();
	job.base.ctx = ctx;
	IS(doca_workq_submit(desk.workq, &job.base),
	   DOCA_ERROR_INVALID_VALUE);
	desk_add(&desk, ctx);
	desk_rm(&desk, ctx);
	IS(doca_workq_submit(desk.workq, &job.base),
	   DOCA_ERROR_INVALID_VALUE);
	end();
}

static void count_critical(enum pier_log_level level, const char *area,
			   const char *message, void *arg)
{
	if (level == PIER_LOG_CRITICAL)
		tap_note("%s: %s", area, message);
	*(int *)arg += level == PIER_LOG_CRITICAL;
}

static void what_it_did_is_retrieved_after_its_removal(void)
{
	struct doca_dma_job_memcpy job = {
		.base = { .type = DOCA_DMA_JOB_MEMCPY, .user_data.u64 = 5 },
	};
	struct doca_event event = { 0 };
	int critical = 0;

	begin();
	desk_add(&desk, ctx);
	job.base.ctx = ctx;
	IS(doca_workq_submit(desk.workq, &job.base), DOCA_SUCCESS);
	pier_log_set_callback(count_critical, &critical);
	desk_rm(&desk, ctx);
	IS(doca_dma_destroy(dma), DOCA_SUCCESS);
	pier_log_set_callback(NULL, NULL);
	IS(critical, 0);
	IS(desk_retrieve(&desk, &event), DOCA_ERROR_IO_FAILED);
	IS(event.user_data.u64, 5);
	IS(doca_workq_progress_retrieve(desk.workq, &event, 0),
	   DOCA_ERROR_AGAIN);
	desk_close(&desk);
}

static void it_starts_again(void)
{
	begin();
	desk_add(&desk, ctx);
	desk_rm(&desk, ctx);
	desk_add(&desk, ctx);
	desk_rm(&desk, ctx);
	end();
}

static void it_can_be_event_driven(void)
{
	uint8_t supported = 0;

	begin();
	IS(doca_ctx_get_event_driven_supported(ctx, &supported), DOCA_SUCCESS);
	IS(supported, 1);
	IS(doca_ctx_get_event_driven_supported(NULL, &supported),
	   DOCA_ERROR_INVALID_VALUE);
	end();
}

static void there_is_no_context_without_an_object(void)
{
	OK(!doca_dma_as_ctx(NULL));
	OK(!doca_sha_as_ctx(NULL));
	IS(doca_dma_create(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_sha_create(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_dma_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_sha_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_graph_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_sync_event_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_ctx_start(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_ctx_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_ctx_dev_add(NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_ctx_workq_add(NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_ctx_workq_rm(NULL, NULL), DOCA_ERROR_INVALID_VALUE);
}

int main(void)
{
	TEST(steps_out_of_order_are_refused);
	TEST(it_has_one_device);
	TEST(a_device_that_it_has_is_not_closed);
	TEST(it_has_one_work_queue);
	TEST(jobs_are_of_contexts_that_were_added);
	TEST(what_it_did_is_retrieved_after_its_removal);
	TEST(it_starts_again);
	TEST(it_can_be_event_driven);
	TEST(there_is_no_context_without_an_object);
	return tap_done();
}
