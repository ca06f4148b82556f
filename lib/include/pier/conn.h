/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CONN_H
#define PIER_CONN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A connection of a context to one peer.  It becomes connected when a hello
 * has passed in both directions, so both sides may send from then on.
 *
 *	reset -> init -> connected -> reset (disconnected) or error
 *
 * When a connection fails, only its own tasks fail.  Calls belong to the
 * engine's thread.
 */
struct pier_conn;
struct pier_ctx;
struct pier_rdma;

enum pier_conn_state {
	PIER_CONN_RESET,	/* none yet, or ended without a failure */
	PIER_CONN_INIT,		/* exported or connecting */
	PIER_CONN_CONNECTED,
	PIER_CONN_ERROR,	/* failed; see pier_conn_error() */
};

/* The state is already @next; never called inside the call that caused it. */
typedef void pier_conn_state_fn(struct pier_conn *conn,
				enum pier_conn_state prev,
				enum pier_conn_state next, void *user_data);

/* The addresses of both ends. */
struct pier_conn_path {
	uint8_t local_gid[16];
	uint8_t peer_gid[16];
	uint32_t local_qpn;
	uint32_t peer_qpn;
	uint32_t mtu;		/* path MTU in bytes */
	uint32_t gid_index;	/* of local_gid */
};

/* The transport of a connection; all are reliable (RC). */
enum pier_transport {
	PIER_TRANSPORT_NONE,	/* not known yet */
	PIER_TRANSPORT_IB,
	PIER_TRANSPORT_ROCE_V1,
	PIER_TRANSPORT_ROCE_V2,
};

enum pier_conn_state pier_conn_state(const struct pier_conn *conn);
const char *pier_conn_state_name(enum pier_conn_state state);

/* The negative error of a connection in the error state; otherwise 0. */
int pier_conn_error(const struct pier_conn *conn);

/* The message of pier_conn_error(), "" without one; belongs to @conn. */
const char *pier_conn_error_text(const struct pier_conn *conn);

void pier_conn_set_state_changed(struct pier_conn *conn,
				 pier_conn_state_fn *fn);
void pier_conn_set_user_data(struct pier_conn *conn, void *user_data);
void *pier_conn_user_data(const struct pier_conn *conn);

/* The context that @conn belongs to. */
struct pier_ctx *pier_conn_ctx(const struct pier_conn *conn);

/* The same as an RDMA context; NULL: it is a context of another kind. */
struct pier_rdma *pier_conn_rdma(const struct pier_conn *conn);

/* Errors: -ENOTCONN, the peer is not known yet. */
int pier_conn_path(const struct pier_conn *conn, struct pier_conn_path *ret);

/* Known as soon as the path is. */
enum pier_transport pier_conn_transport(const struct pier_conn *conn);

/* "RoCE v2" and the like. */
const char *pier_transport_name(enum pier_transport transport);

/*
 * Drive the engine until @conn is connected; the peer may have disconnected
 * again by then: check the state.
 * Errors: -ETIMEDOUT; the error of the connection; -EBUSY, called from inside a
 * callback.
 */
int pier_conn_wait(struct pier_conn *conn, int timeout_ms);

/*
 * Send goodbye and close: tasks in flight have the drain time to complete; the
 * state callback reports the end, then the others are cancelled.  It may be
 * repeated, or called after the peer disconnected.  NULL is allowed.
 * Returns 0.
 */
int pier_conn_disconnect(struct pier_conn *conn);

/*
 * End the connection at once, in any state: tasks in flight are cancelled, the
 * state callback reports the end.  By CM the peer gets a message; by
 * descriptors it detects the end by its next task or keepalive.  It may be
 * repeated, before or after a disconnect, or called after the peer
 * disconnected.  NULL is allowed.  Returns 0.
 */
int pier_conn_abort(struct pier_conn *conn);

/*
 * End @conn and free its memory: with a goodbye, or aborted if tasks are in
 * flight, which the next rounds of the engine cancel.  By descriptors these
 * tasks have a tenth of a second first, and then the goodbye is sent.  A
 * connection that is not destroyed ends with its context.  NULL is allowed.
 */
void pier_conn_destroy(struct pier_conn *conn);

#ifdef __cplusplus
}
#endif

#endif
