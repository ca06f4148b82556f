/* SPDX-License-Identifier: BSD-2-Clause */
/* The congestion window of each destination: the limit of packets in flight. */
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "fabric/soft/rc/qp.h"

#define WINDOW_START (32 * SOFT_CWND_PACKET)
#define WINDOW_MIN (2 * SOFT_CWND_PACKET)

/*
 * The timeout is longer than a scheduler's time slice: a peer process that is
 * not scheduled for that long answers late, but has lost no packet.
 */
#define RTO_START (10 * PIER__MS)	/* while nothing is measured */
#define RTO_MIN (4 * PIER__MS)

/* The first wait is at most twice this, unless a longer RTT is measured. */
#define LATE_MAX (500 * PIER__MS)

/* An RTT this much above twice the minimum is taken for queueing. */
#define QUEUE_MAX RTO_MIN
#define QUEUE_TRIES 4
#define RTT_MIN_AGE (10000 * PIER__MS)	/* routes change */

/* Far away: a packet a round trip for each of these, SOFT_CWND_FAR at most. */
#define FAR_UNIT (2 * PIER__MS)

/* Further away, it grows by a packet a round trip for each of these. */
#define GROWTH_UNIT (12500 * PIER__MS / 1000)
#define GROWTH_MAX 16

/*
 * Packets to a peer that is as far away as this are paced for some round trips
 * after one was lost, those of a window in a round trip divided by this factor.
 * What was held back at the gap would else follow it as one burst.
 */
#define PACE_RTT (40 * PIER__MS)
#define PACE_ROUNDS 4
#define PACE_GAIN 2
#define BURST_SHARE 32			/* of the window, at most */

static bool addr_same(const struct soft_addr *a, const struct soft_addr *b)
{
	return a->port == b->port && IN6_ARE_ADDR_EQUAL(&a->ip, &b->ip);
}

static uint32_t addr_code(const struct pier__hash *hash,
			  const struct soft_addr *addr)
{
	uint64_t half[2];

	memcpy(half, &addr->ip, sizeof(half));
	return pier__hash_code(hash, pier__hash_code(hash, half[0], half[1]),
			       addr->port);
}

static struct soft_cwnd *find(const struct soft_ep *ep, uint32_t code,
			      const struct soft_addr *addr)
{
	struct pier__hash_link *link = pier__hash_find(&ep->cwnds, code);
	struct soft_cwnd *cwnd;

	for (; link; link = pier__hash_match(link->next, code)) {
		cwnd = pier__container_of(link, struct soft_cwnd, link);
		if (addr_same(&cwnd->addr, addr))
			return cwnd;
	}
	return NULL;
}

struct soft_cwnd *pier__soft_cwnd_get(struct soft_ep *ep,
				      const struct soft_addr *addr)
{
	uint32_t code = addr_code(&ep->cwnds, addr);
	struct soft_cwnd *cwnd = find(ep, code, addr);

	if (cwnd) {
		cwnd->refs++;
		return cwnd;
	}
	if (pier__hash_reserve(&ep->cwnds, ep->cwnds.count + 1))
		return NULL;
	cwnd = calloc(1, sizeof(*cwnd));
	if (!cwnd)
		return NULL;
	pier__list_init(&cwnd->active);
	pier__list_init(&cwnd->qps);
	cwnd->addr = *addr;
	cwnd->refs = 1;
	cwnd->answered = ep->senders.period - 2;	/* not lately */
	cwnd->window = WINDOW_START;
	cwnd->ssthresh = SOFT_CWND_FAR * SOFT_CWND_MAX;
	pier__hash_add(&ep->cwnds, &cwnd->link, code);
	return cwnd;
}

void pier__soft_cwnd_put(struct soft_ep *ep, struct soft_cwnd *cwnd)
{
	if (--cwnd->refs)
		return;
	pier__list_del(&cwnd->active);
	pier__hash_del(&ep->cwnds, &cwnd->link);
	free(cwnd);
}

static bool is_paced(const struct soft_ep *ep, const struct soft_cwnd *cwnd)
{
	return cwnd->rtt_min >= PACE_RTT && cwnd->lost_at &&
	       ep->now - cwnd->lost_at < PACE_ROUNDS * cwnd->rtt;
}

uint64_t pier__soft_cwnd_send_at(const struct soft_ep *ep,
				 const struct soft_cwnd *cwnd)
{
	if (cwnd->incast)
		return cwnd->send_at;
	if (!is_paced(ep, cwnd))
		return 0;
	return cwnd->send_at + cwnd->rtt / BURST_SHARE;
}

bool pier__soft_cwnd_fits(const struct soft_ep *ep,
			  const struct soft_cwnd *cwnd, uint32_t cost)
{
	if (!cost)
		return true;
	if ((cwnd->incast || is_paced(ep, cwnd)) && ep->now < cwnd->send_at)
		return false;
	/* One packet may be sent, however large it is. */
	return !cwnd->inflight || cwnd->inflight + cost <= cwnd->window;
}

static void pace(const struct soft_ep *ep, struct soft_cwnd *cwnd,
		 uint32_t cost)
{
	uint64_t burst = cwnd->rtt / BURST_SHARE;
	uint64_t wait = cwnd->rtt * cost / cwnd->window / PACE_GAIN;

	if (cwnd->send_at + burst < ep->now)
		cwnd->send_at = ep->now - burst;
	cwnd->send_at += wait;
}

void pier__soft_cwnd_charge(const struct soft_ep *ep, struct soft_cwnd *cwnd,
			    uint32_t cost)
{
	cwnd->inflight += cost;
	if (cwnd->incast && cost)
		pier__soft_incast_pace(ep, cwnd, cost);
	else if (cost && is_paced(ep, cwnd))
		pace(ep, cwnd, cost);
}

/*
 * A window that grew by a packet each round trip would have little beside that
 * of a near peer, which grows so much more often.
 */
static uint32_t cwnd_far(const struct soft_cwnd *cwnd)
{
	uint64_t far = cwnd->rtt_min / FAR_UNIT;

	if (far <= 1 || pier__soft_incast_is_likely(cwnd))
		return 1;
	return far < SOFT_CWND_FAR ? (uint32_t)far : SOFT_CWND_FAR;
}

/* Packets by which it grows each round trip. */
static uint32_t cwnd_growth(const struct soft_cwnd *cwnd, uint32_t far)
{
	uint64_t growth = cwnd->rtt_min / GROWTH_UNIT;

	if (far < SOFT_CWND_FAR || growth < far)
		return far;
	return growth < GROWTH_MAX ? (uint32_t)growth : GROWTH_MAX;
}

/* Not more packets than the peer holds ahead of a gap. */
static uint32_t cwnd_most(const struct soft_cwnd *cwnd, uint32_t far)
{
	uint32_t most = far * SOFT_CWND_MAX;
	uint32_t held = SOFT_EARLY * cwnd->packet;

	return most < held ? most : held;
}

/*
 * Slow start doubles it each round trip; then it grows by packets, of the size
 * that is sent: TCP on the same link grows by such.
 */
static void cwnd_grow(struct soft_cwnd *cwnd, uint32_t acked)
{
	uint32_t far = cwnd_far(cwnd);

	if (cwnd->fixed || cwnd->inflight < cwnd->window / 2)
		return;		/* the window was not the limit */
	if (cwnd->incast)
		cwnd->window += pier__soft_incast_growth(cwnd, acked);
	else if (cwnd->window < cwnd->ssthresh)
		cwnd->window += acked;
	else
		cwnd->window += (uint64_t)cwnd_growth(cwnd, far) * acked *
				cwnd->packet / cwnd->window;
	if (cwnd->window > cwnd_most(cwnd, far))
		cwnd->window = cwnd_most(cwnd, far);
}

static void cwnd_activate(struct soft_ep *ep, struct soft_cwnd *cwnd)
{
	if (!pier__list_empty(&cwnd->qps) && pier__list_empty(&cwnd->active))
		pier__list_add(&ep->ready, &cwnd->active);
}

void pier__soft_cwnd_release(struct soft_ep *ep, struct soft_cwnd *cwnd,
			     uint32_t cost, bool acked)
{
	if (acked)
		cwnd_grow(cwnd, cost);
	cwnd->inflight -= cost;
	cwnd_activate(ep, cwnd);
}

void pier__soft_cwnd_reduce(struct soft_ep *ep, struct soft_cwnd *cwnd)
{
	uint32_t least = cwnd->incast ? SOFT_INCAST_MIN : WINDOW_MIN;

	if (cwnd->fixed)
		return;
	/* Losses within one round trip count as one. */
	if (cwnd->reduced_at && ep->now - cwnd->reduced_at < cwnd->rtt)
		return;
	cwnd->reduced_at = ep->now;
	cwnd->window -= cwnd->window / (cwnd->incast ? 4 : 2);
	if (cwnd->window < least)
		cwnd->window = least;
	cwnd->ssthresh = cwnd->window;
}

void pier__soft_cwnd_fix(struct soft_cwnd *cwnd, uint32_t window)
{
	cwnd->fixed = window;
	cwnd->window = window ? window : WINDOW_START;
	cwnd->ssthresh = SOFT_CWND_FAR * SOFT_CWND_MAX;
	cwnd->incast = false;
	cwnd->lost_at = 0;
	cwnd->queue_cuts = 0;
}

static void cwnd_shortest_rtt(struct soft_ep *ep, struct soft_cwnd *cwnd,
			      uint64_t sample)
{
	cwnd->rtt_min = sample;
	cwnd->rtt_min_at = ep->now;
	cwnd->queue_cuts = 0;
}

/*
 * A queue that grows is a sign of congestion before a loss.  But if the round
 * trip stays long although the window was reduced, the route has changed.
 */
static void cwnd_check_queue(struct soft_ep *ep, struct soft_cwnd *cwnd,
			     uint64_t sample)
{
	if (!cwnd->rtt_min_at || sample <= cwnd->rtt_min ||
	    ep->now - cwnd->rtt_min_at > RTT_MIN_AGE) {
		cwnd_shortest_rtt(ep, cwnd, sample);
	} else if (sample <= 2 * cwnd->rtt_min + QUEUE_MAX) {
		cwnd->queue_cuts = 0;
	} else if (cwnd->queue_cuts == QUEUE_TRIES) {
		cwnd_shortest_rtt(ep, cwnd, sample);
		cwnd->window = cwnd->ssthresh = cwnd->uncut_window;
	} else {
		if (!cwnd->queue_cuts++)
			cwnd->uncut_window = cwnd->window;
		pier__soft_cwnd_reduce(ep, cwnd);
	}
}

void pier__soft_cwnd_rtt(struct soft_ep *ep, struct soft_cwnd *cwnd,
			 uint64_t sample)
{
	uint64_t off;

	cwnd->late = 0;
	pier__soft_incast_check(ep, cwnd);
	if (!cwnd->fixed)
		cwnd_check_queue(ep, cwnd, sample);
	if (!cwnd->rtt) {
		cwnd->rtt = sample ? sample : 1;
		cwnd->rtt_var = sample / 2;
		return;
	}
	off = sample > cwnd->rtt ? sample - cwnd->rtt : cwnd->rtt - sample;
	cwnd->rtt_var = (3 * cwnd->rtt_var + off) / 4;
	cwnd->rtt = (7 * cwnd->rtt + sample) / 8;
	if (!cwnd->rtt)
		cwnd->rtt = 1;
}

/*
 * Which transmission it acknowledges is not known.  The last one, if the others
 * did not arrive, or if it comes a round trip after that.  Else it may be the
 * first: then the timeout is shorter than the round trip, each packet is
 * retransmitted, and none can be timed.  Where acknowledgements are lost it
 * looks the same, and the time would double with each message.
 */
void pier__soft_cwnd_late(struct soft_cwnd *cwnd, uint64_t first, uint64_t last,
			  bool nak)
{
	if (nak && cwnd->late > last)
		cwnd->late = last;
	if (nak || (cwnd->rtt && last <= cwnd->rtt + 4 * cwnd->rtt_var))
		return;
	if (first > LATE_MAX)
		first = LATE_MAX;
	if (cwnd->late < first)
		cwnd->late = first;
}

uint64_t pier__soft_cwnd_rto(const struct soft_cwnd *cwnd)
{
	uint64_t off = 4 * cwnd->rtt_var;

	if (!cwnd->rtt)
		return RTO_START;
	return cwnd->rtt + (off < RTO_MIN ? RTO_MIN : off);
}

void pier__soft_cwnd_schedule(struct soft_ep *ep, struct soft_qp *qp)
{
	struct soft_cwnd *cwnd = qp->cwnd;

	if (pier__list_empty(&qp->req.link))
		pier__list_add(&cwnd->qps, &qp->req.link);
	cwnd_activate(ep, cwnd);
}
