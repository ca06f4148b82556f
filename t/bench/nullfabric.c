/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bench/nullcm.h"
#include "bench/nullfabric.h"
#include "core/roce.h"

#define RING 16384u
#define RECEIVED 8u	/* bytes of each message that no peer sends */
#define SGES 4		/* of a receive */
#define FIRST_QPN 17u
#define QPS 128u

struct null_cq {
	struct pier__cq cq;		/* first */
	uint32_t head, tail;
	struct ibv_wc wc[RING];
};

struct null_recv {
	uint64_t wr_id;
	int num_sge;
	struct ibv_sge sge[SGES];
};

struct null_srq {
	struct pier__srq srq;		/* first */
	uint32_t head, tail;		/* receives that wait for a message */
	struct null_recv recv[RING];
};

struct null_chan {
	struct pier__chan chan;		/* first */
	struct null_cq *cq;		/* the one */
};

struct null_qp {
	struct pier__qp qp;		/* first */
	struct null_srq *srq;
	uint32_t peer;			/* its QPN; 0: not connected */
};

struct null_fdev {
	struct pier__fdev fdev;		/* first */
	bool delivers;
};

/* By their QPN. */
static struct null_qp *qps[QPS];
static uint32_t qp_count;

static bool null_delivers(const struct pier__chan *chan)
{
	return ((const struct null_fdev *)chan->fdev)->delivers;
}

static struct ibv_wc *null_complete(struct pier__cq *pcq, uint64_t wr_id,
				    enum ibv_wc_opcode opcode)
{
	struct null_cq *cq = (struct null_cq *)pcq;
	struct ibv_wc *wc = &cq->wc[cq->tail++ % RING];

	*wc = (struct ibv_wc){
		.wr_id = wr_id,
		.status = IBV_WC_SUCCESS,
		.opcode = opcode,
		.qp_num = FIRST_QPN,
		.byte_len = RECEIVED,
	};
	return wc;
}

static int null_list(struct pier__ports *ports)
{
	(void)ports;
	return 0;
}

static int null_open(const struct pier__port *port, struct pier__fdev **ret)
{
	(void)port;
	(void)ret;
	return -ENODEV;
}

static int null_adopt(const struct pier__port *port, struct ibv_pd *pd,
		      struct pier__fdev **ret)
{
	(void)pd;
	return null_open(port, ret);
}

static bool null_fault(struct pier__qp *qp, struct pier__fault *ret)
{
	(void)qp;
	(void)ret;
	return false;
}

static struct ibv_qp *null_ibv(struct pier__qp *qp)
{
	(void)qp;
	return NULL;
}

static void null_close(struct pier__fdev *fdev)
{
	free(fdev);
}

static int null_query(struct pier__fdev *fdev)
{
	(void)fdev;
	return 0;
}

static int null_event(struct pier__fdev *fdev, int *ret)
{
	(void)fdev;
	(void)ret;
	return -EAGAIN;
}

static int null_reg(struct pier__fdev *fdev, void *addr, size_t len,
		    int access, struct pier__mr **ret)
{
	struct pier__mr *mr = calloc(1, sizeof(*mr));

	(void)addr;
	(void)len;
	(void)access;
	if (!mr)
		return -ENOMEM;
	mr->fdev = fdev;
	mr->lkey = mr->rkey = 1;
	*ret = mr;
	return 0;
}

static int null_reg_dmabuf(struct pier__fdev *fdev, int fd, uint64_t offset,
			   size_t len, uint64_t iova, int access,
			   struct pier__mr **ret)
{
	(void)fdev;
	(void)fd;
	(void)offset;
	(void)len;
	(void)iova;
	(void)access;
	(void)ret;
	return -EOPNOTSUPP;
}

static void null_dereg(struct pier__mr *mr)
{
	free(mr);
}

static struct ibv_pd *null_pd(struct pier__fdev *fdev)
{
	(void)fdev;
	return NULL;
}

static int null_chan_create(struct pier__fdev *fdev, uint32_t shm,
			    struct pier__chan **ret)
{
	struct null_chan *chan = calloc(1, sizeof(*chan));

	(void)shm;
	if (!chan)
		return -ENOMEM;
	chan->chan.fdev = fdev;
	chan->chan.fd = eventfd(0, EFD_CLOEXEC);
	chan->chan.udp_port = ROCE_UDP_PORT;
	*ret = &chan->chan;
	return 0;
}

static void null_chan_destroy(struct pier__chan *chan)
{
	close(chan->fd);
	free(chan);
}

static void null_chan_clear(struct pier__chan *chan)
{
	(void)chan;
}

static int null_cq_create(struct pier__chan *chan, uint32_t cqe,
			  struct pier__cq **ret)
{
	struct null_cq *cq = calloc(1, sizeof(*cq));

	(void)cqe;
	if (!cq)
		return -ENOMEM;
	cq->cq.chan = chan;
	((struct null_chan *)chan)->cq = cq;
	*ret = &cq->cq;
	return 0;
}

static void null_cq_destroy(struct pier__cq *cq)
{
	free(cq);
}

static int null_poll(struct pier__cq *pcq, struct ibv_wc *wc, int max)
{
	struct null_cq *cq = (struct null_cq *)pcq;
	int n = 0;

	for (; n < max && cq->head != cq->tail; n++, cq->head++)
		wc[n] = cq->wc[cq->head % RING];
	return n;
}

static int null_arm(struct pier__cq *pcq)
{
	const struct null_cq *cq = (const struct null_cq *)pcq;

	return cq->head != cq->tail ? -EAGAIN : 0;
}

static int null_srq_create(struct pier__chan *chan, uint32_t max_wr,
			   uint32_t max_sge, struct pier__srq **ret)
{
	struct null_srq *srq = calloc(1, sizeof(*srq));

	(void)max_wr;
	(void)max_sge;
	if (!srq)
		return -ENOMEM;
	srq->srq.chan = chan;
	*ret = &srq->srq;
	return 0;
}

static void null_srq_destroy(struct pier__srq *srq)
{
	free(srq);
}

/* Have it wait for a message. */
static void null_wait(struct null_srq *srq, const struct ibv_recv_wr *wr)
{
	struct null_recv *recv = &srq->recv[srq->tail++ % RING];

	recv->wr_id = wr->wr_id;
	recv->num_sge = wr->num_sge;
	for (int i = 0; i < wr->num_sge; i++)
		recv->sge[i] = wr->sg_list[i];
}

static int null_srq_post(struct pier__srq *srq, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad)
{
	(void)bad;
	for (; wr; wr = wr->next) {
		if (null_delivers(srq->chan))
			null_wait((struct null_srq *)srq, wr);
		else
			null_complete(&((struct null_chan *)srq->chan)->cq->cq,
				      wr->wr_id, IBV_WC_RECV);
	}
	return 0;
}

static int null_qp_create(struct pier__cq *cq, struct pier__srq *srq,
			  const struct ibv_qp_cap *cap, struct pier__qp **ret)
{
	struct null_qp *qp = calloc(1, sizeof(*qp));

	if (!qp || qp_count == QPS)
		return -ENOMEM;
	qp->qp.cq = cq;
	qp->qp.qpn = FIRST_QPN + qp_count;
	qp->qp.inline_size = cap->max_inline_data;
	qp->srq = (struct null_srq *)srq;
	qps[qp_count++] = qp;
	*ret = &qp->qp;
	return 0;
}

static int null_qp_modify(struct pier__qp *qp, struct ibv_qp_attr *attr,
			  int mask, uint16_t udp_port)
{
	(void)udp_port;
	if (mask & IBV_QP_DEST_QPN)
		((struct null_qp *)qp)->peer = attr->dest_qp_num;
	return 0;
}

static void null_qp_destroy(struct pier__qp *qp)
{
	qps[qp->qpn - FIRST_QPN] = NULL;
	free(qp);
}

/* Copy the data of @sge to @to, or from there. */
static void null_copy(const struct ibv_sge *sge, int num_sge, uint64_t to,
		      bool back)
{
	for (int i = 0; i < num_sge; i++) {
		void *here = (void *)(uintptr_t)sge[i].addr;
		void *there = (void *)(uintptr_t)to;

		memcpy(back ? here : there, back ? there : here,
		       sge[i].length);
		to += sge[i].length;
	}
}

/* Copy the data of @wr into @recv.  Returns how many bytes. */
static uint32_t null_scatter(const struct ibv_send_wr *wr,
			     const struct null_recv *recv)
{
	uint8_t bytes[256], *at = bytes;
	uint32_t len = 0, left;

	for (int i = 0; i < wr->num_sge; i++)
		len += wr->sg_list[i].length;
	if (len > sizeof(bytes))
		abort();
	null_copy(wr->sg_list, wr->num_sge, (uintptr_t)bytes, false);
	left = len;
	for (int i = 0; i < recv->num_sge && left; i++) {
		uint32_t n = recv->sge[i].length;

		n = n < left ? n : left;
		memcpy((void *)(uintptr_t)recv->sge[i].addr, at, n);
		at += n;
		left -= n;
	}
	if (left)
		abort();
	return len;
}

/* The peer has a receive: those that measure see to it. */
static void null_send(struct null_qp *peer, const struct ibv_send_wr *wr)
{
	struct null_srq *srq = peer->srq;
	const struct null_recv *recv = &srq->recv[srq->head % RING];
	struct ibv_wc *wc;

	if (srq->head++ == srq->tail)
		abort();
	wc = null_complete(peer->qp.cq, recv->wr_id, IBV_WC_RECV);
	wc->qp_num = peer->qp.qpn;
	wc->byte_len = null_scatter(wr, recv);
	if (wr->opcode == IBV_WR_SEND_WITH_IMM) {
		wc->wc_flags = IBV_WC_WITH_IMM;
		wc->imm_data = wr->imm_data;
	}
}

/* What @wr does at the peer, which is in this process. */
static void null_deliver(struct null_qp *qp, const struct ibv_send_wr *wr)
{
	struct null_qp *peer = qp->peer ? qps[qp->peer - FIRST_QPN] : NULL;

	if (!peer)
		return;
	if (wr->opcode == IBV_WR_SEND || wr->opcode == IBV_WR_SEND_WITH_IMM)
		null_send(peer, wr);
	else if (wr->num_sge)
		null_copy(wr->sg_list, wr->num_sge, wr->wr.rdma.remote_addr,
			  wr->opcode == IBV_WR_RDMA_READ);
}

static int null_post(struct pier__qp *pqp, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad)
{
	struct null_qp *qp = (struct null_qp *)pqp;

	(void)bad;
	for (; wr; wr = wr->next) {
		if (null_delivers(pqp->cq->chan))
			null_deliver(qp, wr);
		if (wr->send_flags & IBV_SEND_SIGNALED)
			null_complete(pqp->cq, wr->wr_id,
				      IBV_WC_SEND)->qp_num = pqp->qpn;
	}
	return 0;
}

static const struct pier__fabric_dev null_dev = {
	.list = null_list,
	.open = null_open,
	.adopt = null_adopt,
	.close = null_close,
	.query = null_query,
	.event = null_event,
	.reg = null_reg,
	.reg_dmabuf = null_reg_dmabuf,
	.dereg = null_dereg,
	.pd = null_pd,
};

static const struct pier__fabric_qp null_queues = {
	.chan_create = null_chan_create,
	.chan_destroy = null_chan_destroy,
	.chan_clear = null_chan_clear,
	.cq_create = null_cq_create,
	.cq_destroy = null_cq_destroy,
	.poll = null_poll,
	.arm = null_arm,
	.srq_create = null_srq_create,
	.srq_destroy = null_srq_destroy,
	.srq_post = null_srq_post,
	.srq_recall = NULL,
	.qp_create = null_qp_create,
	.qp_modify = null_qp_modify,
	.qp_destroy = null_qp_destroy,
	.post = null_post,
	.fault = null_fault,
	.refused = NULL,
	.ibv = null_ibv,
};

static const struct pier__fabric null_fabric = {
	.name = "null",
	.dev = &null_dev,
	.qp = &null_queues,
	.cm = &nullcm,
};

static void describe(struct pier__port *port)
{
	const struct pier__limits limits = {
		.message = UINT64_C(1) << 31, .mmap = UINT64_MAX,
		.inline_size = 64, .inline_free = 64,
		.send_sge = 4, .recv_sge = 4, .qps = QPS, .send_wr = 512,
		.srq_wr = 4096, .cqe = RING, .pkeys = 1, .rd_atomic = 16,
		.opcodes = ~0u,
	};

	port->fabric = &null_fabric;
	strcpy(port->name, "null");
	port->port = 1;
	port->link_layer = IBV_LINK_LAYER_ETHERNET;
	port->active = true;
	port->mtu = IBV_MTU_4096;
	port->limits = limits;
	port->gid_count = 1;
	port->gids[0].type = PIER_GID_ROCE_V2;
	port->gids[0].raw[10] = port->gids[0].raw[11] = 0xff;
	port->gids[0].raw[12] = 10;
	port->gids[0].raw[15] = 1;
}

struct pier_dev *nullfabric_open(bool can_deliver)
{
	struct pier_dev *dev = calloc(1, sizeof(*dev));
	struct null_fdev *fdev = calloc(1, sizeof(*fdev));

	if (!dev || !fdev)
		abort();
	fdev->delivers = can_deliver;
	fdev->fdev.fabric = &null_fabric;
	fdev->fdev.event_fd = -1;
	describe(&fdev->fdev.port);
	dev->info.port = fdev->fdev.port;
	dev->fdev = &fdev->fdev;
	dev->fabric = &null_fabric;
	return dev;
}

void nullfabric_close(struct pier_dev *dev)
{
	pier_dev_close(dev);
}
