/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_SHA_2_0_H
#define DOCA_SHA_2_0_H

#include <doca_ctx.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Digests of memory. */

struct doca_buf;
struct doca_devinfo;
struct doca_sha;

/* Bytes of the digests. */
#define DOCA_SHA1_BYTE_COUNT 20
#define DOCA_SHA256_BYTE_COUNT 32
#define DOCA_SHA512_BYTE_COUNT 64

/* Jobs of a message in parts are NOT_SUPPORTED. */
enum doca_sha_job_type {
	DOCA_SHA_JOB_SHA1 = 0x200,
	DOCA_SHA_JOB_SHA256,
	DOCA_SHA_JOB_SHA512,
	DOCA_SHA_JOB_SHA1_PARTIAL,
	DOCA_SHA_JOB_SHA256_PARTIAL,
	DOCA_SHA_JOB_SHA512_PARTIAL,
};

enum doca_sha_job_flags {
	DOCA_SHA_JOB_FLAGS_NONE = 0,
};

/*
 * The digest of the data of @req_buf is appended to the data of @resp_buf.
 * result.u64 of the event is a doca_error_t.
 */
struct doca_sha_job {
	struct doca_job base;
	struct doca_buf *resp_buf;
	const struct doca_buf *req_buf;
	uint64_t flags;			/* enum doca_sha_job_flags */
};

doca_error_t doca_sha_create(struct doca_sha **sha);
doca_error_t doca_sha_destroy(struct doca_sha *sha);
struct doca_ctx *doca_sha_as_ctx(struct doca_sha *sha);
doca_error_t doca_sha_job_get_supported(const struct doca_devinfo *info,
					enum doca_sha_job_type type);
doca_error_t doca_sha_get_min_dst_buf_size(const struct doca_devinfo *info,
					   enum doca_sha_job_type type,
					   uint32_t *ret);
doca_error_t doca_sha_get_max_src_buf_size(const struct doca_devinfo *info,
					   uint64_t *ret);
doca_error_t
doca_sha_get_max_list_buf_num_elem(const struct doca_devinfo *info,
				   uint32_t *ret);

#ifdef __cplusplus
}
#endif

#endif
