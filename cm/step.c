/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "cm/conn_impl.h"
#include "cm/rdmacm/rdmacm.h"
#include "cm/wc_status.h"
#include "core/clock.h"
#include "core/fail.h"

/*
 * A connection's housekeeping, a step a phase.  Steps run in the engine's
 * rounds only, so that callbacks never come from inside what caused them.
 */
#define HELLO_LOOK (PIER__MS)		/* how often to look for the hello */
#define HELLO_PAUSE (20 * PIER__MS)	/* before it is said again */
#define GOODBYE_LOOK (100 * PIER__MS)

/*
 * How long a destroyed connection's tasks may keep its goodbye back, where the
 * peer would not hear of its end otherwise.
 */
#define LAST_WORD (100 * PIER__MS)

/* How long its address may be away: some come back at once. */
#define GID_LOST_MAX (300 * PIER__MS)

/* Tell the user what he does not know yet. */
static void tell(struct pier_conn *conn)
{
	enum pier_conn_state prev = conn->reported;

	if (prev == conn->state)
		return;
	conn->reported = conn->state;
	pier__pe_event(conn->queues->pe);
	if (conn->state_changed)
		conn->state_changed(conn, prev, conn->state, conn->user_data);
	if (!conn->destroyed)
		pier__rdmacm_report(conn, prev);
}

/* Close without more ado: the QP to ERR, then the marker, then away. */
static void begin_flush(struct pier_conn *conn, uint64_t now)
{
	conn->phase = PIER__CONN_FLUSHING;
	conn->deadline = now + conn->queues->cfg->drain_ms * PIER__MS;
	pier__rdmacm_disconnect(conn);
	if (conn->ready)
		pier__conn_qp_error(conn);
}

void pier__conn_abort(struct pier_conn *conn)
{
	begin_flush(conn, pier__now());
}

/* Has the peer ended it, by its goodbye or by CM? */
static bool peer_has_left(const struct pier_conn *conn)
{
	return pier__conn_goodbye_seen(conn) ||
	       (conn->cm && conn->cm->over);
}

/* Has everything that was posted come back, or is it not going to? */
static bool is_flushed(struct pier_conn *conn, uint64_t now)
{
	int err = 0;

	if (!conn->ready || conn->queues->error || now >= conn->deadline)
		return true;
	if (!conn->marker_posted)
		err = pier__conn_mark(conn);
	if (err && err != -EAGAIN)
		return true;
	return conn->marker_done &&
	       conn->queues->polled >= conn->drained_at;
}

static uint64_t step_flushing(struct pier_conn *conn, uint64_t now)
{
	if (!is_flushed(conn, now))
		return now + PIER__MS;
	pier__conn_close(conn);
	return now;
}

static uint64_t step_goodbye(struct pier_conn *conn, uint64_t now)
{
	if (conn->ctl_kind == PIER__CTL_NONE || now >= conn->deadline ||
	    peer_has_left(conn)) {
		begin_flush(conn, now);
		return now;
	}
	return now + PIER__MS;
}

static uint64_t step_draining(struct pier_conn *conn, uint64_t now)
{
	int err;

	if (peer_has_left(conn)) {
		begin_flush(conn, now);
		return now;
	}
	if (conn->posted.first && now < conn->deadline)
		return now + PIER__MS;
	err = pier__conn_control(conn, PIER__CTL_GOODBYE);
	if (!err) {
		conn->phase = PIER__CONN_GOODBYE;
		conn->deadline = now + conn->queues->cfg->drain_ms * PIER__MS;
	} else if (err != -EAGAIN || now >= conn->deadline) {
		begin_flush(conn, now);
	}
	return now + PIER__MS;
}

/* Probe a peer of whom nothing was heard for the keepalive time. */
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

static uint64_t step_up(struct pier_conn *conn, uint64_t now)
{
	if (peer_has_left(conn)) {
		pier__log(PIER_LOG_INFO, "cm", "QPN 0x%06x: the peer has "
			  "disconnected", conn->local.qpn);
		begin_flush(conn, now);
		return now;
	}
	keep_alive(conn, now);
	return now + GOODBYE_LOOK;
}

int pier__conn_no_hello(const struct pier_conn *conn)
{
	char gid[INET6_ADDRSTRLEN], why[128];

	pier__conn_port_fault(conn, why, sizeof(why));
	return pier__fail(-PIER_ENOHELLO, "no hello from %s QPN 0x%06x: %s%s",
			  pier__gid_text(conn->remote_gid.raw, gid),
			  conn->remote.qpn,
			  conn->hello_acked ?
				  "it took ours but never connected to us" :
				  "it does not answer; is it gone, or its "
				  "descriptor from an earlier run?", why);
}

void pier__conn_become_up(struct pier_conn *conn, uint64_t now)
{
	if (conn->cm)
		pier__rdmacm_established(conn);
	conn->phase = PIER__CONN_UP;
	conn->state = PIER_CONN_CONNECTED;
	conn->was_connected = true;
	conn->next_try = now + conn->queues->cfg->keepalive_ms * PIER__MS;
}

void pier__conn_peer_ready(struct pier_conn *conn)
{
	if (conn->phase != PIER__CONN_HELLO ||
	    (conn->cm && conn->cm->seen < conn->cm->theirs.len))
		return;
	conn->hello_acked = conn->hello_seen = true;
	pier__conn_become_up(conn, pier__pe_now(conn->queues->pe));
	pier__conn_schedule(conn);
	tell(conn);
}

void pier__conn_check_gid(struct pier_conn *conn, const struct pier__port *port,
		     uint64_t now)
{
	uint32_t index;

	if (!conn->gid_bound || conn->phase >= PIER__CONN_FLUSHING ||
	    pier__gid_find(port, &conn->local_gid, &index)) {
		conn->gid_lost_at = 0;
	} else if (!conn->gid_lost_at) {
		conn->gid_lost_at = now;
		pier__conn_schedule(conn);	/* it may wait for an answer */
	}
}

/* @err, which was told; on a connection by CM with where it happened. */
static int with_ends(const struct pier_conn *conn, int err)
{
	if (conn->cm)
		pier__rdmacm_fail(conn, err, pier__rdmacm_stage(conn), "%s",
			       pier_last_error());
	return err;
}

int pier__conn_gid_lost(const struct pier_conn *conn)
{
	char local[INET6_ADDRSTRLEN], remote[INET6_ADDRSTRLEN];

	if (conn->cm)
		return pier__rdmacm_fail(conn, -EADDRNOTAVAIL,
					 pier__rdmacm_stage(conn),
					 "the address was "
					 "taken from %s, or has expired",
					 conn->queues->dev->info.port.netdev);
	return pier__fail(-EADDRNOTAVAIL,
			  "the address %s, from which the "
			  "connection to %s QPN 0x%06x was made, is no longer "
			  "one of %s: it was taken from it, or has expired",
			  pier__gid_text(conn->local_gid.raw, local),
			  pier__gid_text(conn->remote_gid.raw, remote),
			  conn->remote.qpn,
			  conn->queues->dev->info.port.netdev);
}

/* Returns when to look again. */
static uint64_t step_address(struct pier_conn *conn, uint64_t now)
{
	if (!conn->gid_lost_at)
		return PIER__NEVER;
	if (now - conn->gid_lost_at < GID_LOST_MAX)
		return conn->gid_lost_at + GID_LOST_MAX;
	conn->gid_lost_at = 0;
	if (conn->phase < PIER__CONN_HELLO && conn->cm)
		pier__rdmacm_gid_lost(conn);
	else
		pier__conn_fail(conn, pier__conn_gid_lost(conn));
	return PIER__NEVER;
}

static uint64_t step_hello(struct pier_conn *conn, uint64_t now)
{
	conn->hello_seen = conn->hello_seen || pier__conn_hello_seen(conn);
	if (conn->hello_seen && pier__conn_goodbye_seen(conn))
		conn->hello_acked = true;	/* it took ours, and is done */
	if (conn->hello_acked && conn->hello_seen) {
		pier__conn_become_up(conn, now);
		return now;
	}
	if (now >= conn->deadline) {
		pier__conn_fail(conn, pier__conn_no_hello(conn));
		return now;
	}
	if (!conn->hello_acked && now >= conn->next_try &&
	    conn->ctl_kind == PIER__CTL_NONE) {
		int err = pier__conn_control(conn, PIER__CTL_HELLO);

		if (err && err != -EAGAIN)
			pier__conn_fail(conn, err);
	}
	return now + HELLO_LOOK;
}

bool pier__conn_recover(struct pier_conn *conn, const struct ibv_wc *wc)
{
	char why[128];
	int err;

	if (conn->phase != PIER__CONN_HELLO ||
	    wc->status != IBV_WC_RETRY_EXC_ERR)
		return false;
	err = pier__conn_port_fault(conn, why, sizeof(why));
	if (err == -ENODEV || err == -EADDRNOTAVAIL)
		return false;		/* it can only be in vain */
	/* nothing comes in any more, so this is all that did */
	conn->hello_seen = conn->hello_seen || pier__conn_hello_seen(conn);
	conn->next_try = pier__pe_now(conn->queues->pe) + HELLO_PAUSE;
	err = conn->cm ? pier__rdmacm_qp_reset(conn) :
			   pier__conn_qp_reset(conn);
	if (err)
		pier__conn_fail(conn, with_ends(conn, err));
	return true;
}

void pier__conn_fail(struct pier_conn *conn, int err)
{
	if (conn->phase >= PIER__CONN_FLUSHING)
		return;
	conn->error = err;
	free(conn->error_text);
	conn->error_text = strdup(pier_last_error());
	conn->state = PIER_CONN_ERROR;
	begin_flush(conn, pier__pe_now(conn->queues->pe));
	pier__conn_schedule(conn);
}

void pier__conn_queues_failed(struct pier_conn *conn)
{
	const struct pier__queues *queues = conn->queues;

	if (conn->phase >= PIER__CONN_FLUSHING)
		return;
	if (conn->cm)
		pier__rdmacm_fail(conn, queues->error, pier__rdmacm_stage(conn),
			       "%s", queues->error_text);
	else
		pier__fail_again(queues->error, queues->error_text);
	pier__conn_fail(conn, queues->error);
}

/* The queue pair is in error, by no request of ours. */
static void broken(struct pier_conn *conn)
{
	static const char no_fault[] = ": it refused a request of the "
					 "peer's, or the queue pair was moved "
					 "to error by hand";
	char gid[INET6_ADDRSTRLEN], why[128];
	int err = pier__conn_port_fault(conn, why, sizeof(why));

	if (err == -ENODEV) {
		err = pier__dev_alive(conn->queues->dev);
		pier__conn_fail(conn, with_ends(conn, err));
		return;
	}
	if (!err)
		err = -ECONNRESET;
	pier__gid_text(conn->remote_gid.raw, gid);
	if (conn->cm)
		pier__rdmacm_fail(conn, err, pier__rdmacm_stage(conn),
				  "the device "
				  "has ended it%s",
				  why[0] ? "" : no_fault);
	else
		pier__fail(err, "the device has ended the connection to %s "
			   "QPN 0x%06x%s", gid, conn->remote.qpn,
			   why[0] ? why : no_fault);
	pier__conn_fail(conn, err);
}

/* Say that @what failed; @port is the end of a sentence about ours. */
static int say_failed(const struct pier_conn *conn, int err, const char *what,
		      const struct ibv_wc *wc, const char *port)
{
	char gid[INET6_ADDRSTRLEN];

	if (conn->cm)
		return pier__rdmacm_fail(conn, err, what,
					 "%s (verbs status %d, "
					 "vendor 0x%x)",
					 pier__wc_text(wc->status),
					 (int)wc->status, wc->vendor_err);
	return pier__fail(err, "%s to %s QPN 0x%06x failed: %s%s (verbs status "
			  "%d, vendor 0x%x, path MTU %u)", what,
			  pier__gid_text(conn->remote_gid.raw, gid),
			  conn->remote.qpn, pier__wc_text(wc->status), port,
			  (int)wc->status, wc->vendor_err, conn->path_mtu);
}

int pier__conn_failed(struct pier_conn *conn, const char *what,
		      const struct ibv_wc *wc)
{
	char port[128];
	int err = pier__wc_error(wc->status), cause;

	if (wc->status == IBV_WC_WR_FLUSH_ERR) {
		const char *why;

		if (conn->phase < PIER__CONN_FLUSHING)
			broken(conn);
		why = pier_conn_error_text(conn);

		return pier__fail_again(err, why[0] ? why :
					pier__wc_text(wc->status));
	}
	cause = pier__conn_port_fault(conn, port, sizeof(port));
	if (cause == -ENODEV) {		/* found out by this very failure */
		err = with_ends(conn, pier__dev_alive(conn->queues->dev));
		pier__conn_fail(conn, err);
		return err;
	}
	/* no answer can come to an address that is gone */
	if (cause == -EADDRNOTAVAIL && (err == -PIER_ERETRY ||
					err == -PIER_EDEVICE)) {
		err = pier__conn_gid_lost(conn);
		pier__conn_fail(conn, err);
		return err;
	}
	if (cause && err == -PIER_EDEVICE)	/* its port failed, not it */
		err = cause;
	say_failed(conn, err, what, wc, port);
	pier__conn_fail(conn, err);
	return err;
}

/* Out of the context's sight; freed once no task holds it. */
static void retire(struct pier_conn *conn)
{
	pier__list_del(&conn->link);
	pier__list_del(&conn->hot);
	conn->queues = NULL;
	conn->phase = PIER__CONN_CLOSED;
	pier__conn_remove_desc_file(conn);
	if (conn->holds)
		return;
	free(conn->error_text);
	free(conn->desc);
	pier__rdmacm_conn_free(conn);
	free(conn);
}

void pier__conn_hold(struct pier_conn *conn)
{
	conn->holds++;
}

void pier__conn_drop(struct pier_conn *conn)
{
	if (--conn->holds == 0 && conn->destroyed && !conn->queues)
		retire(conn);
}

static uint64_t step_phase(struct pier_conn *conn, uint64_t now)
{
	switch (conn->phase) {
	case PIER__CONN_HELLO:
		return conn->cm ? pier__rdmacm_step(conn, now) :
				    step_hello(conn, now);
	case PIER__CONN_UP:
		return step_up(conn, now);
	case PIER__CONN_DRAINING:
		return step_draining(conn, now);
	case PIER__CONN_GOODBYE:
		return step_goodbye(conn, now);
	case PIER__CONN_FLUSHING:
		return step_flushing(conn, now);
	case PIER__CONN_LOOKUP:
	case PIER__CONN_ASKED:
	case PIER__CONN_REQUEST:
		return pier__rdmacm_step(conn, now);
	case PIER__CONN_EXPORTED:
	case PIER__CONN_CLOSED:
		break;
	}
	return PIER__NEVER;
}

uint64_t pier__conn_step(struct pier_conn *conn, uint64_t now)
{
	uint64_t due, look;

	if (conn->post_error)
		pier__conn_fail(conn, conn->post_error);
	look = step_address(conn, now);
	due = step_phase(conn, now);
	tell(conn);
	if (conn->phase == PIER__CONN_CLOSED && conn->destroyed) {
		retire(conn);
		return PIER__NEVER;
	}
	conn->due = look < due ? look : due;
	return conn->due;
}

static void hurry(struct pier_conn *conn)
{
	uint64_t most = pier__now() + LAST_WORD;

	if (conn->posted.first && conn->deadline > most)
		conn->deadline = most;
}

void pier_conn_destroy(struct pier_conn *conn)
{
	if (!conn || conn->destroyed)
		return;
	conn->destroyed = true;
	conn->state_changed = NULL;
	if (!conn->queues) {
		retire(conn);
		return;
	}
	if (conn->posted.first && conn->cm) {
		pier_conn_abort(conn);
		return;
	}
	pier__conn_end(conn);
	hurry(conn);
	pier__conn_schedule(conn);
}
