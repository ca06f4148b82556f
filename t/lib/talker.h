/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_TALKER_H
#define PIER_T_LIB_TALKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pier/pier.h>

#include "t/lib/limit.h"

/*
 * One end of a Comm Channel, server or client, on an engine of its own, which
 * counts its callbacks.  What a test waits for is bounded by LIMIT_MS.
 */
#define TALKER_STATES 8

struct talker {
	struct pier_pe *pe;
	struct pier_comch *comch;
	struct pier_ctx *ctx;		/* comch's */
	struct pier_comch_conn *conn;	/* the newest that is connected */
	int connected, disconnected, received, writable;
	int consumers, expired;		/* of the peers */
	uint32_t consumer;		/* the id of the newest */
	int wrong;			/* of anything */
	enum pier_ctx_state states[TALKER_STATES];	/* that were reported */
	int state_count;
	uint8_t last[PIER_COMCH_MESSAGE_MAX];	/* the last message */
	size_t last_len;
	int end_error;			/* of the last that was disconnected */
	char end_text[256];		/* its message */
	void *end_data;			/* its user data */
	/* called for each, after it was counted; NULL: nothing */
	void (*on_connected)(struct talker *talker,
			     struct pier_comch_conn *conn);
	void (*on_received)(struct talker *talker,
			    struct pier_comch_conn *conn);
	void (*on_writable)(struct talker *talker,
			    struct pier_comch_conn *conn);
	void (*on_disconnected)(struct talker *talker,
				struct pier_comch_conn *conn);
	void (*on_consumer)(struct talker *talker,
			    struct pier_comch_conn *conn);
	void (*on_expired)(struct talker *talker,
			   struct pier_comch_conn *conn);
	struct talker *next;		/* that are open */
};

/* A name that no other run has; static, another one in each call. */
const char *talker_name(void);

/*
 * Make a server, or a client of the server at @address or, NULL, on this host,
 * on an engine of its own, with @cfg or, NULL, the defaults.  Not started.
 */
bool talker_server(struct talker *talker, struct pier_dev *dev,
		   const char *name, const struct pier_comch_config *cfg);
bool talker_client(struct talker *talker, struct pier_dev *dev,
		   const char *name, const char *address,
		   const struct pier_comch_config *cfg);
void talker_close(struct talker *talker);

/* Make an engine alone, which is driven with those of the others. */
bool talker_engine(struct talker *talker);

/* Start it; of a client, until it runs. */
bool talker_start(struct talker *talker);

/* Both, started and connected. */
bool talker_pair(struct talker *server, struct talker *client,
		 struct pier_dev *dev, const struct pier_comch_config *cfg);
void talker_unpair(struct talker *server, struct talker *client);

/* One round of the engines of all that are open; false: @limit has passed. */
bool talker_step(long long limit);

/* Until @count is at least @want; until its context is in @state. */
bool talker_count(const int *count, int want);
bool talker_state(const struct talker *talker, enum pier_ctx_state state);

/* Send a message of @len bytes of pattern @seed; the status of the task. */
int talker_send(struct pier_comch_conn *conn, unsigned int seed, size_t len);

/* Is the last message such a one? */
bool talker_holds(const struct talker *talker, unsigned int seed, size_t len);

/* Its violations, and the requests that it rejected. */
int talker_violations(const struct talker *talker);
int talker_rejected(const struct talker *talker);

#endif
