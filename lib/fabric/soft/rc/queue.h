/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_RC_QUEUE_H
#define PIER_FABRIC_SOFT_RC_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/list.h"
#include "fabric/fabric.h"
#include "fabric/soft/rc/ep.h"

/* Completion queues and receive queues: cq.c, fault.c, srq.c. */

/* A posted receive, from its SRQ. */
struct soft_rwqe {
	struct soft_rwqe *next;
	uint64_t wr_id;
	uint32_t length;
	uint32_t sges;
	struct ibv_sge sge[];
};

struct soft_cq {
	struct soft_ep *ep;
	uint32_t size;
	uint32_t head, count;
	uint32_t solicited;		/* or failed: so many have been */
	bool dead, urgent;		/* urgent: dead, or faults has one */
	struct pier__list faults;	/* to be reported */
	const struct pier__cq *outer;	/* has their wr_id; NULL: it is 0 */
	void *async;			/* gets the events; NULL: none does */
	struct ibv_wc wc[];
};

/* A request of the peer's that ended @qp. */
struct soft_fault {
	struct pier__list link;		/* of the completion queue's, until */
					/* it is reported */
	struct soft_qp *qp;
	struct pier__fault what;
};

struct soft_srq {
	struct soft_ep *ep;
	const void *pd;			/* of the keys of its receives */
	struct soft_qp *owner;		/* its only user; NULL: any QP */
	void *async;			/* gets the events; NULL: none does */
	uint32_t max_sge;
	uint32_t max_wr, total;		/* that it takes; that it has */
	uint32_t used;			/* of them, until they complete */
	uint32_t unpolled;		/* for verbs: the owner's, in its CQ */
	uint32_t posted;		/* of those used, in first */
	uint32_t limit;			/* fewer posted are reported once; 0: */
					/* they are not */
	struct soft_rwqe *first, **last;	/* posted */
	struct soft_rwqe *free;
	struct soft_slots *slots;	/* where they all are */
};

/* Memory of receives; a queue that has grown has several. */
struct soft_slots {
	struct soft_slots *next;
	uint8_t data[];
};

/* Report @type, of enum ibv_event_type, of a queue, to its @async. */
static inline void pier__soft_async(const struct soft_ep *ep, int type,
				    void *async)
{
	if (async)
		ep->event(type, async);
}

#endif
