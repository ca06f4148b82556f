/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_dma.h>

#include "t/doca-2.0/desk.h"
#include "t/lib/tap.h"

/* Jobs that copy. */

#define LEN 1000

static struct desk desk;
static struct doca_dma *dma;
static struct doca_ctx *ctx;

static void begin(void)
{
	desk_open(&desk);
	IS(doca_dma_create(&dma), DOCA_SUCCESS);
	ctx = doca_dma_as_ctx(dma);
	desk_add(&desk, ctx);
	for (size_t i = 0; i < DESK_BYTES; i++)
		desk.memory[i] = (char)(i * 7 + i / 256);
}

static void end(void)
{
	desk_rm(&desk, ctx);
	IS(doca_dma_destroy(dma), DOCA_SUCCESS);
	desk_close(&desk);
}

static doca_error_t submit(struct doca_buf *src, struct doca_buf *dst,
			   uint64_t id)
{
	struct doca_dma_job_memcpy job = {
		.base = { .type = DOCA_DMA_JOB_MEMCPY, .ctx = ctx,
			  .user_data.u64 = id },
		.src_buff = src,
		.dst_buff = dst,
	};

	return doca_workq_submit(desk.workq, &job.base);
}

static void put(struct doca_buf *buf)
{
	IS(doca_buf_refcount_rm(buf, NULL), DOCA_SUCCESS);
}

static void a_job_copies_and_has_an_event(void)
{
	struct doca_event event = { 0 };
	struct doca_buf *src, *dst;
	size_t len = 0;

	begin();
	src = desk_data(&desk, 0, LEN);
	dst = desk_space(&desk, 4096, LEN);
	IS(submit(src, dst, 42), DOCA_SUCCESS);
	IS(desk_retrieve(&desk, &event), DOCA_SUCCESS);
	IS(event.type, DOCA_DMA_JOB_MEMCPY);
	IS(event.user_data.u64, 42);
	IS(event.result.u64, DOCA_SUCCESS);
	IS(memcmp(desk.memory, desk.memory + 4096, LEN), 0);
	IS(doca_buf_get_data_len(dst, &len), DOCA_SUCCESS);
	IS(len, LEN);
	put(src);
	put(dst);
	end();
}

static void data_is_appended_until_its_length_is_reset(void)
{
	struct doca_event event;
	struct doca_buf *src, *dst;
	size_t len = 0;

	begin();
	src = desk_data(&desk, 0, 100);
	dst = desk_space(&desk, 4096, 250);
	IS(submit(src, dst, 1), DOCA_SUCCESS);
	IS(desk_retrieve(&desk, &event), DOCA_SUCCESS);
	IS(submit(src, dst, 2), DOCA_SUCCESS);
	IS(desk_retrieve(&desk, &event), DOCA_SUCCESS);
	IS(memcmp(desk.memory, desk.memory + 4096 + 100, 100), 0);
	IS(doca_buf_get_data_len(dst, &len), DOCA_SUCCESS);
	IS(len, 200);
	IS(submit(src, dst, 3), DOCA_SUCCESS);
	IS(desk_retrieve(&desk, &event), DOCA_ERROR_IO_FAILED);
	IS(doca_buf_reset_data_len(dst), DOCA_SUCCESS);
	IS(submit(src, dst, 4), DOCA_SUCCESS);
	IS(desk_retrieve(&desk, &event), DOCA_SUCCESS);
	put(src);
	put(dst);
	end();
}

static void lists_are_gathered_and_scattered(void)
{
	struct doca_buf *src, *dst, *more;
	struct doca_event event;
	uint32_t count = 0;

	begin();
	src = desk_data(&desk, 0, 100);
	more = desk_data(&desk, 300, 200);
	IS(doca_buf_list_chain(src, more), DOCA_SUCCESS);
	dst = desk_space(&desk, 4096, 50);
	more = desk_space(&desk, 5000, 400);
	IS(doca_buf_list_chain(dst, more), DOCA_SUCCESS);
	IS(doca_buf_list_num_elements(dst, &count), DOCA_SUCCESS);
	IS(count, 2);
	IS(submit(src, dst, 1), DOCA_SUCCESS);
	IS(desk_retrieve(&desk, &event), DOCA_SUCCESS);
	IS(memcmp(desk.memory, desk.memory + 4096, 50), 0);
	IS(memcmp(desk.memory + 50, desk.memory + 5000, 50), 0);
	IS(memcmp(desk.memory + 300, desk.memory + 5050, 200), 0);
	put(src);
	put(dst);
	end();
}

static void a_job_that_fails_is_an_event_of_io_failed(void)
{
	struct doca_event event = { 0 };
	struct doca_buf *src, *dst;

	begin();
	src = desk_data(&desk, 0, LEN);
	dst = desk_space(&desk, 4096, LEN - 1);
	IS(submit(src, dst, 43), DOCA_SUCCESS);
	IS(desk_retrieve(&desk, &event), DOCA_ERROR_IO_FAILED);
	IS(event.type, DOCA_DMA_JOB_MEMCPY);
	IS(event.user_data.u64, 43);
	IS(event.result.u64, DOCA_ERROR_INVALID_VALUE);
	put(dst);
	dst = desk_space(&desk, 4096, LEN);
	IS(submit(src, dst, 44), DOCA_SUCCESS);
	IS(desk_retrieve(&desk, &event), DOCA_SUCCESS);
	IS(event.user_data.u64, 44);
	put(src);
	put(dst);
	end();
}

static void the_device_answers_for_its_jobs(void)
{
	struct doca_dev *dev = desk_device();
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	uint32_t count = 0;
	uint64_t len = 0;

	IS(doca_dma_job_get_supported(info, DOCA_DMA_JOB_MEMCPY),
	   DOCA_SUCCESS);
	IS(doca_dma_job_get_supported(info, (enum doca_dma_job_types)7),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_dma_job_get_supported(NULL, DOCA_DMA_JOB_MEMCPY),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_dma_get_max_list_buf_num_elem(info, &count), DOCA_SUCCESS);
	OK(count >= 64);
	IS(doca_dma_get_max_buf_size(info, &len), DOCA_SUCCESS);
	IS(len, UINT64_C(1) << 30);
	IS(doca_dma_get_max_buf_size(info, NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
}

int main(void)
{
	TEST(a_job_copies_and_has_an_event);
	TEST(data_is_appended_until_its_length_is_reset);
	TEST(lists_are_gathered_and_scattered);
	TEST(a_job_that_fails_is_an_event_of_io_failed);
	TEST(the_device_answers_for_its_jobs);
	return tap_done();
}
