/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CM_POST_H
#define PIER_CM_POST_H

#include "cm/conn_impl.h"

/*
 * The way of a work request from a task to the send queue and back.  On a
 * connection that is up and has room: pier__conn_post(), or, if it is one of
 * several, pier__conn_chain_first() or pier__conn_chain(), and behind the last
 * pier__conn_flush().  Of a chain only the last request is signalled: its
 * completion stands for those before it, while a failure always comes with a
 * completion of its own.
 */

static inline bool pier__conn_is_up(const struct pier_conn *conn)
{
	return conn->phase == PIER__CONN_UP;
}

/* Neither cap of the work in flight is reached. */
static inline bool pier__conn_has_credit(const struct pier_conn *conn)
{
	return conn->send_credits && conn->queues->send_credits;
}

/* Is there a chain already, so that whatever comes is part of it? */
static inline bool pier__conn_chained(const struct pier_conn *conn)
{
	return conn->chain;
}

static inline void pier__conn_take_credit(struct pier_conn *conn)
{
	conn->send_credits--;
	conn->queues->send_credits--;
}

static inline void pier__conn_return_credit(struct pier_conn *conn)
{
	conn->send_credits++;
	conn->queues->send_credits++;
}

/*
 * Post @wr, whose wr_id is the op of a posted one; if that goes well it is
 * in flight, as pier__conn_posted() tells.  Errors: the device's.
 */
static inline int pier__conn_post(struct pier_conn *conn,
				  struct ibv_send_wr *wr)
{
	struct pier__queues *queues = conn->queues;

	wr->next = NULL;
	wr->send_flags |= IBV_SEND_SIGNALED;
	return queues->fab->post(conn->qp, wr, &queues->bad);
}

static inline void pier__conn_posted(struct pier_conn *conn,
				     struct pier__posted *posted)
{
	pier__posted_add(&conn->posted, posted);
	pier__conn_take_credit(conn);
}

/* Keep @wr back, to be posted with what follows; it counts as posted. */
void pier__conn_chain_first(struct pier_conn *conn,
			    struct pier__posted *posted,
			    struct ibv_send_wr *wr);

/* And this one with it; the connection is chained. */
static inline void pier__conn_chain(struct pier_conn *conn,
				    struct pier__posted *posted,
				    struct ibv_send_wr *wr)
{
	wr->send_flags &= ~(unsigned int)IBV_SEND_SIGNALED;
	conn->chain_last->next = wr;
	conn->chain_last = wr;
	pier__posted_append(&conn->posted, posted);
	pier__conn_take_credit(conn);
}

/*
 * A posted send has completed as @wc says, and those before it with success.
 * Returns whether its task is to be finished now; else succeed() will.
 */
bool pier__conn_done(struct pier_conn *conn, struct pier__posted *posted,
		     const struct ibv_wc *wc);

/* The same where it is the first in flight, a success, and none waits. */
static inline bool pier__conn_done_first(struct pier_conn *conn,
					 const struct pier__posted *posted,
					 const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS || conn->posted.first != posted ||
	    conn->queues->ready.first)
		return false;
	pier__posted_pop(&conn->posted);
	pier__conn_return_credit(conn);
	conn->completed++;
	return true;
}

#endif
