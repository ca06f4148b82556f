/* SPDX-License-Identifier: BSD-2-Clause */
/* The QP of an id, and its completion queues. */
#include <errno.h>
#include <string.h>

#include "dropin/cma/cma.h"
#include "dropin/cma/cma_real.h"

static void to_init(struct ibv_qp_attr *attr, int *mask)
{
	*attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};
	*mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
		IBV_QP_ACCESS_FLAGS;
}

/* A UD QP has no peer: its states need no more than this. */
static int datagram(enum ibv_qp_state state, struct ibv_qp_attr *attr,
		    int *mask)
{
	*attr = (struct ibv_qp_attr){
		.qp_state = state,
		.port_num = 1,
		.qkey = RDMA_UDP_QKEY,
	};
	*mask = IBV_QP_STATE;
	if (state == IBV_QPS_INIT)
		*mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
	else if (state == IBV_QPS_RTS)
		*mask |= IBV_QP_SQ_PSN;
	return 0;
}

static uint8_t least(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

/* As connection management has them, and within what the program allows. */
static int attributes(struct cma_id *id, enum ibv_qp_state state,
		      struct ibv_qp_attr *attr, int *mask, uint16_t *udp_port)
{
	int err;

	*udp_port = 0;
	if (pier__cma_is_datagram(id))
		return datagram(state, attr, mask);
	if (state == IBV_QPS_INIT) {
		to_init(attr, mask);
		return 0;
	}
	if (!id->conn)
		return -EINVAL;
	err = pier__dropin_cm_calls()->qp_attr(id->conn, state, attr, mask,
					       udp_port);
	if (err)
		return err;
	attr->max_dest_rd_atomic = least(attr->max_dest_rd_atomic,
					 id->responder_resources);
	attr->max_rd_atomic = least(attr->max_rd_atomic, id->initiator_depth);
	if (id->timeout)
		attr->timeout = (uint8_t)id->timeout;
	return 0;
}

int pier__cma_qp_move(struct cma_id *id, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr;
	uint16_t udp_port;
	int mask, err;

	if (!id->id.qp)
		return 0;
	err = attributes(id, state, &attr, &mask, &udp_port);
	if (err)
		return err;
	return pier__dropin_modify_qp(id->id.qp, &attr, mask, udp_port);
}

void pier__cma_qp_fail(struct cma_id *id)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (id->id.qp)
		ibv_modify_qp(id->id.qp, &attr, IBV_QP_STATE);
}

int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *qp_attr,
		      int *qp_attr_mask)
{
	uint16_t udp_port;

	if (!id || !qp_attr || !qp_attr_mask)
		return pier__cma_result(-EINVAL);
	if (cma_of(id)->real)
		return pier__cma_real_qp_attr(cma_of(id), qp_attr,
					      qp_attr_mask);
	return pier__cma_result(attributes(cma_of(id), qp_attr->qp_state,
					   qp_attr, qp_attr_mask, &udp_port));
}

static int cq_new(struct rdma_cm_id *id, uint32_t entries,
		  struct ibv_comp_channel **ret_channel, struct ibv_cq **ret)
{
	*ret_channel = ibv_create_comp_channel(id->verbs);
	if (!*ret_channel)
		return -errno;
	*ret = ibv_create_cq(id->verbs, entries ? (int)entries : 1, id,
			     *ret_channel, 0);
	return *ret ? 0 : -errno;
}

static void cq_free(struct ibv_comp_channel **channel, struct ibv_cq **cq)
{
	if (*cq)
		ibv_destroy_cq(*cq);
	if (*channel)
		ibv_destroy_comp_channel(*channel);
	*cq = NULL;
	*channel = NULL;
}

/* Those that the id has created; the program's own are not in it. */
static void cqs_free(struct rdma_cm_id *id)
{
	cq_free(&id->send_cq_channel, &id->send_cq);
	cq_free(&id->recv_cq_channel, &id->recv_cq);
}

static int cqs_new(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	int err = 0;

	if (!attr->recv_cq) {
		err = cq_new(id, attr->cap.max_recv_wr, &id->recv_cq_channel,
			     &id->recv_cq);
		attr->recv_cq = id->recv_cq;
	}
	if (!err && !attr->send_cq) {
		err = cq_new(id, attr->cap.max_send_wr, &id->send_cq_channel,
			     &id->send_cq);
		attr->send_cq = id->send_cq;
	}
	return err;
}

static int qp_new(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	int err = cqs_new(id, attr);

	if (err)
		return err;
	if (!attr->srq)
		attr->srq = id->srq;
	id->qp = ibv_create_qp_ex(id->verbs, attr);
	if (!id->qp)
		return -errno;
	err = pier__cma_qp_move(cma_of(id), IBV_QPS_INIT);
	if (err || !pier__cma_is_datagram(cma_of(id)))
		return err;
	err = pier__cma_qp_move(cma_of(id), IBV_QPS_RTR);
	return err ? err : pier__cma_qp_move(cma_of(id), IBV_QPS_RTS);
}

/* Completion queues are made here: they have @id as their context. */
static int real_qp_new(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	int err = id->qp ? -EINVAL : cqs_new(id, attr);

	if (!err && pier__cma_real_create_qp(cma_of(id), attr))
		err = -errno;
	if (err && !id->qp)
		cqs_free(id);
	return pier__cma_result(err);
}

int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	int err;

	if (id && attr && cma_of(id)->real)
		return real_qp_new(id, attr);
	if (!id || !attr || !id->verbs || id->qp ||
	    attr->qp_type != id->qp_type)
		return pier__cma_result(-EINVAL);
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD)) {
		attr->comp_mask |= IBV_QP_INIT_ATTR_PD;
		attr->pd = id->pd;
	}
	if (!attr->pd || attr->pd->context != id->verbs)
		return pier__cma_result(-EINVAL);
	err = qp_new(id, attr);
	if (err) {
		rdma_destroy_qp(id);
		return pier__cma_result(err);
	}
	id->pd = attr->pd;
	return 0;
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd,
		   struct ibv_qp_init_attr *init)
{
	struct ibv_qp_init_attr_ex attr = { 0 };
	int err;

	if (!init)
		return pier__cma_result(-EINVAL);
	memcpy(&attr, init, sizeof(*init));
	/* *@init has padding in the place of comp_mask. */
	attr.comp_mask = pd ? IBV_QP_INIT_ATTR_PD : 0;
	attr.pd = pd;
	err = rdma_create_qp_ex(id, &attr);
	if (!err)
		memcpy(init, &attr, sizeof(*init));
	return err;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	if (cma_of(id)->real) {
		pier__cma_real_destroy_qp(cma_of(id));
		return;
	}
	if (id->qp)
		ibv_destroy_qp(id->qp);
	id->qp = NULL;
	cqs_free(id);
}
