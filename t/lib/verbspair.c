/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "t/lib/tap.h"
#include "t/lib/verbspair.h"

#define OPS (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | \
	     IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ | \
	     IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
#define ALL (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
	     IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)
#define WAIT_S 20

static struct ibv_context *open_loopback(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), "soft_lo"))
			context = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	return context;
}

static struct ibv_qp *qp_new(struct verbspair *pair)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = ibv_cq_ex_to_cq(pair->cq),
		.recv_cq = ibv_cq_ex_to_cq(pair->cq),
		.cap = {
			.max_send_wr = VERBSPAIR_WR,
			.max_recv_wr = VERBSPAIR_WR,
			.max_send_sge = 2, .max_recv_sge = 1,
			.max_inline_data = VERBSPAIR_INLINE,
		},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = pair->pd,
		.send_ops_flags = OPS,
	};

	return ibv_create_qp_ex(pair->context, &attr);
}

int verbspair_connect(struct ibv_qp *qp, const struct ibv_qp *peer,
		      enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = ALL,
		.path_mtu = IBV_MTU_1024, .dest_qp_num = peer->qp_num,
		.max_dest_rd_atomic = 4, .max_rd_atomic = 4,
		.min_rnr_timer = 12, .timeout = 14, .retry_cnt = 7,
		.rnr_retry = 7,
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh.hop_limit = 64 },
	};
	int err;

	err = ibv_query_gid(peer->context, 1, 0, &attr.ah_attr.grh.dgid);
	if (!err)
		err = ibv_modify_qp(qp, &attr, IBV_QP_STATE |
					       IBV_QP_PKEY_INDEX |
					       IBV_QP_PORT |
					       IBV_QP_ACCESS_FLAGS);
	attr.qp_state = IBV_QPS_RTR;
	if (!err)
		err = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
					       IBV_QP_PATH_MTU |
					       IBV_QP_DEST_QPN |
					       IBV_QP_RQ_PSN |
					       IBV_QP_MAX_DEST_RD_ATOMIC |
					       IBV_QP_MIN_RNR_TIMER);
	attr.qp_state = IBV_QPS_RTS;
	if (!err && state == IBV_QPS_RTS)
		err = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
					       IBV_QP_TIMEOUT |
					       IBV_QP_RETRY_CNT |
					       IBV_QP_RNR_RETRY |
					       IBV_QP_MAX_QP_RD_ATOMIC);
	return err;
}

bool verbspair_open(struct verbspair *pair)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 4 * VERBSPAIR_WR,
		.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM |
			    IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_SRC_QP,
	};
	int i;

	memset(pair, 0, sizeof(*pair));
	pair->mem = calloc(1, VERBSPAIR_MEM);
	pair->context = open_loopback();
	if (!OK(pair->context))
		return false;
	pair->pd = ibv_alloc_pd(pair->context);
	pair->mr = ibv_reg_mr(pair->pd, pair->mem, VERBSPAIR_MEM, ALL);
	pair->channel = ibv_create_comp_channel(pair->context);
	attr.channel = pair->channel;
	pair->cq = ibv_create_cq_ex(pair->context, &attr);
	if (!OK(pair->mr) || !OK(pair->cq))
		return false;
	for (i = 0; i < 2; i++) {
		pair->qp[i] = qp_new(pair);
		if (!OK(pair->qp[i]))
			return false;
	}
	return IS(verbspair_connect(pair->qp[0], pair->qp[1], IBV_QPS_RTS),
		  0) &&
	       IS(verbspair_connect(pair->qp[1], pair->qp[0], IBV_QPS_RTS), 0);
}

bool verbspair_close(struct verbspair *pair)
{
	bool ok = (!pair->qp[0] || IS(ibv_destroy_qp(pair->qp[0]), 0)) &&
		  (!pair->qp[1] || IS(ibv_destroy_qp(pair->qp[1]), 0)) &&
		  IS(ibv_destroy_cq(ibv_cq_ex_to_cq(pair->cq)), 0) &&
		  IS(ibv_destroy_comp_channel(pair->channel), 0) &&
		  IS(ibv_dereg_mr(pair->mr), 0) &&
		  IS(ibv_dealloc_pd(pair->pd), 0) &&
		  IS(ibv_close_device(pair->context), 0);

	free(pair->mem);
	return ok;
}

int verbspair_recv(struct verbspair *pair, int i, uint64_t wr_id, uint32_t off,
		   uint32_t len)
{
	struct ibv_sge sge = {
		(uintptr_t)pair->mem + off, len, pair->mr->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = 1,
	}, *bad;

	return ibv_post_recv(pair->qp[i], &wr, &bad);
}

bool verbspair_wait(struct verbspair *pair, struct ibv_wc *wc)
{
	time_t end = time(NULL) + WAIT_S;
	int n;

	do
		n = ibv_poll_cq(ibv_cq_ex_to_cq(pair->cq), 1, wc);
	while (!n && time(NULL) < end);
	return IS(n, 1);
}
