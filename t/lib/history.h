/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_HISTORY_H
#define PIER_T_LIB_HISTORY_H

#include "fabric/soft/cm/soft_cm.h"
#include "fabric/soft/rc/qp.h"
#include "t/lib/vnet.h"

/*
 * Hosts on a network in virtual time, connections between them that are made
 * anew when they have ended, and a history of what was requested on them, by
 * which it is checked what reliable connections promise.  The first violation
 * is recorded in struct history and ends the run.  One thread.
 *
 * A connection has one life after another.  The ends of a life are 0, which
 * connects, and 1.  Data is made of words that name the life, the end and the
 * request that they come from.
 */
#define HISTORY_HOSTS 4
#define HISTORY_CONNS 8
#define HISTORY_OPS 48		/* of one end */
#define HISTORY_SLOT 8192	/* bytes, the longest message */
#define HISTORY_WORDS (HISTORY_SLOT / 8)
#define HISTORY_SLOTS 3		/* of an area, that the peer writes */
#define HISTORY_FLIGHT 8	/* requests of an end in flight */
#define HISTORY_AREAS 12	/* of a host */
#define HISTORY_RECVS 24	/* of a host */
#define HISTORY_EVENTS 8192
#define HISTORY_SERVICE 7471

enum history_kind {
	HISTORY_SEND, HISTORY_SEND_IMM, HISTORY_WRITE, HISTORY_WRITE_IMM,
	HISTORY_READ, HISTORY_ADD, HISTORY_SWAP, HISTORY_KINDS,
};

/* A request.  Times are ticks of struct history; 0: not yet. */
struct history_op {
	uint8_t kind;
	uint8_t status;			/* enum ibv_wc_status */
	uint8_t slot;			/* of WRITE and READ */
	uint32_t receive;		/* which one it takes */
	bool silent, fenced;
	uint32_t len;
	uint64_t begin, end;
	uint64_t compare, swap, original;	/* of atomics */
	struct history_words *words;
	struct history_end *area;	/* of READ: whose is read */
	uint16_t *floor;		/* of READ, a word: oldest version */
};

/* What is known of a slot: a version is a request's number + 1, or 0. */
struct history_slot {
	uint16_t known[HISTORY_WORDS];	/* this one is there, or a later one */
	bool torn[HISTORY_WORDS];	/* written in part */
};

struct history_end {
	struct history_life *life;
	struct history_host *host;
	struct history_words *born;	/* the host's when this was opened */
	struct soft_qp *qp;
	struct pier__cm_id *id;
	uint8_t *area;			/* NULL: none */
	struct soft_mr target;		/* the slots of the area */
	uintptr_t peer_target, peer_mem;	/* addresses of the peer, and */
	uint32_t target_rkey, all_rkey, atomics_rkey;	/* its keys */
	uint32_t qpn;
	bool used;			/* it was opened, perhaps closed */
	bool open;			/* it has a QP and an area */
	bool ready;			/* requests may be posted */
	bool failed;			/* a request has, or CM has ended it */
	bool flushing;			/* a request has failed */
	bool closing;			/* by its program */
	uint32_t posted, done;
	uint32_t expected[HISTORY_OPS];	/* requests that take a receive */
	uint32_t expected_put;
	uint32_t expected_got;		/* of them received by the peer */
	struct history_op ops[HISTORY_OPS];
	struct history_slot slots[HISTORY_SLOTS];
};

struct history_life {
	struct history_life *next;
	struct history_conn *conn;
	uint32_t number;
	struct history_end end[2];
};

/* A connection's place: between which hosts, and its newest life. */
struct history_conn {
	struct history_host *host[2];
	struct history_life *life;
	uint32_t last_qpn[2];
	uint64_t connect_at;
};

/* The words of a host's process that its peers count in and swap. */
struct history_words {
	struct history_words *next;
	struct history_host *host;
	uint64_t word[2];		/* or the last values; adds, swaps */
	uint64_t guess;			/* a recent value of the second */
	struct history_op **op;
	uint32_t count;
};

struct history_area {
	bool used;
	uint64_t sum;			/* of its slots, since it is unused */
};

struct history_host {
	struct soft_cm_host host;	/* first */
	struct history *history;
	int number;
	bool up, mute;
	struct soft_io *io, *listen_io;
	struct soft_addr addr;
	struct soft_mr_table *keys;
	struct soft_ep *ep;
	struct soft_cq *cq;
	struct soft_srq *srq;
	struct soft_cm *cm;
	struct soft_cm_listener listener;
	uint64_t start_at;		/* if not up */
	uint8_t *mem;
	struct soft_mr all, atomics;
	struct history_words *words;
	struct history_area areas[HISTORY_AREAS];
	bool recv_posted[HISTORY_RECVS];
	uint32_t recvs;			/* posted */
	uint32_t recvs_wanted;
	struct ibv_wc wc[256];
	int wcs;
};

/* What happened, for the report of a failure. */
struct history_event {
	uint64_t now;
	const char *what;
	int host;
	uint32_t life, end, op;
	int64_t detail;
};

struct history {
	struct vnet net;
	uint64_t seed, tick;
	bool mild;			/* no request may fail */
	bool violent;			/* hosts are killed often */
	bool verbose;
	int hosts, conns;
	struct history_host host[HISTORY_HOSTS];
	struct history_conn conn[HISTORY_CONNS];
	bool cut[HISTORY_HOSTS][HISTORY_HOSTS];	/* from, to */
	bool quiet;			/* no more requests and connections */
	bool generous;			/* receives are always posted */
	uint32_t lives;
	struct history_life *life;	/* all, the newest first */
	struct history_words *words;	/* all */
	struct history_event events[HISTORY_EVENTS];	/* the last ones */
	uint32_t event_count;
	uint32_t completed[HISTORY_KINDS], failed, kills;
	char bad[160];			/* "": nothing was violated */
	uint32_t bad_life;
};

/* history.c: all of it. */
struct history *history_open(uint64_t seed);
void history_close(struct history *h);

/* Go on for @ns; returns false after a violation. */
bool history_run(struct history *h, uint64_t ns);

/* Let everything complete, end all, check what is left. */
void history_finish(struct history *h);

/* Print the seed, the violation and what led to it. */
void history_report(const struct history *h);

uint64_t history_random(struct history *h, uint64_t below);
bool history_chance(struct history *h, double p);

/* history_host.c */
void history_host_init(struct history *h, int i);
void history_host_start(struct history_host *host);
/* As a process that is killed: nothing is sent any more. */
void history_host_kill(struct history_host *host);
/* As a program that ends: all its ends are closed before. */
void history_host_stop(struct history_host *host);
/* All completions, receives first.  Closes no end. */
void history_poll(struct history *h);
void history_post_receives(struct history_host *host);
/* An unused area; NULL: none. */
uint8_t *history_area_get(struct history_host *host);
void history_area_put(struct history_host *host, uint8_t *area);
/* No unused area of @host has changed. */
void history_areas_check(struct history_host *host);
uint8_t *history_local(const struct history_end *end, uint32_t op);

/* history_conn.c */
/* Begin what is due: connect, take events, close what has failed. */
void history_conns_turn(struct history *h);
void history_end_close(struct history_end *end, bool error_first);
/* The end of @host with @qpn; NULL: none is open. */
struct history_end *history_end_find(const struct history_host *host,
				     uint32_t qpn);
struct history_end *history_peer(const struct history_end *end);

/* history_op.c */
void history_post(struct history_end *end);
void history_sent(struct history_end *end, const struct ibv_wc *wc);
void history_received(struct history_host *host, const struct ibv_wc *wc);
/* Silent requests at the end of a queue that is empty. */
void history_settled(struct history_end *end);

/* history_check.c */
void history_fail(struct history *h, const struct history_end *end, uint32_t op,
		  const char *what);
void history_log(struct history *h, const struct history_end *end, uint32_t op,
		 const char *what, int64_t detail);
void history_fill(uint8_t *mem, uint32_t len, const struct history_end *end,
		  uint32_t op);
bool history_is(const uint8_t *mem, uint32_t len, const struct history_end *end,
		uint32_t op);
/* Request @op of @writer was executed: its words are there, or later ones. */
void history_written(struct history_end *writer, uint32_t op);
void history_read_begin(struct history_end *end, struct history_op *op);
void history_read_end(struct history_end *end, uint32_t op);
void history_words_check(struct history *h, const struct history_words *words);

#endif
