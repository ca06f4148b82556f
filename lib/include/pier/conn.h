/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CONN_H
#define PIER_CONN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A connection of an RDMA context to one peer.  Connected is told only when a
 * hello has passed both ways, so whoever is told may send.
 *
 *	reset -> init -> connected -> reset (disconnected) or error
 *
 * A failed connection fails its own tasks and nobody else's.
 * Calls belong to the engine's thread.
 */
struct pier_conn;
struct pier_rdma;

enum pier_conn_state {
	PIER_CONN_RESET,	/* none yet, or ended in good order */
	PIER_CONN_INIT,		/* exported or connecting */
	PIER_CONN_CONNECTED,
	PIER_CONN_ERROR,	/* failed; pier_conn_error() says why */
};

/* The state is already @next; never called from inside what caused it. */
typedef void pier_conn_state_fn(struct pier_conn *conn,
				enum pier_conn_state prev,
				enum pier_conn_state next, void *user_data);

/* Where both ends are. */
struct pier_conn_path {
	uint8_t local_gid[16];
	uint8_t peer_gid[16];
	uint32_t local_qpn;
	uint32_t peer_qpn;
	uint32_t mtu;		/* path MTU in bytes */
	uint32_t gid_index;	/* of local_gid */
};

/* What carries a connection; all are reliable ones (RC). */
enum pier_transport {
	PIER_TRANSPORT_NONE,	/* not known yet */
	PIER_TRANSPORT_IB,
	PIER_TRANSPORT_ROCE_V1,
	PIER_TRANSPORT_ROCE_V2,
};

enum pier_conn_state pier_conn_state(const struct pier_conn *conn);
const char *pier_conn_state_name(enum pier_conn_state state);

/* Why it is in error, a negative error; 0: it is not. */
int pier_conn_error(const struct pier_conn *conn);

/* The sentence to pier_conn_error(), "" without one; belongs to @conn. */
const char *pier_conn_error_text(const struct pier_conn *conn);

void pier_conn_set_state_changed(struct pier_conn *conn,
				 pier_conn_state_fn *fn);
void pier_conn_set_user_data(struct pier_conn *conn, void *user_data);
void *pier_conn_user_data(const struct pier_conn *conn);

struct pier_rdma *pier_conn_rdma(const struct pier_conn *conn);

/* Errors: -ENOTCONN, nothing is known of the peer yet. */
int pier_conn_path(const struct pier_conn *conn, struct pier_conn_path *ret);

/* Known when the path is. */
enum pier_transport pier_conn_transport(const struct pier_conn *conn);

/* "RoCE v2" and the like. */
const char *pier_transport_name(enum pier_transport transport);

/*
 * Drive the engine until @conn is connected; the peer may have left again in
 * good order by then, which its state tells.
 * Errors: -ETIMEDOUT; why it failed; -EBUSY, called from inside a callback.
 */
int pier_conn_wait(struct pier_conn *conn, int timeout_ms);

/*
 * Say goodbye and close: tasks in flight are given the drain time, then
 * cancelled; the state callback tells the end.  Harmless when repeated or
 * when the peer was first.  NULL is fine.  Returns 0.
 */
int pier_conn_disconnect(struct pier_conn *conn);

/*
 * End it at once, from whatever state: tasks in flight are cancelled, the
 * state callback tells the end.  A peer by CM is told; one by descriptors
 * finds out, by its next task or keepalive.  Harmless when repeated, before
 * or after a disconnect, or when the peer was first.  NULL is fine.
 * Returns 0.
 */
int pier_conn_abort(struct pier_conn *conn);

/*
 * End @conn and give its memory back: with a goodbye, or aborted if tasks are
 * in flight, which the next rounds of the engine cancel.  By descriptors these
 * get a tenth of a second, with the goodbye behind them.
 * What is not destroyed ends with its context.  NULL is fine.
 */
void pier_conn_destroy(struct pier_conn *conn);

#ifdef __cplusplus
}
#endif

#endif
