/* SPDX-License-Identifier: BSD-2-Clause */
/* Retransmission of REQ, REP, RTU, REJ and DREQ, and their timeouts. */
#include "core/clock.h"
#include "fabric/soft/cm/cm_conn.h"

/*
 * The first retransmission is early and each wait is twice as long, up to the
 * response time in REQ: a lost message costs milliseconds, and a peer that is
 * stopped gets the time that RoCE devices get.
 */
#define WAIT_FIRST (50 * PIER__MS)
#define WAIT_DREQ (1000 * PIER__MS)	/* longest */
#define DREQ_SENDS 8
#define WAIT_RTU (200 * PIER__MS)	/* first: REP comes again before */
#define RTU_SENDS 6		/* in 6.2 s, before a soft peer gives up */
#define REP_WAITS 3		/* RoCE device: REPs at 0, 350 and 3150 ms */
#define WAIT_REJ (100 * PIER__MS)
#define TWAIT (2000 * PIER__MS)		/* timewait */
#define MRA_TIMEOUT_MAX 24		/* code: 68.7 s, which Linux requests */
#define WAIT_ROCE_PORT (1000 * PIER__MS)	/* for port 4791 */
#define BACKLOG_FULL_SENDS 2	/* 200 ms until REQ is sent again */
#define TIMERS 64			/* in one round */

/* 4.096 us * 2^code. */
uint64_t pier__soft_cm_time(uint8_t code)
{
	return UINT64_C(4096) << (code & 31);
}

static uint64_t wait_of(const struct soft_cm_conn *conn)
{
	bool rtu = conn->state == SOFT_CM_ESTABLISHED && !conn->doubted;
	uint64_t wait = (rtu ? WAIT_RTU : WAIT_FIRST)
			<< (conn->sends < 20 ? conn->sends : 20);
	uint64_t max = pier__soft_cm_time(conn->timeout);

	if (conn->state == SOFT_CM_DREQ_SENT)
		max = WAIT_DREQ;
	if (max < WAIT_FIRST)
		max = WAIT_FIRST;
	return wait < max ? wait : max;
}

void pier__soft_cm_timer_set(struct soft_cm_conn *conn, uint64_t due)
{
	pier__soft_heap_set(&conn->cm->timers, &conn->timer, due);
}

static void wait(struct soft_cm_conn *conn)
{
	uint64_t wait = wait_of(conn);

	if (conn->state == SOFT_CM_REQ_SENT)
		wait = pier__soft_cm_find_wait(conn, wait);
	pier__soft_cm_timer_set(conn, pier__soft_cm_now(conn->cm) + wait);
}

void pier__soft_cm_retry_start(struct soft_cm_conn *conn)
{
	conn->sends = 0;
	wait(conn);
}

static uint64_t mra_time(uint8_t code)
{
	return pier__soft_cm_time(code < MRA_TIMEOUT_MAX ? code :
							   MRA_TIMEOUT_MAX);
}

void pier__soft_cm_mra_wait(struct soft_cm_conn *conn, uint8_t service_timeout)
{
	uint64_t due = pier__soft_cm_now(conn->cm) + mra_time(service_timeout) +
		       mra_time(conn->ack_timeout);

	if (conn->state == SOFT_CM_REQ_SENT)
		pier__soft_cm_find_listener_seen(conn);
	if (due > conn->timer.due)
		pier__soft_cm_timer_set(conn, due);
}

void pier__soft_cm_backlog_full(struct soft_cm_conn *conn)
{
	pier__soft_cm_find_listener_seen(conn);
	if (conn->sends > BACKLOG_FULL_SENDS)
		conn->sends = BACKLOG_FULL_SENDS;
	wait(conn);
}

void pier__soft_cm_want_roce_port(struct soft_cm *cm)
{
	if (!cm->roce_port_timer.at)
		pier__soft_heap_set(&cm->timers, &cm->roce_port_timer,
				    pier__soft_cm_now(cm) + WAIT_ROCE_PORT);
}

/* Retry port 4791 for the listeners without it. */
static void roce_port_run(struct soft_cm *cm)
{
	struct pier__list *pos, *tmp;
	struct soft_cm_listener *listener;
	bool missing = false;

	pier__soft_heap_set(&cm->timers, &cm->roce_port_timer, PIER__NEVER);
	PIER__LIST_EACH(pos, tmp, &cm->listeners) {
		listener = pier__container_of(pos, struct soft_cm_listener,
					      link);
		if (listener->no_roce_port)
			continue;
		if (!listener->roce_port)
			listener->roce_port =
				cm->host->ops->roce_port(cm->host, true);
		missing |= !listener->roce_port;
	}
	if (missing)
		pier__soft_cm_want_roce_port(cm);
}

static bool is_last(struct soft_cm_conn *conn)
{
	if (conn->state == SOFT_CM_DREQ_SENT)
		return conn->sends + 1 >= DREQ_SENDS;
	if (conn->state == SOFT_CM_REQ_SENT)
		return pier__soft_cm_find_expired(conn);
	return conn->sends >= conn->max_retries;
}

void pier__soft_cm_timewait_timer(struct soft_cm_conn *conn)
{
	uint64_t wait = conn->handshake && conn->sends ? WAIT_REJ : TWAIT;

	pier__soft_cm_timer_set(conn, pier__soft_cm_now(conn->cm) + wait);
}

static void timewait_run(struct soft_cm_conn *conn)
{
	if (!conn->handshake || !conn->sends) {
		pier__soft_cm_conn_free(conn);
		return;
	}
	pier__soft_cm_send(conn, conn->handshake->mad);
	conn->sends--;
	pier__soft_cm_timewait_timer(conn);
}

/*
 * A client that is not proven gets few REPs.  Those to a RoCE device are far
 * apart: its RTU may be lost in an outage, and only a REP makes it send another
 * one.  A soft client sends RTU again by itself; one answer to it is left for a
 * REJ.
 */
static bool may_send_rep(const struct soft_cm_conn *conn)
{
	if (conn->proven)
		return true;
	return conn->port == ROCE_UDP_PORT ? conn->sends % REP_WAITS == 0 :
					     conn->answers > 1;
}

/* An established connection: the peer may have lost it, or the RTU. */
static void established_again(struct soft_cm_conn *conn)
{
	if (!conn->doubted && conn->sends + 1 >= RTU_SENDS)
		return;
	conn->sends++;
	if (!conn->doubted) {
		pier__soft_cm_send_rtu(conn);
	} else if (!pier__soft_cm_doubt_again(conn)) {
		pier__soft_cm_dreq_begin(conn);
		return;
	}
	wait(conn);
}

static void send_again(struct soft_cm_conn *conn)
{
	switch (conn->state) {
	case SOFT_CM_REQ_SENT:
		pier__soft_cm_find_send(conn);
		break;
	case SOFT_CM_REP_SENT:
		if (may_send_rep(conn))
			pier__soft_cm_send(conn, conn->handshake->mad);
		break;
	case SOFT_CM_DREQ_SENT:
		pier__soft_cm_dreq_send(conn);
		break;
	default:
		break;
	}
}

static void timer_run(struct soft_cm_conn *conn)
{
	pier__soft_cm_timer_set(conn, PIER__NEVER);
	if (conn->state == SOFT_CM_TIMEWAIT) {
		timewait_run(conn);
		return;
	}
	if (conn->state == SOFT_CM_ESTABLISHED) {
		established_again(conn);
		return;
	}
	if (is_last(conn)) {
		pier__soft_cm_timed_out(conn);
		return;
	}
	conn->sends++;
	send_again(conn);
	wait(conn);
}

static struct soft_cm_conn *first(const struct soft_cm *cm)
{
	return (struct soft_cm_conn *)cm->timers.timer[0];
}

int pier__soft_cm_timers(struct soft_gsi *gsi)
{
	struct soft_cm *cm = (struct soft_cm *)gsi;
	uint64_t now = pier__soft_cm_now(cm);
	int n = 0;

	while (n < TIMERS && pier__soft_heap_due(&cm->timers) <= now) {
		if (cm->timers.timer[0] == &cm->roce_port_timer)
			roce_port_run(cm);
		else if (cm->timers.timer[0] == &cm->early_timer)
			pier__soft_cm_early_run(cm);
		else
			timer_run(first(cm));
		n++;
	}
	return n;
}

uint64_t pier__soft_cm_deadline(const struct soft_gsi *gsi)
{
	const struct soft_cm *cm = (const struct soft_cm *)gsi;

	return pier__soft_heap_due(&cm->timers);
}
