/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_UV_SESSION_H
#define PIER_UV_SESSION_H

#include <stdbool.h>

#include <uv.h>

#include <pier/exchange.h>

#include "uv/box.h"

/*
 * One exchange: a loop of its own, the streams to the peer, both boxes.
 * meet.c finds the peer, session.c talks to it.
 */
struct session {
	const struct pier_exchange_config *cfg;
	uv_loop_t loop;
	uv_timer_t timer;		/* no sign of life for timeout_ms */
	uv_timer_t retry;		/* connect again */
	uv_tcp_t listener;
	union {
		uv_stream_t stream;
		uv_tcp_t tcp;
		uv_pipe_t pipe;
	} in, out;			/* over TCP only in is used */
	uv_stream_t *writer;		/* in or out; NULL: not met */
	uv_connect_t connect;
	uv_getaddrinfo_t resolve;
	bool resolving;
	struct addrinfo *addrs;		/* of the peer; now tried is addr */
	struct addrinfo *addr;
	bool in_use;			/* in, until it is closed again */
	bool pending;			/* one more waits to be accepted */
	bool stdio;			/* in, out: descriptors 0 and 1, */
	int flags[2];			/* which had these */
	uint64_t deadline;		/* of meeting, ms of the loop */
	struct outbox outbox;
	struct inbox inbox;
	uint8_t inbuf[2 * FRAME_MAX];
	size_t inlen;
	uint8_t outbuf[FRAME_MAX];
	uv_write_t write;
	size_t trickle;			/* bytes of data since the last sign */
	bool writing;
	bool stored_sent;		/* we: that all is in place */
	bool stored_received;		/* the peer: the same */
	bool refusing;			/* tell the peer why, then end */
	bool failed_sent;
	bool deaf;			/* it takes nothing more; what it */
					/* said before may tell why */
	bool over;
	int err;			/* how it ended, or will */
	char reason[512];		/* the error message */
};

/*
 * Before the loop, which would take descriptors that are closed for its own.
 * Errors: -EBADF; -EINVAL, nothing that leads to a peer.
 */
int pier__session_check_stdio(void);

/* Find the peer, then call pier__session_met().  In meet.c. */
int pier__session_meet(struct session *s);

/* Listen on: whoever connected was no peer. */
void pier__session_meet_again(struct session *s);

/* Close what meet.c has opened. */
void pier__session_unmeet(struct session *s);

/* The streams stand. */
void pier__session_met(struct session *s, uv_stream_t *writer);

/* It is over, with the thread's last error if @err. */
void pier__session_end(struct session *s, int err);

#endif
