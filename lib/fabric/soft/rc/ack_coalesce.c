/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/clock.h"
#include "fabric/soft/rc/qp.h"

/*
 * Acknowledgements that wait.  In a request and response pattern the peer's
 * next message follows our answer, and one ACK can be for both.  So the ACK
 * of a message that the program answers at once waits for the next message.
 *
 * The requester may also be waiting for this ACK.  Then the wait ends by its
 * deadline: a miss.  After MISSES of them in a row the limit is what the peer
 * did send without an ACK.  The maximum is tried again every TRIAL_ACKS; there
 * the first miss is enough.  docs/decisions.md has the measurements.
 */
#define DEADLINE_NS 50000	/* for the next message */
#define LIMIT_MAX 8		/* messages; the next one sends the ACK */
#define TRIAL_FIRST 16
#define TRIAL_ACKS 1024
#define MISSES 3		/* either process may be preempted */

void pier__soft_ack_coalesce_init(struct soft_ack_coalesce *coalesce)
{
	*coalesce = (struct soft_ack_coalesce){ .trial_in = TRIAL_FIRST };
}

/* All messages that the ACK waited for have come. */
static void hit(struct soft_ack_coalesce *coalesce)
{
	coalesce->misses = 0;
	if (coalesce->limit < LIMIT_MAX && !--coalesce->trial_in) {
		coalesce->limit = LIMIT_MAX;
		coalesce->misses = MISSES - 1;
	}
}

static void miss(struct soft_ack_coalesce *coalesce)
{
	if (++coalesce->misses < MISSES)
		return;
	coalesce->misses = 0;
	coalesce->limit = (uint8_t)(coalesce->unacked - 1);
	coalesce->trial_in = TRIAL_ACKS;
}

void pier__soft_ack_coalesce_posted(struct soft_qp *qp)
{
	struct soft_resp *resp = &qp->resp;
	struct soft_ack_coalesce *coalesce = &resp->coalesce;

	if (!coalesce->may_coalesce)
		return;
	coalesce->may_coalesce = false;	/* the first post answers it */
	if (resp->due != SOFT_DUE_ACK || resp->res_todo ||
	    qp->state != IBV_QPS_RTS)
		return;
	if (coalesce->unacked >= coalesce->limit) {
		hit(coalesce);
		return;
	}
	coalesce->unacked++;
	coalesce->deadline = qp->ep->now + DEADLINE_NS;
	coalesce->waiting = true;
	pier__list_del(&resp->link);
	pier__list_add(&qp->ep->coalesced, &resp->link);
}

void pier__soft_ack_coalesce_cancel(struct soft_qp *qp)
{
	if (!qp->resp.coalesce.waiting)
		return;
	qp->resp.coalesce.waiting = false;
	pier__list_del(&qp->resp.link);
}

static struct soft_qp *first(const struct soft_ep *ep)
{
	return pier__container_of(ep->coalesced.next, struct soft_qp,
				  resp.link);
}

uint64_t pier__soft_ack_coalesce_due(const struct soft_ep *ep)
{
	return pier__list_empty(&ep->coalesced) ?
		       PIER__NEVER :
		       first(ep)->resp.coalesce.deadline;
}

void pier__soft_ack_coalesce_run(struct soft_ep *ep, bool all)
{
	struct soft_qp *qp;

	while (!pier__list_empty(&ep->coalesced)) {
		qp = first(ep);
		if (!all && qp->resp.coalesce.deadline > ep->now)
			break;
		if (qp->resp.coalesce.deadline <= ep->now)
			miss(&qp->resp.coalesce);
		pier__soft_reply_ack(qp);
	}
}

void pier__soft_ack_coalesce_duplicate(struct soft_qp *qp)
{
	if (qp->resp.coalesce.waiting)
		miss(&qp->resp.coalesce);
}
