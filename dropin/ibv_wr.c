/* SPDX-License-Identifier: BSD-2-Clause */
/* Extended queue pairs: requests built by calls, posted by wr_complete(). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dropin/dropin.h"

#define OFFERED (IBV_QP_EX_WITH_RDMA_WRITE | \
		 IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND | \
		 IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ | \
		 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | \
		 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | \
		 IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW | \
		 IBV_QP_EX_WITH_SEND_WITH_INV)
#define OFFERED_UD (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)

/* The requests of a QP since wr_start(): as many as its send queue has. */
struct dropin_batch {
	pthread_mutex_t lock;		/* from wr_start() to its end */
	uint32_t count;
	int error;			/* errno value; 0: none */
	struct ibv_send_wr *wr;		/* owned */
	struct ibv_sge *sge;		/* owned; max_send_sge of each */
	uint8_t *data;			/* owned; max_inline_data of each */
};

static struct dropin_qp *qp_of(struct ibv_qp_ex *ex)
{
	return pier__container_of(ex, struct dropin_qp, ex);
}

static void wr_start(struct ibv_qp_ex *ex)
{
	struct dropin_batch *batch = qp_of(ex)->batch;

	pthread_mutex_lock(&batch->lock);
	batch->count = 0;
	batch->error = 0;
}

static void wr_abort(struct ibv_qp_ex *ex)
{
	pthread_mutex_unlock(&qp_of(ex)->batch->lock);
}

/* Has @wr the address handle, or the window, that it needs? */
static bool has_object(const struct dropin_qp *qp, const struct ibv_send_wr *wr)
{
	if (wr->opcode == IBV_WR_BIND_MW)
		return wr->bind_mw.mw &&
		       wr->bind_mw.mw->type == IBV_MW_TYPE_2;
	return !qp->queue->ud ||
	       (wr->wr.ud.ah && wr->wr.ud.ah->context == qp->qp.context);
}

/* All of a batch are posted, or none.  Returns an errno value. */
static int check_all(const struct dropin_qp *qp,
		     const struct dropin_batch *batch)
{
	struct soft_chan *chan = dropin_chan(qp->qp.context);
	const struct soft_qp *queue = qp->queue;
	uint32_t i;
	int err = 0;

	pier__soft_chan_begin(chan);
	for (i = 0; i < batch->count && !err; i++)
		if (!has_object(qp, &batch->wr[i]))
			err = -EINVAL;
		else if (!pier__dropin_is_local(&batch->wr[i]))
			err = pier__soft_qp_post_check(queue, &batch->wr[i]);
	if (!err && queue->req.posted + queue->unpolled + batch->count >
		    queue->send_wr)
		err = -ENOMEM;
	pier__soft_chan_end(chan, 0);
	return pier__dropin_errno(err);
}

static int post(struct dropin_qp *qp, struct dropin_batch *batch)
{
	struct ibv_send_wr *bad;
	uint32_t i;
	int err;

	if (batch->error || !batch->count)
		return batch->error;
	err = batch->count > 1 ? check_all(qp, batch) : 0;
	if (err)
		return err;
	for (i = 0; i + 1 < batch->count; i++)
		batch->wr[i].next = &batch->wr[i + 1];
	return pier__dropin_post_send(&qp->qp, batch->wr, &bad);
}

static int wr_complete(struct ibv_qp_ex *ex)
{
	struct dropin_batch *batch = qp_of(ex)->batch;
	int err = post(qp_of(ex), batch);

	pthread_mutex_unlock(&batch->lock);
	return err;
}

/* The next request; of one that does not fit wr_complete() reports it. */
static struct ibv_send_wr *begin(struct ibv_qp_ex *ex, enum ibv_wr_opcode op)
{
	struct dropin_qp *qp = qp_of(ex);
	struct dropin_batch *batch = qp->batch;
	struct ibv_send_wr *wr;

	if (batch->count == qp->cap.max_send_wr) {
		batch->error = ENOMEM;
		batch->count = 0;
	}
	wr = &batch->wr[batch->count++];
	*wr = (struct ibv_send_wr){
		.wr_id = ex->wr_id,
		.opcode = op,
		.send_flags = ex->wr_flags & ~(unsigned int)IBV_SEND_INLINE,
	};
	return wr;
}

/* The one that the calls for its data are for; without one they fail. */
static struct ibv_send_wr *current(struct ibv_qp_ex *ex)
{
	struct dropin_batch *batch = qp_of(ex)->batch;

	if (batch->count)
		return &batch->wr[batch->count - 1];
	batch->error = EINVAL;
	return batch->wr;
}

static void wr_send(struct ibv_qp_ex *ex)
{
	begin(ex, IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *ex, __be32 imm_data)
{
	begin(ex, IBV_WR_SEND_WITH_IMM)->imm_data = imm_data;
}

static void wr_send_inv(struct ibv_qp_ex *ex, uint32_t invalidate_rkey)
{
	begin(ex, IBV_WR_SEND_WITH_INV)->invalidate_rkey = invalidate_rkey;
}

static void wr_local_inv(struct ibv_qp_ex *ex, uint32_t invalidate_rkey)
{
	begin(ex, IBV_WR_LOCAL_INV)->invalidate_rkey = invalidate_rkey;
}

static void wr_bind_mw(struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *bind_info)
{
	struct ibv_send_wr *wr = begin(ex, IBV_WR_BIND_MW);

	wr->bind_mw.mw = mw;
	wr->bind_mw.rkey = rkey;
	wr->bind_mw.bind_info = *bind_info;
}

static struct ibv_send_wr *rdma(struct ibv_qp_ex *ex, enum ibv_wr_opcode op,
				uint32_t rkey, uint64_t remote_addr)
{
	struct ibv_send_wr *wr = begin(ex, op);

	wr->wr.rdma.rkey = rkey;
	wr->wr.rdma.remote_addr = remote_addr;
	return wr;
}

static void wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey,
			 uint64_t remote_addr)
{
	rdma(ex, IBV_WR_RDMA_READ, rkey, remote_addr);
}

static void wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey,
			  uint64_t remote_addr)
{
	rdma(ex, IBV_WR_RDMA_WRITE, rkey, remote_addr);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey,
			      uint64_t remote_addr, __be32 imm_data)
{
	rdma(ex, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr)->imm_data =
		imm_data;
}

static struct ibv_send_wr *atomic(struct ibv_qp_ex *ex, enum ibv_wr_opcode op,
				  uint32_t rkey, uint64_t remote_addr)
{
	struct ibv_send_wr *wr = begin(ex, op);

	wr->wr.atomic.rkey = rkey;
	wr->wr.atomic.remote_addr = remote_addr;
	return wr;
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey,
			      uint64_t remote_addr, uint64_t compare,
			      uint64_t swap)
{
	struct ibv_send_wr *wr = atomic(ex, IBV_WR_ATOMIC_CMP_AND_SWP, rkey,
					remote_addr);

	wr->wr.atomic.compare_add = compare;
	wr->wr.atomic.swap = swap;
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey,
				uint64_t remote_addr, uint64_t add)
{
	atomic(ex, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote_addr)
		->wr.atomic.compare_add = add;
}

static void wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah,
			   uint32_t remote_qpn, uint32_t remote_qkey)
{
	struct ibv_send_wr *wr = current(ex);

	wr->wr.ud.ah = ah;
	wr->wr.ud.remote_qpn = remote_qpn;
	wr->wr.ud.remote_qkey = remote_qkey;
}

static void wr_set_sge_list(struct ibv_qp_ex *ex, size_t count,
			    const struct ibv_sge *sge)
{
	struct dropin_qp *qp = qp_of(ex);
	struct ibv_send_wr *wr = current(ex);

	wr->sg_list = qp->batch->sge + (size_t)(wr - qp->batch->wr) *
					       qp->cap.max_send_sge;
	if (count > qp->cap.max_send_sge) {
		qp->batch->error = EINVAL;
		return;
	}
	memcpy(wr->sg_list, sge, count * sizeof(*sge));
	wr->num_sge = (int)count;
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr,
		       uint32_t length)
{
	struct ibv_sge sge = { addr, length, lkey };

	wr_set_sge_list(ex, 1, &sge);
}

/* The program's bytes are copied now: they may change before wr_complete(). */
static void wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t count,
				    const struct ibv_data_buf *buf)
{
	struct dropin_qp *qp = qp_of(ex);
	struct ibv_send_wr *wr = current(ex);
	uint8_t *data = qp->batch->data + (size_t)(wr - qp->batch->wr) *
						  qp->cap.max_inline_data;
	struct ibv_sge all = { .addr = (uintptr_t)data };
	size_t i;

	for (i = 0; i < count; i++) {
		if (buf[i].length > qp->cap.max_inline_data - all.length) {
			qp->batch->error = EINVAL;
			return;
		}
		memcpy(data + all.length, buf[i].addr, buf[i].length);
		all.length += (uint32_t)buf[i].length;
	}
	wr_set_sge_list(ex, 1, &all);
	wr->send_flags |= IBV_SEND_INLINE;
}

static void wr_set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	struct ibv_data_buf buf = { .addr = addr, .length = length };

	wr_set_inline_data_list(ex, 1, &buf);
}

static void set_calls(struct ibv_qp_ex *ex)
{
	ex->wr_start = wr_start;
	ex->wr_complete = wr_complete;
	ex->wr_abort = wr_abort;
	ex->wr_send = wr_send;
	ex->wr_send_imm = wr_send_imm;
	ex->wr_send_inv = wr_send_inv;
	ex->wr_local_inv = wr_local_inv;
	ex->wr_bind_mw = wr_bind_mw;
	ex->wr_rdma_read = wr_rdma_read;
	ex->wr_rdma_write = wr_rdma_write;
	ex->wr_rdma_write_imm = wr_rdma_write_imm;
	ex->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	ex->wr_atomic_fetch_add = wr_atomic_fetch_add;
	ex->wr_set_ud_addr = wr_set_ud_addr;
	ex->wr_set_sge = wr_set_sge;
	ex->wr_set_sge_list = wr_set_sge_list;
	ex->wr_set_inline_data = wr_set_inline_data;
	ex->wr_set_inline_data_list = wr_set_inline_data_list;
}

void pier__dropin_batch_free(struct dropin_batch *batch)
{
	if (!batch)
		return;
	pthread_mutex_destroy(&batch->lock);
	free(batch->wr);
	free(batch->sge);
	free(batch->data);
	free(batch);
}

/* Each request has at least one piece, which inline data are. */
static struct dropin_batch *batch_new(struct ibv_qp_cap *cap)
{
	struct dropin_batch *batch = calloc(1, sizeof(*batch));

	if (!batch)
		return NULL;
	pthread_mutex_init(&batch->lock, NULL);
	batch->wr = calloc(cap->max_send_wr, sizeof(*batch->wr));
	batch->sge = calloc((size_t)cap->max_send_wr * cap->max_send_sge,
			    sizeof(*batch->sge));
	batch->data = malloc((size_t)cap->max_send_wr *
			     (cap->max_inline_data ? cap->max_inline_data : 1));
	if (batch->wr && batch->sge && batch->data)
		return batch;
	pier__dropin_batch_free(batch);
	return NULL;
}

static int check(const struct ibv_qp_init_attr_ex *init)
{
	uint64_t offered = init->qp_type == IBV_QPT_UD ? OFFERED_UD : OFFERED;
	uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
			 IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;

	if (!(init->comp_mask & IBV_QP_INIT_ATTR_PD))
		return -EINVAL;
	if (init->comp_mask & ~known ||
	    (init->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS &&
	     init->create_flags) ||
	    (init->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS &&
	     init->send_ops_flags & ~offered))
		return -EOPNOTSUPP;
	return 0;
}

struct ibv_qp *pier__dropin_create_qp_ex(struct ibv_context *context,
					 struct ibv_qp_init_attr_ex *init)
{
	struct ibv_qp *ibqp;
	struct dropin_qp *qp;
	int err = check(init);

	(void)context;
	if (err)
		return pier__dropin_null(err);
	if (init->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS &&
	    !init->cap.max_send_sge)
		init->cap.max_send_sge = 1;
	ibqp = ibv_create_qp(init->pd, (struct ibv_qp_init_attr *)init);
	if (!ibqp || !(init->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
		return ibqp;
	qp = (struct dropin_qp *)ibqp;
	qp->batch = batch_new(&qp->cap);
	if (!qp->batch) {
		ibv_destroy_qp(ibqp);
		return pier__dropin_null(-ENOMEM);
	}
	set_calls(&qp->ex);
	return ibqp;
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *ibqp)
{
	struct dropin_qp *qp = (struct dropin_qp *)ibqp;

	return qp->batch ? &qp->ex : pier__dropin_null(-EOPNOTSUPP);
}
