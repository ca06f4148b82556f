/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_STATS_RECORDER_H
#define PIER_FABRIC_SOFT_STATS_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include <pier/counters.h>

/*
 * The flight recorder: rare events, in rings in the counters file.  A QP has a
 * ring of its own with its last events, which no other QP displaces.  What its
 * later events displace is appended to the ring of its endpoint, as is all of
 * it when the QP is destroyed; that ring also has the events of no QP yet and
 * those of QPs without a ring.  An event is in one ring.  Only the thread that
 * drives the endpoint writes them.  The same event of one QP again soon is the
 * same entry, which counts.
 */
#define SOFT_EVENTS 127		/* of an endpoint: a page */
#define SOFT_QP_EVENTS 15	/* of a QP */

enum soft_event_kind {
	SOFT_EVENT_NONE,
	SOFT_EVENT_STATE,	/* detail: enum ibv_qp_state, the new one */
	SOFT_EVENT_RESENT,	/* psn: of the first packet */
	SOFT_EVENT_TIMEOUT,	/* psn: of the oldest packet in flight */
	SOFT_EVENT_TAIL_PROBE,	/* the same */
	SOFT_EVENT_NAK_SENT,	/* detail: syndrome, also of an RNR NAK */
	SOFT_EVENT_NAK_RECEIVED,	/* psn: of the oldest packet */
	SOFT_EVENT_CM_SENT,	/* detail: enum soft_mad_attr */
	SOFT_EVENT_CM_RECEIVED,
	SOFT_EVENT_COMPLETION,	/* detail: enum ibv_wc_status, an error */
	SOFT_EVENT_KINDS,
};

struct soft_event {
	uint64_t number;	/* of the event; 0: it is being written */
	uint64_t at;		/* ns of CLOCK_MONOTONIC, of the first */
	uint32_t qpn;		/* 0: of no QP yet */
	uint32_t count;
	uint32_t psn;
	uint8_t kind;		/* enum soft_event_kind */
	uint8_t detail;
	uint16_t unused;
};

struct soft_events {
	uint64_t count;		/* that were recorded, ever */
	uint64_t unused[3];
	struct soft_event event[SOFT_EVENTS];
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct soft_events) == 4096, "a page");

struct soft_qp_events {
	uint64_t count;		/* that were recorded, ever */
	uint64_t unused[3];
	struct soft_event event[SOFT_QP_EVENTS];
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct soft_qp_events) == 512, "cache lines");

/* Is it on?  PIER_EVENTS=off turns it off.  Any thread. */
bool pier__soft_recorder_on(void);

/*
 * Count @event once more if one of the last of @events is the same, and no
 * state has changed since.  False: none is.  Number, count, time and PSN are
 * not compared.
 */
bool pier__soft_event_again(struct soft_events *events,
			    const struct soft_event *event);

/* Append @event, whose number and count are set. */
void pier__soft_event_put(struct soft_events *events,
			  const struct soft_event *event);

/*
 * Event @number, from 1 on, in words.  False: there is none, it was
 * overwritten, or it is invalid.  @events may be hostile.
 */
bool pier__soft_event_get(const struct soft_events *events, uint64_t number,
			  struct pier_conn_event *ret);

/* The number of the oldest event that may be there, and one past the last. */
uint64_t pier__soft_event_first(const struct soft_events *events);
uint64_t pier__soft_event_end(const struct soft_events *events);

/*
 * The same of a QP's.  What @event displaces is appended to @all.  Event @i,
 * below SOFT_QP_EVENTS, of those that may be there; 0 is the oldest.
 */
bool pier__soft_qp_event_again(struct soft_qp_events *events,
			       const struct soft_event *event);
void pier__soft_qp_event_put(struct soft_qp_events *events,
			     struct soft_events *all,
			     const struct soft_event *event);
bool pier__soft_qp_event_get(const struct soft_qp_events *events, uint32_t i,
			     struct pier_conn_event *ret);

/* The QP ends: all of @events are appended to @all. */
void pier__soft_qp_events_end(struct soft_qp_events *events,
			      struct soft_events *all);

#endif
