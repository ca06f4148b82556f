/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/clock.h"
#include "fabric/soft/cm/cm_conn.h"

/*
 * Repeats.  The first comes soon and each wait is twice as long, up to what
 * the handshake says of its sender's patience: a message lost is a matter of
 * milliseconds, a peer away gets the time that standard peers get.
 */
#define WAIT_FIRST (50 * PIER__MS)
#define WAIT_DREQ (1000 * PIER__MS)	/* longest */
#define DREQ_SENDS 8
#define WAIT_REJ (100 * PIER__MS)
#define TWAIT (2000 * PIER__MS)		/* timewait */
#define PATIENCE_MAX 24		/* code: 68.7 s, for which Linux asks */
#define WAIT_STANDARD (1000 * PIER__MS)	/* for port 4791 */
#define BUSY_SENDS 2		/* 200 ms: to ask a full listener again */
#define TIMERS 64			/* in one round */

/* 4.096 us * 2^code. */
uint64_t pier__soft_cm_time(uint8_t code)
{
	return UINT64_C(4096) << (code & 31);
}

static uint64_t wait_of(const struct soft_cm_conn *conn)
{
	uint64_t wait = WAIT_FIRST << (conn->sends < 20 ? conn->sends : 20);
	uint64_t max = pier__soft_cm_time(conn->timeout);

	if (conn->state == SOFT_CM_DREQ_SENT)
		max = WAIT_DREQ;
	if (max < WAIT_FIRST)
		max = WAIT_FIRST;
	return wait < max ? wait : max;
}

static void wait(struct soft_cm *cm, struct soft_cm_conn *conn)
{
	uint64_t wait = wait_of(conn);

	if (conn->state == SOFT_CM_REQ_SENT)
		wait = pier__soft_cm_find_wait(cm, conn, wait);
	pier__soft_heap_set(&cm->timers, &conn->timer,
			    pier__soft_cm_now(cm) + wait);
}

void pier__soft_cm_repeat_begin(struct soft_cm *cm, struct soft_cm_conn *conn)
{
	conn->sends = 0;
	wait(cm, conn);
}

void pier__soft_cm_patience(struct soft_cm *cm, struct soft_cm_conn *conn,
			    uint8_t service_timeout)
{
	uint8_t code = service_timeout < PATIENCE_MAX ? service_timeout :
							PATIENCE_MAX;
	uint64_t due = pier__soft_cm_now(cm) + pier__soft_cm_time(code) +
		       pier__soft_cm_time(conn->ack_timeout < PATIENCE_MAX ?
					  conn->ack_timeout : PATIENCE_MAX);

	if (conn->state == SOFT_CM_REQ_SENT)
		pier__soft_cm_find_alive(cm, conn);
	if (due > conn->timer.due)
		pier__soft_heap_set(&cm->timers, &conn->timer, due);
}

void pier__soft_cm_busy(struct soft_cm *cm, struct soft_cm_conn *conn)
{
	pier__soft_cm_find_alive(cm, conn);
	if (conn->sends > BUSY_SENDS)
		conn->sends = BUSY_SENDS;
	wait(cm, conn);
}

void pier__soft_cm_want_standard(struct soft_cm *cm)
{
	if (!cm->wanting.at)
		pier__soft_heap_set(&cm->timers, &cm->wanting,
				    pier__soft_cm_now(cm) + WAIT_STANDARD);
}

/* Ask for port 4791 on behalf of those who listen without it. */
static void wanting_run(struct soft_cm *cm)
{
	struct pier__list *pos, *tmp;
	struct soft_cm_listener *listener;
	bool missing = false;

	pier__soft_heap_set(&cm->timers, &cm->wanting, PIER__NEVER);
	PIER__LIST_EACH(pos, tmp, &cm->listeners) {
		listener = pier__container_of(pos, struct soft_cm_listener,
					      link);
		if (!listener->standard)
			listener->standard =
				cm->host->ops->standard(cm->host, true);
		missing |= !listener->standard;
	}
	if (missing)
		pier__soft_cm_want_standard(cm);
}

static bool is_last(struct soft_cm *cm, struct soft_cm_conn *conn)
{
	if (conn->state == SOFT_CM_DREQ_SENT)
		return conn->sends + 1 >= DREQ_SENDS;
	if (conn->state == SOFT_CM_REQ_SENT)
		return pier__soft_cm_find_over(cm, conn);
	return conn->sends >= conn->max_retries;
}

void pier__soft_cm_twait_timer(struct soft_cm *cm, struct soft_cm_conn *conn)
{
	bool again = conn->shake && conn->sends;

	pier__soft_heap_set(&cm->timers, &conn->timer, pier__soft_cm_now(cm) +
			    (again ? WAIT_REJ : TWAIT));
}

static void twait_run(struct soft_cm *cm, struct soft_cm_conn *conn)
{
	if (!conn->shake || !conn->sends) {
		pier__soft_cm_conn_free(cm, conn);
		return;
	}
	pier__soft_cm_send(cm, conn, conn->shake->mad);
	conn->sends--;
	pier__soft_cm_twait_timer(cm, conn);
}

static void timer_run(struct soft_cm *cm, struct soft_cm_conn *conn)
{
	pier__soft_heap_set(&cm->timers, &conn->timer, PIER__NEVER);
	if (conn->state == SOFT_CM_TIMEWAIT) {
		twait_run(cm, conn);
		return;
	}
	if (is_last(cm, conn)) {
		pier__soft_cm_give_up(cm, conn);
		return;
	}
	conn->sends++;
	if (conn->state == SOFT_CM_REQ_SENT)
		pier__soft_cm_find_ask(cm, conn);
	else if (conn->state == SOFT_CM_DREQ_SENT)
		pier__soft_cm_dreq_send(cm, conn);
	else
		pier__soft_cm_send(cm, conn, conn->shake->mad);
	wait(cm, conn);
}

static struct soft_cm_conn *first(const struct soft_cm *cm)
{
	return (struct soft_cm_conn *)cm->timers.timer[0];
}

int pier__soft_cm_timers(struct soft_cm *cm)
{
	uint64_t now = pier__soft_cm_now(cm);
	int n = 0;

	while (n < TIMERS && pier__soft_heap_due(&cm->timers) <= now) {
		if (cm->timers.timer[0] == &cm->wanting)
			wanting_run(cm);
		else
			timer_run(cm, first(cm));
		n++;
	}
	return n;
}

uint64_t pier__soft_cm_deadline(const struct soft_cm *cm)
{
	return pier__soft_heap_due(&cm->timers);
}
