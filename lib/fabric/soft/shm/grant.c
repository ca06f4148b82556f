/* SPDX-License-Identifier: BSD-2-Clause */
/* The owner of memory that peers have mapped: grants, and their end. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "core/clock.h"
#include "fabric/soft/shm/direct.h"
#include "fabric/soft/shm/fds.h"
#include "fabric/soft/shm/link.h"
#include "fabric/soft/shm/region.h"

#define REMOTE (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | \
		IBV_ACCESS_REMOTE_ATOMIC)
#define WRITES (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)
#define SPINS 256		/* before the peer may have ended */
#define YIELDS 4096		/* before it is not likely to go on soon */
#define NAP_NS 50000

/* Its place is that of its live word. */
struct grant {
	uint32_t stamp;		/* 0: there is none */
	uint32_t qpn;
	struct soft_mr *mr;	/* whose removal ends the grant */
};

struct soft_grants {
	uint32_t count, stamp;
	uint32_t stuck;		/* the hazard word that was waited for */
				/* in vain; 0: none */
	bool unreported;	/* that some have ended */
	struct grant at[SOFT_RING_GRANTS];
};

_Static_assert(sizeof(struct soft_given) <= SOFT_RING_FIRST, "one cell");

int pier__soft_grants_create(struct soft_grants **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

static bool send_record(struct soft_link *link, enum soft_record_kind kind,
			const void *data, uint32_t len, uint32_t spare)
{
	uint8_t *to = pier__soft_ring_reserve(&link->out, len, spare);

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

/* A peer that is stopped would be waited for in vain on the CPU. */
static void nap(uint32_t i)
{
	const struct timespec time = { .tv_nsec = NAP_NS };

	if (i < YIELDS)
		sched_yield();
	else
		nanosleep(&time, NULL);
}

/*
 * Until the peer uses nothing that was cleared.  Returns false: it is stuck,
 * and is not waited for again while it is.
 */
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
		if (seen == link->grants->stuck || pier__now() > limit) {
			link->grants->stuck = seen;
			return false;
		}
		nap(i);
	}
	return true;
}

/* A peer that is stopped in a copy has no link any more. */
static void give_up(struct soft_link *link)
{
	if (link->state != SOFT_LINK_UP)
		return;
	link->state = SOFT_LINK_BROKEN;
	shutdown(link->sock, SHUT_RDWR);	/* wakes the helper */
	pier__soft_add(link->ep->counters, SOFT_COUNTER(shm_nonsense), 1);
}

/* @mr and @qpn: any, if NULL or 0. */
static bool matches(const struct grant *grant, const struct soft_mr *mr,
		    uint32_t qpn)
{
	return grant->stamp && (!mr || grant->mr == mr) &&
	       (!qpn || grant->qpn == qpn);
}

/* No use of what matches begins any more.  Returns false if there is none. */
static bool stop_matching(struct soft_link *link, const struct soft_mr *mr,
			  uint32_t qpn)
{
	bool found = false;
	uint32_t i;

	for (i = 0; i < SOFT_RING_GRANTS; i++) {
		if (!matches(&link->grants->at[i], mr, qpn))
			continue;
		atomic_store_explicit(&link->out.own->live[i], 0,
				      memory_order_relaxed);
		found = true;
	}
	return found;
}

/* @held: the peer is stuck in one of them, or in another. */
static void clear_matching(struct soft_link *link, const struct soft_mr *mr,
			   uint32_t qpn, bool held)
{
	struct grant *grant = link->grants->at;
	uint32_t i;

	for (i = 0; i < SOFT_RING_GRANTS; i++, grant++) {
		if (!matches(grant, mr, qpn))
			continue;
		if (held)
			atomic_store(grant->mr->held, true);
		clear(link, i);
	}
}

/* The peer unmaps what it does not use any more; at the latest with the link */
static void report(struct soft_link *link)
{
	if (!link->grants->unreported || link->state != SOFT_LINK_UP)
		return;
	link->grants->unreported = !send_record(link, SOFT_RECORD_REVOKED, "",
						0, SOFT_RING_ANSWERS);
}

static void end_matching(struct soft_link *link, const struct soft_mr *mr,
			 uint32_t qpn)
{
	bool ended;

	if (!link->grants || !link->grants->count ||
	    !stop_matching(link, mr, qpn))
		return;
	ended = waited(link);
	clear_matching(link, mr, qpn, !ended);
	if (!ended)
		give_up(link);
	link->grants->unreported = true;
	report(link);
}

void pier__soft_grants_end_mr(struct soft_link *link, const struct soft_mr *mr)
{
	end_matching(link, mr, 0);
}

void pier__soft_grants_end_qp(struct soft_link *link, const struct soft_qp *qp)
{
	end_matching(link, NULL, qp->qpn);
}

void pier__soft_grants_destroy(struct soft_link *link)
{
	end_matching(link, NULL, 0);
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

/*
 * The memory of @ask, or NULL; then *given has what is not of the place.  Who
 * has mapped memory can read it, and write it if its memfd can be written:
 * none is given that may do less.
 */
static struct soft_mr *check(const struct soft_link *link,
			     const struct soft_ask *ask,
			     struct soft_given *given, int *memfd)
{
	struct soft_mr *mr = pier__soft_mr_of(link->ep->keys, ask->rkey);
	const struct soft_qp *qp = qp_of(link, ask);

	if (!mr || !qp || mr->qpn || !pier__soft_mr_is_for(mr, qp->pd, 0))
		return NULL;
	*memfd = atomic_load(&mr->memfd);
	given->access = (uint32_t)(mr->access & qp->access & REMOTE);
	given->writes = mr->access & WRITES ? 1 : 0;
	given->addr = mr->addr;
	given->len = mr->len;
	given->id = mr->id;
	if (*memfd < 0 || !(given->access & IBV_ACCESS_REMOTE_READ) ||
	    !(given->writes ? given->access & WRITES
			    : pier__soft_region_is_sealed(*memfd)))
		return NULL;
	return mr;
}

static void grant(struct soft_link *link, const struct soft_ask *ask,
		  struct soft_mr *mr, struct soft_given *given)
{
	struct soft_grants *grants = link->grants;
	struct grant *at = &grants->at[ask->slot];

	if (!++grants->stamp)
		grants->stamp = 1;
	*at = (struct grant){ grants->stamp, ask->to, mr };
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
	struct soft_mr *mr;
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
	mr = check(link, &ask, &given, &memfd);
	if (mr) {
		gift.id = given.id;
		if (ask.have != given.id)
			err = pier__soft_fds_send(link->sock, &gift,
						  sizeof(gift), memfd);
		if (!err)
			grant(link, &ask, mr, &given);
	}
	if (!send_record(link, SOFT_RECORD_GIVEN, &given, sizeof(given), 0))
		clear(link, ask.slot);
	report(link);
}
