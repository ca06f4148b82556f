/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CM_POST_H
#define PIER_CM_POST_H

#include "cm/conn_impl.h"
#include "core/probe.h"

/*
 * Posting of work requests, and their completion.  The connection is up and
 * has a credit.  A single request is posted by pier__conn_post(), several by
 * pier__conn_chain_first(), pier__conn_chain() for each of the others, and
 * pier__conn_flush().  Only the last request of a chain is signalled: its
 * success completes those before it; a request that fails always has a
 * completion of its own.
 */

static inline bool pier__conn_is_up(const struct pier_conn *conn)
{
	return conn->state == PIER__CONN_UP;
}

/* Neither limit of the sends in flight is reached. */
static inline bool pier__conn_has_credit(const struct pier_conn *conn)
{
	return conn->send_credits && conn->queues->send_credits;
}

/* Is there a chain, so that the next request has to be part of it? */
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
 * Post @wr, whose wr_id is the op of a struct pier__posted; the caller calls
 * pier__conn_posted() on success.  Errors: the device's.
 */
static inline int pier__conn_post(struct pier_conn *conn,
				  struct ibv_send_wr *wr)
{
	struct pier__queues *queues = conn->queues;

	pier__probe_submit(wr, conn);
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

/* Begin a chain with @wr, which is posted by the flush; it takes a credit. */
void pier__conn_chain_first(struct pier_conn *conn, struct pier__posted *posted,
			    struct ibv_send_wr *wr);

/* Add @wr to the chain, which is not empty. */
static inline void pier__conn_chain(struct pier_conn *conn,
				    struct pier__posted *posted,
				    struct ibv_send_wr *wr)
{
	pier__probe_submit(wr, conn);
	wr->send_flags &= ~(unsigned int)IBV_SEND_SIGNALED;
	conn->chain_last->next = wr;
	conn->chain_last = wr;
	pier__posted_append(&conn->posted, posted);
	pier__conn_take_credit(conn);
}

/*
 * @posted, a send, has completed with @wc, and those before it with success.
 * Returns whether the caller finishes its task; else succeed() does, later, or
 * this is called again, once the end of the connection has been reported.
 */
bool pier__conn_done(struct pier_conn *conn, struct pier__posted *posted,
		     const struct ibv_wc *wc);

/* The same if it is the first in flight, a success, and ready is empty. */
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

enum pier__outcome {
	PIER__UNDECIDED,	/* as pier__conn_done() has it */
	PIER__SUCCEEDED,
	PIER__FAILED,
};

/* What @wc is for @posted, and whether the caller finishes its task now. */
static inline enum pier__outcome
pier__conn_outcome(struct pier_conn *conn, struct pier__posted *posted,
		   const struct ibv_wc *wc)
{
	if (pier__conn_done_first(conn, posted, wc))
		return PIER__SUCCEEDED;
	if (!pier__conn_done(conn, posted, wc))
		return PIER__UNDECIDED;
	return wc->status == IBV_WC_SUCCESS ? PIER__SUCCEEDED : PIER__FAILED;
}

/* Would pier__conn_peer_ready() change nothing? */
static inline bool pier__conn_is_met(const struct pier_conn *conn)
{
	return conn->state == PIER__CONN_UP && conn->hello_seen;
}

/*
 * Post a receive, in two steps: pass it to the device, and if that succeeds
 * note it.  Errors: -EAGAIN, full; the device's.
 */
static inline int pier__queues_pass_recv(struct pier__queues *queues,
					 struct ibv_recv_wr *wr)
{
	return queues->fab->srq_post(queues->srq, wr, &queues->bad_recv);
}

static inline void pier__queues_note_recv(struct pier__queues *queues,
					  struct pier__posted *posted)
{
	pier__list_add(&queues->posted, &posted->link);
}

/* Both. */
static inline int pier__queues_post_recv(struct pier__queues *queues,
					 struct pier__posted *posted,
					 struct ibv_recv_wr *wr)
{
	int err = pier__queues_pass_recv(queues, wr);

	if (!err)
		pier__queues_note_recv(queues, posted);
	return err;
}

/* The connection whose QPN is @qpn; NULL: it has ended. */
static inline struct pier_conn *
pier__queues_conn(const struct pier__queues *queues, uint32_t qpn)
{
	struct pier__hash_link *link = pier__hash_find(&queues->by_qpn, qpn);

	return link ? pier__container_of(link, struct pier_conn, by_qpn) :
		      NULL;
}

#endif
