/* SPDX-License-Identifier: BSD-2-Clause */
/* Queues of the soft device, as the fabric's table of calls has them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "core/roce.h"
#include "fabric/soft/io/chan.h"
#include "fabric/soft/io/fdev.h"
#include "fabric/soft/rc/qp.h"
#include "fabric/soft/soft.h"
#include "fabric/soft/stats/counters_file.h"

/*
 * A post is sent at once, as by a doorbell, and without the responses that are
 * pending, which would delay it: they are sent by the next poll.  Of further
 * posts before that poll only each POSTS_TOGETHER'th sends, with all before it:
 * a program that posts in a loop polls soon, and packets cost less in a batch.
 * If no poll follows, the helper sends them.
 */
#define POSTS_TOGETHER 16

#define DIRECT_POLLS 7		/* in a row that receive nothing */

struct fabric_srq {
	struct pier__srq srq;		/* first */
	struct soft_srq *queue;		/* owned */
};

struct fabric_qp {
	struct pier__qp qp;		/* first */
	struct soft_qp *queue;		/* owned */
	struct soft_row *row;		/* of the counters file, or NULL */
};

static struct soft_chan_cq *cq_of(struct pier__cq *cq)
{
	return (struct soft_chan_cq *)cq;
}

static struct fabric_srq *srq_of(struct pier__srq *srq)
{
	return (struct fabric_srq *)srq;
}

static struct fabric_qp *qp_of(struct pier__qp *qp)
{
	return (struct fabric_qp *)qp;
}

static int soft_cq_create(struct pier__chan *pchan, uint32_t cqe,
			  struct pier__cq **ret)
{
	const struct pier__limits *limits = &pchan->fdev->port.limits;
	struct soft_chan *chan = chan_of(pchan);
	struct soft_chan_cq *cq;
	int err;

	if (!cqe || cqe > limits->cqe)
		return pier__fail(-EINVAL, "completion queue of %u: 1 to %u",
				  cqe, limits->cqe);
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return pier__fail(-ENOMEM, "no memory for a completion queue");

	cq->cq.chan = pchan;
	pier__soft_chan_begin(chan);
	err = pier__soft_cq_create(chan->ep, cqe, &cq->queue);
	if (!err) {
		cq->queue->outer = &cq->cq;
		pier__list_add(&chan->cqs, &cq->link);
	}
	pier__soft_chan_end(chan, 0);
	if (err) {
		free(cq);
		return err;
	}

	*ret = &cq->cq;
	return 0;
}

static void soft_cq_destroy(struct pier__cq *pcq)
{
	struct soft_chan_cq *cq = cq_of(pcq);
	struct soft_chan *chan;

	if (!pcq)
		return;
	chan = chan_of(pcq->chan);
	pier__soft_chan_begin(chan);
	pier__list_del(&cq->link);
	pier__soft_cq_destroy(cq->queue);
	pier__soft_chan_end(chan, 0);
	free(cq);
}

/*
 * Requests that were executed directly are complete before a poll: some polls
 * return these alone, if there is nothing to send.
 */
static bool is_enough(struct soft_chan *chan, int n)
{
	bool enough = n > 0 && chan->shm && chan->posts <= 1 &&
		      chan->direct_polls < DIRECT_POLLS &&
		      !pier__soft_ep_has_any(chan->ep, true);

	chan->direct_polls = enough ? chan->direct_polls + 1 : 0;
	if (enough)
		chan->posts = 0;
	return enough;
}

/* Drives the endpoint unless the caller has enough to do already. */
static int soft_poll(struct pier__cq *pcq, struct ibv_wc *wc, int max)
{
	struct soft_chan *chan = chan_of(pcq->chan);
	struct soft_cq *queue = cq_of(pcq)->queue;
	int did = 0, more, n;

	pier__soft_chan_begin(chan);
	n = pier__soft_cq_poll(queue, wc, max);
	if (n >= 0 && (n < max || chan->posts > 1) && !is_enough(chan, n)) {
		chan->posts = 0;
		did = pier__soft_ep_receive(chan->ep, false);
		more = pier__soft_cq_poll(queue, wc + n, max - n);
		n = more >= 0 ? n + more : n ? n : more;
		did += pier__soft_chan_send(chan, n);
	}
	pier__soft_chan_end(chan, did);
	return n;
}

static int soft_srq_create(struct pier__chan *pchan, uint32_t max_wr,
			   uint32_t max_sge, struct pier__srq **ret)
{
	const struct pier__limits *limits = &pchan->fdev->port.limits;
	struct soft_chan *chan = chan_of(pchan);
	struct fabric_srq *srq;
	int err;

	if (!max_wr || max_wr > limits->srq_wr || !max_sge ||
	    max_sge > limits->recv_sge)
		return pier__fail(-EINVAL, "receive queue of %u with %u pieces"
				  " each: 1 to %u, 1 to %u", max_wr, max_sge,
				  limits->srq_wr, limits->recv_sge);
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return pier__fail(-ENOMEM, "no memory for a receive queue");

	srq->srq.chan = pchan;
	pier__soft_chan_begin(chan);
	err = pier__soft_srq_create(chan->ep, max_wr, max_sge, &srq->queue);
	pier__soft_chan_end(chan, 0);
	if (err) {
		free(srq);
		return err;
	}

	*ret = &srq->srq;
	return 0;
}

static void soft_srq_destroy(struct pier__srq *srq)
{
	struct soft_chan *chan;

	if (!srq)
		return;
	chan = chan_of(srq->chan);
	pier__soft_chan_begin(chan);
	pier__soft_srq_destroy(srq_of(srq)->queue);
	pier__soft_chan_end(chan, 0);
	free(srq);
}

static int soft_srq_post(struct pier__srq *srq, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad)
{
	struct soft_chan *chan = chan_of(srq->chan);
	int err;

	pier__soft_chan_begin(chan);
	err = pier__soft_srq_post(srq_of(srq)->queue, wr, bad);
	pier__soft_chan_end(chan, 0);
	return err;
}

static bool soft_srq_recall(struct pier__srq *srq, uint64_t wr_id)
{
	struct soft_chan *chan = chan_of(srq->chan);
	bool recalled;

	pier__soft_chan_begin(chan);
	recalled = pier__soft_srq_recall(srq_of(srq)->queue, wr_id);
	pier__soft_chan_end(chan, 0);
	return recalled;
}

static int soft_qp_create(struct pier__cq *pcq, struct pier__srq *srq,
			  const struct ibv_qp_cap *cap, struct pier__qp **ret)
{
	const struct pier__limits *limits = &pcq->chan->fdev->port.limits;
	struct soft_chan *chan = chan_of(pcq->chan);
	struct ibv_qp_cap granted = *cap;
	struct fabric_qp *qp;
	int err;

	if (!cap->max_send_wr || cap->max_send_wr > limits->send_wr ||
	    cap->max_send_sge > limits->send_sge)
		return pier__fail(-EINVAL, "send queue of %u with %u pieces "
				  "each: 1 to %u, at most %u",
				  cap->max_send_wr, cap->max_send_sge,
				  limits->send_wr, limits->send_sge);
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return pier__fail(-ENOMEM, "no memory for a queue pair");

	qp->qp.cq = pcq;
	if (granted.max_inline_data > limits->inline_size)
		granted.max_inline_data = limits->inline_size;
	qp->qp.inline_size = granted.max_inline_data;
	pier__soft_chan_begin(chan);
	err = pier__soft_qp_create(cq_of(pcq)->queue, srq_of(srq)->queue,
				   &granted, &qp->queue);
	if (!err) {
		qp->qp.qpn = qp->queue->qpn;
		qp->row = pier__soft_chan_show(chan, qp->queue);
	}
	pier__soft_chan_end(chan, 0);
	if (err) {
		free(qp);
		return err;
	}

	*ret = &qp->qp;
	return 0;
}

/*
 * The move may flush requests, which makes completions.  Sockets that were
 * opened stay open if the move fails: the next try needs them.
 */
static int soft_qp_modify(struct pier__qp *qp, struct ibv_qp_attr *attr,
			  int mask, uint16_t udp_port)
{
	struct soft_chan *chan = chan_of(qp->cq->chan);
	struct soft_addr src = { .port = chan->io->port };
	struct soft_io *io = chan->io;
	int err;

	if (mask & IBV_QP_AV) {
		err = pier__soft_gid(chan->chan.fdev,
				     attr->ah_attr.grh.sgid_index, &src);
		if (err)
			return err;
	}
	pier__soft_chan_begin(chan);
	err = mask & IBV_QP_AV && udp_port == ROCE_UDP_PORT
		      ? pier__soft_chan_roce_port_hold(chan) : 0;
	if (!err && mask & IBV_QP_AV)
		err = pier__soft_chan_bound(chan, &src.ip, &io);
	if (!err)
		err = pier__soft_qp_modify(qp_of(qp)->queue, attr, mask, &src,
					   udp_port);
	if (!err && mask & IBV_QP_AV) {
		pier__soft_qp_send_by(qp_of(qp)->queue, io);
		pier__soft_chan_show_peer(qp_of(qp)->row, &src, attr, udp_port);
		pier__soft_chan_connected(chan, qp_of(qp)->queue);
	}
	pier__soft_chan_end(chan, 1);
	return err;
}

static void soft_qp_destroy(struct pier__qp *qp)
{
	struct soft_chan *chan;

	if (!qp)
		return;
	chan = chan_of(qp->cq->chan);
	pier__soft_chan_begin(chan);
	pier__soft_qp_destroy(qp_of(qp)->queue);
	pier__soft_chan_end(chan, 0);
	pier__soft_row_put(qp_of(qp)->row);
	free(qp);
}

/*
 * Wake a peer that sleeps, by what was written for it: at once, unless the next
 * poll does it, or the helper.
 */
static void ring(const struct soft_chan *chan, struct soft_io *io)
{
	if (io->ops->ring && (chan->posts % POSTS_TOGETHER == 0 ||
			      chan->armed || !chan->checking))
		io->ops->ring(io);
}

static int soft_post(struct pier__qp *qp, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad)
{
	struct soft_chan *chan = chan_of(qp->cq->chan);
	int did = 0, err;

	pier__soft_chan_begin(chan);
	err = pier__soft_qp_post(qp_of(qp)->queue, wr, bad);
	ring(chan, qp_of(qp)->queue->io);
	if (chan->posts % POSTS_TOGETHER == 0)
		did = pier__soft_ep_send_posted(chan->ep, chan->posts);
	chan->posts++;
	pier__soft_chan_end(chan, did);
	return err;
}

static void soft_acknowledge(struct pier__qp *qp)
{
	struct soft_chan *chan = chan_of(qp->cq->chan);

	pier__soft_chan_begin(chan);
	pier__soft_qp_acknowledge(qp_of(qp)->queue);
	pier__soft_chan_end(chan, 0);
}

static bool soft_rnr(struct pier__qp *qp)
{
	struct soft_chan *chan = chan_of(qp->cq->chan);
	bool ret;

	pier__soft_chan_begin(chan);
	ret = pier__soft_qp_rnr(qp_of(qp)->queue);
	pier__soft_chan_end(chan, 0);
	return ret;
}

static int soft_psns(struct pier__qp *qp, uint32_t unacked,
		     struct pier__psns *ret)
{
	struct soft_chan *chan = chan_of(qp->cq->chan);

	(void)unacked;		/* its queue has recorded it */
	pier__soft_chan_begin(chan);
	*ret = pier__soft_qp_psns(qp_of(qp)->queue);
	pier__soft_chan_end(chan, 0);
	return 0;
}

static bool soft_fault(struct pier__qp *qp, struct pier__fault *ret)
{
	struct soft_chan *chan = chan_of(qp->cq->chan);
	bool faulty;

	pier__soft_chan_begin(chan);
	faulty = pier__soft_qp_fault(qp_of(qp)->queue, ret);
	pier__soft_chan_end(chan, 0);
	return faulty;
}

static bool soft_refused(struct pier__qp *qp, uint32_t *ret)
{
	struct soft_chan *chan = chan_of(qp->cq->chan);
	bool refused;

	pier__soft_chan_begin(chan);
	refused = pier__soft_qp_refused(qp_of(qp)->queue, ret);
	pier__soft_chan_end(chan, 0);
	return refused;
}

static struct ibv_qp *soft_ibv(struct pier__qp *qp)
{
	(void)qp;
	return NULL;
}

static const struct pier__fabric_qp soft_qp_table = {
	.chan_create = pier__soft_chan_create,
	.chan_destroy = pier__soft_chan_destroy,
	.chan_record = pier__soft_chan_record,
	.chan_clear = pier__soft_chan_clear,
	.cq_create = soft_cq_create,
	.cq_destroy = soft_cq_destroy,
	.poll = soft_poll,
	.arm = pier__soft_chan_arm,
	.srq_create = soft_srq_create,
	.srq_destroy = soft_srq_destroy,
	.srq_post = soft_srq_post,
	.srq_recall = soft_srq_recall,
	.qp_create = soft_qp_create,
	.qp_modify = soft_qp_modify,
	.qp_destroy = soft_qp_destroy,
	.post = soft_post,
	.acknowledge = soft_acknowledge,
	.rnr = soft_rnr,
	.psns = soft_psns,
	.fault = soft_fault,
	.refused = soft_refused,
	.ibv = soft_ibv,
};

int pier__soft_counters(struct pier__fdev *fdev, const struct pier__qp *pqp,
			struct pier_counters *ret)
{
	const struct soft_counters *counters;
	struct soft_counters sum;
	size_t i;

	if (pqp) {
		counters = ((const struct fabric_qp *)pqp)->queue->counters;
	} else {
		pier__soft_rows_sum(fdev->port.name, &sum);
		counters = &sum;
	}
	for (i = 0; i < (pqp ? SOFT_COUNTERS : SOFT_COUNTERS_EP); i++)
		pier__counters_put(ret, pier__soft_counter_names[i],
				   pier__soft_counter(counters, i));
	return 0;
}

const struct pier__fabric pier__soft = {
	.name = "soft",
	.dev = &pier__soft_dev,
	.qp = &soft_qp_table,
	.cm = &pier__soft_cm_table,
};
