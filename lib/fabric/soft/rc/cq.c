/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion queues. */
#include <errno.h>
#include <stdlib.h>

#include "core/fail.h"
#include "fabric/soft/rc/qp.h"

int pier__soft_cq_create(struct soft_ep *ep, uint32_t cqe, struct soft_cq **ret)
{
	struct soft_cq *cq;
	int err;

	if (!cqe || cqe > SOFT_QUEUE_MAX)
		return pier__fail(-EINVAL, "completion queue of %u: 1 to %u",
				  cqe, SOFT_QUEUE_MAX);
	cq = calloc(1, sizeof(*cq) + cqe * sizeof(*cq->wc));
	if (!cq)
		return pier__fail(-ENOMEM, "no memory for %u completions",
				  cqe);
	ep->cqe_sum += cqe;
	err = pier__soft_wqe_reserve(ep);
	if (err) {
		ep->cqe_sum -= cqe;
		free(cq);
		return err;
	}
	cq->ep = ep;
	cq->size = cqe;
	pier__list_init(&cq->faults);
	*ret = cq;
	return 0;
}

void pier__soft_cq_async(struct soft_cq *cq, void *async)
{
	cq->async = async;
}

void pier__soft_cq_destroy(struct soft_cq *cq)
{
	if (!cq)
		return;
	cq->ep->cqe_sum -= cq->size;
	free(cq);
}

static struct ibv_wc *cq_at(struct soft_cq *cq, uint32_t i)
{
	i += cq->head;
	return &cq->wc[i >= cq->size ? i - cq->size : i];
}

static void __attribute__((noinline, cold)) set_urgent(struct soft_cq *cq)
{
	cq->urgent = cq->dead || !pier__list_empty(&cq->faults);
}

/* The old queue, and that in its place. */
struct swap {
	struct soft_cq *old, *new;
};

static void swap_of(struct soft_qp *qp, void *arg)
{
	const struct swap *swap = arg;

	if (qp->cq == swap->old)
		qp->cq = swap->new;
	if (qp->recv_cq == swap->old)
		qp->recv_cq = swap->new;
}

int pier__soft_cq_resize(struct soft_cq **cq, uint32_t cqe)
{
	struct swap swap = { .old = *cq };
	struct pier__list *link;
	int err;

	if (cqe < swap.old->count)
		return pier__fail(-EINVAL, "completion queue of %u: it has %u "
				  "completions", cqe, swap.old->count);
	err = pier__soft_cq_create(swap.old->ep, cqe, &swap.new);
	if (err)
		return err;

	swap.new->outer = swap.old->outer;
	swap.new->async = swap.old->async;
	swap.new->solicited = swap.old->solicited;
	swap.new->dead = swap.old->dead;
	while (swap.old->count) {
		swap.new->wc[swap.new->count++] = *cq_at(swap.old, 0);
		swap.old->head = swap.old->head + 1 == swap.old->size ?
				 0 : swap.old->head + 1;
		swap.old->count--;
	}
	while ((link = pier__list_pop(&swap.old->faults)))
		pier__list_add(&swap.new->faults, link);
	set_urgent(swap.new);
	pier__soft_table_each(swap.old->ep, swap_of, &swap);
	pier__soft_cq_destroy(swap.old);
	*cq = swap.new;
	return 0;
}

bool pier__soft_cq_empty(const struct soft_cq *cq)
{
	return !cq->count && !cq->urgent;
}

bool pier__soft_cq_has_received(const struct soft_cq *cq, uint32_t qpn)
{
	const struct ibv_wc *wc;
	uint32_t i;

	for (i = 0; i < cq->count; i++) {
		wc = &cq->wc[(cq->head + i) % cq->size];
		if (wc->qp_num == qpn && !wc->status &&
		    wc->opcode & IBV_WC_RECV)
			return true;
	}
	return false;
}

static void count(const struct soft_cq *cq, const struct ibv_wc *wc, int n)
{
	uint64_t failed = 0;
	int i;

	for (i = 0; i < n; i++)
		failed += wc[i].status != IBV_WC_SUCCESS;
	pier__soft_add(cq->ep->counters, SOFT_COUNTER(completions),
		       (uint64_t)n);
	if (failed)
		pier__soft_add(cq->ep->counters,
			       SOFT_COUNTER(completions_failed), failed);
}

/* What is reported when no completions are left: a fault of a QP, or ours. */
static int __attribute__((noinline, cold))
poll_urgent(struct soft_cq *cq, struct ibv_wc *wc)
{
	struct pier__list *link = pier__list_pop(&cq->faults);
	const struct soft_qp *qp;

	if (!link)
		return pier__fail(-EOVERFLOW, "completion queue of %u is "
				  "overrun: completions are lost", cq->size);
	qp = pier__container_of(link, struct soft_fault, link)->qp;
	*wc = (struct ibv_wc){
		.wr_id = cq->outer ? (uintptr_t)cq->outer->faults : 0,
		.status = IBV_WC_GENERAL_ERR,
		.qp_num = qp->qpn,
		.src_qp = qp->dest_qpn,
	};
	set_urgent(cq);
	count(cq, wc, 1);
	return 1;
}

/*
 * As with an adapter, a send, or a receive of a queue pair's own, has its place
 * until its completion is taken.  Returns the count of those; NULL: of none.
 */
static uint32_t *unpolled_of(struct soft_qp *qp, const struct ibv_wc *wc)
{
	if (!(wc->opcode & IBV_WC_RECV))
		return &qp->unpolled;
	return pier__soft_has_own(qp) ? &qp->srq->unpolled : NULL;
}

static void return_places(struct soft_cq *cq, const struct ibv_wc *wc, int n)
{
	uint32_t *unpolled;
	struct soft_qp *qp;
	int i;

	for (i = 0; i < n; i++) {
		qp = pier__soft_table_find(cq->ep, wc[i].qp_num);
		unpolled = qp ? unpolled_of(qp, &wc[i]) : NULL;
		if (unpolled && *unpolled)
			--*unpolled;
	}
}

int pier__soft_cq_poll(struct soft_cq *cq, struct ibv_wc *wc, int max)
{
	int n = 0;

	while (n < max && cq->count) {
		wc[n++] = cq->wc[cq->head];
		cq->head = cq->head + 1 == cq->size ? 0 : cq->head + 1;
		cq->count--;
	}
	if (!n && cq->urgent && max)
		return poll_urgent(cq, wc);
	if (n)
		count(cq, wc, n);
	if (cq->ep->verbs)
		return_places(cq, wc, n);
	return n;
}

void pier__soft_cq_push(struct soft_qp *qp, struct soft_cq *cq,
			struct ibv_wc *wc)
{
	uint32_t *unpolled;

	if (cq->count == cq->size) {
		if (!cq->dead)
			pier__soft_async(cq->ep, IBV_EVENT_CQ_ERR, cq->async);
		cq->dead = true;
		cq->urgent = true;
		pier__soft_count(qp, SOFT_COUNTER(cq_overflows));
		return;
	}
	wc->qp_num = qp->qpn;
	if (!qp->ud)
		wc->src_qp = qp->dest_qpn;
	*cq_at(cq, cq->count++) = *wc;
	if (wc->status != IBV_WC_SUCCESS) {
		cq->solicited++;
		pier__soft_note(qp, SOFT_EVENT_COMPLETION, (int)wc->status);
	}
	unpolled = cq->ep->verbs ? unpolled_of(qp, wc) : NULL;
	if (unpolled)
		++*unpolled;
}

static bool has_sent(const struct ibv_wc *wc)
{
	return !wc->status && !(wc->opcode & IBV_WC_RECV);
}

void pier__soft_cq_purge(struct soft_cq *cq, uint32_t qpn, bool keep)
{
	uint32_t i, left = 0;

	for (i = 0; i < cq->count; i++)
		if (cq_at(cq, i)->qp_num != qpn ||
		    (keep && has_sent(cq_at(cq, i))))
			*cq_at(cq, left++) = *cq_at(cq, i);
	cq->count = left;
}

void pier__soft_cq_fault(struct soft_cq *cq, struct soft_fault *fault)
{
	pier__list_add(&cq->faults, &fault->link);
	set_urgent(cq);
}

void pier__soft_cq_no_fault(struct soft_cq *cq, struct soft_fault *fault)
{
	pier__list_del(&fault->link);
	set_urgent(cq);
}
