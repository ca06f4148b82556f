/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_TOOLS_PING_H
#define PIER_TOOLS_PING_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include <pier/pier.h>

#include "tool.h"

/* The operations of a round. */
enum ping_op {
	PING_SEND,		/* returned by the peer's program */
	PING_WRITE,
	PING_READ,
	PING_ATOMIC,
	PING_OPS
};

#define PING_SIZE_MAX 65536
#define PING_RNR_MS 5000	/* a client without a receive has so long */
/* The server's memory: for reads and writes, then the word for atomics. */
#define PING_WORD_AT PING_SIZE_MAX
#define PING_MEMORY (PING_SIZE_MAX + 8)

/* Microseconds. */
struct ping_stat {
	uint64_t count;
	double min, max, sum, squares;
};

struct ping {
	struct pier_args args;
	int listening;		/* this is the server */
	const char *listen;	/* its PORT, ADDR or ADDR:PORT */
	const char *operation;	/* NULL: all */
	const char *interval;	/* seconds, as typed; NULL: 1 */
	int count;		/* rounds; 0: until stopped */
	uint64_t size;
	int json;
	double interval_us;
	bool ops[PING_OPS];	/* selected */

	struct pier_dev *dev;
	struct pier_pe *pe;
	struct pier_rdma *rdma;
	struct pier_mmap *local;
	struct pier_buf_inventory *inv;

	/* The server's. */
	char address[TOOL_ADDRESS_MAX];	/* of --listen; "": any */
	char device[TOOL_DEVICE_MAX];	/* that has it */
	struct pier_host *host;	/* all devices; NULL: only dev */
	struct ping_place *places;
	size_t place_count;
	uint32_t port;
	uint64_t clients;	/* that have connected */

	/* The client's: its connection and its results. */
	struct pier_conn *conn;	/* NULL: none now */
	struct pier_mmap *remote;
	int status;		/* of the operation in flight */
	int echo;		/* of the receive */
	struct pier_buf *echo_buf;
	bool waiting;		/* for the server, which was printed */
	uint64_t sent, answered;	/* rounds */
	double begun;
	struct ping_stat stats[PING_OPS];

	/* Of one attempt for another command, which prints the result. */
	bool once;
	bool connected;		/* was it? */
	bool is_ping;		/* the peer */
	unsigned int rejected;	/* by the peer: the reason's code; 0: no */
	char source[TOOL_ADDRESS_MAX];	/* this end's address, or "" */
	char reason[512];	/* of the failure */
};

/* Set by Ctrl-C and the like, which also wake the engine. */
extern volatile sig_atomic_t ping_stopped;

const char *ping_op_name(enum ping_op op);

/* Microseconds of a clock that never goes back. */
double ping_now(void);

/* What both ends have; they are torn down after a failure, too. */
int ping_set_up(struct ping *p);
void ping_tear_down(struct ping *p);

/* Of each context. */
void ping_config(const struct ping *p, struct pier_rdma_config *ret);

/* Take where the server listens.  2: it is invalid, and was reported. */
int ping_where(struct ping *p);

/* The server, until stopped, and the client; they return the exit status. */
int ping_server(struct ping *p);
int ping_client(struct ping *p);

/*
 * Connect once and make a round, of which nothing is printed: "once" and "json"
 * of @p are set.  Errors: those of the connection; -EPROTO, the peer is no
 * pier ping --listen.
 */
int ping_try(struct ping *p);

/* The client's reports: at the begin, of round @seq, of all at the end. */
void ping_report_begin(const struct ping *p);
void ping_report_round(const struct ping *p, uint64_t seq,
		       const double us[PING_OPS]);
void ping_report_all(const struct ping *p);

/* The server's, at its end, as JSON. */
void ping_report_server(const struct ping *p);

#endif
