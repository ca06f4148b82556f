/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca20_rdma_impl.h"

#define ACCESS_RDMA \
	(DOCA_ACCESS_RDMA_READ | DOCA_ACCESS_RDMA_WRITE | \
	 DOCA_ACCESS_RDMA_ATOMIC)
#define CHAIN_LEN 4u	/* as of a context of pier */

#define GID_INDEX_MAX 255u

static struct doca_rdma *of(struct doca_ctx *ctx)
{
	return (struct doca_rdma *)ctx;
}

static int create(struct doca_ctx *ctx)
{
	int err = pier_rdma_create(ctx->dev->dev, &of(ctx)->rdma);

	if (!err)
		ctx->ctx = pier_rdma_ctx(of(ctx)->rdma);
	return err;
}

/* The connection has ended. */
static void stopped(struct doca_ctx *ctx)
{
	pier_conn_destroy(of(ctx)->conn);
	of(ctx)->conn = NULL;
}

static void destroy(struct doca_ctx *ctx)
{
	stopped(ctx);
	pier_rdma_destroy(of(ctx)->rdma);
}

static uint32_t remote_access(uint32_t permissions)
{
	uint32_t ret = 0;

	if (permissions & DOCA_ACCESS_RDMA_READ)
		ret |= PIER_REMOTE_READ;
	if (permissions & DOCA_ACCESS_RDMA_WRITE)
		ret |= PIER_REMOTE_WRITE;
	if (permissions & DOCA_ACCESS_RDMA_ATOMIC)
		ret |= PIER_REMOTE_ATOMIC;
	return ret ? ret : PIER_ZERO;
}

/* @depth, or as many as the device has without @reserved. */
static uint32_t queue(const struct doca_ctx *ctx, enum pier_limit limit,
		      uint32_t reserved, uint32_t depth)
{
	uint32_t max = depth + reserved;

	pier__doca_limit(&ctx->dev->info, limit, &max);
	return depth < max - reserved ? depth : max - reserved;
}

/* In pier 0 is the default, and PIER_ZERO is 0. */
static uint32_t gid_index(const struct doca_rdma *rdma)
{
	if (rdma->gid_set && !rdma->gid_index)
		return PIER_ZERO;
	return rdma->gid_index;
}

/* Two of the requests in flight are pier's. */
static int configure(struct doca_ctx *ctx, uint32_t depth)
{
	struct doca_rdma *rdma = of(ctx);
	uint32_t all = queue(ctx, PIER_LIMIT_CTX_SENDS, 0, depth);
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg),
		.max_conns = 1,
		.send_queue = all,
		.conn_send_queue = queue(ctx, PIER_LIMIT_SEND_QUEUE, 2, all),
		.recv_queue = queue(ctx, PIER_LIMIT_RECV_QUEUE, 0, depth),
		.send_tasks = depth,
		.recv_tasks = depth,
		.recv_chain = rdma->recv_chain,
		.access = remote_access(rdma->permissions),
		.gid_index = gid_index(rdma),
		.no_hello = 1,
		.empty_bufs = 1,
	};

	return pier_rdma_configure(rdma->rdma, &cfg);
}

static const struct doca_ctx_kind kind = {
	.name = "rdma",
	.size = sizeof(struct doca_rdma),
	.create = create,
	.destroy = destroy,
	.stopped = stopped,
	.configure = configure,
	.jobs = pier__doca20_rdma_jobs,
};

doca_error_t doca_rdma_create(struct doca_rdma **rdma)
{
	doca_error_t error = pier__doca20_create(&kind, rdma);

	if (!error)
		(*rdma)->recv_chain = CHAIN_LEN;
	return error;
}

doca_error_t doca_rdma_destroy(struct doca_rdma *rdma)
{
	return pier__doca20_destroy(doca_rdma_as_ctx(rdma));
}

struct doca_ctx *doca_rdma_as_ctx(struct doca_rdma *rdma)
{
	return rdma ? &rdma->ctx : NULL;
}

/* A connection needs an engine: before the work queue, one of its own. */
static doca_error_t export(struct doca_rdma *rdma)
{
	doca_error_t error = DOCA_SUCCESS;

	if (!rdma->ctx.ctx)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "rdma: exported while not started");
	if (!rdma->ctx.workq && !rdma->ctx.pe)
		error = pier__doca20_run_alone(&rdma->ctx);
	if (error || rdma->conn)
		return error;
	return pier__doca_error(pier_rdma_export(rdma->rdma, &rdma->desc,
						 &rdma->desc_len,
						 &rdma->conn));
}

doca_error_t doca_rdma_export(struct doca_rdma *rdma, const void **desc,
			      size_t *len)
{
	doca_error_t error;

	if (!rdma || !desc || !len)
		return DOCA_ERROR_INVALID_VALUE;
	error = export(rdma);
	if (error)
		return error;
	*desc = rdma->desc;
	*len = rdma->desc_len;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_connect(struct doca_rdma *rdma, const void *desc,
			       size_t len)
{
	if (!rdma || !desc || !len)
		return DOCA_ERROR_INVALID_VALUE;
	if (!rdma->conn)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "rdma: connected before its export");
	return pier__doca_error(pier_rdma_connect(rdma->conn, desc, len));
}

doca_error_t doca_rdma_get_state(const struct doca_rdma *rdma,
				 enum doca_rdma_state *state)
{
	static const enum doca_rdma_state states[] = {
		[PIER_CONN_RESET] = DOCA_RDMA_STATE_ERROR,
		[PIER_CONN_INIT] = DOCA_RDMA_STATE_INIT,
		[PIER_CONN_CONNECTED] = DOCA_RDMA_STATE_CONNECTED,
		[PIER_CONN_ERROR] = DOCA_RDMA_STATE_ERROR,
	};

	if (!rdma || !state)
		return DOCA_ERROR_INVALID_VALUE;
	if (!rdma->ctx.ctx)
		*state = DOCA_RDMA_STATE_RESET;
	else if (!rdma->conn)
		*state = DOCA_RDMA_STATE_INIT;
	else
		*state = states[pier_conn_state(rdma->conn)];
	return DOCA_SUCCESS;
}

static doca_error_t may_set(const struct doca_rdma *rdma)
{
	if (!rdma)
		return DOCA_ERROR_INVALID_VALUE;
	if (rdma->ctx.ctx)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "rdma: set while started");
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_set_permissions(struct doca_rdma *rdma,
				       uint32_t permissions)
{
	uint32_t known = ACCESS_RDMA | DOCA_ACCESS_LOCAL_READ_WRITE;
	doca_error_t error = may_set(rdma);

	if (error)
		return error;
	if (permissions & ~known)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE,
				       "rdma: permissions 0x%x, known is 0x%x",
				       permissions, known);
	rdma->permissions = permissions;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_permissions(const struct doca_rdma *rdma,
				       uint32_t *permissions)
{
	if (!rdma || !permissions)
		return DOCA_ERROR_INVALID_VALUE;
	*permissions = rdma->permissions;
	return DOCA_SUCCESS;
}

/* The device is known when it is added: pier's start checks the value. */
doca_error_t doca_rdma_set_recv_buf_chain_len(struct doca_rdma *rdma,
					      uint32_t len)
{
	doca_error_t error = may_set(rdma);

	if (error)
		return error;
	if (!len)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE,
				       "rdma: chains of 0 buffers, at least 1");
	rdma->recv_chain = len;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_recv_buf_chain_len(const struct doca_rdma *rdma,
					      uint32_t *len)
{
	if (!rdma || !len)
		return DOCA_ERROR_INVALID_VALUE;
	*len = rdma->recv_chain;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_set_gid_index(struct doca_rdma *rdma, uint32_t index)
{
	doca_error_t error = may_set(rdma);

	if (error)
		return error;
	if (index > GID_INDEX_MAX)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE,
				       "rdma: GID index %u, at most %u", index,
				       GID_INDEX_MAX);
	rdma->gid_index = index;
	rdma->gid_set = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_gid_index(const struct doca_rdma *rdma,
				     uint32_t *index)
{
	if (!rdma || !index)
		return DOCA_ERROR_INVALID_VALUE;
	*index = rdma->gid_index;
	return DOCA_SUCCESS;
}

doca_error_t
doca_rdma_set_transport_type(struct doca_rdma *rdma,
			     enum doca_rdma_transport_type type)
{
	doca_error_t error = may_set(rdma);

	if (error || type == DOCA_RDMA_TRANSPORT_RC)
		return error;
	return pier__doca_unsupported("a transport other than RC",
				      "pier has RC connections");
}

doca_error_t
doca_rdma_get_transport_type(const struct doca_rdma *rdma,
			     enum doca_rdma_transport_type *type)
{
	if (!rdma || !type)
		return DOCA_ERROR_INVALID_VALUE;
	*type = DOCA_RDMA_TRANSPORT_RC;
	return DOCA_SUCCESS;
}
