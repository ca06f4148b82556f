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
 *
 * The helper of a program that polls memory holds an ACK until the program has
 * answered.  It leaves with the answer then: a peer that waits for it in a call
 * receives both there, and needs no helper.  A miss counts for two answers in
 * time, so that a peer that waits for every other ACK is not held up for long.
 */
#define DEADLINE_NS 50000	/* for the next message */
#define HELD_NS 200000		/* for an answer: few timers expire */
#define LIMIT_MAX 8		/* messages; the next one sends the ACK */
#define TRIAL_FIRST 16
#define TRIAL_ACKS 1024
#define MISSES 3		/* either process may be preempted */
#define HELD_MISS 2
#define HELD_MISSES (MISSES * HELD_MISS)

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

static uint64_t deadline_of(struct pier__list *link)
{
	return pier__container_of(link, struct soft_qp,
				  resp.link)->resp.coalesce.deadline;
}

/* In the order of their ends. */
static void wait(struct soft_qp *qp, uint64_t ns)
{
	struct pier__list *head = &qp->ep->coalesced, *next = head;
	uint64_t deadline = qp->ep->now + ns;

	qp->resp.coalesce.deadline = deadline;
	qp->resp.coalesce.waiting = true;
	pier__list_del(&qp->resp.link);
	while (next->prev != head && deadline_of(next->prev) > deadline)
		next = next->prev;
	pier__list_add(next, &qp->resp.link);
}

/* Is an ACK alone to be sent, and of a message that may be answered? */
static bool is_alone(const struct soft_qp *qp)
{
	const struct soft_resp *resp = &qp->resp;

	return resp->due == SOFT_DUE_ACK && !resp->res_todo &&
	       !resp->part_count && qp->state == IBV_QPS_RTS;
}

static void held_miss(struct soft_ack_coalesce *coalesce)
{
	coalesce->held_misses += HELD_MISS;
	if (coalesce->held_misses < HELD_MISSES)
		return;
	coalesce->held_misses = HELD_MISSES - HELD_MISS;
	coalesce->held_in = TRIAL_ACKS;
}

static bool may_hold(struct soft_qp *qp)
{
	struct soft_ack_coalesce *coalesce = &qp->resp.coalesce;

	if (!coalesce->may_coalesce || !is_alone(qp))
		return false;
	if (coalesce->held_in) {
		coalesce->held_in--;
		return false;
	}
	if (coalesce->unanswered)	/* the peer did not wait for that */
		held_miss(coalesce);
	return !coalesce->unanswered;
}

void pier__soft_ack_coalesce_hold(struct soft_ep *ep)
{
	struct pier__list *pos, *tmp;
	struct soft_qp *qp;

	PIER__LIST_EACH(pos, tmp, &ep->replying) {
		qp = pier__container_of(pos, struct soft_qp, resp.link);
		if (!may_hold(qp))
			continue;
		wait(qp, HELD_NS);
		qp->resp.coalesce.held = true;
		qp->resp.coalesce.unanswered = true;
	}
}

static void miss(struct soft_ack_coalesce *coalesce)
{
	if (coalesce->held) {
		held_miss(coalesce);
		return;
	}
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
	if (!is_alone(qp))
		return;
	if (coalesce->held && coalesce->held_misses)
		coalesce->held_misses--;
	coalesce->held = false;
	coalesce->unanswered = false;
	if (coalesce->unacked >= coalesce->limit) {
		hit(coalesce);
		pier__soft_reply_ack(qp);
		return;
	}
	coalesce->unacked++;
	wait(qp, DEADLINE_NS);
}

void pier__soft_ack_coalesce_cancel(struct soft_qp *qp)
{
	if (!qp->resp.coalesce.waiting)
		return;
	qp->resp.coalesce.waiting = false;
	qp->resp.coalesce.held = false;
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
	struct soft_ack_coalesce *coalesce = &qp->resp.coalesce;

	if (!coalesce->waiting)
		return;
	miss(coalesce);
	coalesce->may_coalesce = false;	/* nor does its ACK wait again */
}
