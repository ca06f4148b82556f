/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_sha.h>

#include "doca20_workq_impl.h"

struct doca_sha {
	struct doca_ctx ctx;		/* first */
	struct pier_sha *sha;		/* while it is started */
};

static int create(struct doca_ctx *ctx)
{
	struct doca_sha *sha = (struct doca_sha *)ctx;
	int err = pier_sha_create(&sha->sha);

	if (!err)
		ctx->ctx = pier_sha_ctx(sha->sha);
	return err;
}

static void destroy(struct doca_ctx *ctx)
{
	pier_sha_destroy(((struct doca_sha *)ctx)->sha);
}

static int configure(struct doca_ctx *ctx, uint32_t depth)
{
	struct pier_sha_config cfg = { .size = sizeof(cfg), .tasks = depth };

	return pier_sha_configure(((struct doca_sha *)ctx)->sha, &cfg);
}

/* Types of jobs have the order of pier's algorithms. */
static enum pier_sha_algorithm algorithm(int type)
{
	return (enum pier_sha_algorithm)(type - DOCA_SHA_JOB_SHA1);
}

static doca_error_t build(struct doca_ctx *ctx, const struct doca_job *job,
			  struct flight *flight, struct pier_task **ret)
{
	const struct doca_sha_job *sha = (const struct doca_sha_job *)job;

	(void)flight;
	if (sha->flags != DOCA_SHA_JOB_FLAGS_NONE)
		return pier__doca_unsupported("a flag of a digest",
					      "a digest is of one job");
	return pier__doca_error(
		pier_sha_task_hash(((struct doca_sha *)ctx)->sha,
				   algorithm(job->type),
				   pier__doca_buf(sha->req_buf),
				   pier__doca_buf(sha->resp_buf), ret));
}

static const struct doca_job_kind jobs[] = {
	{ .type = DOCA_SHA_JOB_SHA1, .build = build },
	{ .type = DOCA_SHA_JOB_SHA256, .build = build },
	{ .type = DOCA_SHA_JOB_SHA512, .build = build },
	{ 0 },
};

static const struct doca_ctx_kind kind = {
	.name = "sha",
	.size = sizeof(struct doca_sha),
	.create = create,
	.destroy = destroy,
	.configure = configure,
	.jobs = jobs,
};

doca_error_t doca_sha_create(struct doca_sha **sha)
{
	return pier__doca20_create(&kind, sha);
}

doca_error_t doca_sha_destroy(struct doca_sha *sha)
{
	return pier__doca20_destroy(doca_sha_as_ctx(sha));
}

struct doca_ctx *doca_sha_as_ctx(struct doca_sha *sha)
{
	return sha ? &sha->ctx : NULL;
}

static bool is_supported(enum doca_sha_job_type type)
{
	return type >= DOCA_SHA_JOB_SHA1 && type <= DOCA_SHA_JOB_SHA512;
}

doca_error_t doca_sha_job_get_supported(const struct doca_devinfo *info,
					enum doca_sha_job_type type)
{
	if (!is_supported(type))
		return pier__doca_no_cap(info);
	return pier__doca_can_task(info, PIER_TASK_HASH);
}

doca_error_t doca_sha_get_min_dst_buf_size(const struct doca_devinfo *info,
					   enum doca_sha_job_type type,
					   uint32_t *ret)
{
	if (!info || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	if (!is_supported(type))
		return DOCA_ERROR_NOT_SUPPORTED;
	*ret = (uint32_t)pier_sha_digest_len(algorithm((int)type));
	return DOCA_SUCCESS;
}

doca_error_t doca_sha_get_max_src_buf_size(const struct doca_devinfo *info,
					   uint64_t *ret)
{
	return pier__doca_limit64(info, PIER_LIMIT_HASH, ret);
}

doca_error_t
doca_sha_get_max_list_buf_num_elem(const struct doca_devinfo *info,
				   uint32_t *ret)
{
	return pier__doca_limit(info, PIER_LIMIT_HASH_CHAIN, ret);
}
