/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_DOCA_PARTY_H
#define PIER_T_DOCA_PARTY_H

#include <doca_comch.h>

#include "t/doca/ends.h"

/*
 * A server or a client of a Comm Channel as a program for DOCA has it, on an
 * engine of its own.  It counts its callbacks; a call of progress that returns
 * that something was done, without one, is a failed check.
 */
#define PARTY_TASKS 4
#define PARTY_STATES 16

struct party {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_comch_server *server;	/* NULL: a client */
	struct doca_comch_client *client;
	struct doca_ctx *ctx;			/* NULL: destroyed */
	struct doca_comch_connection *conn;	/* the newest, of a server */
	enum doca_ctx_states states[PARTY_STATES];	/* in which order */
	int state_count;
	int connected, disconnected, received, done, failed;
	int joined, expired;			/* consumers of peers */
	uint32_t consumer;			/* the id of the newest */
	int reports;				/* all callbacks */
	doca_error_t error;			/* of the last task */
	bool hold;				/* do not free tasks */
	struct doca_comch_task_send *held;	/* the last one */
	uint8_t last[4096];			/* the last message */
	uint32_t last_len;
	/* Called for each, after it was counted; NULL: nothing. */
	void (*on_connected)(struct party *party);
	void (*on_received)(struct party *party);
	void (*on_disconnected)(struct party *party,
				struct doca_comch_connection *conn);
	void (*on_state)(struct party *party, enum doca_ctx_states next);
	struct party *next;			/* that are open */
};

/* A name that no other run has; static, another one in each call. */
const char *party_name(void);

/* All but the start, with all that is mandatory. */
bool party_server(struct party *party, const char *name);
bool party_client(struct party *party, const char *name);

/* Start it; of a client, until it runs. */
bool party_start(struct party *party);

/* A server and a client that are connected. */
bool party_pair(struct party *server, struct party *client);

/* Stop it, drive all until it is idle, and destroy it. */
void party_close(struct party *party);
void party_unpair(struct party *server, struct party *client);

/* Its connection: of a client its only one, of a server the newest. */
struct doca_comch_connection *party_conn(struct party *party);

/* Take a task that sends @len bytes on its connection; submit one. */
doca_error_t party_take(struct party *party, const void *msg, uint32_t len,
			struct doca_comch_task_send **ret);
doca_error_t party_send(struct party *party, const void *msg, uint32_t len);

enum doca_ctx_states party_state(const struct party *party);

/* Drives what a test has besides; how much was done.  NULL: nothing. */
extern int (*party_extra)(void);

/* One round of all that are open; false: @limit has passed. */
bool party_step(long long limit);

/* Drive all until @count is at least @want, or the context in @state. */
bool party_until(const int *count, int want);
bool party_until_state(struct party *party, enum doca_ctx_states state);

/* Check that the last message is @text. */
bool party_has(const struct party *party, const char *text);

#endif
