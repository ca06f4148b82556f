/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include <pier/log.h>

#include "core/clock.h"
#include "fabric/soft/rc/qp.h"
#include "fabric/soft/stats/recorder.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/* What the flight recorder of an endpoint has, and what it does not have. */
#define SECOND (1000 * PIER__MS)
#define SRC 4096
#define DST (PAIR_MEM / 2)
#define OTHERS 200

static struct softpair *pair;
static struct softpair_end *a, *b;
static struct soft_events events[2];
static struct soft_qp_events own[2], others[OTHERS];

static void open_pair(void)
{
	static const struct softpair_opts plain;
	int i;

	memset(events, 0, sizeof(events));
	memset(own, 0, sizeof(own));
	memset(others, 0, sizeof(others));
	pair = softpair_open(&plain, 1);
	a = &pair->end[0];
	b = &pair->end[1];
	for (i = 0; i < 2; i++) {
		pier__soft_ep_record_in(pair->end[i].ep, &events[i]);
		pier__soft_qp_record_in(pair->end[i].qp, &own[i]);
	}
}

/* How often @event was recorded, if it is of QP @qpn, @name with @detail. */
static uint32_t times(const struct pier_conn_event *event, uint32_t qpn,
		      const char *name, const char *detail)
{
	return event->qpn == qpn && !strcmp(event->name, name) &&
	       !strcmp(event->detail, detail) ? event->count : 0;
}

/* The same in the ring of endpoint @end. */
static uint32_t of_endpoint(int end, uint32_t qpn, const char *name,
			    const char *detail)
{
	struct pier_conn_event event;
	uint32_t count = 0;
	uint64_t i;

	for (i = pier__soft_event_first(&events[end]);
	     i < pier__soft_event_end(&events[end]); i++)
		if (pier__soft_event_get(&events[end], i, &event))
			count += times(&event, qpn, name, detail);
	return count;
}

/* How many events of the connected QP of @end, in both rings. */
static uint32_t recorded(int end, const char *name, const char *detail)
{
	uint32_t qpn = pair->end[end].qp->qpn;
	uint32_t count = of_endpoint(end, qpn, name, detail);
	struct pier_conn_event event;
	unsigned int i;

	for (i = 0; i < SOFT_QP_EVENTS; i++)
		if (pier__soft_qp_event_get(&own[end], i, &event))
			count += times(&event, qpn, name, detail);
	return count;
}

static void what_succeeds_is_not_recorded(void)
{
	open_pair();
	IS(softpair_send(a, 1, IBV_WR_RDMA_WRITE, SRC, 100000, b, DST), 0);
	OK(softpair_wait(pair, 0, 1, SECOND));
	IS(a->wc[0].status, IBV_WC_SUCCESS);
	IS(events[0].count + events[1].count, 0);
	IS(own[0].count + own[1].count, 0);
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
	IS(own[0].count, 2);		/* and it was sent again */
	OK(recorded(1, "nak_sent", "rnr") > 10);
	IS(own[1].count, 1);
	IS(events[0].count + events[1].count, 0);
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
	OK(pier__soft_qp_event_get(&own[0], SOFT_QP_EVENTS - 1, &event));
	IS_STR(event.detail, "RTS");
	IS(event.qpn, a->qp->qpn);
	OK(pier__soft_qp_event_get(&own[0], 0, &event));
	IS_STR(event.detail, "RTS");
	IS(events[0].count, 1000 - SOFT_QP_EVENTS);
	first = pier__soft_event_first(&events[0]);
	IS(pier__soft_event_end(&events[0]) - first, SOFT_EVENTS);
	OK(!pier__soft_event_get(&events[0], first - 1, &event));
	OK(pier__soft_event_get(&events[0], first, &event));
	OK(pier__soft_event_get(&events[0], events[0].count, &event));
	IS_STR(event.detail, "SQD");
	OK(!pier__soft_event_get(&events[0], events[0].count + 1, &event));
	softpair_close(pair);
}

/* What a program does to @qp, by the states alone. */
static void set_up(struct soft_qp *qp)
{
	pier__soft_note(qp, SOFT_EVENT_STATE, IBV_QPS_INIT);
	pier__soft_note(qp, SOFT_EVENT_STATE, IBV_QPS_RTR);
	pier__soft_note(qp, SOFT_EVENT_STATE, IBV_QPS_RTS);
}

/* The first half of the others ends meanwhile. */
static void the_last_events_of_a_qp_survive_those_of_many_others(void)
{
	struct soft_qp *other[OTHERS];
	int i;

	open_pair();
	set_up(a->qp);
	IS(softpair_send(a, 1, IBV_WR_SEND, SRC, 100, b, DST), 0);
	OK(!softpair_wait(pair, 0, 1, SECOND / 10));
	for (i = 0; i < OTHERS; i++) {
		other[i] = softpair_qp(a);
		pier__soft_qp_record_in(other[i], &others[i]);
		set_up(other[i]);
	}
	for (i = 0; i < OTHERS / 2; i++)
		pier__soft_qp_destroy(other[i]);
	IS(recorded(0, "state", "INIT"), 1);
	IS(recorded(0, "state", "RTS"), 1);
	OK(recorded(0, "nak_received", "rnr") > 10);
	for (; i < OTHERS; i++)
		pier__soft_qp_destroy(other[i]);
	softpair_close(pair);
}

static void events_of_a_qp_that_was_destroyed_are_the_endpoints(void)
{
	struct soft_qp *qp;
	uint32_t qpn;
	unsigned int i;

	open_pair();
	qp = softpair_qp(a);
	qpn = qp->qpn;
	pier__soft_qp_record_in(qp, &others[0]);
	set_up(qp);
	IS(events[0].count, 0);
	pier__soft_qp_destroy(qp);
	IS(events[0].count, 3);
	IS(of_endpoint(0, qpn, "state", "INIT"), 1);
	IS(of_endpoint(0, qpn, "state", "RTS"), 1);
	for (i = 0; i < SOFT_QP_EVENTS; i++)
		IS(others[0].event[i].number, 0);
	softpair_close(pair);
}

/* There are more QPs than rows. */
static void events_of_a_qp_without_a_ring_are_the_endpoints(void)
{
	open_pair();
	pier__soft_qp_record_in(a->qp, NULL);
	set_up(a->qp);
	IS(events[0].count, 3);
	IS(of_endpoint(0, a->qp->qpn, "state", "RTR"), 1);
	softpair_close(pair);
}

/* Connection management knows when a REQ came before there was a QP. */
static void an_earlier_event_has_its_time(void)
{
	struct pier_conn_event event;

	open_pair();
	pier__soft_ep_note_at(a->ep, a->qp->qpn, SOFT_EVENT_CM_RECEIVED,
			      0x10, 77);
	OK(pier__soft_qp_event_get(&own[0], SOFT_QP_EVENTS - 1, &event));
	IS_STR(event.name, "cm_received");
	IS_STR(event.detail, "REQ");
	IS(event.at_ns, 77);
	softpair_close(pair);
}

static struct {
	unsigned int lines, first, last;
} logged;

static void count_lines(enum pier_log_level level, const char *area,
			const char *message, void *arg)
{
	(void)area;
	(void)arg;
	if (level != PIER_LOG_WARNING || !strstr(message, "before it failed"))
		return;
	logged.lines++;
	logged.first += strstr(message, "state INIT") != NULL;
	logged.last += strstr(message, "completion RETRY_EXC_ERR") != NULL;
}

/* With more events than its ring has. */
static void a_failure_is_logged_as_a_warning(void)
{
	int i;

	open_pair();
	memset(&logged, 0, sizeof(logged));
	pier_log_set_level(PIER_LOG_WARNING);
	pier_log_set_callback(count_lines, NULL);
	pier__soft_note(a->qp, SOFT_EVENT_STATE, IBV_QPS_INIT);
	for (i = 0; i < 20; i++)
		pier__soft_note(a->qp, SOFT_EVENT_STATE, i % 2 ? IBV_QPS_RTS :
							 IBV_QPS_SQD);
	pier__soft_qp_reset(b->qp);
	IS(softpair_send(a, 1, IBV_WR_RDMA_WRITE, SRC, 100, b, DST), 0);
	OK(softpair_wait(pair, 0, 1, 100 * SECOND));
	IS(a->wc[0].status, IBV_WC_RETRY_EXC_ERR);
	IS(logged.first, 1);
	IS(logged.last, 1);
	OK(logged.lines > 21);
	pier_log_set_callback(NULL, NULL);
	softpair_close(pair);
}

/* What was posted is flushed. */
static void an_end_by_the_program_is_not_logged(void)
{
	open_pair();
	memset(&logged, 0, sizeof(logged));
	pier_log_set_callback(count_lines, NULL);
	IS(softpair_send(a, 1, IBV_WR_SEND, SRC, 100, b, DST), 0);
	IS(softpair_state(a->qp, IBV_QPS_ERR), 0);
	OK(softpair_wait(pair, 0, 1, SECOND));
	IS(a->wc[0].status, IBV_WC_WR_FLUSH_ERR);
	IS(recorded(0, "state", "ERR"), 1);
	IS(logged.lines, 0);
	pier_log_set_callback(NULL, NULL);
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

/* Each entry claims to be @number; how many are read. */
static int read_all(uint64_t count, uint64_t number)
{
	struct pier_conn_event event;
	unsigned int i;
	int valid = 0;

	own[0].count = count;
	for (i = 0; i < SOFT_QP_EVENTS; i++)
		own[0].event[i] = (struct soft_event){
			.number = number, .kind = SOFT_EVENT_TIMEOUT,
		};
	for (i = 0; i < SOFT_QP_EVENTS; i++)
		valid += pier__soft_qp_event_get(&own[0], i, &event);
	return valid;
}

static void what_is_invalid_in_the_ring_of_a_qp_is_omitted(void)
{
	struct pier_conn_event event;

	IS(read_all(0, 0), 0);
	IS(read_all(0, UINT64_MAX), 0);
	IS(read_all(1, 1), 1);
	IS(read_all(3, 4), 0);
	IS(read_all(20, 5), 0);
	IS(read_all(20, 6), 1);
	IS(read_all(UINT64_MAX, 0), 0);
	IS(read_all(UINT64_MAX, UINT64_MAX), 1);
	own[0].event[UINT64_MAX % SOFT_QP_EVENTS].kind = SOFT_EVENT_KINDS;
	OK(!pier__soft_qp_event_get(&own[0], SOFT_QP_EVENTS - 1, &event));
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
	IS(events[0].count + own[0].count, 0);
	softpair_close(pair);
}

int main(void)
{
	TEST(what_succeeds_is_not_recorded);
	TEST(a_refused_request_is_recorded_at_both_ends);
	TEST(repeated_events_are_one_that_counts);
	TEST(a_dead_peer_is_recorded);
	TEST(old_events_make_place_for_new_ones);
	TEST(the_last_events_of_a_qp_survive_those_of_many_others);
	TEST(events_of_a_qp_that_was_destroyed_are_the_endpoints);
	TEST(events_of_a_qp_without_a_ring_are_the_endpoints);
	TEST(an_earlier_event_has_its_time);
	TEST(a_failure_is_logged_as_a_warning);
	TEST(an_end_by_the_program_is_not_logged);
	TEST(what_is_invalid_is_omitted);
	TEST(what_is_invalid_in_the_ring_of_a_qp_is_omitted);
	TEST(it_is_turned_off_by_the_environment);
	return tap_done();
}
