/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/clock.h"
#include "fabric/soft/rc/qp.h"

/*
 * Acknowledgements that wait.  In a conversation the peer goes on by the
 * answer: its next message comes soon, and one acknowledgement can be for
 * both.  So the one for a message that the program answers at once waits for
 * that.  How many messages a peer sends without one is tried: more now and
 * then, and fewer when it falls silent.  Whoever waits for each has it at
 * once, but for a trial in thousands.
 */
#define DELAY_NS 50000		/* for the next message */
#define LIMIT_MAX 8		/* messages; with the next one it leaves */
#define PAUSE_MIN 16		/* acknowledgements, until more is tried */
#define PAUSE_MAX 4096
#define HITS 128		/* after as many the pause is half as long */
#define MISSES 3		/* either side is held up now and then */

void pier__soft_ack_coalesce_init(struct soft_ack_coalesce *coalesce)
{
	*coalesce = (struct soft_ack_coalesce){
		.pause = PAUSE_MIN,
		.trial_in = PAUSE_MIN,
	};
}

static void try_more(struct soft_ack_coalesce *coalesce)
{
	coalesce->limit = coalesce->limit ? 2 * coalesce->limit : 1;
	if (coalesce->limit > LIMIT_MAX)
		coalesce->limit = LIMIT_MAX;
	coalesce->trial_in = coalesce->pause;
	coalesce->misses = MISSES - 1;
}

/* All came that was waited for. */
static void hit(struct soft_ack_coalesce *coalesce)
{
	coalesce->misses = 0;
	if (coalesce->limit && ++coalesce->hits == HITS) {
		coalesce->hits = 0;
		if (coalesce->pause > PAUSE_MIN)
			coalesce->pause /= 2;
	}
	if (coalesce->limit < LIMIT_MAX && !--coalesce->trial_in)
		try_more(coalesce);
}

static void miss(struct soft_ack_coalesce *coalesce)
{
	if (++coalesce->misses < MISSES)
		return;
	coalesce->misses = 0;
	coalesce->limit = (uint8_t)(coalesce->unacked - 1);
	coalesce->trial_in = coalesce->pause;
	if (coalesce->pause < PAUSE_MAX)
		coalesce->pause *= 2;
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
	coalesce->deadline = qp->ep->now + DELAY_NS;
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
