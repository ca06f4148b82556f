/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_HONEST_H
#define PIER_T_LIB_HONEST_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <pier/exchange.h>

/*
 * pier_exchange() in a thread, the peer of t/lib/liar.h.  There is one, and one
 * thread may use it.
 */
extern struct honest {
	struct pier_exchange_config cfg;
	pthread_t thread;
	char dir[64];		/* what it receives */
	unsigned int port;
	int result;		/* of the call, after honest_part() */
	char reason[512];
} honest;

/* False: there are no files. */
bool honest_open(void);
void honest_close(void);

/* It calls pier_exchange() with its configuration. */
void honest_start(void);

/*
 * It listens with @timeout_ms, and the liar has connected.  @receive: files are
 * accepted; @big: it sends the largest one.
 */
void honest_meet(int timeout_ms, bool receive, bool big);

/* The liar connects, again. */
void honest_dial(void);

/* The liar closes, and the call has returned. */
void honest_part(void);

/* How many files have arrived; they are removed. */
int honest_entries(void);

/* What was added is refused as -EPROTO with @part, and a frame reports it. */
void honest_refuses(const char *part);

/* The liar does what it should after its files; it announces @files. */
void honest_finish(uint64_t files);

#endif
