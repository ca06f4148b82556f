/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of an endpoint for the flight recorder, and its dump to the log. */
#include <inttypes.h>

#include "core/clock.h"
#include "core/fail.h"
#include "core/probe.h"
#include "fabric/soft/rc/qp.h"
#include "fabric/soft/stats/recorder.h"

void pier__soft_ep_record_in(struct soft_ep *ep, struct soft_events *events)
{
	ep->events = events;
}

void pier__soft_qp_record_in(struct soft_qp *qp, struct soft_qp_events *events)
{
	if (qp->events && qp->ep->events)
		pier__soft_qp_events_end(qp->events, qp->ep->events);
	qp->events = events;
}

/* @event->at is 0: it happens now. */
static void record(struct soft_ep *ep, struct soft_event *event)
{
	struct soft_qp *qp = pier__soft_table_find(ep, event->qpn);
	struct soft_qp_events *own = qp ? qp->events : NULL;

	pier__probe_event(event->qpn, event->kind, event->detail);
	if (!ep->events ||
	    (own ? pier__soft_qp_event_again(own, event)
		 : pier__soft_event_again(ep->events, event)))
		return;
	if (!event->at)
		event->at = ep->io->ops->now(ep->io);
	if (own)
		pier__soft_qp_event_put(own, ep->events, event);
	else
		pier__soft_event_put(ep->events, event);
}

void pier__soft_ep_note(struct soft_ep *ep, uint32_t qpn, int kind, int detail,
			uint64_t psn)
{
	struct soft_event event = {
		.qpn = qpn, .count = 1, .psn = (uint32_t)psn & SOFT_PSN_MASK,
		.kind = (uint8_t)kind, .detail = (uint8_t)detail,
	};

	record(ep, &event);
}

void pier__soft_ep_note_at(struct soft_ep *ep, uint32_t qpn, int kind,
			   int detail, uint64_t at)
{
	struct soft_event event = {
		.at = at, .qpn = qpn, .count = 1, .kind = (uint8_t)kind,
		.detail = (uint8_t)detail,
	};

	record(ep, &event);
}

static void log_event(const struct soft_qp *qp, uint64_t now,
		      const struct pier_conn_event *event)
{
	pier__log(PIER_LOG_WARNING, "soft", "QP 0x%x, %" PRIu64 " us before it "
		  "failed: %s%s%s, PSN %u, %u times", qp->qpn,
		  (now - event->at_ns) / 1000, event->name,
		  event->detail[0] ? " " : "", event->detail, event->psn,
		  event->count);
}

/* First those that its later ones have displaced. */
void pier__soft_qp_dump(struct soft_qp *qp)
{
	const struct soft_events *all = qp->ep->events;
	struct pier_conn_event event;
	uint64_t i, now;

	if (!all || !pier__log_enabled(PIER_LOG_WARNING))
		return;
	now = qp->ep->io->ops->now(qp->ep->io);
	for (i = pier__soft_event_first(all); i < pier__soft_event_end(all);
	     i++)
		if (pier__soft_event_get(all, i, &event) &&
		    event.qpn == qp->qpn)
			log_event(qp, now, &event);
	for (i = 0; qp->events && i < SOFT_QP_EVENTS; i++)
		if (pier__soft_qp_event_get(qp->events, (uint32_t)i, &event))
			log_event(qp, now, &event);
}
