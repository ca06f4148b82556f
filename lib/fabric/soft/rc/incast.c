/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Incast: peers that send to one endpoint at a time, more of them than the
 * queue before it has space for packets.  A sender cannot see that by its
 * losses.  So the endpoint reports to each how many they are.  One of many that
 * loses packets has a small window, of less than a packet if need be, and its
 * packets are paced.  Peers that respond to READs do not see losses at all:
 * they send what the window of the reader requests, which counts them itself.
 */
#include "core/clock.h"
#include "fabric/soft/rc/qp.h"

#define PERIOD (20 * PIER__MS)		/* of counting */
#define FEW 2				/* an exponent: 4 senders */
#define LASTS (1000 * PIER__MS)		/* after a loss */
#define FIRST_MAX (SOFT_CWND_MAX / 8)	/* windows of all, at first */
#define GROWTH 3			/* an exponent: 8 packets */
#define WAIT_MAX (100 * PIER__MS)	/* for the next packet */

static uint8_t exponent(uint32_t count)
{
	return count < 2 ? 0 : (uint8_t)(32 - __builtin_clz(count - 1));
}

static bool is_idle(const struct soft_senders *senders, uint64_t now)
{
	return now - senders->begun_at >= 2 * PERIOD;
}

static void next_period(struct soft_senders *senders, uint64_t now)
{
	senders->before = is_idle(senders, now) ? 0 : senders->count;
	senders->count = 0;
	senders->begun_at = now;
	senders->period++;
}

static void count(struct soft_qp *qp)
{
	struct soft_senders *senders = &qp->ep->senders;
	uint64_t now = qp->ep->now;

	if (now - senders->begun_at >= PERIOD)
		next_period(senders, now);
	if (qp->cwnd->counted == senders->period)
		return;
	qp->cwnd->counted = senders->period;
	senders->count++;
	senders->reported = exponent(senders->count > senders->before ?
				     senders->count : senders->before);
}

/* The peer of @qp responds to READs, or is to respond. */
static void count_response(struct soft_qp *qp)
{
	struct soft_senders *senders = &qp->ep->senders;

	qp->cwnd->answered = senders->period;
	if (is_idle(senders, qp->ep->now))
		senders->reported = 0;	/* of earlier ones */
	if (senders->reported > qp->cwnd->senders)
		pier__soft_incast_report(qp->ep, qp->cwnd, senders->reported);
}

void pier__soft_incast_count(struct soft_qp *qp, uint8_t opcode)
{
	count(qp);
	if (pier__soft_is_read_response(opcode))
		count_response(qp);
}

static void begin(struct soft_cwnd *cwnd)
{
	uint32_t most = FIRST_MAX >> cwnd->senders;

	if (most < SOFT_INCAST_MIN)
		most = SOFT_INCAST_MIN;
	cwnd->incast = true;
	if (cwnd->window > most)
		cwnd->window = cwnd->ssthresh = most;
}

bool pier__soft_incast_is_likely(const struct soft_cwnd *cwnd)
{
	return cwnd->senders > FEW;
}

void pier__soft_incast_report(const struct soft_ep *ep, struct soft_cwnd *cwnd,
			      uint8_t senders)
{
	const struct soft_senders *here = &ep->senders;
	bool more;

	/* It responds to READs: many may send to us. */
	if (here->period - cwnd->answered <= 1 && senders < here->reported)
		senders = here->reported;
	more = senders > cwnd->senders;
	cwnd->senders = senders;
	pier__soft_incast_check(ep, cwnd);
	if (more && cwnd->lost_at && ep->now - cwnd->lost_at < LASTS &&
	    pier__soft_incast_is_likely(cwnd))
		begin(cwnd);
}

void pier__soft_incast_lost(struct soft_qp *qp)
{
	struct soft_cwnd *cwnd = qp->cwnd;

	if (qp->req.head && pier__soft_wqe_is_read(qp->req.head))
		count_response(qp);
	if (cwnd->fixed)
		return;
	cwnd->lost_at = qp->ep->now;
	if (!cwnd->incast && pier__soft_incast_is_likely(cwnd))
		begin(cwnd);
}

void pier__soft_incast_check(const struct soft_ep *ep, struct soft_cwnd *cwnd)
{
	if (!pier__soft_incast_is_likely(cwnd) ||
	    ep->now - cwnd->lost_at >= LASTS)
		cwnd->incast = false;
}

/*
 * The windows of all senders grow by 8 packets in a round trip, divided by the
 * number of senders: then that does not change the share of packets that are
 * lost.
 */
uint32_t pier__soft_incast_growth(const struct soft_cwnd *cwnd, uint32_t cost)
{
	uint64_t more = (uint64_t)cost * SOFT_CWND_PACKET / cwnd->window;

	return (uint32_t)(more >> (2 * cwnd->senders - GROWTH));
}

void pier__soft_incast_pace(const struct soft_ep *ep, struct soft_cwnd *cwnd,
			    uint32_t cost)
{
	uint64_t wait = cwnd->rtt * cost / cwnd->window;

	cwnd->send_at = ep->now + (wait < WAIT_MAX ? wait : WAIT_MAX);
}
