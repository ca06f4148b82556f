/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_STAGE_H
#define PIER_T_LIB_STAGE_H

#include <stdbool.h>

struct pair;
struct pier_conn;
struct pier_pe;

/*
 * How far a connection has come, finer than its public state, for tests that
 * act at one stage.  Each of these drives the engines until @conn has reached
 * the stage; beyond the limit it is false, and a failed check.  It is false too
 * if the connection has failed instead.
 */
bool stage_hello_sent(const struct pier_conn *conn);	/* is in flight */
bool stage_hello_acked(const struct pier_conn *conn);	/* the peer has ours */
bool stage_draining(const struct pier_conn *conn);	/* after a round it */
							/* waits for tasks */
bool stage_goodbye(const struct pier_conn *conn);	/* ours was posted */
bool stage_goodbye_over(const struct pier_conn *conn);	/* and has ended, */
							/* or there is none */

/*
 * A send has reached the peer, which has no receive for it; on a device that
 * does not count by connection, it is posted.
 */
bool stage_rnr(const struct pier_conn *conn);

/* The stages of a connection by address, in the order of the handshake. */
enum handshake_stage {
	STAGE_LOOKUP,	/* active: the address is being resolved */
	STAGE_REQ_SENT,	/* active: the REQ is sent */
	STAGE_ACCEPTED,	/* active: the RTU is sent; passive: the REP is */
	STAGE_READ,	/* a read of the peer's private data was posted */
	STAGE_HELLO,	/* its own hello was posted */
	STAGE_UP,
};

/*
 * Until @conn has reached @stage, or is beyond it: it is looked at after each
 * single round of @pe, so that it is beyond only if one round takes it there.
 */
bool stage_handshake(const struct pier_conn *conn, struct pier_pe *pe,
		     enum handshake_stage stage);

/*
 * Until only the program of its peer can take @conn further in the handshake;
 * or the peer's device did not answer, so that the QP was reset; or it is up.
 */
bool stage_peers_turn(const struct pier_conn *conn);

/* The process of @pair has sent something, or has ended. */
bool stage_reported(const struct pair *pair);

#endif
