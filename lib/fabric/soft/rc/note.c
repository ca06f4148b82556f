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

void pier__soft_ep_note(struct soft_ep *ep, uint32_t qpn, int kind, int detail,
			uint64_t psn)
{
	struct soft_event event = {
		.qpn = qpn, .count = 1, .psn = (uint32_t)psn & SOFT_PSN_MASK,
		.kind = (uint8_t)kind, .detail = (uint8_t)detail,
	};

	pier__probe_event(qpn, kind, detail);
	if (!ep->events || pier__soft_event_again(ep->events, &event))
		return;
	event.at = ep->io->ops->now(ep->io);
	pier__soft_event_put(ep->events, &event);
}

void pier__soft_qp_dump(struct soft_qp *qp)
{
	struct soft_events *events = qp->ep->events;
	struct pier_conn_event event;
	uint64_t i, now;

	if (!events || !pier__log_enabled(PIER_LOG_INFO))
		return;
	now = qp->ep->io->ops->now(qp->ep->io);
	for (i = pier__soft_event_first(events);
	     i < pier__soft_event_end(events); i++)
		if (pier__soft_event_get(events, i, &event) &&
		    event.qpn == qp->qpn)
			pier__log(PIER_LOG_INFO, "soft", "QP 0x%x, %" PRIu64
				  " us before it failed: %s%s%s, PSN %u, %u "
				  "times", qp->qpn, (now - event.at_ns) / 1000,
				  event.name, event.detail[0] ? " " : "",
				  event.detail, event.psn, event.count);
}
