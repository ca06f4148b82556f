/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs: creation, state transitions, post. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/fail.h"
#include "fabric/verbs/verbs_impl.h"

#define WQE_SIZE 64	/* what a send takes of pinned memory at least */

static struct pier__fdev *fdev_of(const struct pier__cq *cq)
{
	return cq->chan->fdev;
}

static int check_cap(const struct pier__port *port,
		     const struct ibv_qp_cap *cap)
{
	if (!cap->max_send_wr || cap->max_send_wr > port->limits.send_wr)
		return pier__fail(-EINVAL, "%s: send queue of %u: 1 to %u",
				  port->name, cap->max_send_wr,
				  port->limits.send_wr);
	if (cap->max_send_sge > port->limits.send_sge)
		return pier__fail(-EINVAL, "%s: sends of %u buffers: at most "
				  "%u", port->name, cap->max_send_sge,
				  port->limits.send_sge);
	return 0;
}

/*
 * The inline size that works depends on the other sizes and is found by trial:
 * if the requested one fails, half of it, down to none.
 */
static struct ibv_qp *create(struct ibv_pd *pd,
			     const struct ibv_qp_init_attr *asked,
			     uint32_t inline_size, uint32_t *ret_inline)
{
	struct ibv_qp_init_attr attr;
	struct ibv_qp *qp;

	for (;;) {
		attr = *asked;
		attr.cap.max_inline_data = inline_size;
		errno = 0;
		qp = ibv_create_qp(pd, &attr);
		if (qp || !inline_size || errno == EMFILE)
			break;
		inline_size = inline_size > 16 ? inline_size / 2 : 0;
	}
	if (qp)
		*ret_inline = attr.cap.max_inline_data;
	return qp;
}

/* None could be made with @cap. */
static int no_qp(const struct pier__port *port, const struct ibv_qp_cap *cap,
		 int err)
{
	char what[64];

	snprintf(what, sizeof(what), "no queue pair with %u sends of %u "
		 "buffers", cap->max_send_wr, cap->max_send_sge);
	if (err == -ENOMEM)
		return pier__verbs_no_memory(port->name, WQE_SIZE *
					     (size_t)cap->max_send_wr, what);
	return pier__fail(err, "%s: %s: %s", port->name, what,
			  pier_strerror(err));
}

static void qp_free(struct verbs_qp *qp)
{
	free(qp->psns);
	free(qp);
}

/* NULL: no memory. */
static struct verbs_qp *qp_alloc(const struct ibv_qp_cap *cap)
{
	struct verbs_qp *qp = calloc(1, sizeof(*qp));

	if (!qp)
		return NULL;
	qp->psns_size = cap->max_send_wr;
	qp->psns = calloc(qp->psns_size, sizeof(*qp->psns));
	if (qp->psns)
		return qp;
	free(qp);
	return NULL;
}

int pier__verbs_qp_create(struct pier__cq *cq, struct pier__srq *srq,
			  const struct ibv_qp_cap *cap, struct pier__qp **ret)
{
	struct verbs_dev *dev = verbs_dev(fdev_of(cq));
	const struct pier__port *port = &dev->fdev.port;
	struct ibv_qp_init_attr attr = {
		.send_cq = verbs_cq(cq)->ibv,
		.recv_cq = verbs_cq(cq)->ibv,
		.srq = ((struct verbs_srq *)srq)->ibv,
		.cap = {
			.max_send_wr = cap->max_send_wr,
			.max_send_sge = cap->max_send_sge,
		},
		.qp_type = IBV_QPT_RC,
	};
	uint32_t inline_size = cap->max_inline_data;
	struct verbs_qp *qp;
	int err = check_cap(port, cap);

	if (err)
		return err;
	if (inline_size > port->limits.inline_size)
		inline_size = port->limits.inline_size;
	qp = qp_alloc(cap);
	if (!qp)
		return pier__fail(-ENOMEM, "%s: no memory", port->name);

	qp->ibv = create(dev->pd, &attr, inline_size, &qp->qp.inline_size);
	if (!qp->ibv) {
		err = pier__verbs_error(-1);
		qp_free(qp);
		return no_qp(port, cap, err);
	}
	qp->qp.cq = cq;
	qp->qp.qpn = qp->ibv->qp_num;
	qp->state = IBV_QPS_RESET;
	pthread_mutex_lock(&dev->lock);
	pier__list_add(&dev->qps, &qp->link);
	pthread_mutex_unlock(&dev->lock);
	*ret = &qp->qp;
	return 0;
}

static const char *state_name(enum ibv_qp_state state)
{
	static const char *const names[] = {
		[IBV_QPS_RESET] = "RESET", [IBV_QPS_INIT] = "INIT",
		[IBV_QPS_RTR] = "RTR", [IBV_QPS_RTS] = "RTS",
		[IBV_QPS_SQD] = "SQD", [IBV_QPS_SQE] = "SQE",
		[IBV_QPS_ERR] = "ERR",
	};

	if ((unsigned int)state >= sizeof(names) / sizeof(names[0]))
		return "an unknown state";
	return names[state];
}

/* The move to RTR fails on what the peer's address and path are. */
static int fail_rtr(const struct verbs_qp *qp, const struct ibv_qp_attr *attr,
		    int err)
{
	const struct pier__port *port = &fdev_of(qp->qp.cq)->port;

	if (err == -ETIMEDOUT || err == -EHOSTUNREACH || err == -ENETUNREACH)
		return pier__fail(err, "%s: QP %u: no route to the peer from "
				  "GID index %u: %s; is its address reached "
				  "from %s?", port->name, qp->qp.qpn,
				  attr->ah_attr.grh.sgid_index,
				  pier_strerror(err),
				  port->netdev[0] ? port->netdev : "here");
	return pier__fail(err, "%s: QP %u from %s to RTR: %s; path MTU %u of "
			  "%u, GID index %u, LID %u, %u of %u reads served at "
			  "a time", port->name, qp->qp.qpn,
			  state_name(qp->state), pier_strerror(err),
			  128u << attr->path_mtu, 128u << pier__port_mtu(port),
			  attr->ah_attr.grh.sgid_index, attr->ah_attr.dlid,
			  attr->max_dest_rd_atomic, port->limits.rd_atomic);
}

int pier__verbs_qp_modify(struct pier__qp *qp, struct ibv_qp_attr *attr,
			  int mask, uint16_t udp_port)
{
	struct verbs_qp *self = verbs_qp(qp);
	enum ibv_qp_state to = mask & IBV_QP_STATE ? attr->qp_state :
			       self->state;
	int err;

	(void)udp_port;		/* the device sends to 4791 and no other */
	err = ibv_modify_qp(self->ibv, attr, mask);
	if (!err) {
		self->state = to;
		if (to == IBV_QPS_RESET)
			atomic_store(&self->fault, IBV_WC_SUCCESS);
		if (mask & IBV_QP_PATH_MTU)
			self->mtu_log2 = (uint8_t)(attr->path_mtu + 7);
		if (mask & IBV_QP_SQ_PSN)
			self->psn = attr->sq_psn;
		return 0;
	}
	err = pier__verbs_error(err);
	if (to == IBV_QPS_RTR)
		return fail_rtr(self, attr, err);
	return pier__fail(err, "%s: QP %u from %s to %s: %s",
			  fdev_of(qp->cq)->port.name, qp->qpn,
			  state_name(self->state), state_name(to),
			  pier_strerror(err));
}

void pier__verbs_qp_broken(struct verbs_dev *dev, const struct ibv_qp *ibv,
			   enum ibv_wc_status fault)
{
	struct pier__list *pos, *tmp;
	struct verbs_qp *qp;

	pthread_mutex_lock(&dev->lock);
	PIER__LIST_EACH(pos, tmp, &dev->qps) {
		qp = pier__container_of(pos, struct verbs_qp, link);
		if (qp->ibv == ibv)
			atomic_store(&qp->fault, fault);
	}
	pthread_mutex_unlock(&dev->lock);
}

bool pier__verbs_qp_fault(struct pier__qp *qp, struct pier__fault *ret)
{
	int fault = atomic_load(&verbs_qp(qp)->fault);

	*ret = (struct pier__fault){ .status = (enum ibv_wc_status)fault };
	return fault != IBV_WC_SUCCESS;
}

void pier__verbs_qp_destroy(struct pier__qp *qp)
{
	struct verbs_dev *dev;
	int rc;

	if (!qp)
		return;
	dev = verbs_dev(fdev_of(qp->cq));
	pthread_mutex_lock(&dev->lock);
	pier__list_del(&verbs_qp(qp)->link);
	pthread_mutex_unlock(&dev->lock);
	rc = ibv_destroy_qp(verbs_qp(qp)->ibv);
	if (rc)
		pier__log(PIER_LOG_ERROR, "verbs",
			  "%s: QP %u cannot be destroyed: %s",
			  fdev_of(qp->cq)->port.name, qp->qpn,
			  pier_strerror(rc));
	pier__verbs_cq_purge(qp->cq, qp->qpn);
	qp_free(verbs_qp(qp));
}

/*
 * No device reports the PSN of the first request that is not acknowledged, so
 * that of each request is recorded.  A READ takes those of its response.
 */
static void record(struct verbs_qp *qp, const struct ibv_send_wr *wr,
		   const struct ibv_send_wr *end)
{
	for (; wr != end; wr = wr->next) {
		uint32_t last = (1u << qp->mtu_log2) - 1, len = 0, packets;

		for (int i = 0; i < wr->num_sge; i++)
			len += wr->sg_list[i].length;
		packets = (uint32_t)(((uint64_t)len + last) >> qp->mtu_log2);
		qp->psns[qp->psns_at] = qp->psn;
		qp->psn += packets ? packets : 1;
		qp->psns_at = qp->psns_at + 1 < qp->psns_size ?
				      qp->psns_at + 1 : 0;
	}
}

int pier__verbs_qp_psns(struct pier__qp *qp, uint32_t unacked,
			struct pier__psns *ret)
{
	struct verbs_qp *self = verbs_qp(qp);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	uint32_t size = self->psns_size;
	int err;

	if (unacked > size)
		return pier__fail(-ERANGE, "%s: QP %u: %u requests in flight, "
				  "at most %u", fdev_of(qp->cq)->port.name,
				  qp->qpn, unacked, size);
	err = ibv_query_qp(self->ibv, &attr, IBV_QP_RQ_PSN, &init);
	if (err)
		return pier__fail(pier__verbs_error(err), "%s: QP %u cannot be "
				  "queried", fdev_of(qp->cq)->port.name,
				  qp->qpn);
	ret->rq = attr.rq_psn & 0xffffff;
	ret->sq = unacked ? self->psns[(self->psns_at + size - unacked) %
				       size] : self->psn;
	ret->sq &= 0xffffff;
	return 0;
}

int pier__verbs_post(struct pier__qp *qp, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad)
{
	int err;

	*bad = wr;
	err = ibv_post_send(verbs_qp(qp)->ibv, wr, bad);
	record(verbs_qp(qp), wr, err ? *bad : NULL);
	if (!err)
		return 0;
	err = pier__verbs_error(err);
	if (err == -ENOMEM || err == -EAGAIN)
		return pier__fail(-EAGAIN, "%s: the send queue of QP %u is "
				  "full", fdev_of(qp->cq)->port.name, qp->qpn);
	return pier__fail(err, "%s: a request cannot be posted to QP %u in "
			  "%s: %s", fdev_of(qp->cq)->port.name, qp->qpn,
			  state_name(verbs_qp(qp)->state), pier_strerror(err));
}
