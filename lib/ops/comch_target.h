/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_COMCH_TARGET_H
#define PIER_OPS_COMCH_TARGET_H

#include <stdatomic.h>

#include "core/hash.h"
#include "engine/task_queue.h"
#include "ops/comch_data.h"

/* A producer, and the consumers that it sends to. */

struct pier_comch_producer {
	struct pier__comch_data data;	/* first */
	struct pier__hash targets;	/* that have not ended; the code is */
					/* the consumer's id */
	struct pier__list all;		/* targets, those too that have */
};

/* A consumer that was sent to. */
struct pier__comch_target {
	struct pier__hash_link by_id;
	struct pier__list link;		/* producer->all */
	struct pier_comch_producer *producer;
	struct pier__comch_announced to;
	struct pier_conn *conn;
	bool up;			/* messages may be posted, */
	uint64_t limit;			/* which are shorter than this */
	bool busy;			/* it has ended, or messages wait */
	bool ended;			/* it is not in producer->targets */
	bool over;			/* its connection has ended, too */
	uint32_t posted;		/* messages in flight */
	struct pier__task_queue waiting;	/* not posted yet */
	int error;			/* why it has ended */
	char text[256];
};

static inline struct pier_comch_producer *
pier__comch_producer_of(struct pier_ctx *ctx)
{
	return pier__container_of(pier__comch_data_of(ctx),
				  struct pier_comch_producer, data);
}

/* Has the directory changed, so that its consumer may have expired? */
static inline bool
pier__comch_is_suspect(const struct pier_comch_producer *producer)
{
	return atomic_load(&producer->data.member->attention);
}

/* There is a send of the context for each of its tasks. */
static inline bool
pier__comch_target_may_post(const struct pier__comch_target *target)
{
	return pier__conn_is_up(target->conn) && target->conn->send_credits;
}

/*
 * Find that of consumer @id, to which @producer connects if it is the first
 * message.  Errors: -ENOENT; -ENOTCONN; -ENOSPC; -ENOMEM; those of connecting.
 */
int pier__comch_target_find(struct pier_comch_producer *producer, uint32_t id,
			    struct pier__comch_target **ret);

/* May @t be sent to @target?  Errors: -EMSGSIZE. */
int pier__comch_target_check(const struct pier__comch_target *target,
			     const struct pier__comch_data_task *t);

/* Post @t, or have it wait for the connection, or for credits. */
int pier__comch_target_send(struct pier__comch_target *target,
			    struct pier__comch_data_task *t);

/* One message less is in flight: post others, or free @target. */
void pier__comch_target_less(struct pier__comch_target *target);

/* @t has failed as @wc has it: the next message makes a new connection. */
void pier__comch_target_fail(struct pier__comch_data_task *t,
			     const struct ibv_wc *wc) __attribute__((cold));

#endif
