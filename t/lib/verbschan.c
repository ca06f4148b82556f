/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/soft/io/fdev.h"
#include "fabric/soft/rc/qpn.h"
#include "fabric/soft/soft.h"
#include "t/lib/verbschan.h"

#define RD_ATOMIC 4

static void must(int err, const char *what)
{
	if (err) {
		printf("Bail out! %s: %d\n", what, err);
		exit(1);
	}
}

struct pier__fdev *verbschan_device(void)
{
	struct pier__ports ports = { 0 };
	struct pier__fdev *fdev = NULL;
	size_t i;

	must(pier__soft_dev.list(&ports), "list");
	for (i = 0; i < ports.count && !fdev; i++)
		if (!strcmp(ports.port[i].name, "soft_lo"))
			must(pier__soft_dev.open(&ports.port[i], &fdev),
			     "open");
	free(ports.port);
	must(!fdev, "no soft_lo");
	return fdev;
}

struct pier__chan *verbschan_create(struct pier__fdev *fdev)
{
	struct pier__chan *chan = NULL;

	must(pier__soft_chan_create_verbs(fdev, &chan), "channel");
	return chan;
}

struct pier__mr *verbschan_reg(struct pier__fdev *fdev, void *addr, size_t len)
{
	struct pier__mr *mr = NULL;

	must(pier__soft_dev.reg(fdev, addr, len, VERBSCHAN_ALL, &mr), "mr");
	return mr;
}

void verbschan_open(struct soft_chan *chan, uint32_t depth, uint32_t cqe,
		    struct soft_srq *srq, struct verbschan *ret)
{
	struct ibv_qp_cap cap = { .max_send_wr = depth, .max_send_sge = 1 };

	memset(ret, 0, sizeof(*ret));
	ret->chan = chan;
	pier__soft_chan_begin(chan);
	must(pier__soft_cq_create(chan->ep, cqe, &ret->cq.queue), "cq");
	pier__list_add(&chan->cqs, &ret->cq.link);
	must(pier__soft_qp_create(ret->cq.queue, srq, &cap, &ret->qp), "qp");
	pier__soft_chan_end(chan, 0);
}

void verbschan_close(struct verbschan *end)
{
	pier__soft_chan_begin(end->chan);
	pier__soft_qp_destroy(end->qp);
	pier__list_del(&end->cq.link);
	pier__soft_cq_destroy(end->cq.queue);
	pier__soft_chan_end(end->chan, 0);
}

/* The first address of IPv4. */
static struct soft_addr local_addr(struct pier__fdev *fdev)
{
	struct in6_addr ip;
	struct soft_addr ret;
	unsigned int i;

	for (i = 0; i < fdev->port.gid_count; i++) {
		memcpy(&ip, &fdev->port.gids[i], sizeof(ip));
		if (IN6_IS_ADDR_V4MAPPED(&ip))
			break;
	}
	must(pier__soft_gid(fdev, i, &ret), "gid");
	return ret;
}

void verbschan_connect(struct verbschan *end, const struct verbschan *peer)
{
	struct soft_addr src = local_addr(end->chan->chan.fdev);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = VERBSCHAN_ALL,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp->qpn,
		.max_dest_rd_atomic = RD_ATOMIC,
		.max_rd_atomic = RD_ATOMIC,
		.min_rnr_timer = 12,
		.timeout = 17,	/* 0.5 s: a busy machine */
		.retry_cnt = 7,
		.rnr_retry = 7,
	};

	memcpy(attr.ah_attr.grh.dgid.raw, &src.ip, 16);
	src.port = end->chan->io->port;
	pier__soft_chan_begin(end->chan);
	must(pier__soft_qp_modify(end->qp, &attr, IBV_QP_STATE |
				  IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				  IBV_QP_ACCESS_FLAGS, NULL, 0), "init");
	attr.qp_state = IBV_QPS_RTR;
	must(pier__soft_qp_modify(end->qp, &attr, IBV_QP_STATE | IBV_QP_AV |
				  IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				  IBV_QP_MIN_RNR_TIMER, &src,
				  pier__soft_qpn_port(peer->qp->qpn)), "rtr");
	attr.qp_state = IBV_QPS_RTS;
	must(pier__soft_qp_modify(end->qp, &attr, IBV_QP_STATE |
				  IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
				  IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				  IBV_QP_MAX_QP_RD_ATOMIC, NULL, 0), "rts");
	pier__soft_chan_end(end->chan, 0);
}

int verbschan_post(struct verbschan *end, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	int err;

	pier__soft_chan_begin(end->chan);
	err = pier__soft_qp_post(end->qp, wr, &bad);
	pier__soft_ep_send_posted(end->chan->ep, true);
	pier__soft_chan_end(end->chan, 0);
	return err;
}

int verbschan_poll(struct verbschan *end, struct ibv_wc *wc, int max)
{
	struct soft_chan *chan = end->chan;
	int n;

	pier__soft_chan_begin(chan);
	n = pier__soft_cq_poll(end->cq.queue, wc, max);
	if (!n) {
		pier__soft_ep_receive(chan->ep, false);
		n = pier__soft_cq_poll(end->cq.queue, wc, max);
		pier__soft_chan_send(chan, n);
		pier__soft_chan_polled(chan, n);
	}
	pier__soft_chan_end(chan, 0);
	return n;
}
