/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CM_QUEUES_H
#define PIER_CM_QUEUES_H

#include <stdbool.h>
#include <stdint.h>

#include "cm/owner.h"
#include "cm/scheduler.h"
#include "core/hash.h"
#include "core/list.h"
#include "core/op.h"
#include "dev/dev_impl.h"
#include "fabric/fabric.h"

/*
 * A posted request, embedded in a task, so that requests that a device does
 * not flush can be found.  Sends complete in order and are in a queue,
 * receives do not and are in a list.
 */
struct pier__posted {
	struct pier__posted *next;	/* sends */
	struct pier__list link;		/* receives */
	struct pier__op *op;
	/* It has succeeded, by a later one's completion; sends only. */
	void (*succeed)(struct pier__posted *posted);
};

struct pier__posted_queue {
	struct pier__posted *first, *last;	/* no first: empty */
};

/* Add to a queue that is not empty; in the data path, so without the test. */
static inline void pier__posted_append(struct pier__posted_queue *queue,
				       struct pier__posted *posted)
{
	posted->next = NULL;
	queue->last->next = posted;
	queue->last = posted;
}

static inline void pier__posted_add(struct pier__posted_queue *queue,
				    struct pier__posted *posted)
{
	posted->next = NULL;
	if (queue->first)
		queue->last->next = posted;
	else
		queue->first = posted;
	queue->last = posted;
}

/* Take the first one out; NULL: empty. */
static inline struct pier__posted *
pier__posted_pop(struct pier__posted_queue *queue)
{
	struct pier__posted *posted = queue->first;

	if (posted)
		queue->first = posted->next;
	return posted;
}

/*
 * One connection's control words.  The peer writes hello and goodbye; word is
 * the source of this end's writes to the peer.
 */
struct pier__ctl {
	_Atomic uint64_t hello, goodbye;
	uint64_t word;
	uint64_t unused;
};

/* What the flow by address does as its queues end; see rdmacm/rdmacm.c. */
struct pier__queues;
struct pier__rdmacm_ops {
	/* Are no requests left to reject? */
	bool (*idle)(const struct pier__queues *queues);
	/* Accept no requests, resolve no names; ids may remain. */
	void (*stop)(struct pier__queues *queues);
	/* No id remains: free it. */
	void (*close)(struct pier__queues *queues);
};

/* Requests of pier's own on a connection: keepalive, goodbye, the marker. */
#define PIER__CTL_WRS 3

/*
 * The settled configuration of one context's connections: no value stands for
 * a default.  It belongs to the owner and is constant while the queues live.
 */
struct pier__queues_config {
	uint32_t max_conns;
	uint32_t send_queue;		/* sends in flight, all connections */
	uint32_t conn_send_queue;	/* the same, one connection */
	uint32_t recv_queue;		/* receives posted */
	uint32_t send_chain, recv_chain; /* SGEs in one request */
	uint32_t inline_size;		/* bytes */
	uint32_t access;		/* PIER_REMOTE_*, what peers may do */
	int gid_index;			/* or PIER__GID_ANY */
	uint32_t mtu;			/* most, bytes; 0: the port's */
	uint32_t drain_ms;		/* bound on cleaning up */
	uint32_t connect_timeout_ms;
	uint32_t keepalive_ms;		/* 0: never */
	uint32_t rnr_timeout_ms;	/* 0: none */
	uint32_t shm;			/* enum pier_shm; 0: PIER_SHM's */
	uint32_t events;		/* enum pier_events; 0: PIER_EVENTS' */
	uint16_t pkey_index;
	uint8_t ack_timeout;		/* 4.096 us * 2^n */
	uint8_t retry_count, rnr_retry;
	uint8_t min_rnr_timer;		/* verbs code */
	uint8_t max_rd_atomic;		/* reads and atomics in flight */
	uint8_t traffic_class, hop_limit, service_level;
	bool no_hello;			/* by descriptor: up without one */
};

/*
 * What the connections of one context share: completion queue, receive queue,
 * the receives posted, the control words, the cap of work in flight.  Lives
 * while the context is not idle.  Engine's thread.
 */
struct pier__queues {
	struct pier__source source;	/* completions */
	struct pier_dev *dev;
	const struct pier__fabric_qp *fab;	/* of dev */
	struct pier_pe *pe;
	struct pier__conn_owner *owner;
	const struct pier__queues_config *cfg;
	struct pier__chan *chan;
	struct pier__cq *cq;
	struct pier__op fault_op;	/* cq's, for QPs with a fault */
	struct pier__srq *srq;
	struct pier__list posted;	/* receives, struct pier__posted */
	struct pier__list pending;	/* connections with a chain to post */
	struct pier__posted_queue ready; /* succeeded, beyond the budget */
	bool attention;			/* pending or ready may have one, or */
					/* error is set */
	int budget;			/* events that this poll may still */
					/* cause */
	struct pier__rdmacm *rdmacm;	/* by address; NULL: not needed yet */
	const struct pier__rdmacm_ops *rdmacm_ops;
	struct ibv_send_wr *bad;	/* of the last post; not used */
	struct ibv_recv_wr *bad_recv;	/* the same */
	uint32_t send_credits;		/* sends that still may be posted, */
					/* on all connections together */
	uint32_t ctl_inflight, ctl_max;	/* control requests and markers */
	struct pier__ctl *ctl;		/* max_conns of them */
	struct pier__mr *ctl_mr;
	struct pier_conn **slots;	/* the owner of each control word */
	uint32_t *free_slots;		/* a ring of the free ones; */
	uint32_t free_first;		/* the one that is free for longest */
	struct pier__hash by_qpn;	/* of connections; the code is the */
					/* QPN */
	uint32_t conn_count;
	uint32_t unended;		/* closed connections, not counted */
					/* there, whose tasks are to end */
	uint32_t cqe;			/* size of the completion queue */
	uint64_t polled;		/* completions; a poll without any */
					/* counts for cqe of them */
	int error;			/* they have failed for good */
	bool error_reported;		/* to the owner */
	char error_text[256];
	bool stopping;
	struct pier__scheduler scheduler;	/* of the connections' steps */
};

/*
 * How long stopping takes at most if cleaning up takes @drain_ms, in
 * milliseconds: goodbye, and flushing.
 */
static inline unsigned int pier__queues_stop_ms(uint32_t drain_ms)
{
	return drain_ms < (INT32_MAX - 1000) / 2 ? 2 * drain_ms + 1000 :
						   INT32_MAX;
}

/*
 * Create the queues of @owner on @dev and its context's engine; @cfg outlives
 * them.  Errors: the device's; -ENOMEM.
 */
int pier__queues_create(struct pier__conn_owner *owner, struct pier_dev *dev,
			const struct pier__queues_config *cfg);

/*
 * Undo pier__queues_create() in a start that fails: forget the receives that
 * are posted, and call the owner's stopped().
 */
void pier__queues_abandon(struct pier__queues *queues);

/*
 * End all connections, destroy the receive queue, cancel what is still posted.
 * Then, in a round of the engine, destroy @queues and call the owner's
 * stopped().
 */
void pier__queues_stop(struct pier__queues *queues);

/* Finish a stop, if one is under way and no connection is left. */
void pier__queues_finish(struct pier__queues *queues);

/*
 * The queues have failed for good, the thread's last error is the reason: their
 * connections fail in the next rounds.
 */
void pier__queues_fail(struct pier__queues *queues, int err);

/* Complete sends in ready, at most @max. */
void pier__queues_complete(struct pier__queues *queues, int max);

/* Post the chains of all connections. */
void pier__queues_flush(struct pier__queues *queues);

/* Give a connection its control words; and back. */
int pier__queues_add_conn(struct pier__queues *queues, struct pier_conn *conn,
			  uint32_t *ret_slot);
void pier__queues_remove_conn(struct pier__queues *queues, uint32_t slot);

#endif
