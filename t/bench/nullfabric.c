/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bench/nullfabric.h"
#include "core/roce.h"

#define RING 1024u
#define RECEIVED 8u	/* bytes of each message */

struct null_cq {
	struct pier__cq cq;
	uint32_t head, tail;
	uint64_t wr_id[RING];
	enum ibv_wc_opcode opcode[RING];
};

struct null_chan {
	struct pier__chan chan;		/* first */
	struct null_cq *cq;		/* the one */
};

static void null_complete(struct null_cq *cq, uint64_t wr_id,
			  enum ibv_wc_opcode opcode)
{
	cq->wr_id[cq->tail % RING] = wr_id;
	cq->opcode[cq->tail % RING] = opcode;
	cq->tail++;
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

static int null_chan_create(struct pier__fdev *fdev, struct pier__chan **ret)
{
	struct null_chan *chan = calloc(1, sizeof(*chan));

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

	for (; n < max && cq->head != cq->tail; n++, cq->head++) {
		wc[n].wr_id = cq->wr_id[cq->head % RING];
		wc[n].status = IBV_WC_SUCCESS;
		wc[n].opcode = cq->opcode[cq->head % RING];
		wc[n].qp_num = 17;
		wc[n].byte_len = RECEIVED;
		wc[n].wc_flags = 0;
	}
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
	struct pier__srq *srq = calloc(1, sizeof(*srq));

	(void)max_wr;
	(void)max_sge;
	if (!srq)
		return -ENOMEM;
	srq->chan = chan;
	*ret = srq;
	return 0;
}

static void null_srq_destroy(struct pier__srq *srq)
{
	free(srq);
}

static int null_srq_post(struct pier__srq *srq, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad)
{
	struct null_cq *cq = ((struct null_chan *)srq->chan)->cq;

	(void)bad;
	for (; wr; wr = wr->next)
		null_complete(cq, wr->wr_id, IBV_WC_RECV);
	return 0;
}

static int null_qp_create(struct pier__cq *cq, struct pier__srq *srq,
			  const struct ibv_qp_cap *cap, struct pier__qp **ret)
{
	static uint32_t qpn = 16;
	struct pier__qp *qp = calloc(1, sizeof(*qp));

	(void)srq;
	if (!qp)
		return -ENOMEM;
	qp->cq = cq;
	qp->qpn = ++qpn;
	qp->inline_size = cap->max_inline_data;
	*ret = qp;
	return 0;
}

static int null_qp_modify(struct pier__qp *qp, struct ibv_qp_attr *attr,
			  int mask, uint16_t udp_port)
{
	(void)qp;
	(void)attr;
	(void)mask;
	(void)udp_port;
	return 0;
}

static void null_qp_destroy(struct pier__qp *qp)
{
	free(qp);
}

static int null_post(struct pier__qp *qp, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad)
{
	struct null_cq *cq = (struct null_cq *)qp->cq;

	(void)bad;
	for (; wr; wr = wr->next) {
		if (wr->send_flags & IBV_SEND_SIGNALED)
			null_complete(cq, wr->wr_id, IBV_WC_SEND);
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

static const struct pier__fabric_qp null_qp = {
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
	.ibv = null_ibv,
};

static const struct pier__fabric null_fabric = {
	.name = "null",
	.dev = &null_dev,
	.qp = &null_qp,
};

static void describe(struct pier__port *port)
{
	const struct pier__limits limits = {
		.message = UINT64_C(1) << 31, .mmap = UINT64_MAX,
		.inline_size = 64, .inline_free = 64,
		.send_sge = 4, .recv_sge = 4, .qps = 64, .send_wr = 512,
		.srq_wr = 512, .cqe = RING, .pkeys = 1, .rd_atomic = 16,
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
	port->gids[0].raw[15] = 1;
}

struct pier_dev *nullfabric_open(void)
{
	struct pier_dev *dev = calloc(1, sizeof(*dev));
	struct pier__fdev *fdev = calloc(1, sizeof(*fdev));

	if (!dev || !fdev)
		abort();
	fdev->fabric = &null_fabric;
	fdev->event_fd = -1;
	describe(&fdev->port);
	dev->info.port = fdev->port;
	dev->fdev = fdev;
	dev->fabric = &null_fabric;
	return dev;
}

void nullfabric_close(struct pier_dev *dev)
{
	pier_dev_close(dev);
}
