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
 * By address: its QP can send, so that the hellos begin.  Does not sleep, so
 * that no more than one round of @pe lies between the stage and the return.
 */
bool stage_handshake(const struct pier_conn *conn, struct pier_pe *pe);

/* The process of @pair has sent something, or has ended. */
bool stage_reported(const struct pair *pair);

#endif
