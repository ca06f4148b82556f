/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/clock.h"
#include "fabric/soft/qp.h"

/* A binary heap over the QPs that wait for something, the next due first. */
static void heap_put(struct soft_ep *ep, uint32_t i, struct soft_qp *qp)
{
	ep->heap[i] = qp;
	qp->heap_at = i + 1;
}

static void heap_up(struct soft_ep *ep, uint32_t i)
{
	struct soft_qp *qp = ep->heap[i];
	uint32_t up;

	for (; i; i = up) {
		up = (i - 1) / 2;
		if (ep->heap[up]->due <= qp->due)
			break;
		heap_put(ep, i, ep->heap[up]);
	}
	heap_put(ep, i, qp);
}

static void heap_down(struct soft_ep *ep, uint32_t i)
{
	struct soft_qp *qp = ep->heap[i];
	uint32_t down;

	for (; (down = 2 * i + 1) < ep->heap_len; i = down) {
		if (down + 1 < ep->heap_len &&
		    ep->heap[down + 1]->due < ep->heap[down]->due)
			down++;
		if (qp->due <= ep->heap[down]->due)
			break;
		heap_put(ep, i, ep->heap[down]);
	}
	heap_put(ep, i, qp);
}

static void heap_remove(struct soft_ep *ep, struct soft_qp *qp)
{
	uint32_t i = qp->heap_at - 1;
	struct soft_qp *last = ep->heap[--ep->heap_len];

	qp->heap_at = 0;
	if (last == qp)
		return;
	heap_put(ep, i, last);
	heap_up(ep, i);
	heap_down(ep, last->heap_at - 1);
}

void pier__soft_timer_set(struct soft_qp *qp, uint64_t due)
{
	struct soft_ep *ep = qp->ep;
	uint64_t old = qp->due;

	if (due == PIER__NEVER) {
		if (qp->heap_at)
			heap_remove(ep, qp);
		return;
	}
	qp->due = due;
	if (!qp->heap_at) {
		heap_put(ep, ep->heap_len++, qp);
		heap_up(ep, qp->heap_at - 1);
	} else if (due < old) {
		heap_up(ep, qp->heap_at - 1);
	} else if (due > old) {
		heap_down(ep, qp->heap_at - 1);
	}
}

int pier__soft_timer_run(struct soft_ep *ep)
{
	struct soft_qp *qp;
	int n = 0;

	while (n < SOFT_BATCH && ep->heap_len && ep->heap[0]->due <= ep->now) {
		qp = ep->heap[0];
		pier__soft_timer_set(qp, PIER__NEVER);
		pier__soft_req_timer(qp);
		n++;
	}
	return n;
}
