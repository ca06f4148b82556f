/* SPDX-License-Identifier: BSD-2-Clause */
/* The owner of memory that peers have mapped: grants, and their end. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/clock.h"
#include "fabric/soft/shm/direct.h"
#include "fabric/soft/shm/fds.h"
#include "fabric/soft/shm/link.h"
#include "fabric/soft/shm/region.h"

#define REMOTE (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | \
		IBV_ACCESS_REMOTE_ATOMIC)
#define WRITES (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)
#define SPINS 256		/* before the peer may have ended */

/* Its place is that of its live word. */
struct grant {
	uint32_t stamp;		/* 0: there is none */
	uint32_t rkey, qpn;
};

struct soft_grants {
	uint32_t count, stamp;
	struct grant at[SOFT_RING_GRANTS];
};

_Static_assert(sizeof(struct soft_given) <= SOFT_RING_FIRST, "one cell");

int pier__soft_grants_create(struct soft_grants **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

static bool send_record(struct soft_link *link, enum soft_record_kind kind,
			const void *data, uint32_t len)
{
	uint8_t *to = pier__soft_ring_reserve(&link->out, len, 0);

	if (!to)
		return false;
	memcpy(to, data, len);
	pier__soft_ring_put(&link->out, kind, len);
	pier__soft_link_ring(link);
	return true;
}

/* The place has no grant; the peer may be using it until waited(). */
static void clear(struct soft_link *link, uint32_t slot)
{
	atomic_store_explicit(&link->out.own->live[slot], 0,
			      memory_order_relaxed);
	if (link->grants->at[slot].stamp)
		link->grants->count--;
	link->grants->at[slot].stamp = 0;
}

static bool has_died(const struct soft_link *link)
{
	struct pollfd fd = { .fd = link->pidfd, .events = POLLIN };

	return link->pidfd >= 0 && poll(&fd, 1, 0) > 0;
}

/* Until the peer uses nothing that was cleared.  Returns false: it is stuck. */
static bool waited(const struct soft_link *link)
{
	const _Atomic uint32_t *hazard = &link->in.peer->hazard;
	uint64_t limit = pier__now() + SOFT_REVOKE_NS;
	uint32_t seen, i;

	atomic_thread_fence(memory_order_seq_cst);
	seen = atomic_load_explicit(hazard, memory_order_seq_cst);
	for (i = 0; seen & 1; i++) {
		if (atomic_load_explicit(hazard, memory_order_acquire) != seen)
			break;
		if (i < SPINS)
			continue;
		if (has_died(link))
			break;
		if (pier__now() > limit)
			return false;
		sched_yield();
	}
	return true;
}

/* A peer that is stopped in a copy has no link any more. */
static void give_up(struct soft_link *link)
{
	link->state = SOFT_LINK_BROKEN;
	shutdown(link->sock, SHUT_RDWR);	/* wakes the helper */
	pier__soft_add(link->ep->counters, SOFT_COUNTER(shm_nonsense), 1);
}

/* What matches: @rkey and @qpn, unless 0. */
static bool clear_matching(struct soft_link *link, uint32_t rkey, uint32_t qpn,
			   uint32_t old[SOFT_RING_GRANTS])
{
	const struct grant *grant = link->grants->at;
	bool found = false;
	uint32_t i;

	for (i = 0; i < SOFT_RING_GRANTS; i++, grant++) {
		old[i] = 0;
		if (!grant->stamp || (rkey && grant->rkey != rkey) ||
		    (qpn && grant->qpn != qpn))
			continue;
		old[i] = grant->stamp;
		clear(link, i);
		found = true;
	}
	return found;
}

/* The peer unmaps what it does not use any more; at the latest with the link */
static void report(struct soft_link *link, const uint32_t *old)
{
	struct soft_revoked revoked;
	uint32_t i;

	for (i = 0; i < SOFT_RING_GRANTS; i++) {
		revoked = (struct soft_revoked){ .slot = i, .stamp = old[i] };
		if (old[i] && link->state == SOFT_LINK_UP)
			send_record(link, SOFT_RECORD_REVOKED, &revoked,
				    sizeof(revoked));
	}
}

/* Returns false if the peer is stuck in one of them. */
static bool end_matching(struct soft_link *link, uint32_t rkey, uint32_t qpn)
{
	uint32_t old[SOFT_RING_GRANTS];

	if (!link->grants || !link->grants->count ||
	    !clear_matching(link, rkey, qpn, old))
		return true;
	if (!waited(link)) {
		give_up(link);
		return false;
	}
	report(link, old);
	return true;
}

void pier__soft_grants_end_mr(struct soft_link *link, struct soft_mr *mr)
{
	if (!end_matching(link, mr->mr.rkey, 0))
		pier__soft_mr_replace(mr);
}

void pier__soft_grants_end_qp(struct soft_link *link, const struct soft_qp *qp)
{
	end_matching(link, 0, qp->qpn);
}

/* Whatever may be in use is given up: nothing will wait for it later. */
static void replace_all(struct soft_link *link,
			const struct soft_grants *granted)
{
	struct soft_mr *mr;
	uint32_t i;

	for (i = 0; i < SOFT_RING_GRANTS; i++) {
		mr = granted->at[i].stamp ?
			     pier__soft_mr_of(link->ep->keys,
					      granted->at[i].rkey) : NULL;
		if (mr)
			pier__soft_mr_replace(mr);
	}
}

void pier__soft_grants_destroy(struct soft_link *link)
{
	struct soft_grants granted;

	if (!link->grants)
		return;
	granted = *link->grants;
	if (!end_matching(link, 0, 0))
		replace_all(link, &granted);
	free(link->grants);
	link->grants = NULL;
}

/* The QP of ours that is connected to the one that asks. */
static const struct soft_qp *qp_of(const struct soft_link *link,
				   const struct soft_ask *ask)
{
	const struct soft_qp *qp = pier__soft_table_find(link->ep, ask->to);

	if (!qp || qp->io != &link->io || qp->dest_qpn != ask->from ||
	    qp->ep->verbs)
		return NULL;
	return qp->state == IBV_QPS_RTR || qp->state == IBV_QPS_RTS ||
	       qp->state == IBV_QPS_SQD ? qp : NULL;
}

/* Returns whether @ask is granted; then *given has what is not of the place. */
static bool check(const struct soft_link *link, const struct soft_ask *ask,
		  struct soft_given *given, int *memfd)
{
	const struct soft_mr *mr = pier__soft_mr_of(link->ep->keys, ask->rkey);
	const struct soft_qp *qp = qp_of(link, ask);

	if (!mr || !qp || mr->qpn || !pier__soft_mr_is_for(mr, qp->pd, 0))
		return false;
	*memfd = atomic_load(&mr->memfd);
	given->access = (uint32_t)(mr->access & qp->access & REMOTE);
	given->writes = mr->access & WRITES ? 1 : 0;
	given->addr = mr->addr;
	given->len = mr->len;
	given->id = mr->id;
	return *memfd >= 0 && given->access &&
	       (given->writes || pier__soft_region_is_sealed(*memfd));
}

static void grant(struct soft_link *link, const struct soft_ask *ask,
		  struct soft_given *given)
{
	struct soft_grants *grants = link->grants;
	struct grant *at = &grants->at[ask->slot];

	if (!++grants->stamp)
		grants->stamp = 1;
	*at = (struct grant){ grants->stamp, ask->rkey, ask->to };
	grants->count++;
	given->stamp = at->stamp;
	atomic_store_explicit(&link->out.own->live[ask->slot], at->stamp,
			      memory_order_release);
}

void pier__soft_grant_asked(struct soft_link *link, const uint8_t *data,
			    uint32_t len)
{
	struct soft_given given = { 0 };
	struct soft_gift gift;
	struct soft_ask ask;
	int memfd = -1, err = 0;

	if (len != sizeof(ask))
		return;
	memcpy(&ask, data, sizeof(ask));
	if (ask.slot >= SOFT_RING_GRANTS)
		return;
	clear(link, ask.slot);
	given.slot = ask.slot;
	given.rkey = ask.rkey;
	given.from = ask.from;
	if (check(link, &ask, &given, &memfd)) {
		gift.id = given.id;
		if (ask.have != given.id)
			err = pier__soft_fds_send(link->sock, &gift,
						  sizeof(gift), memfd);
		if (!err)
			grant(link, &ask, &given);
	}
	if (!send_record(link, SOFT_RECORD_GIVEN, &given, sizeof(given)))
		clear(link, ask.slot);
}
