/* SPDX-License-Identifier: BSD-2-Clause */
/* The limits of a device, some of them found by trial. */
#include <errno.h>
#include <stdint.h>

#include "core/fail.h"
#include "fabric/verbs/verbs_impl.h"

/* What kernel Soft-RoCE calls its vendor; it is no one's OUI. */
#define VENDOR_RXE 0xffffff

/*
 * A scatter/gather entry takes 16 bytes of a work request, and so do 16 bytes
 * inline: with the 4 entries that pier asks for, 64 bytes cost no space.
 */
#define INLINE_FREE 64

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Queues to try QPs on; they exist until the limits are known. */
struct trial {
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
};

static void trial_end(struct trial *trial)
{
	if (trial->srq)
		ibv_destroy_srq(trial->srq);
	if (trial->cq)
		ibv_destroy_cq(trial->cq);
	if (trial->pd)
		ibv_dealloc_pd(trial->pd);
}

static int trial_begin(struct ibv_context *ctx, struct trial *trial)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = 1, .max_sge = 1 },
	};

	errno = 0;
	trial->pd = ibv_alloc_pd(ctx);
	if (!trial->pd)
		return pier__verbs_error(-1);
	trial->cq = ibv_create_cq(ctx, 1, NULL, NULL, 0);
	if (!trial->cq)
		return pier__verbs_error(-1);
	trial->srq = ibv_create_srq(trial->pd, &attr);
	return trial->srq ? 0 : pier__verbs_error(-1);
}

static int trial_qp(const struct trial *trial, uint32_t inline_size)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = trial->cq,
		.recv_cq = trial->cq,
		.srq = trial->srq,
		.cap = {
			.max_send_wr = 1,
			.max_send_sge = 1,
			.max_inline_data = inline_size,
		},
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp;

	errno = 0;
	qp = ibv_create_qp(trial->pd, &attr);
	if (!qp)
		return pier__verbs_error(-1);
	ibv_destroy_qp(qp);
	return 0;
}

/*
 * The largest inline size that a QP can be made with; verbs do not have it.
 * In steps of 4 bytes, up to 1024: beyond that a copy is no gain.
 */
static int find_inline(const struct trial *trial, uint32_t *ret)
{
	uint32_t good = 0, bad = 1024 / 4 + 1;
	int err = trial_qp(trial, 0);

	if (err)
		return err;
	if (!trial_qp(trial, 1024))
		good = 1024 / 4;
	while (bad - good > 1) {
		uint32_t mid = (good + bad) / 2;

		if (trial_qp(trial, mid * 4))
			bad = mid;
		else
			good = mid;
	}
	*ret = good * 4;
	return 0;
}

/*
 * Does the driver register dma-bufs?  Verbs do not have it.  There is no
 * dma-buf here: the error of a driver that registers them is another one.
 */
static bool takes_dmabuf(const struct trial *trial)
{
	errno = 0;
	return !ibv_reg_dmabuf_mr(trial->pd, 0, 1, 0, -1, 0) &&
	       errno != EOPNOTSUPP && errno != EPROTONOSUPPORT;
}

static int try_out(struct ibv_context *ctx, struct pier__limits *ret)
{
	struct trial trial = { 0 };
	int err = trial_begin(ctx, &trial);

	if (!err)
		err = find_inline(&trial, &ret->inline_size);
	if (!err)
		ret->dmabuf = takes_dmabuf(&trial);
	trial_end(&trial);
	/* Providers without RC differ in their error. */
	if (err == -EINVAL || err == -ENOSYS || err == -EOPNOTSUPP)
		err = -EOPNOTSUPP;
	/*
	 * Without permission to lock memory the device is listed all the same;
	 * creating a queue then fails, with a hint.
	 */
	if (err == -ENOMEM) {
		pier__log(PIER_LOG_INFO, "verbs", "%s: no memory to try its "
			  "queues", ibv_get_device_name(ctx->device));
		ret->inline_size = 0;
		err = 0;
	}
	return err;
}

static uint32_t opcodes_of(const struct ibv_device_attr *attr, bool iwarp)
{
	uint32_t opcodes = 1u << IBV_WR_SEND | 1u << IBV_WR_RDMA_READ |
			   1u << IBV_WR_RDMA_WRITE;

	if (!iwarp)	/* its wire has no immediates */
		opcodes |= 1u << IBV_WR_SEND_WITH_IMM |
			   1u << IBV_WR_RDMA_WRITE_WITH_IMM;
	if (attr->atomic_cap != IBV_ATOMIC_NONE)
		opcodes |= 1u << IBV_WR_ATOMIC_CMP_AND_SWP |
			   1u << IBV_WR_ATOMIC_FETCH_AND_ADD;
	return opcodes;
}

static void take_attr(const struct ibv_device_attr *attr, bool iwarp,
		      struct pier__limits *ret)
{
	ret->mmap = attr->max_mr_size;
	ret->send_sge = (uint32_t)attr->max_sge;
	if (attr->max_sge_rd > 0)
		ret->send_sge = min_u32(ret->send_sge,
					(uint32_t)attr->max_sge_rd);
	ret->recv_sge = (uint32_t)attr->max_srq_sge;
	ret->qps = (uint32_t)attr->max_qp;
	ret->send_wr = (uint32_t)attr->max_qp_wr;
	ret->srq_wr = (uint32_t)attr->max_srq_wr;
	ret->cqe = (uint32_t)attr->max_cqe;
	ret->rd_atomic = min_u32((uint32_t)attr->max_qp_rd_atom,
				 (uint32_t)attr->max_qp_init_rd_atom);
	ret->opcodes = opcodes_of(attr, iwarp);
	ret->atomic_cpu = attr->atomic_cap == IBV_ATOMIC_GLOB;
	ret->by_address = iwarp;
	ret->shares_roce_port = false;
	ret->self_rep = false;
	/*
	 * Whether a device flushes a shared receive queue cannot be queried;
	 * rxe does not.  A program that relies on it may wait for ever.
	 */
	ret->srq_flush = false;
	/*
	 * rxe takes the retry count 7 for "always", as IBTA has it for
	 * RNR only.  Nothing else here depends on the kind of device.
	 */
	ret->retry_7_forever = attr->vendor_id == VENDOR_RXE;
}

int pier__verbs_limits(struct ibv_context *ctx, struct pier__limits *ret)
{
	const char *name = ibv_get_device_name(ctx->device);
	int transport = ctx->device->transport_type;
	struct ibv_device_attr_ex attr = { 0 };
	int err;

	if (transport != IBV_TRANSPORT_IB && transport != IBV_TRANSPORT_IWARP)
		return pier__fail(-EOPNOTSUPP, "%s has no reliable "
				  "connections", name);
	err = ibv_query_device_ex(ctx, NULL, &attr);
	if (err) {
		err = pier__verbs_error(err);
		return pier__fail(err, "%s cannot be queried: %s", name,
				  pier_strerror(err));
	}
	if (attr.orig_attr.max_srq <= 0)
		return pier__fail(-EOPNOTSUPP, "%s has no shared receive "
				  "queues", name);
	err = try_out(ctx, ret);
	if (err)
		return pier__fail(err, "%s: cannot make a reliable connection "
				  "with a shared receive queue: %s", name,
				  pier_strerror(err));

	take_attr(&attr.orig_attr, transport == IBV_TRANSPORT_IWARP, ret);
	ret->inline_free = min_u32(ret->inline_size, INLINE_FREE);
	return 0;
}
