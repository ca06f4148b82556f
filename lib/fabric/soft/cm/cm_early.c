/* SPDX-License-Identifier: BSD-2-Clause */
/* Disconnects of peers whose last messages the program has not polled. */
#include "core/clock.h"
#include "fabric/soft/cm/cm_conn.h"
#include "fabric/soft/rc/qp.h"

#define CHECK_NS PIER__MS	/* between two looks at the queues */

void pier__soft_cm_wait_for_polls(struct soft_cm *cm)
{
	cm->waits_for_polls = true;
}

static bool has_unread(const struct soft_cm *cm, uint32_t qpn)
{
	const struct soft_qp *qp = pier__soft_table_find(cm->ep, qpn);

	return qp && pier__soft_cq_has_received(qp->recv_cq, qpn);
}

void pier__soft_cm_disconnected(struct soft_cm_id *id, struct soft_cm *cm,
				uint32_t qpn)
{
	uint64_t now;

	if (!cm->waits_for_polls || !has_unread(cm, qpn)) {
		pier__soft_cm_notify(cm, id, PIER__CM_DISCONNECTED);
		return;
	}
	now = pier__soft_cm_now(cm);
	id->unread_qpn = qpn;
	id->report_at = now + SOFT_CM_EARLY_NS;
	pier__list_add(&cm->early, &id->early);
	if (!cm->early_timer.at)
		pier__soft_heap_set(&cm->timers, &cm->early_timer,
				    now + CHECK_NS);
}

void pier__soft_cm_early_run(struct soft_cm *cm)
{
	uint64_t now = pier__soft_cm_now(cm);
	struct pier__list *pos, *tmp;
	struct soft_cm_id *id;

	pier__soft_heap_set(&cm->timers, &cm->early_timer, PIER__NEVER);
	PIER__LIST_EACH(pos, tmp, &cm->early) {
		id = pier__container_of(pos, struct soft_cm_id, early);
		if (now < id->report_at && has_unread(cm, id->unread_qpn))
			continue;
		pier__list_del(&id->early);
		pier__soft_cm_notify(cm, id, PIER__CM_DISCONNECTED);
	}
	if (!pier__list_empty(&cm->early))
		pier__soft_heap_set(&cm->timers, &cm->early_timer,
				    now + CHECK_NS);
}
