/* SPDX-License-Identifier: BSD-2-Clause */
/* Extended completion queues: a completion is read field by field. */
#include <errno.h>

#include "dropin/dropin.h"

#define READABLE (IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | \
		  IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_SRC_QP | \
		  IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_SL | \
		  IBV_WC_EX_WITH_DLID_PATH_BITS)

static struct dropin_cq *cq_of(struct ibv_cq_ex *ex)
{
	return pier__container_of(ex, struct dropin_cq, ex);
}

/* Take the next completion.  ENOENT: there is none. */
static int take(struct ibv_cq_ex *ex)
{
	struct dropin_cq *cq = cq_of(ex);
	int n = pier__dropin_poll(&cq->cq, 1, &cq->wc);

	if (n <= 0)
		return n ? -n : ENOENT;
	ex->status = cq->wc.status;
	ex->wr_id = cq->wc.wr_id;
	return 0;
}

/* The completion is this thread's until end_poll(). */
static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	struct dropin_cq *cq = cq_of(ex);
	int err;

	if (attr->comp_mask)
		return EINVAL;
	pthread_mutex_lock(&cq->poll_lock);
	err = take(ex);
	if (err)
		pthread_mutex_unlock(&cq->poll_lock);
	return err;
}

static void end_poll(struct ibv_cq_ex *ex)
{
	pthread_mutex_unlock(&cq_of(ex)->poll_lock);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *ex)
{
	return cq_of(ex)->wc.opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *ex)
{
	return cq_of(ex)->wc.vendor_err;
}

static uint32_t read_byte_len(struct ibv_cq_ex *ex)
{
	return cq_of(ex)->wc.byte_len;
}

static __be32 read_imm_data(struct ibv_cq_ex *ex)
{
	return cq_of(ex)->wc.imm_data;
}

static uint32_t read_qp_num(struct ibv_cq_ex *ex)
{
	return cq_of(ex)->wc.qp_num;
}

static uint32_t read_src_qp(struct ibv_cq_ex *ex)
{
	return cq_of(ex)->wc.src_qp;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *ex)
{
	return cq_of(ex)->wc.wc_flags;
}

static uint32_t read_slid(struct ibv_cq_ex *ex)
{
	return cq_of(ex)->wc.slid;
}

static uint8_t read_sl(struct ibv_cq_ex *ex)
{
	return cq_of(ex)->wc.sl;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *ex)
{
	return cq_of(ex)->wc.dlid_path_bits;
}

static void set_calls(struct ibv_cq_ex *ex)
{
	ex->start_poll = start_poll;
	ex->next_poll = take;
	ex->end_poll = end_poll;
	ex->read_opcode = read_opcode;
	ex->read_vendor_err = read_vendor_err;
	ex->read_byte_len = read_byte_len;
	ex->read_imm_data = read_imm_data;
	ex->read_qp_num = read_qp_num;
	ex->read_src_qp = read_src_qp;
	ex->read_wc_flags = read_wc_flags;
	ex->read_slid = read_slid;
	ex->read_sl = read_sl;
	ex->read_dlid_path_bits = read_dlid_path_bits;
}

/* One that a single thread uses may be used by several. */
struct ibv_cq_ex *pier__dropin_create_cq_ex(struct ibv_context *context,
					    struct ibv_cq_init_attr_ex *attr)
{
	uint32_t flags = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ?
				 attr->flags : 0;
	struct ibv_cq *cq;
	struct ibv_cq_ex *ex;

	if (attr->wc_flags & ~(uint64_t)READABLE ||
	    attr->comp_mask & ~(uint32_t)IBV_CQ_INIT_ATTR_MASK_FLAGS ||
	    flags & ~(uint32_t)IBV_CREATE_CQ_ATTR_SINGLE_THREADED)
		return pier__dropin_null(-EOPNOTSUPP);
	cq = ibv_create_cq(context, (int)attr->cqe, attr->cq_context,
			   attr->channel, (int)attr->comp_vector);
	if (!cq)
		return NULL;
	ex = &((struct dropin_cq *)cq)->ex;
	set_calls(ex);
	return ex;
}
