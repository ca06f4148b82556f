/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "cm/conn.h"
#include "core/fail.h"

/*
 * The way of a work request from a task to the send queue.  Of a chain only
 * the last request is signalled: its completion stands for those before it,
 * while a failure always comes with a completion of its own.
 */

static void add_to_chain(struct pier_conn *conn, struct ibv_send_wr *wr)
{
	if (conn->chain) {
		conn->chain_last->next = wr;
	} else {
		conn->chain = wr;
		pier__list_add(&conn->qset->pending, &conn->pending);
	}
	conn->chain_last = wr;
}

int pier__conn_post(struct pier_conn *conn, struct pier__posted *posted,
		    struct ibv_send_wr *wr, bool more)
{
	struct pier__qset *qset = conn->qset;
	struct ibv_send_wr *bad;
	int err;

	if (qset->inflight == qset->cfg->send_queue ||
	    conn->inflight == qset->cfg->conn_send_queue)
		return -EAGAIN;

	wr->next = NULL;
	if (more || conn->chain) {
		add_to_chain(conn, wr);
	} else {
		wr->send_flags |= IBV_SEND_SIGNALED;
		err = qset->fab->post(conn->qp, wr, &bad);
		if (err)
			return err;
	}
	pier__posted_add(&conn->posted, posted);
	conn->inflight++;
	qset->inflight++;
	if (conn->chain && !more)
		pier__conn_flush(conn);
	return 0;
}

void pier__conn_flush(struct pier_conn *conn)
{
	struct ibv_send_wr *wr = conn->chain, *last = conn->chain_last, *bad;
	int err;

	pier__list_del(&conn->pending);
	conn->chain = conn->chain_last = NULL;
	if (!wr || !conn->qp)
		return;
	last->send_flags |= IBV_SEND_SIGNALED;
	err = conn->qset->fab->post(conn->qp, wr, &bad);
	if (err && !conn->post_error) {
		/* the rest was promised a completion: it ends with us */
		conn->post_error = err;
		pier__conn_kick(conn);
	}
}

/* The first one posted has succeeded: tell now, or later in this order. */
static void succeed_first(struct pier_conn *conn)
{
	struct pier__qset *qset = conn->qset;
	struct pier__posted *posted = pier__posted_pop(&conn->posted);

	conn->inflight--;
	qset->inflight--;
	if (qset->room > 0 && !qset->ready.first) {
		qset->room--;
		posted->succeed(posted);
	} else {
		pier__posted_add(&qset->ready, posted);
	}
}

bool pier__conn_done(struct pier_conn *conn, struct pier__posted *posted,
		     const struct ibv_wc *wc)
{
	struct pier__qset *qset = conn->qset;

	while (conn->posted.first != posted)
		succeed_first(conn);
	pier__posted_pop(&conn->posted);
	conn->inflight--;
	qset->inflight--;
	conn->completed++;
	if (!qset->ready.first)
		return true;
	if (wc->status == IBV_WC_SUCCESS) {
		pier__posted_add(&qset->ready, posted);
		return false;
	}
	pier__qset_tell(qset, INT32_MAX);
	return true;
}
