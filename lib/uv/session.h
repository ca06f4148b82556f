/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_UV_SESSION_H
#define PIER_UV_SESSION_H

#include <stdbool.h>

#include <uv.h>

#include <pier/exchange.h>

#include "uv/box.h"

#define CLIENTS_MAX 16		/* without a hello at a time */

/* A client that has not sent hello, in clients.c. */
struct exchange_client {
	struct session *session;	/* NULL: the place is free */
	uv_tcp_t tcp;
	uint64_t until;			/* ms of the loop */
	uint8_t buf[512];		/* a hello, and what follows it */
	size_t len;
};

/*
 * One exchange: a loop of its own, the streams to the peer, both boxes.
 * meet.c connects to the peer, session.c exchanges frames with it.
 */
struct session {
	const struct pier_exchange_config *cfg;
	uv_loop_t loop;
	uv_timer_t timer;		/* no progress for timeout_ms */
	uv_timer_t retry;		/* connects again; or looks for */
					/* clients that are late */
	uv_tcp_t listener;
	union {
		uv_stream_t stream;
		uv_tcp_t tcp;
		uv_pipe_t pipe;
	} in, out;			/* of a client in is used */
	struct exchange_client clients[CLIENTS_MAX];	/* of a listener */
	uv_stream_t *writer;		/* in, out or a client's; NULL: not */
					/* connected */
	uv_connect_t connect;
	uv_getaddrinfo_t resolve;
	bool resolving;
	struct addrinfo *addrs;		/* of the peer; addr is being tried */
	struct addrinfo *addr;
	bool pending;			/* a client can be accepted */
	bool stdio;			/* in, out: descriptors 0 and 1 */
	int flags[2];			/* of those, before the exchange */
	uint64_t deadline;		/* of connecting, ms of the loop */
	struct outbox outbox;
	struct inbox inbox;
	uint8_t inbuf[2 * FRAME_MAX];
	size_t inlen;
	uint8_t outbuf[FRAME_MAX];
	uv_write_t write;
	size_t trickle;			/* bytes of data since progress */
	bool writing;
	bool stored_sent;		/* our frame: all files are stored */
	bool stored_received;		/* the peer's */
	bool aborting;			/* send the peer the reason, then end */
	bool failed_sent;
	bool write_failed;		/* the peer reads no more; its last */
					/* frame may have the reason */
	bool over;
	int err;			/* how it has ended, or will end */
	char reason[512];		/* the error message */
};

/*
 * Call it before the loop exists, which may be given the same descriptors if
 * they are closed.  Errors: -EBADF; -EINVAL, neither a pipe nor a socket.
 */
int pier__session_check_stdio(void);

/* Connect to the peer, then call pier__session_met().  In meet.c. */
int pier__session_meet(struct session *s);

/* As uv_connection_cb: accept a client.  In clients.c. */
void pier__session_client(uv_stream_t *listener, int status);

/* Close what meet.c has opened. */
void pier__session_unmeet(struct session *s);

/* The streams are connected; what inbuf holds was received already. */
void pier__session_met(struct session *s, uv_stream_t *reader,
		       uv_stream_t *writer);

/* End the exchange, with the thread's last error if @err. */
void pier__session_end(struct session *s, int err);

#endif
