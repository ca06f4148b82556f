/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_CLERK_H
#define PIER_T_LIB_CLERK_H

#include "t/lib/talker.h"

/*
 * A server of requests and its client, on one engine or on one each.  There is
 * one pair.  The server replies at once with the bytes of the request, or
 * stores the handles for the test.
 */
#define CLERK_OPEN 64		/* handles that are stored */
#define CLERK_MEM 65536		/* bytes of an ask's reply */

extern struct clerk {
	struct talker server, client;
	char name[64];		/* the server's */
	bool later;		/* do not reply at once */
	uint64_t handles[CLERK_OPEN];	/* in the order of the requests */
	int requested, ended;
	int failed;		/* ended with an error, */
	int status;		/* the last one */
	uint64_t last;		/* handle that ended */
	struct pier_comch_conn *conn;	/* of the last request */
	/* called for each, after it was stored; NULL: nothing */
	void (*on_request)(uint64_t handle, const void *msg, size_t len);
} clerk;

/* A request of the client. */
struct ask {
	struct pier_task *task;
	int done;		/* callbacks */
	int status;		/* of the last one */
	uint8_t msg[CLERK_MEM], reply[CLERK_MEM];
};

/* Both with @cfg, NULL: the defaults; @shared: on the server's engine. */
bool clerk_open(struct pier_dev *dev, const struct pier_comch_config *cfg,
		bool shared);
void clerk_close(void);

/* Take a task with @len bytes of pattern @seed; and submit it, too. */
bool ask_take(struct ask *ask, unsigned int seed, size_t len);
bool ask_submit(struct ask *ask, unsigned int seed, size_t len);

/* It completes with @status; then free it. */
bool ask_ends(struct ask *ask, int status);

/* The same with success, and a reply of @len bytes of pattern @seed. */
bool ask_has(struct ask *ask, unsigned int seed, size_t len);

/* Rounds of all engines, to see that nothing happens. */
void clerk_pause(void);

#endif
