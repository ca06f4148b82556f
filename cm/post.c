/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "cm/conn.h"
#include "core/fail.h"

/* The way of a work request from a task to the send queue. */

int pier__conn_post(struct pier_conn *conn, struct pier__posted *posted,
		    struct ibv_send_wr *wr, bool more)
{
	struct pier__qset *qset = conn->qset;
	struct ibv_send_wr *bad;
	int err;

	if (conn->phase != PIER__CONN_UP)
		return pier__fail(-ENOTCONN, "the connection is in state %s",
				  pier_conn_state_name(conn->state));
	if (qset->inflight == qset->cfg->send_queue ||
	    conn->inflight == qset->cfg->conn_send_queue)
		return -EAGAIN;

	wr->next = NULL;
	if (conn->chain || more) {
		if (conn->chain)
			conn->chain_last->next = wr;
		else
			conn->chain = wr;
		conn->chain_last = wr;
	} else {
		err = qset->fab->post(conn->qp, wr, &bad);
		if (err)
			return err;
	}
	pier__list_add(&conn->posted, &posted->link);
	conn->inflight++;
	qset->inflight++;
	if (conn->chain && !more)
		pier__conn_flush(conn);
	else if (conn->chain && pier__list_empty(&conn->pending))
		pier__list_add(&qset->pending, &conn->pending);
	return 0;
}

void pier__conn_flush(struct pier_conn *conn)
{
	struct ibv_send_wr *wr = conn->chain, *bad;
	int err;

	pier__list_del(&conn->pending);
	conn->chain = conn->chain_last = NULL;
	if (!wr || !conn->qp)
		return;
	err = conn->qset->fab->post(conn->qp, wr, &bad);
	if (err && !conn->post_error) {
		/* the rest was promised a completion: it ends with us */
		conn->post_error = err;
		pier__conn_kick(conn);
	}
}

void pier__conn_done(struct pier_conn *conn, struct pier__posted *posted)
{
	pier__list_del(&posted->link);
	conn->inflight--;
	conn->completed++;
	conn->qset->inflight--;
}
