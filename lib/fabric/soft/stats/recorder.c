/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "fabric/soft/stats/recorder.h"
#include "fabric/soft/wire/mad.h"

static const char *const names[SOFT_EVENT_KINDS] = {
	[SOFT_EVENT_STATE] = "state",
	[SOFT_EVENT_RESENT] = "resent",
	[SOFT_EVENT_TIMEOUT] = "timeout",
	[SOFT_EVENT_TAIL_PROBE] = "tail_probe",
	[SOFT_EVENT_NAK_SENT] = "nak_sent",
	[SOFT_EVENT_NAK_RECEIVED] = "nak_received",
	[SOFT_EVENT_CM_SENT] = "cm_sent",
	[SOFT_EVENT_CM_RECEIVED] = "cm_received",
	[SOFT_EVENT_COMPLETION] = "completion",
};

static const char *const states[] = {
	[IBV_QPS_RESET] = "RESET", [IBV_QPS_INIT] = "INIT",
	[IBV_QPS_RTR] = "RTR", [IBV_QPS_RTS] = "RTS", [IBV_QPS_SQD] = "SQD",
	[IBV_QPS_SQE] = "SQE", [IBV_QPS_ERR] = "ERR",
};

static const char *const naks[] = {
	"sequence", "invalid", "access", "operational",
};

static const char *const messages[] = {
	"REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP", "SIDR_REQ",
	"SIDR_REP", "LAP", "APR",
};

/* enum ibv_wc_status */
static const char *const statuses[] = {
	[IBV_WC_SUCCESS] = "SUCCESS",
	[IBV_WC_LOC_LEN_ERR] = "LOC_LEN_ERR",
	[IBV_WC_LOC_QP_OP_ERR] = "LOC_QP_OP_ERR",
	[IBV_WC_LOC_EEC_OP_ERR] = "LOC_EEC_OP_ERR",
	[IBV_WC_LOC_PROT_ERR] = "LOC_PROT_ERR",
	[IBV_WC_WR_FLUSH_ERR] = "WR_FLUSH_ERR",
	[IBV_WC_MW_BIND_ERR] = "MW_BIND_ERR",
	[IBV_WC_BAD_RESP_ERR] = "BAD_RESP_ERR",
	[IBV_WC_LOC_ACCESS_ERR] = "LOC_ACCESS_ERR",
	[IBV_WC_REM_INV_REQ_ERR] = "REM_INV_REQ_ERR",
	[IBV_WC_REM_ACCESS_ERR] = "REM_ACCESS_ERR",
	[IBV_WC_REM_OP_ERR] = "REM_OP_ERR",
	[IBV_WC_RETRY_EXC_ERR] = "RETRY_EXC_ERR",
	[IBV_WC_RNR_RETRY_EXC_ERR] = "RNR_RETRY_EXC_ERR",
	[IBV_WC_LOC_RDD_VIOL_ERR] = "LOC_RDD_VIOL_ERR",
	[IBV_WC_REM_INV_RD_REQ_ERR] = "REM_INV_RD_REQ_ERR",
	[IBV_WC_REM_ABORT_ERR] = "REM_ABORT_ERR",
	[IBV_WC_INV_EECN_ERR] = "INV_EECN_ERR",
	[IBV_WC_INV_EEC_STATE_ERR] = "INV_EEC_STATE_ERR",
	[IBV_WC_FATAL_ERR] = "FATAL_ERR",
	[IBV_WC_RESP_TIMEOUT_ERR] = "RESP_TIMEOUT_ERR",
	[IBV_WC_GENERAL_ERR] = "GENERAL_ERR",
};

#define NEAR 4			/* events that may be the same one again */
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

bool pier__soft_recorder_on(void)
{
	const char *text = secure_getenv("PIER_EVENTS");

	return !text || strcmp(text, "off") != 0;
}

/* Is one of the last of @count events in a ring of @size the same? */
static bool again(struct soft_event *ring, uint64_t count, uint64_t size,
		  const struct soft_event *event)
{
	struct soft_event *last;
	uint64_t i;

	for (i = 0; i < NEAR && i < count; i++) {
		last = &ring[(count - i) % size];
		if (last->kind == SOFT_EVENT_STATE)
			return false;
		if (last->kind != event->kind || last->qpn != event->qpn ||
		    last->detail != event->detail)
			continue;
		__atomic_store_n(&last->count, last->count + 1,
				 __ATOMIC_RELAXED);
		return true;
	}
	return false;
}

static void clear(struct soft_event *entry)
{
	__atomic_store_n(&entry->number, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static void set(struct soft_event *entry, uint64_t number,
		const struct soft_event *event)
{
	clear(entry);
	memcpy(&entry->at, &event->at, sizeof(*entry) - sizeof(entry->number));
	__atomic_store_n(&entry->number, number, __ATOMIC_RELEASE);
}

bool pier__soft_event_again(struct soft_events *events,
			    const struct soft_event *event)
{
	return again(events->event, events->count, SOFT_EVENTS, event);
}

void pier__soft_event_put(struct soft_events *events,
			  const struct soft_event *event)
{
	uint64_t number = events->count + 1;

	set(&events->event[number % SOFT_EVENTS], number, event);
	__atomic_store_n(&events->count, number, __ATOMIC_RELEASE);
}

bool pier__soft_qp_event_again(struct soft_qp_events *events,
			       const struct soft_event *event)
{
	return again(events->event, events->count, SOFT_QP_EVENTS, event);
}

void pier__soft_qp_event_put(struct soft_qp_events *events,
			     struct soft_events *all,
			     const struct soft_event *event)
{
	uint64_t number = events->count + 1;
	struct soft_event *entry = &events->event[number % SOFT_QP_EVENTS];

	if (entry->number)
		pier__soft_event_put(all, entry);
	set(entry, number, event);
	__atomic_store_n(&events->count, number, __ATOMIC_RELEASE);
}

void pier__soft_qp_events_end(struct soft_qp_events *events,
			      struct soft_events *all)
{
	struct soft_event *entry;
	uint64_t i;

	for (i = 1; i <= SOFT_QP_EVENTS; i++) {
		entry = &events->event[(events->count + i) % SOFT_QP_EVENTS];
		if (entry->number)
			pier__soft_event_put(all, entry);
		clear(entry);
	}
}

static const char *pick(const char *const *list, size_t count, size_t i)
{
	return i < count ? list[i] : NULL;
}

/* NULL: it is invalid. */
static const char *detail_of(const struct soft_event *event)
{
	uint8_t detail = event->detail;

	switch (event->kind) {
	case SOFT_EVENT_STATE:
		return pick(states, COUNT(states), detail);
	case SOFT_EVENT_NAK_SENT:
	case SOFT_EVENT_NAK_RECEIVED:
		return detail >> 5 == 1 ? "rnr" :
		       pick(naks, COUNT(naks), detail - 0x60u);
	case SOFT_EVENT_CM_SENT:
	case SOFT_EVENT_CM_RECEIVED:
		return pick(messages, COUNT(messages),
			    (size_t)detail - SOFT_MAD_REQ);
	case SOFT_EVENT_COMPLETION:
		return pick(statuses, COUNT(statuses), detail);
	default:
		return "";
	}
}

/* Event @number, which is in @entry unless it was overwritten. */
static bool get(const struct soft_event *entry, uint64_t number,
		struct pier_conn_event *ret)
{
	struct soft_event event = *entry;
	const char *detail;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (!number || event.number != number ||
	    __atomic_load_n(&entry->number, __ATOMIC_ACQUIRE) != number ||
	    event.kind >= SOFT_EVENT_KINDS || !names[event.kind])
		return false;
	detail = detail_of(&event);
	if (!detail)
		return false;
	*ret = (struct pier_conn_event){
		.at_ns = event.at, .qpn = event.qpn, .count = event.count,
		.psn = event.psn,
	};
	snprintf(ret->name, sizeof(ret->name), "%s", names[event.kind]);
	snprintf(ret->detail, sizeof(ret->detail), "%s", detail);
	return true;
}

uint64_t pier__soft_event_end(const struct soft_events *events)
{
	return __atomic_load_n(&events->count, __ATOMIC_ACQUIRE) + 1;
}

uint64_t pier__soft_event_first(const struct soft_events *events)
{
	uint64_t end = pier__soft_event_end(events);

	return end > SOFT_EVENTS ? end - SOFT_EVENTS : 1;
}

bool pier__soft_event_get(const struct soft_events *events, uint64_t number,
			  struct pier_conn_event *ret)
{
	return get(&events->event[number % SOFT_EVENTS], number, ret);
}

bool pier__soft_qp_event_get(const struct soft_qp_events *events, uint32_t i,
			     struct pier_conn_event *ret)
{
	uint64_t count = __atomic_load_n(&events->count, __ATOMIC_ACQUIRE);
	uint64_t number = count - SOFT_QP_EVENTS + 1 + i;

	/* With fewer events the first numbers are 0 and below. */
	return number <= count &&
	       get(&events->event[number % SOFT_QP_EVENTS], number, ret);
}
