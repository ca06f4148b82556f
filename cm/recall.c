/* SPDX-License-Identifier: BSD-2-Clause */
/* Posted requests that the program cancels. */
#include <errno.h>

#include "cm/post.h"
#include "cm/recall.h"
#include "core/fail.h"

void pier__queues_end_later(struct pier__queues *queues,
			    struct pier__posted *posted,
			    void (*end)(struct pier__posted *posted))
{
	posted->succeed = end;
	pier__posted_add(&queues->ready, posted);
	queues->attention = true;
	if (queues->source.armed)
		pier__pe_nudge(queues->pe);
}

/* Take @posted out of @queue; false: it is not in it. */
static bool take_out(struct pier__posted_queue *queue,
		     struct pier__posted *posted)
{
	struct pier__posted *before = NULL, *at = queue->first;

	for (; at && at != posted; at = at->next)
		before = at;
	if (!at)
		return false;
	if (before)
		before->next = at->next;
	else
		queue->first = at->next;
	if (queue->last == at)
		queue->last = before;
	return true;
}

static bool is_posted(const struct pier_conn *conn,
		      const struct pier__posted *posted)
{
	const struct pier__posted *at = conn->posted.first;

	while (at && at != posted)
		at = at->next;
	return at;
}

/* Take the request of @op out of the chain; false: it is not in it. */
static bool unchain(struct pier_conn *conn, const struct pier__op *op)
{
	struct ibv_send_wr *before = NULL, *wr = conn->chain;

	if (!wr)
		return false;
	while (wr->wr_id != (uintptr_t)op) {
		if (wr == conn->chain_last)
			return false;
		before = wr;
		wr = wr->next;
	}
	if (before)
		before->next = wr->next;
	else
		conn->chain = wr == conn->chain_last ? NULL : wr->next;
	if (conn->chain_last == wr)
		conn->chain_last = before;
	if (!conn->chain)
		pier__list_del(&conn->pending);
	return true;
}

void pier__conn_recall(struct pier_conn *conn, struct pier__posted *posted,
		       void (*end)(struct pier__posted *posted),
		       const char *what)
{
	if (unchain(conn, posted->op)) {
		take_out(&conn->posted, posted);
		pier__conn_return_credit(conn);
		pier__queues_end_later(conn->queues, posted, end);
	} else if (is_posted(conn, posted)) {
		pier__conn_cancel(conn, what);
	}
}

int pier__queues_recall(struct pier__queues *queues,
			struct pier__posted *posted,
			void (*end)(struct pier__posted *posted),
			const char *what)
{
	uint64_t wr_id = (uintptr_t)posted->op;

	/* it is about to be cancelled, or was recalled already */
	if (queues->error || posted->succeed == end)
		return 0;
	if (!queues->fab->srq_recall)
		return pier__fail(-EOPNOTSUPP, "%s: %s gives back no posted "
				  "receive: stop the context to get it back",
				  what, queues->dev->info.port.name);
	if (!queues->fab->srq_recall(queues->srq, wr_id))
		return pier__fail(-EBUSY, "%s: a message is in it: it "
				  "finishes with that, or with the connection",
				  what);
	pier__list_take_out(&posted->link);
	pier__queues_end_later(queues, posted, end);
	return 0;
}
