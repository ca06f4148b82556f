/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include <doca_sha.h>

#include "t/doca-2.0/desk.h"
#include "t/lib/tap.h"

/* Jobs that compute digests. */

static struct desk desk;
static struct doca_sha *sha;
static struct doca_ctx *ctx;

static void begin(void)
{
	desk_open(&desk);
	IS(doca_sha_create(&sha), DOCA_SUCCESS);
	ctx = doca_sha_as_ctx(sha);
	desk_add(&desk, ctx);
}

static void end(void)
{
	desk_rm(&desk, ctx);
	IS(doca_sha_destroy(sha), DOCA_SUCCESS);
	desk_close(&desk);
}

static doca_error_t submit(int type, struct doca_buf *src, struct doca_buf *dst,
			   uint64_t flags)
{
	struct doca_sha_job job = {
		.base = { .type = type, .ctx = ctx, .user_data.ptr = dst },
		.req_buf = src,
		.resp_buf = dst,
		.flags = flags,
	};

	return doca_workq_submit(desk.workq, &job.base);
}

static void put(struct doca_buf *buf)
{
	IS(doca_buf_refcount_rm(buf, NULL), DOCA_SUCCESS);
}

/* The digest of "abc" of that type begins with @want. */
static void check(enum doca_sha_job_type type, size_t len, const char *want)
{
	struct doca_buf *src = desk_data(&desk, 0, 3);
	struct doca_buf *dst = desk_space(&desk, 4096, len);
	struct doca_event event = { 0 };
	char hex[9] = "";
	size_t got = 0;

	memcpy(desk.memory, "abc", 3);
	IS(submit((int)type, src, dst, DOCA_SHA_JOB_FLAGS_NONE), DOCA_SUCCESS);
	IS(desk_retrieve(&desk, &event), DOCA_SUCCESS);
	IS(event.type, type);
	OK(event.user_data.ptr == dst);
	IS(event.result.u64, DOCA_SUCCESS);
	IS(doca_buf_get_data_len(dst, &got), DOCA_SUCCESS);
	IS(got, len);
	for (int i = 0; i < 4; i++)
		snprintf(hex + 2 * i, 3, "%02x",
			 (unsigned char)desk.memory[4096 + i]);
	IS_STR(hex, want);
	put(src);
	put(dst);
}

/* The examples of FIPS 180. */
static void each_algorithm_has_its_digest(void)
{
	begin();
	check(DOCA_SHA_JOB_SHA1, DOCA_SHA1_BYTE_COUNT, "a9993e36");
	check(DOCA_SHA_JOB_SHA256, DOCA_SHA256_BYTE_COUNT, "ba7816bf");
	check(DOCA_SHA_JOB_SHA512, DOCA_SHA512_BYTE_COUNT, "ddaf35a1");
	end();
}

static void a_destination_that_is_too_small_fails(void)
{
	struct doca_buf *src, *dst;
	struct doca_event event;

	begin();
	src = desk_data(&desk, 0, 3);
	dst = desk_space(&desk, 4096, DOCA_SHA256_BYTE_COUNT - 1);
	IS(submit(DOCA_SHA_JOB_SHA256, src, dst, 0), DOCA_SUCCESS);
	IS(desk_retrieve(&desk, &event), DOCA_ERROR_IO_FAILED);
	IS(event.result.u64, DOCA_ERROR_INVALID_VALUE);
	put(src);
	put(dst);
	end();
}

static void messages_in_parts_and_flags_are_refused(void)
{
	struct doca_buf *src, *dst;

	begin();
	src = desk_data(&desk, 0, 3);
	dst = desk_space(&desk, 4096, 64);
	IS(submit(DOCA_SHA_JOB_SHA256_PARTIAL, src, dst, 0),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(submit(DOCA_SHA_JOB_SHA256, src, dst, 1), DOCA_ERROR_NOT_SUPPORTED);
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

	IS(doca_sha_job_get_supported(info, DOCA_SHA_JOB_SHA1), DOCA_SUCCESS);
	IS(doca_sha_job_get_supported(info, DOCA_SHA_JOB_SHA512),
	   DOCA_SUCCESS);
	IS(doca_sha_job_get_supported(info, DOCA_SHA_JOB_SHA1_PARTIAL),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_sha_get_min_dst_buf_size(info, DOCA_SHA_JOB_SHA512, &count),
	   DOCA_SUCCESS);
	IS(count, 64);
	IS(doca_sha_get_min_dst_buf_size(info, DOCA_SHA_JOB_SHA1_PARTIAL,
					 &count), DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_sha_get_max_src_buf_size(info, &len), DOCA_SUCCESS);
	IS(len, UINT64_C(1) << 30);
	IS(doca_sha_get_max_list_buf_num_elem(info, &count), DOCA_SUCCESS);
	OK(count >= 64);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
}

int main(void)
{
	TEST(each_algorithm_has_its_digest);
	TEST(a_destination_that_is_too_small_fails);
	TEST(messages_in_parts_and_flags_are_refused);
	TEST(the_device_answers_for_its_jobs);
	return tap_done();
}
