/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_CALLER_H
#define PIER_T_LIB_CALLER_H

#include "t/lib/peer.h"

/*
 * A peer that connects by address, and counts its callbacks.  Its requests
 * are accepted with its answer, or held for the test.
 */
struct caller {
	struct peer peer;		/* its conn: the newest */
	struct pier_listener *listener;	/* the newest */
	int requests, established, failures, disconnected;
	int over;			/* failed, disconnected, destroyed */
	int inside;			/* reported inside a call of ours */
	bool calling;
	bool hold;			/* do not answer */
	bool may_fail;			/* an answer that fails is fine */
	bool hang_up;			/* disconnect at once */
	bool sweep;			/* destroy what is over */
	uint8_t answer[PIER_PRIVATE_DATA_MAX];
	size_t answer_len;
	const void *ask;
	size_t ask_len;
	bool raw;
	uint32_t timeout_ms, rate, backlog;
	const char *source;
	const char *address;		/* to listen on; NULL: any */
};

bool caller_open(struct caller *peer, struct pier_dev *dev, struct pier_pe *pe,
		 const struct pier_rdma_config *cfg, size_t len);
void caller_close(struct caller *peer);

/* Two, each on an engine of its own, @server with @cfg; and their end. */
bool caller_pair(struct caller *client, struct caller *server,
		 struct pier_dev *dev, const struct pier_rdma_config *cfg,
		 size_t len);
void caller_unpair(struct caller *client, struct caller *server);

bool caller_listen(struct caller *peer, uint16_t port);

/*
 * Connect @peer to the listener of @to, at @address unless NULL.  try returns
 * what the call does; join waits until both are connected.
 */
int caller_try(struct caller *peer, struct caller *to, const char *address);
bool caller_ask(struct caller *peer, struct caller *to, const char *address);
bool caller_join(struct caller *peer, struct caller *to, const char *address);

/* @peer's callbacks, in all; and none from inside a call of its own. */
void caller_counts(const struct caller *peer, int requests, int established,
		   int failures, int disconnected);

/* A message goes over @from, and @to gets it. */
void caller_flow(struct pier_conn *from, struct caller *to);

/* An address of @dev that is no link-local one; NULL: there is none. */
const char *caller_address(const struct pier_dev *dev);

#endif
