/* SPDX-License-Identifier: BSD-2-Clause */
/* The timers of queue pairs. */
#include "core/clock.h"
#include "fabric/soft/rc/qp.h"

#define LATE_MIN (100 * PIER__MS)	/* as after SIGSTOP */

/* The QPs that wait for something. */
void pier__soft_timer_set(struct soft_qp *qp, uint64_t due)
{
	pier__soft_heap_set(&qp->ep->timers, &qp->timer, due);
}

bool pier__soft_timer_is_late(const struct soft_qp *qp)
{
	uint64_t now = qp->ep->now;

	return now > qp->timer.due && now - qp->timer.due > LATE_MIN;
}

int pier__soft_timer_run(struct soft_ep *ep)
{
	struct soft_qp *qp;
	uint64_t late;
	int n = 0;

	while (n < SOFT_BATCH && pier__soft_heap_due(&ep->timers) <= ep->now) {
		qp = pier__container_of(ep->timers.timer[0], struct soft_qp,
					timer);
		late = ep->now - qp->timer.due;
		pier__soft_timer_set(qp, PIER__NEVER);
		pier__soft_req_timer(qp, late);
		n++;
	}
	return n;
}
