/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs: creation, the error state, reset. */
#include <errno.h>
#include <stdlib.h>

#include "core/clock.h"
#include "core/fail.h"
#include "fabric/soft/rc/post_direct.h"
#include "fabric/soft/rc/window.h"

static int cap_check(const struct ibv_qp_cap *cap)
{
	if (!cap->max_send_wr || cap->max_send_wr > SOFT_QUEUE_MAX)
		return pier__fail(-EINVAL, "send queue of %u: 1 to %u",
				  cap->max_send_wr, SOFT_QUEUE_MAX);
	if (cap->max_send_sge > SOFT_SEND_SGE)
		return pier__fail(-EINVAL, "requests in %u pieces: at most %u",
				  cap->max_send_sge, SOFT_SEND_SGE);
	if (cap->max_inline_data > SOFT_INLINE_MAX)
		return pier__fail(-EINVAL, "%u bytes inline: at most %u",
				  cap->max_inline_data, SOFT_INLINE_MAX);
	return 0;
}

int pier__soft_qp_create(struct soft_cq *cq, struct soft_srq *srq,
			 const struct ibv_qp_cap *cap, struct soft_qp **ret)
{
	struct soft_ep *ep = cq->ep;
	struct soft_qp *qp;
	int err;

	err = cap_check(cap);
	if (err)
		return err;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return pier__fail(-ENOMEM, "no memory for a QP");
	qp->ep = ep;
	qp->io = ep->io;
	qp->wire = ep->io;
	qp->cq = cq;
	qp->recv_cq = cq;
	qp->srq = srq;
	qp->send_wr = cap->max_send_wr;
	qp->send_sge = (uint8_t)cap->max_send_sge;
	qp->inline_size = (uint16_t)cap->max_inline_data;
	qp->state = IBV_QPS_RESET;
	qp->counters = &qp->own;
	pier__list_init(&qp->req.link);
	pier__list_init(&qp->resp.link);
	pier__soft_req_init(&qp->req, 0);
	pier__soft_resp_init(&qp->resp, 0);

	ep->send_wr_sum += qp->send_wr;
	err = pier__soft_wqe_reserve(ep);
	if (!err)
		err = pier__soft_table_add(ep, qp);
	if (err)
		goto err_sum;
	*ret = qp;
	return 0;

err_sum:
	ep->send_wr_sum -= qp->send_wr;
	free(qp);
	return err;
}

/* Cancel all that is in flight. */
static void qp_quiet(struct soft_qp *qp)
{
	struct soft_req *req = &qp->req;
	uint32_t cost = req->inflight;

	pier__soft_board_free(qp);
	pier__soft_timer_set(qp, PIER__NEVER);
	pier__list_del(&req->link);
	req->inflight = 0;
	req->rnr_wait = false;
	if (qp->cwnd)
		pier__soft_cwnd_release(qp->ep, qp->cwnd, cost, false);
}

/* It has no peer any more. */
static void qp_ended(struct soft_qp *qp)
{
	if (qp->io && qp->io->ops->ended)
		qp->io->ops->ended(qp->io, qp);
}

void pier__soft_qp_fail(struct soft_qp *qp, enum ibv_wc_status status)
{
	struct ibv_wc wc = {
		.status = IBV_WC_WR_FLUSH_ERR,
		.opcode = IBV_WC_RECV,
	};

	if (qp->state == IBV_QPS_ERR)
		return;
	qp->state = IBV_QPS_ERR;
	pier__soft_note(qp, SOFT_EVENT_STATE, IBV_QPS_ERR);
	qp_ended(qp);
	pier__soft_early_clear(qp);
	qp_quiet(qp);
	pier__soft_reply_drop_results(qp);
	qp->req.failed_at = qp->req.head ? qp->req.head->first : qp->req.una;
	pier__soft_waiting_queue(qp);
	/* the failed request first, then those that are flushed */
	if (qp->req.head)
		pier__soft_req_complete(qp, status);
	pier__soft_resp_complete(qp, &wc);
	pier__soft_srq_flush(qp);
	while (qp->req.head)
		pier__soft_req_complete(qp, IBV_WC_WR_FLUSH_ERR);
	qp->req.cur = NULL;
	if (status != IBV_WC_WR_FLUSH_ERR)
		pier__soft_qp_dump(qp);
	if (qp->srq && qp->srq->owner != qp)
		pier__soft_async(qp->ep, IBV_EVENT_QP_LAST_WQE_REACHED,
				 qp->async);
}

struct pier__psns pier__soft_qp_psns(const struct soft_qp *qp)
{
	return (struct pier__psns){
		.rq = qp->resp.epsn & SOFT_PSN_MASK,
		.sq = qp->req.failed_at & SOFT_PSN_MASK,
	};
}

static void put_wqes(struct soft_ep *ep, struct soft_wqe *wqe)
{
	struct soft_wqe *next;

	for (; wqe; wqe = next) {
		next = wqe->next;
		put_wqes(ep, wqe->local);
		pier__soft_wqe_put(ep, wqe);
	}
}

/*
 * Its completions are dropped.  For programs of verbs requests that succeeded
 * stay when it is destroyed, as with software adapters: a peer that disconnects
 * is seen before they are polled, and programs destroy it then.  Receives do
 * not: libfabric would post them again, where there is no queue pair any more.
 */
static void purge(struct soft_qp *qp, bool destroyed)
{
	bool keep = destroyed && qp->ep->verbs;

	pier__soft_cq_purge(qp->cq, qp->qpn, keep);
	if (qp->recv_cq != qp->cq)
		pier__soft_cq_purge(qp->recv_cq, qp->qpn, keep);
}

static void reset(struct soft_qp *qp, bool destroyed)
{
	struct soft_ep *ep = qp->ep;

	qp_ended(qp);
	pier__soft_early_free(qp);
	pier__soft_reply_final_ack(qp);
	if (qp->state != IBV_QPS_RESET)
		pier__soft_note(qp, SOFT_EVENT_STATE, IBV_QPS_RESET);
	qp->state = IBV_QPS_RESET;
	qp_quiet(qp);
	pier__list_del(&qp->resp.link);
	if (qp->resp.rwqe)
		pier__soft_srq_give(qp->srq, qp->resp.rwqe);
	pier__soft_srq_drop(qp);
	put_wqes(ep, qp->req.head);
	put_wqes(ep, qp->req.waiting);
	pier__soft_req_init(&qp->req, 0);
	pier__soft_resp_init(&qp->resp, 0);
	purge(qp, destroyed);
	qp->unpolled = 0;
	pier__soft_fault_free(qp);
	if (qp->cwnd)
		pier__soft_cwnd_put(ep, qp->cwnd);
	qp->cwnd = NULL;
}

void pier__soft_qp_reset(struct soft_qp *qp)
{
	reset(qp, false);
}

void pier__soft_qp_destroy(struct soft_qp *qp)
{
	if (!qp)
		return;
	reset(qp, true);
	pier__soft_window_unbind_all(qp);
	pier__soft_reply_put_parts(qp->ep, qp->resp.part);
	pier__soft_qp_record_in(qp, NULL);
	pier__soft_table_del(qp->ep, qp);
	qp->ep->send_wr_sum -= qp->send_wr;
	free(qp);
}

void pier__soft_qp_recv_by(struct soft_qp *qp, struct soft_cq *cq,
			   struct soft_srq *own)
{
	qp->recv_cq = cq;
	if (!own)
		return;
	qp->srq = own;
	own->owner = qp;
}

void pier__soft_qp_send_by(struct soft_qp *qp, struct soft_io *io)
{
	qp->io = io;
	qp->wire = io;
}

void pier__soft_qp_async(struct soft_qp *qp, void *async)
{
	qp->async = async;
}

void pier__soft_qp_protect(struct soft_qp *qp, const void *pd)
{
	qp->pd = pd;
}

void pier__soft_qp_count_in(struct soft_qp *qp, struct soft_counters *counters)
{
	qp->counters = counters;
}
