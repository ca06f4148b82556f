/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory windows, and the requests that bind and invalidate them. */
#include <errno.h>
#include <stdlib.h>

#include "core/fail.h"
#include "fabric/soft/rc/qp.h"
#include "fabric/soft/rc/window.h"

#define REMOTE (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | \
		IBV_ACCESS_REMOTE_ATOMIC)
#define WRITES (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)
#define KEY_LOW 0xffu		/* what a program chooses of a key */

struct soft_window {
	struct soft_mr mr;		/* first */
	struct soft_mr *region;		/* bound to; NULL: not bound */
	struct pier__list link;		/* of the endpoint's, if bound */
};

int pier__soft_window_create(struct soft_ep *ep, const void *pd,
			     struct soft_window **ret)
{
	struct soft_window *window = calloc(1, sizeof(*window));

	if (!window)
		return pier__fail(-ENOMEM, "no memory for a memory window");
	window->mr.pd = pd;
	window->mr.mr.rkey = pier__soft_mr_new_key(ep->keys);
	*ret = window;
	return 0;
}

uint32_t pier__soft_window_key(const struct soft_window *window)
{
	return window->mr.mr.rkey;
}

static void unbind(struct soft_ep *ep, struct soft_window *window)
{
	if (!window->region)
		return;
	pier__soft_mr_hide(ep->keys, &window->mr);
	pier__list_del(&window->link);
	window->region->windows--;
	window->region = NULL;
}

void pier__soft_window_destroy(struct soft_ep *ep, struct soft_window *window)
{
	unbind(ep, window);
	free(window);
}

bool pier__soft_window_invalidate(struct soft_qp *qp, uint32_t key)
{
	struct soft_mr *mr = pier__soft_mr_of(qp->ep->keys, key);

	if (!mr || mr->qpn != qp->qpn || mr->pd != qp->pd)
		return false;
	unbind(qp->ep, (struct soft_window *)mr);
	return true;
}

void pier__soft_window_unbind_all(struct soft_qp *qp)
{
	struct soft_window *window;
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &qp->ep->windows) {
		window = pier__container_of(pos, struct soft_window, link);
		if (window->mr.qpn == qp->qpn)
			unbind(qp->ep, window);
	}
}

/* May @window be bound as @to has it, to a part of its region? */
static bool may_bind(const struct soft_qp *qp, const struct soft_window *window,
		     const struct soft_binding *to)
{
	const struct soft_mr *region = to->region;

	return region && !region->qpn && region->pd == qp->pd &&
	       window->mr.pd == qp->pd &&
	       region->access & IBV_ACCESS_MW_BIND &&
	       (!(to->access & WRITES) ||
		region->access & IBV_ACCESS_LOCAL_WRITE) &&
	       to->addr >= region->addr && to->len <= region->len &&
	       to->addr - region->addr <= region->len - to->len;
}

static int show(struct soft_qp *qp, struct soft_window *window,
		const struct soft_binding *to, uint32_t key)
{
	int err;

	window->mr.addr = to->addr;
	window->mr.shift = to->region->shift;
	if (to->access & IBV_ACCESS_ZERO_BASED) {
		window->mr.addr = 0;
		window->mr.shift += to->addr;
	}
	window->mr.len = to->len;
	window->mr.access = to->access & REMOTE;
	window->mr.qpn = to->by_qp ? qp->qpn : SOFT_ANY_QP;
	err = pier__soft_mr_show(qp->ep->keys, &window->mr, key);
	if (!err) {
		window->region = to->region;
		to->region->windows++;
		pier__list_add(&qp->ep->windows, &window->link);
	}
	return err;
}

/* By a key that the program has chosen; a window that is bound stays so. */
static int bind_by_qp(struct soft_qp *qp, struct soft_window *window,
		      const struct soft_binding *to, uint32_t key)
{
	if (window->region || !to->len ||
	    (key ^ window->mr.mr.rkey) & ~KEY_LOW || !may_bind(qp, window, to))
		return -EINVAL;
	return show(qp, window, to, key);
}

static int bind_by_pd(struct soft_qp *qp, struct soft_window *window,
		      const struct soft_binding *to)
{
	uint32_t key = pier__soft_mr_new_key(qp->ep->keys);

	if (to->len && !may_bind(qp, window, to))
		return -EINVAL;
	unbind(qp->ep, window);
	window->mr.mr.rkey = key;
	return to->len ? show(qp, window, to, key) : 0;
}

static enum ibv_wc_status execute(struct soft_qp *qp,
				  const struct soft_local *op)
{
	bool ok;

	if (!op->window)
		ok = pier__soft_window_invalidate(qp, op->key);
	else if (op->to.by_qp)
		ok = !bind_by_qp(qp, op->window, &op->to, op->key);
	else
		ok = !bind_by_pd(qp, op->window, &op->to);
	return ok ? IBV_WC_SUCCESS : IBV_WC_MW_BIND_ERR;
}

static void complete(struct soft_qp *qp, const struct soft_wqe *wqe,
		     enum ibv_wc_status status)
{
	struct ibv_wc wc = {
		.wr_id = wqe->wr_id,
		.status = status,
		.opcode = wqe->opcode == IBV_WR_BIND_MW ? IBV_WC_BIND_MW :
							  IBV_WC_LOCAL_INV,
	};

	if (status || wqe->flags & IBV_SEND_SIGNALED)
		pier__soft_cq_push(qp, qp->cq, &wc);
}

void pier__soft_local_complete(struct soft_qp *qp, struct soft_wqe *local,
			       enum ibv_wc_status status)
{
	bool failed = status != IBV_WC_SUCCESS;
	struct soft_wqe *next;

	for (; local; local = next) {
		next = local->next;
		complete(qp, local, failed ? IBV_WC_WR_FLUSH_ERR :
					     (enum ibv_wc_status)local->status);
		failed = failed || local->status;
		qp->req.posted--;
		pier__soft_wqe_put(qp->ep, local);
	}
	if (failed)
		pier__soft_qp_fail(qp, IBV_WC_WR_FLUSH_ERR);
}

uint64_t pier__soft_local_barrier(const struct soft_qp *qp)
{
	const struct soft_wqe *wqe, *local;

	for (wqe = qp->req.head; wqe; wqe = wqe->next)
		for (local = wqe->local; local; local = local->next)
			if (local->status)
				return wqe->first + wqe->packets;
	return UINT64_MAX;
}

/* One that has failed is still to be completed. */
static bool has_failed(const struct soft_qp *qp)
{
	return qp->req.drain_end != UINT64_MAX &&
	       pier__soft_local_barrier(qp) != UINT64_MAX;
}

/* Behind the last request, or if there is none at once. */
static void queue(struct soft_qp *qp, struct soft_wqe *wqe)
{
	struct soft_req *req = &qp->req;
	struct soft_wqe *last, **at;

	req->posted++;
	if (!req->head) {
		pier__soft_local_complete(qp, wqe, IBV_WC_SUCCESS);
		return;
	}
	last = pier__container_of(req->tail, struct soft_wqe, next);
	for (at = &last->local; *at; at = &(*at)->next)
		;
	*at = wqe;
	if (wqe->status && req->drain_end > req->end)
		req->drain_end = req->end;
}

static int check(const struct soft_qp *qp)
{
	if (qp->ud || (qp->state != IBV_QPS_RTS && qp->state != IBV_QPS_SQD &&
		       qp->state != IBV_QPS_ERR))
		return pier__fail(-EINVAL, "request on QP %u in state %d",
				  qp->qpn, qp->state);
	if (qp->req.posted + qp->unpolled >= qp->send_wr)
		return pier__fail(-EAGAIN, "QP %u: %u sends are posted, as "
				  "many as it takes", qp->qpn, qp->send_wr);
	return 0;
}

int pier__soft_local_post(struct soft_qp *qp, const struct soft_local *op)
{
	struct soft_wqe *wqe;
	int err = check(qp);

	if (err)
		return err;
	wqe = pier__soft_wqe_get(qp->ep);
	if (!wqe)
		return pier__fail(-EAGAIN, "QP %u: all send requests of the "
				  "endpoint are in use", qp->qpn);
	wqe->next = NULL;
	wqe->local = NULL;
	wqe->wr_id = op->wr_id;
	wqe->flags = (uint8_t)op->flags;
	wqe->opcode = op->window ? IBV_WR_BIND_MW : IBV_WR_LOCAL_INV;
	wqe->status = IBV_WC_WR_FLUSH_ERR;
	if (qp->state != IBV_QPS_ERR && !has_failed(qp))
		wqe->status = execute(qp, op);
	queue(qp, wqe);
	return 0;
}
