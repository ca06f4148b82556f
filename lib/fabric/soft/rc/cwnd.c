/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "core/clock.h"
#include "fabric/soft/rc/qp.h"

#define PACKET (SOFT_MTU_MAX + SOFT_PACKET_COST)
#define WINDOW_START (32 * PACKET)
#define WINDOW_MIN (2 * PACKET)
#define WINDOW_MAX (256 * PACKET)

/*
 * A peer that has no thread for it may be away for a scheduler's turn, which
 * is no loss.
 */
#define RTO_START (10 * PIER__MS)	/* while nothing is measured */
#define RTO_MIN (4 * PIER__MS)

/* Beyond twice the shortest round trip: so long it has stood in a queue. */
#define QUEUE_MAX RTO_MIN
#define QUEUE_TRIES 4
#define RTT_MIN_AGE (10000 * PIER__MS)	/* routes change */

static bool addr_same(const struct soft_addr *a, const struct soft_addr *b)
{
	return a->port == b->port && IN6_ARE_ADDR_EQUAL(&a->ip, &b->ip);
}

struct soft_dest *pier__soft_dest_get(struct soft_ep *ep,
				      const struct soft_addr *addr)
{
	struct pier__list *pos, *tmp;
	struct soft_dest *dest;

	PIER__LIST_EACH(pos, tmp, &ep->dests) {
		dest = pier__container_of(pos, struct soft_dest, link);
		if (addr_same(&dest->addr, addr)) {
			dest->refs++;
			return dest;
		}
	}
	dest = calloc(1, sizeof(*dest));
	if (!dest)
		return NULL;
	pier__list_init(&dest->active);
	pier__list_init(&dest->qps);
	dest->addr = *addr;
	dest->refs = 1;
	dest->window = WINDOW_START;
	dest->threshold = WINDOW_MAX;
	pier__list_add(&ep->dests, &dest->link);
	return dest;
}

void pier__soft_dest_put(struct soft_dest *dest)
{
	if (--dest->refs)
		return;
	pier__list_del(&dest->active);
	pier__list_del(&dest->link);
	free(dest);
}

bool pier__soft_dest_room(const struct soft_dest *dest, uint32_t cost)
{
	/* One is always let through, however large it is. */
	return !cost || !dest->inflight ||
	       dest->inflight + cost <= dest->window;
}

void pier__soft_dest_charge(struct soft_dest *dest, uint32_t cost)
{
	dest->inflight += cost;
}

/* Twice as much a round trip at first, then a packet more a round trip. */
static void dest_grow(struct soft_dest *dest, uint32_t acked)
{
	if (dest->inflight < dest->window / 2)
		return;		/* the window did not hold anyone up */
	if (dest->window < dest->threshold)
		dest->window += acked;
	else
		dest->window += (uint64_t)acked * PACKET / dest->window;
	if (dest->window > WINDOW_MAX)
		dest->window = WINDOW_MAX;
}

static void dest_activate(struct soft_ep *ep, struct soft_dest *dest)
{
	if (!pier__list_empty(&dest->qps) && pier__list_empty(&dest->active))
		pier__list_add(&ep->ready, &dest->active);
}

void pier__soft_dest_credit(struct soft_ep *ep, struct soft_dest *dest,
			    uint32_t cost, bool acked)
{
	if (acked)
		dest_grow(dest, cost);
	dest->inflight -= cost;
	dest_activate(ep, dest);
}

void pier__soft_dest_shrink(struct soft_ep *ep, struct soft_dest *dest)
{
	/* What was lost in one round trip is one loss. */
	if (dest->shrunk_at && ep->now - dest->shrunk_at < dest->rtt)
		return;
	dest->shrunk_at = ep->now;
	dest->window /= 2;
	if (dest->window < WINDOW_MIN)
		dest->window = WINDOW_MIN;
	dest->threshold = dest->window;
}

static void dest_shortest(struct soft_ep *ep, struct soft_dest *dest,
			  uint64_t sample)
{
	dest->rtt_min = sample;
	dest->rtt_min_at = ep->now;
	dest->queued = 0;
}

/*
 * A queue that grows is a sign that comes before the loss.  But a round trip
 * that stays as long whatever the window is that of another route.
 */
static void dest_queue(struct soft_ep *ep, struct soft_dest *dest,
		       uint64_t sample)
{
	if (!dest->rtt_min_at || sample <= dest->rtt_min ||
	    ep->now - dest->rtt_min_at > RTT_MIN_AGE) {
		dest_shortest(ep, dest, sample);
	} else if (sample <= 2 * dest->rtt_min + QUEUE_MAX) {
		dest->queued = 0;
	} else if (dest->queued == QUEUE_TRIES) {
		dest_shortest(ep, dest, sample);
		dest->window = dest->threshold = dest->unqueued;
	} else {
		if (!dest->queued++)
			dest->unqueued = dest->window;
		pier__soft_dest_shrink(ep, dest);
	}
}

void pier__soft_dest_rtt(struct soft_ep *ep, struct soft_dest *dest,
			 uint64_t sample)
{
	uint64_t off;

	dest_queue(ep, dest, sample);
	if (!dest->rtt) {
		dest->rtt = sample ? sample : 1;
		dest->rtt_var = sample / 2;
		return;
	}
	off = sample > dest->rtt ? sample - dest->rtt : dest->rtt - sample;
	dest->rtt_var = (3 * dest->rtt_var + off) / 4;
	dest->rtt = (7 * dest->rtt + sample) / 8;
	if (!dest->rtt)
		dest->rtt = 1;
}

uint64_t pier__soft_dest_rto(const struct soft_dest *dest)
{
	uint64_t rto = dest->rtt + 4 * dest->rtt_var;

	if (!dest->rtt)
		return RTO_START;
	return rto < RTO_MIN ? RTO_MIN : rto;
}

void pier__soft_dest_want(struct soft_ep *ep, struct soft_qp *qp)
{
	struct soft_dest *dest = qp->dest;

	if (pier__list_empty(&qp->req.link))
		pier__list_add(&dest->qps, &qp->req.link);
	dest_activate(ep, dest);
}
