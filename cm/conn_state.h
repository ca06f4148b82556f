/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CM_CONN_STATE_H
#define PIER_CM_CONN_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include <pier/conn.h>

/*
 * The states of a connection, finer than enum pier_conn_state, in the order of
 * its life.  The table in conn_state.c has what each of them means and which
 * may follow it; docs/connections.md draws it.
 */
enum pier__conn_state {
	PIER__CONN_CREATED,	/* the peer is not known */
	PIER__CONN_LOOKUP,	/* active: resolves name, address and route */
	PIER__CONN_REQ_SENT,	/* active: has sent its REQ */
	PIER__CONN_REQ_RCVD,	/* passive: has received a REQ */
	PIER__CONN_ACCEPTED,	/* by address: QP in RTS; no RTU yet */
	PIER__CONN_HELLO,	/* QP in RTS; hello not yet both ways */
	PIER__CONN_UP,
	PIER__CONN_DRAINING,	/* disconnect: waits for tasks in flight */
	PIER__CONN_GOODBYE,	/* its goodbye is in flight */
	PIER__CONN_RESETTING,	/* the goodbye waits: QP in ERR, as below */
	PIER__CONN_FLUSHING,	/* was connected; QP in ERR, marker in flight */
	PIER__CONN_CANCELLING,	/* the same, was not connected */
	PIER__CONN_FAILING,	/* the same, has failed */
	PIER__CONN_CLOSED,	/* was FLUSHING; has no QP any more */
	PIER__CONN_CANCELLED,	/* the same, was CANCELLING */
	PIER__CONN_FAILED,	/* the same, was FAILING */
};

/*
 * How a connection is made: by descriptor (descriptor.c), or by address, as the
 * active or the passive side (rdmacm/rdmacm_conn.c).  One constant table each.
 */
struct pier__conn_flow {
	bool has_disconnect;	/* an abort sends the peer a DREQ */
	/* A step in a state before UP; returns when the next is due. */
	uint64_t (*step)(struct pier_conn *conn, uint64_t now);
	/*
	 * A step in UP.  Has the peer answered yet, so that keepalives may
	 * begin?  NULL: it has.
	 */
	bool (*step_up)(struct pier_conn *conn);
	/* The state has changed from @prev.  NULL: nothing to do. */
	void (*entered)(struct pier_conn *conn, enum pier__conn_state prev);
	/* May it be connected as soon as the peer is?  NULL: yes. */
	bool (*may_connect)(const struct pier_conn *conn);
	/* The current attempt has failed; the last error is the reason. */
	void (*attempt_failed)(struct pier_conn *conn, int err);
	/* Move the QP from ERR to RTS, in HELLO. */
	int (*qp_reset)(struct pier_conn *conn);
	/*
	 * Move the QP from ERR to RTS, all that was posted having completed:
	 * the next request takes the place of the first one that the peer did
	 * not execute.  NULL: a goodbye need not pass others.
	 */
	int (*qp_resume)(struct pier_conn *conn);
	/*
	 * Fail with @fmt, both ends, the stage and the path in the message.
	 * Returns @err.  NULL: the caller names the peer itself.
	 */
	int (*fail)(const struct pier_conn *conn, int err, const char *stage,
		    const char *fmt, ...)
		__attribute__((format(printf, 4, 5)));
	/* Free what the flow has added. */
	void (*free)(struct pier_conn *conn);
};

/*
 * Change the state: the only place that does.  A change that the table lacks
 * is a programming error: it is logged and fails the connection.
 */
void pier__conn_transition(struct pier_conn *conn, enum pier__conn_state next);

/* The stage of its state, for messages: "handshake" and the like. */
const char *pier__conn_stage(const struct pier_conn *conn);

/* Has it not been connected yet, and may it still be? */
bool pier__conn_is_connecting(const struct pier_conn *conn);

/* Is it flushing, cancelling, failing, or closed? */
bool pier__conn_is_ending(const struct pier_conn *conn);

/* Has the peer ended the connection, by goodbye or by CM? */
bool pier__conn_peer_disconnected(const struct pier_conn *conn);

/* Has it ended, so that it has no QP any more? */
bool pier__conn_is_closed(const struct pier_conn *conn);

/* Connected, or it was and has been closed without an error. */
bool pier__conn_was_connected(const struct pier_conn *conn);

/*
 * One step of housekeeping at @now: hello, goodbye, keepalive, deadlines.
 * Returns when it next has something to do.  It may free @conn.
 */
uint64_t pier__conn_step(struct pier_conn *conn, uint64_t now);

/* End it: post the goodbye now, behind what is in flight. */
void pier__conn_end(struct pier_conn *conn);

/*
 * A message of the peer's has arrived, so that both ends are connected, even
 * if the completion of our own hello has not been polled.
 */
void pier__conn_peer_ready(struct pier_conn *conn);

/* Record whether its device's @port has its address; a step acts on that. */
struct pier__port;
void pier__conn_check_gid(struct pier_conn *conn, const struct pier__port *port,
			  uint64_t now);

#endif
