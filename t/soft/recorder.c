/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "fabric/soft/rc/qp.h"
#include "fabric/soft/stats/recorder.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/* What the flight recorder of an endpoint has, and what it has not. */
#define SECOND (1000 * PIER__MS)
#define SRC 4096
#define DST (PAIR_MEM / 2)

static struct softpair *pair;
static struct softpair_end *a, *b;
static struct soft_events events[2];

static void open_pair(void)
{
	static const struct softpair_opts plain;
	int i;

	memset(events, 0, sizeof(events));
	pair = softpair_open(&plain, 1);
	a = &pair->end[0];
	b = &pair->end[1];
	for (i = 0; i < 2; i++)
		pier__soft_ep_record_in(pair->end[i].ep, &events[i]);
}

/* How many events of @end are @name with @detail; repeated ones count. */
static uint32_t recorded(int end, const char *name, const char *detail)
{
	struct pier_conn_event event;
	uint32_t count = 0;
	uint64_t i;

	for (i = pier__soft_event_first(&events[end]);
	     i < pier__soft_event_end(&events[end]); i++)
		if (pier__soft_event_get(&events[end], i, &event) &&
		    !strcmp(event.name, name) && !strcmp(event.detail, detail))
			count += event.count;
	return count;
}

static void what_succeeds_is_not_recorded(void)
{
	open_pair();
	IS(softpair_send(a, 1, IBV_WR_RDMA_WRITE, SRC, 100000, b, DST), 0);
	OK(softpair_wait(pair, 0, 1, SECOND));
	IS(a->wc[0].status, IBV_WC_SUCCESS);
	IS(events[0].count + events[1].count, 0);
	softpair_close(pair);
}

/* A write beyond the end of the memory. */
static void a_refused_request_is_recorded_at_both_ends(void)
{
	open_pair();
	IS(softpair_send(a, 1, IBV_WR_RDMA_WRITE, SRC, 100, b, PAIR_MEM - 1),
	   0);
	IS(softpair_send(a, 2, IBV_WR_RDMA_WRITE, SRC, 100, b, DST), 0);
	OK(softpair_wait(pair, 0, 2, SECOND));
	IS(recorded(0, "nak_received", "access"), 1);
	IS(recorded(0, "state", "ERR"), 1);
	IS(recorded(0, "completion", "REM_ACCESS_ERR"), 1);
	IS(recorded(0, "completion", "WR_FLUSH_ERR"), 1);
	IS(recorded(1, "nak_sent", "access"), 1);
	IS(recorded(1, "state", "ERR"), 1);
	IS(recorded(1, "nak_received", "access"), 0);
	softpair_close(pair);
}

/* The peer has no receive, and waits for one in vain. */
static void repeated_events_are_one_that_counts(void)
{
	open_pair();
	IS(softpair_send(a, 1, IBV_WR_SEND, SRC, 100, b, DST), 0);
	OK(!softpair_wait(pair, 0, 1, SECOND / 10));
	OK(recorded(0, "nak_received", "rnr") > 10);
	IS(events[0].count, 2);		/* and it was sent again */
	OK(recorded(1, "nak_sent", "rnr") > 10);
	IS(events[1].count, 1);
	softpair_close(pair);
}

static void a_dead_peer_is_recorded(void)
{
	open_pair();
	pier__soft_qp_reset(b->qp);
	IS(recorded(1, "state", "RESET"), 1);
	IS(softpair_send(a, 1, IBV_WR_RDMA_WRITE, SRC, 100, b, DST), 0);
	OK(softpair_wait(pair, 0, 1, 100 * SECOND));
	IS(a->wc[0].status, IBV_WC_RETRY_EXC_ERR);
	OK(recorded(0, "timeout", "") > 3);
	OK(recorded(0, "resent", "") > 3);
	IS(recorded(0, "completion", "RETRY_EXC_ERR"), 1);
	softpair_close(pair);
}

static void old_events_make_place_for_new_ones(void)
{
	struct pier_conn_event event;
	uint64_t first;
	int i;

	open_pair();
	for (i = 0; i < 1000; i++)
		pier__soft_note(a->qp, SOFT_EVENT_STATE, i % 2 ? IBV_QPS_RTS :
							 IBV_QPS_SQD);
	first = pier__soft_event_first(&events[0]);
	IS(pier__soft_event_end(&events[0]) - first, SOFT_EVENTS);
	OK(!pier__soft_event_get(&events[0], first - 1, &event));
	OK(pier__soft_event_get(&events[0], first, &event));
	OK(pier__soft_event_get(&events[0], 1000, &event));
	IS_STR(event.detail, "RTS");
	IS(event.qpn, a->qp->qpn);
	OK(!pier__soft_event_get(&events[0], 1001, &event));
	softpair_close(pair);
}

/* As another process may write them. */
static void what_is_invalid_is_omitted(void)
{
	struct pier_conn_event event;
	int kind, detail, valid = 0;

	for (kind = 0; kind < 256; kind++) {
		for (detail = 0; detail < 256; detail++) {
			events[0].count = 1;
			events[0].event[1] = (struct soft_event){
				.number = 1, .kind = (uint8_t)kind,
				.detail = (uint8_t)detail,
			};
			valid += pier__soft_event_get(&events[0], 1, &event);
		}
	}
	/* 7 states, 2 x (4 NAKs and 32 RNR NAKs), 2 x 11 messages, ... */
	IS(valid, 7 + 2 * 36 + 2 * 11 + IBV_WC_GENERAL_ERR + 1 + 3 * 256);
	events[0].count = UINT64_MAX;
	OK(!pier__soft_event_get(&events[0], 0, &event));
	OK(!pier__soft_event_get(&events[0], UINT64_MAX, &event));
}

static void it_is_turned_off_by_the_environment(void)
{
	OK(pier__soft_recorder_on());
	setenv("PIER_EVENTS", "off", 1);
	OK(!pier__soft_recorder_on());
	unsetenv("PIER_EVENTS");
	open_pair();
	pier__soft_ep_record_in(a->ep, NULL);
	pier__soft_note(a->qp, SOFT_EVENT_STATE, IBV_QPS_RTS);
	IS(events[0].count, 0);
	softpair_close(pair);
}

int main(void)
{
	TEST(what_succeeds_is_not_recorded);
	TEST(a_refused_request_is_recorded_at_both_ends);
	TEST(repeated_events_are_one_that_counts);
	TEST(a_dead_peer_is_recorded);
	TEST(old_events_make_place_for_new_ones);
	TEST(what_is_invalid_is_omitted);
	TEST(it_is_turned_off_by_the_environment);
	return tap_done();
}
