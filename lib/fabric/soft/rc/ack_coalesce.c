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
#define TOGETHER_MAX 8		/* messages; with the next one it leaves */
#define PAUSE_MIN 16		/* acknowledgements, until more is tried */
#define PAUSE_MAX 4096
#define FORGET 128		/* after as many the pause is half as long */
#define STRIKES 3		/* either side is held up now and then */

void pier__soft_delay_init(struct soft_delay *delay)
{
	*delay = (struct soft_delay){
		.pause = PAUSE_MIN,
		.trial_in = PAUSE_MIN,
	};
}

static void try_more(struct soft_delay *delay)
{
	delay->together = delay->together ? 2 * delay->together : 1;
	if (delay->together > TOGETHER_MAX)
		delay->together = TOGETHER_MAX;
	delay->trial_in = delay->pause;
	delay->strikes = STRIKES - 1;
}

/* All came that was waited for. */
static void paid(struct soft_delay *delay)
{
	delay->strikes = 0;
	if (delay->together && ++delay->paid == FORGET) {
		delay->paid = 0;
		if (delay->pause > PAUSE_MIN)
			delay->pause /= 2;
	}
	if (delay->together < TOGETHER_MAX && !--delay->trial_in)
		try_more(delay);
}

static void in_vain(struct soft_delay *delay)
{
	if (++delay->strikes < STRIKES)
		return;
	delay->strikes = 0;
	delay->together = (uint8_t)(delay->messages - 1);
	delay->trial_in = delay->pause;
	if (delay->pause < PAUSE_MAX)
		delay->pause *= 2;
}

void pier__soft_delay_answered(struct soft_qp *qp)
{
	struct soft_resp *resp = &qp->resp;
	struct soft_delay *delay = &resp->delay;

	if (!delay->may_wait)
		return;
	delay->may_wait = false;	/* the first post answers it */
	if (resp->due != SOFT_DUE_ACK || resp->res_todo ||
	    qp->state != IBV_QPS_RTS)
		return;
	if (delay->messages >= delay->together) {
		paid(delay);
		return;
	}
	delay->messages++;
	delay->until = qp->ep->now + DELAY_NS;
	delay->waiting = true;
	pier__list_del(&resp->link);
	pier__list_add(&qp->ep->delayed, &resp->link);
}

void pier__soft_delay_end(struct soft_qp *qp)
{
	if (!qp->resp.delay.waiting)
		return;
	qp->resp.delay.waiting = false;
	pier__list_del(&qp->resp.link);
}

static struct soft_qp *first(const struct soft_ep *ep)
{
	return pier__container_of(ep->delayed.next, struct soft_qp, resp.link);
}

uint64_t pier__soft_delay_due(const struct soft_ep *ep)
{
	return pier__list_empty(&ep->delayed) ? PIER__NEVER :
						first(ep)->resp.delay.until;
}

void pier__soft_delay_run(struct soft_ep *ep, bool all)
{
	struct soft_qp *qp;

	while (!pier__list_empty(&ep->delayed)) {
		qp = first(ep);
		if (!all && qp->resp.delay.until > ep->now)
			break;
		if (qp->resp.delay.until <= ep->now)
			in_vain(&qp->resp.delay);
		pier__soft_reply_ack(qp);
	}
}

void pier__soft_delay_repeated(struct soft_qp *qp)
{
	if (qp->resp.delay.waiting)
		in_vain(&qp->resp.delay);
}
