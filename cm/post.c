/* SPDX-License-Identifier: BSD-2-Clause */
#include "cm/post.h"

void pier__conn_chain_first(struct pier_conn *conn, struct pier__posted *posted,
			    struct ibv_send_wr *wr)
{
	pier__probe_submit(wr, conn);
	wr->send_flags &= ~(unsigned int)IBV_SEND_SIGNALED;
	conn->chain = conn->chain_last = wr;
	pier__list_add(&conn->queues->pending, &conn->pending);
	conn->queues->attention = true;
	pier__conn_posted(conn, posted);
}

void pier__conn_flush(struct pier_conn *conn)
{
	struct ibv_send_wr *wr = conn->chain, *last = conn->chain_last, *bad;
	int err;

	pier__list_del(&conn->pending);
	conn->chain = conn->chain_last = NULL;
	if (!wr || !conn->qp)
		return;
	last->next = NULL;
	last->send_flags |= IBV_SEND_SIGNALED;
	err = conn->queues->fab->post(conn->qp, wr, &bad);
	if (err && !conn->post_error) {
		/* tasks were submitted already: they fail with the chain */
		conn->post_error = err;
		pier__conn_schedule(conn);
	}
}

/*
 * The first in flight has succeeded: complete it now, or, beyond the budget or
 * if a task was recalled, in a later round by way of ready, which keeps the
 * order.
 */
static inline void succeed_first(struct pier_conn *conn)
{
	struct pier__queues *queues = conn->queues;
	struct pier__posted *posted = pier__posted_pop(&conn->posted);

	pier__conn_return_credit(conn);
	if (!queues->ready.first && --queues->budget >= 0) {
		posted->succeed(posted);
	} else {
		pier__posted_add(&queues->ready, posted);
		queues->attention = true;
	}
}

bool pier__conn_done(struct pier_conn *conn, struct pier__posted *posted,
		     const struct ibv_wc *wc)
{
	struct pier__queues *queues = conn->queues;

	while (conn->posted.first != posted)
		succeed_first(conn);
	pier__posted_pop(&conn->posted);
	if (wc->status == IBV_WC_WR_FLUSH_ERR &&
	    (conn->state == PIER__CONN_RESETTING ||
	     conn->state == PIER__CONN_FLUSHING)) {
		conn->unacked++;
		pier__posted_add(&conn->flushed, posted);
		return false;
	}
	pier__conn_return_credit(conn);
	conn->completed++;
	if (!queues->ready.first)
		return true;
	if (wc->status == IBV_WC_SUCCESS) {
		pier__posted_add(&queues->ready, posted);
		return false;
	}
	pier__queues_complete(queues, INT32_MAX);
	return true;
}
