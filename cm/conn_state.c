/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netinet/in.h>

#include "cm/conn_impl.h"
#include "core/clock.h"
#include "core/fail.h"
#include "core/probe.h"

/*
 * The state machine of a connection.  Each state has a step, which runs in the
 * engine's rounds only, so that no callback is called from inside the call that
 * caused it.
 */
#define GOODBYE_LOOK (100 * PIER__MS)

/* How long a goodbye waits for a receive of the peer's. */
#define GOODBYE_RNR (100 * PIER__MS)

/* How long its address may be missing: some addresses return at once. */
#define GID_LOST_MAX (300 * PIER__MS)

/* A longer time between two looks at a peer that sends RNR NAKs is this. */
#define RNR_GAP (1000 * PIER__MS)

struct state {
	const char *name;
	enum pier_conn_state public;
	const char *stage;	/* in messages; NULL: "in use" */
	uint64_t (*step)(struct pier_conn *conn, uint64_t now);
	bool drains;		/* its deadline is drain_ms after entry */
	bool ready;		/* the QP is in RTS */
	uint32_t next;		/* the states that may follow, TO() each */
	enum pier__conn_state closed;	/* of step_ending(): what it ends in */
};

#define TO(state) (1u << PIER__CONN_##state)

static const struct state *state_of(const struct pier_conn *conn);

/* Call the program's callbacks for a change that was not reported yet. */
static void report(struct pier_conn *conn)
{
	const struct pier__conn_callbacks *fns = &conn->owner->callbacks;
	enum pier_conn_state prev = conn->reported;
	enum pier_conn_state next = pier_conn_state(conn);
	pier_conn_fn *fn = fns->failure;

	if (prev == next)
		return;
	conn->reported = next;
	if (!conn->owner->quiet)
		pier__pe_event(conn->queues->pe);
	if (conn->state_changed)
		conn->state_changed(conn, prev, next, conn->user_data);
	if (conn->destroyed)
		return;
	if (next == PIER_CONN_CONNECTED)
		fn = fns->established;
	else if (prev == PIER_CONN_CONNECTED)
		fn = fns->disconnected;
	if (fn)
		fn(conn, conn->user_data, pier_ctx_user_data(conn->owner->ctx));
}

bool pier__conn_peer_disconnected(const struct pier_conn *conn)
{
	return conn->peer_disconnected || pier__conn_goodbye_seen(conn);
}

static void flush(struct pier_conn *conn)
{
	bool connected = pier_conn_state(conn) == PIER_CONN_CONNECTED;

	pier__conn_transition(conn, connected ? PIER__CONN_FLUSHING :
						PIER__CONN_CANCELLING);
}

/*
 * End it although the peer executes nothing that comes behind the tasks in
 * flight: cancel these, so that a goodbye takes their place.
 */
static void flush_and_say(struct pier_conn *conn)
{
	if (!conn->flow->qp_resume || conn->resumed || !conn->posted.first) {
		flush(conn);
		return;
	}
	conn->resumed = true;
	conn->unacked = 0;
	pier__conn_transition(conn, PIER__CONN_RESETTING);
}

static uint64_t step_connecting(struct pier_conn *conn, uint64_t now)
{
	return conn->flow->step(conn, now);
}

/* Probe the peer if nothing has completed for the keepalive time. */
static void keep_alive(struct pier_conn *conn, uint64_t now)
{
	uint32_t ms = conn->queues->cfg->keepalive_ms;

	if (!ms || now < conn->next_try)
		return;
	conn->next_try = now + ms * PIER__MS;
	if (conn->completed == conn->seen_completed && !conn->posted.first)
		pier__conn_control(conn, PIER__CTL_KEEPALIVE);
	conn->seen_completed = conn->completed;
}

/* A receive that is forgotten looks like a peer that is slow. */
static void warn_of_rnr(struct pier_conn *conn)
{
	char gid[INET6_ADDRSTRLEN];

	if (conn->rnr_logged)
		return;
	conn->rnr_logged = true;
	pier__log(PIER_LOG_WARNING, "cm", "QPN 0x%06x: tasks wait, as the peer,"
		  " %s QPN 0x%06x, has no receive posted (RNR NAK)",
		  conn->local.qpn,
		  pier__gid_text(conn->remote_gid.raw, gid), conn->remote.qpn);
}

/*
 * A peer that answers by RNR NAKs is alive, so that neither retransmissions nor
 * keepalives end the wait for its receive.  Returns true: the limit has.  Time
 * in which this end did not run counts as RNR_GAP: the peer may not have run
 * either.
 */
static bool rnr_step(struct pier_conn *conn, uint64_t now)
{
	uint64_t limit = conn->queues->cfg->rnr_timeout_ms * PIER__MS;
	bool waits = conn->completed == conn->looked_completed &&
		     pier__conn_rnr(conn);

	conn->looked_completed = conn->completed;
	if (!waits) {
		conn->rnr_since = 0;
		return false;
	}
	warn_of_rnr(conn);
	if (!conn->rnr_since)
		conn->rnr_since = now;
	else if (now - conn->rnr_at > RNR_GAP)
		conn->rnr_since += now - conn->rnr_at - RNR_GAP;
	conn->rnr_at = now;
	if (!limit || now - conn->rnr_since < limit)
		return false;
	pier__conn_rnr_expired(conn);
	return true;
}

static uint64_t step_up(struct pier_conn *conn, uint64_t now)
{
	if (pier__conn_peer_disconnected(conn)) {
		if (pier__conn_is_at_fault(conn))
			return now;
		pier__log(PIER_LOG_INFO, "cm", "QPN 0x%06x: the peer has "
			  "disconnected", conn->local.qpn);
		flush(conn);
		return now;
	}
	if (!conn->flow->step_up || conn->flow->step_up(conn))
		keep_alive(conn, now);
	if (rnr_step(conn, now))
		return now;
	return now + GOODBYE_LOOK;
}

static uint64_t step_draining(struct pier_conn *conn, uint64_t now)
{
	int err;

	if (pier__conn_peer_disconnected(conn)) {
		flush(conn);
		return now;
	}
	if (conn->posted.first && now < conn->deadline)
		return now + PIER__MS;
	if (conn->posted.first && conn->flow->qp_resume) {
		flush_and_say(conn);
		return now;
	}
	err = pier__conn_control(conn, PIER__CTL_GOODBYE);
	if (!err)
		pier__conn_transition(conn, PIER__CONN_GOODBYE);
	else if (err != -EAGAIN || now >= conn->deadline)
		flush(conn);
	return now + PIER__MS;
}

/*
 * A goodbye does not wait for long behind tasks that wait for a receive of the
 * peer's.
 */
static bool is_stuck(struct pier_conn *conn, uint64_t now)
{
	uint64_t most = now + GOODBYE_RNR;

	if (conn->deadline > most && pier__conn_rnr(conn))
		conn->deadline = most;
	return now >= conn->deadline;
}

static uint64_t step_goodbye(struct pier_conn *conn, uint64_t now)
{
	if (conn->ctl_kind != PIER__CTL_NONE && !is_stuck(conn, now) &&
	    !pier__conn_peer_disconnected(conn))
		return now + PIER__MS;
	if (conn->ctl_kind == PIER__CTL_NONE ||
	    pier__conn_peer_disconnected(conn))
		flush(conn);
	else
		flush_and_say(conn);
	return now;
}

/* Has all that was posted completed, or can no more of it complete? */
static bool is_flushed(struct pier_conn *conn, uint64_t now)
{
	int err = 0;

	if (conn->queues->error || now >= conn->deadline)
		return true;
	if (!conn->drained_at)
		err = pier__conn_mark(conn);
	if (err)
		return err != -EAGAIN;
	return conn->queues->polled >= conn->drained_at;
}

/* Has the marker come, so that there is nothing to be polled any more? */
static bool is_drained(const struct pier_conn *conn)
{
	return conn->drained_at && conn->queues->polled >= conn->drained_at;
}

static uint64_t step_resetting(struct pier_conn *conn, uint64_t now)
{
	if (!is_flushed(conn, now))
		return now + PIER__MS;
	if (!is_drained(conn) || conn->goodbye_acked ||
	    pier__conn_peer_disconnected(conn) ||
	    conn->flow->qp_resume(conn)) {
		pier__conn_transition(conn, PIER__CONN_FLUSHING);
		return now;
	}
	conn->drained_at = 0;
	pier__conn_transition(conn, PIER__CONN_GOODBYE);
	conn->deadline = now + GOODBYE_RNR;
	pier__conn_control(conn, PIER__CTL_GOODBYE);
	return now + PIER__MS;
}

static uint64_t step_ending(struct pier_conn *conn, uint64_t now)
{
	if (!is_flushed(conn, now))
		return now + PIER__MS;
	pier__conn_close(conn);
	pier__conn_transition(conn, state_of(conn)->closed);
	return now;
}

/* Its tasks end after its end was reported. */
static uint64_t step_closed(struct pier_conn *conn, uint64_t now)
{
	if (conn->posted.first)
		pier__conn_cancel_posted(conn);
	return conn->posted.first ? now : PIER__NEVER;
}

static const struct state states[] = {
	[PIER__CONN_CREATED] = {
		.name = "created", .public = PIER_CONN_INIT,
		.next = TO(LOOKUP) | TO(REQ_RCVD) | TO(HELLO) | TO(UP) |
			TO(CANCELLING) | TO(FAILING),
	},
	[PIER__CONN_LOOKUP] = {
		.name = "lookup", .public = PIER_CONN_INIT,
		.stage = "address resolution", .step = step_connecting,
		.next = TO(LOOKUP) | TO(REQ_SENT) | TO(CANCELLING) |
			TO(FAILING),
	},
	[PIER__CONN_REQ_SENT] = {
		.name = "req_sent", .public = PIER_CONN_INIT,
		.stage = "connection request", .step = step_connecting,
		.next = TO(LOOKUP) | TO(ACCEPTED) | TO(CANCELLING) |
			TO(FAILING),
	},
	[PIER__CONN_REQ_RCVD] = {
		.name = "req_rcvd", .public = PIER_CONN_INIT,
		.stage = "connection request", .step = step_connecting,
		.next = TO(ACCEPTED) | TO(CANCELLING) | TO(FAILING),
	},
	[PIER__CONN_ACCEPTED] = {
		.name = "accepted", .public = PIER_CONN_INIT,
		.stage = "handshake", .step = step_connecting, .ready = true,
		.next = TO(HELLO) | TO(UP) | TO(CANCELLING) | TO(FAILING),
	},
	[PIER__CONN_HELLO] = {
		.name = "hello", .public = PIER_CONN_INIT,
		.stage = "handshake", .step = step_connecting, .ready = true,
		.next = TO(HELLO) | TO(UP) | TO(CANCELLING) | TO(FAILING),
	},
	[PIER__CONN_UP] = {
		.name = "up", .public = PIER_CONN_CONNECTED,
		.step = step_up, .ready = true,
		.next = TO(DRAINING) | TO(FLUSHING) | TO(FAILING),
	},
	[PIER__CONN_DRAINING] = {
		.name = "draining", .public = PIER_CONN_CONNECTED,
		.step = step_draining, .drains = true, .ready = true,
		.next = TO(GOODBYE) | TO(RESETTING) | TO(FLUSHING) |
			TO(FAILING),
	},
	[PIER__CONN_GOODBYE] = {
		.name = "goodbye", .public = PIER_CONN_CONNECTED,
		.step = step_goodbye, .drains = true, .ready = true,
		.next = TO(RESETTING) | TO(FLUSHING) | TO(FAILING),
	},
	[PIER__CONN_RESETTING] = {
		.name = "resetting", .public = PIER_CONN_CONNECTED,
		.step = step_resetting, .drains = true,
		.next = TO(GOODBYE) | TO(FLUSHING),
	},
	[PIER__CONN_FLUSHING] = {
		.name = "flushing", .public = PIER_CONN_CONNECTED,
		.step = step_ending, .drains = true, .next = TO(CLOSED),
		.closed = PIER__CONN_CLOSED,
	},
	[PIER__CONN_CANCELLING] = {
		.name = "cancelling", .public = PIER_CONN_INIT,
		.step = step_ending, .drains = true, .next = TO(CANCELLED),
		.closed = PIER__CONN_CANCELLED,
	},
	[PIER__CONN_FAILING] = {
		.name = "failing", .public = PIER_CONN_ERROR,
		.step = step_ending, .drains = true, .next = TO(FAILED),
		.closed = PIER__CONN_FAILED,
	},
	[PIER__CONN_CLOSED] = {
		.name = "closed", .public = PIER_CONN_RESET,
		.step = step_closed,
	},
	[PIER__CONN_CANCELLED] = {
		.name = "cancelled", .public = PIER_CONN_RESET,
		.step = step_closed,
	},
	[PIER__CONN_FAILED] = {
		.name = "failed", .public = PIER_CONN_ERROR,
		.step = step_closed,
	},
};

static const struct state *state_of(const struct pier_conn *conn)
{
	return &states[conn->state];
}

enum pier_conn_state pier_conn_state(const struct pier_conn *conn)
{
	if (!conn)
		return PIER_CONN_RESET;
	return state_of(conn)->public;
}

const char *pier__conn_stage(const struct pier_conn *conn)
{
	const char *stage = state_of(conn)->stage;

	return stage ? stage : "in use";
}

bool pier__conn_is_connecting(const struct pier_conn *conn)
{
	return conn->state < PIER__CONN_UP;
}

bool pier__conn_is_ending(const struct pier_conn *conn)
{
	return conn->state >= PIER__CONN_RESETTING;
}

bool pier__conn_is_closed(const struct pier_conn *conn)
{
	return conn->state >= PIER__CONN_CLOSED;
}

bool pier__conn_was_connected(const struct pier_conn *conn)
{
	return pier_conn_state(conn) == PIER_CONN_CONNECTED ||
	       conn->state == PIER__CONN_CLOSED;
}

static void invalid_transition(struct pier_conn *conn,
			       const struct state *next)
{
	const struct state *state = state_of(conn);
	int err = pier__fail(-ENOTRECOVERABLE, "connection QPN 0x%06x: no "
			     "transition from state %s to %s",
			     conn->local.qpn, state->name, next->name);

	pier__log(PIER_LOG_CRITICAL, "cm", "%s", pier_last_error());
	if (state->next & TO(FAILING))
		pier__conn_fail(conn, err);
}

void pier__conn_transition(struct pier_conn *conn, enum pier__conn_state next)
{
	const struct state *from = state_of(conn), *to = &states[next];
	const struct pier__queues_config *cfg = conn->queues->cfg;
	enum pier__conn_state prev = conn->state;
	uint64_t now = pier__now();

	if (!(from->next & 1u << next)) {
		invalid_transition(conn, to);
		return;
	}
	pier__probe_state(conn, conn->local.qpn, prev, next);
	conn->state = next;
	if (to->drains)		/* without a QP in RTS nothing is in flight */
		conn->deadline = from->ready ? now + cfg->drain_ms * PIER__MS :
					       0;
	if (conn->flow->entered)
		conn->flow->entered(conn, prev);
	if (from->ready && !to->ready)
		pier__conn_qp_error(conn);
	if (next == PIER__CONN_UP)
		conn->next_try = now + cfg->keepalive_ms * PIER__MS;
	if (to->step)
		pier__conn_schedule(conn);
}

void pier__conn_end(struct pier_conn *conn)
{
	if (conn->state >= PIER__CONN_GOODBYE)
		return;
	if (pier_conn_state(conn) != PIER_CONN_CONNECTED) {
		pier__conn_transition(conn, PIER__CONN_CANCELLING);
		return;
	}
	/* a goodbye would wait for the peer's receive, as the tasks do */
	if (conn->flow->has_disconnect && pier__conn_rnr(conn)) {
		pier__conn_flush(conn);
		flush(conn);
		return;
	}
	if (conn->state == PIER__CONN_UP)
		pier__conn_transition(conn, PIER__CONN_DRAINING);
	pier__conn_flush(conn);		/* what was deferred is in flight */
	conn->deadline = pier__now();	/* goodbye follows that */
	if (!pier__conn_control(conn, PIER__CTL_GOODBYE))
		pier__conn_transition(conn, PIER__CONN_GOODBYE);
}

int pier_conn_disconnect(struct pier_conn *conn)
{
	struct pier__guard *guard;
	int err;

	if (!conn || !conn->queues)
		return 0;
	guard = pier__ctx_guard(conn->owner->ctx);
	err = pier__guard_enter(guard, "pier_conn_disconnect");
	if (err)
		return err;
	if (conn->state == PIER__CONN_UP)
		pier__conn_transition(conn, PIER__CONN_DRAINING);
	else if (pier__conn_is_connecting(conn))
		pier__conn_end(conn);
	pier__guard_leave(guard);
	return 0;
}

int pier_conn_abort(struct pier_conn *conn)
{
	struct pier__guard *guard;
	int err;

	if (!conn || !conn->queues || pier__conn_is_ending(conn))
		return 0;
	guard = pier__ctx_guard(conn->owner->ctx);
	err = pier__guard_enter(guard, "pier_conn_abort");
	if (err)
		return err;
	pier__conn_flush(conn);		/* its requests are cancelled, too */
	flush(conn);
	pier__guard_leave(guard);
	return 0;
}

void pier__conn_peer_ready(struct pier_conn *conn)
{
	if (conn->state == PIER__CONN_UP)
		conn->hello_seen = true;
	if ((conn->state != PIER__CONN_ACCEPTED &&
	     conn->state != PIER__CONN_HELLO) ||
	    (conn->flow->may_connect && !conn->flow->may_connect(conn)))
		return;
	conn->hello_acked = conn->hello_seen = true;
	pier__conn_transition(conn, PIER__CONN_UP);
	report(conn);
}

void pier__conn_check_gid(struct pier_conn *conn, const struct pier__port *port,
			  uint64_t now)
{
	uint32_t index;

	if (!conn->gid_lost_at)
		return;
	if (pier__gid_find(port, &conn->local_gid, &index)) {
		conn->gid_lost_at = PIER__NEVER;
	} else if (conn->gid_lost_at == PIER__NEVER) {
		conn->gid_lost_at = now;
		pier__conn_schedule(conn);	/* it may wait for a reply */
	}
}

/* Returns when to check again. */
static uint64_t step_address(struct pier_conn *conn, uint64_t now)
{
	if (!conn->gid_lost_at || conn->gid_lost_at == PIER__NEVER ||
	    pier__conn_is_ending(conn))
		return PIER__NEVER;
	if (now - conn->gid_lost_at < GID_LOST_MAX)
		return conn->gid_lost_at + GID_LOST_MAX;
	conn->gid_lost_at = PIER__NEVER;
	if (conn->state < PIER__CONN_ACCEPTED)
		conn->flow->attempt_failed(conn, pier__conn_gid_lost(conn));
	else
		pier__conn_fail(conn, pier__conn_gid_lost(conn));
	return PIER__NEVER;
}

uint64_t pier__conn_step(struct pier_conn *conn, uint64_t now)
{
	uint64_t due = PIER__NEVER, look;

	if (conn->post_error)
		pier__conn_fail(conn, conn->post_error);
	look = step_address(conn, now);
	if (state_of(conn)->step)
		due = state_of(conn)->step(conn, now);
	report(conn);
	if (pier__conn_is_closed(conn) && conn->destroyed &&
	    !conn->posted.first) {
		pier__conn_retire(conn);
		return PIER__NEVER;
	}
	conn->due = look < due ? look : due;
	return conn->due;
}
