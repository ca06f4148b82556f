/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_COMCH_DIR_H
#define PIER_OPS_COMCH_DIR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/list.h"
#include "ops/comch_impl.h"

/*
 * The directory of a connection of a Comm Channel: the consumers and producers
 * that this end has on it, and the consumers of the peer.  It is what the
 * engine of the connection shares with the engines of the consumers and
 * producers, and it outlives the connection.  Calls are any thread's unless
 * marked "the connection's".
 *
 * A start of a consumer is a run, which is announced by a message; its end, by
 * another one.  The connection's engine sends them one at a time.
 */
struct pier__comch_dir {
	pthread_mutex_t lock;		/* of all but frame */
	uint32_t refs;			/* the connection and the members */
	struct pier_comch *comch;	/* NULL: the connection has ended */
	struct pier__list members;
	struct pier__list theirs;	/* the peer's consumers */
	uint32_t their_count;
	uint32_t last_id[2];		/* given to a producer, to a consumer */
	uint32_t count[2];		/* of members that are not destroyed */
	uint8_t own_gid[16], peer_gid[16];	/* constant */
};

/* A consumer or a producer of this end. */
struct pier__comch_member {
	struct pier__list link;		/* dir->members */
	struct pier__comch_dir *dir;	/* held */
	struct pier_pe *pe;		/* it is started on; NULL: none */
	atomic_bool attention;		/* it has to look at the directory */
	bool is_consumer;
	uint32_t id;			/* constant */
	bool destroyed;			/* it waits for its last message */

	/* of a consumer */
	struct pier__comch_announced own;	/* of its last run */
	bool wanted;			/* the peer is to have it */
	uint32_t run;			/* which is the last; 0: none */
	uint32_t sent_run;		/* announced, not taken back; 0: none */
	uint32_t known_run;		/* that the peer has received */
	bool in_flight;			/* a message about it is */
};

/* A message about a consumer, one at a time; the connection's. */
struct pier__comch_frame {
	struct pier__op op;
	struct pier__posted posted;
	struct pier_comch_conn *conn;
	struct pier__mr *mr;
	bool busy;			/* it is in flight, about: */
	struct pier__comch_member *member;	/* NULL: that is over */
	uint32_t run;
	struct ibv_sge sge;
	uint8_t data[PIER__COMCH_CONSUMER_LEN];
};

/*
 * Add a consumer or a producer of @c, in the connection's thread.
 * Errors: -ENOTCONN; -ENOSPC; -ENOMEM.
 */
int pier__comch_member_create(struct pier_comch_conn *c, bool is_consumer,
			      struct pier__comch_member **ret);
void pier__comch_member_destroy(struct pier__comch_member *member);

/* It is started on @pe; NULL: it is idle.  Errors: -ENOTCONN. */
int pier__comch_member_start(struct pier__comch_member *member,
			     struct pier_pe *pe);
void pier__comch_member_stop(struct pier__comch_member *member);

/* Announce a new run of a consumer on @port, with a token. */
void pier__comch_member_announce(struct pier__comch_member *member,
				 uint16_t port, uint32_t imm_len);

/* The run has ended. */
void pier__comch_member_withdraw(struct pier__comch_member *member);

/* Has the peer been informed of this run? */
bool pier__comch_member_known(struct pier__comch_member *member);

/* Has the connection ended? */
bool pier__comch_dir_ended(struct pier__comch_dir *dir);

/* Find the peer's consumer @id.  Errors: -ENOENT; -ENOTCONN. */
int pier__comch_dir_find(struct pier__comch_dir *dir, uint32_t id,
			 struct pier__comch_announced *ret);

/* Have the engine of @member look.  The lock is held. */
void pier__comch_member_notify(struct pier__comch_member *member);

/*
 * Take it out, unless a message about it is to be sent yet; the lock is held.
 * Then free it, without the lock.
 */
bool pier__comch_member_take_out(struct pier__comch_member *member);
void pier__comch_member_free(struct pier__comch_member *member);

/* The rest is the connection's. */

/*
 * comch_frame.c: send the next message about a consumer, if there is one to
 * send; free c->frame, which is not in flight.
 */
void pier__comch_dir_sync(struct pier_comch_conn *c);
void pier__comch_frame_free(struct pier_comch_conn *c);

/* A message about a consumer of the peer has arrived.  Errors: -EPROTO. */
int pier__comch_dir_receive(struct pier_comch_conn *c,
			    enum pier__comch_kind kind, const void *data,
			    size_t len);

/* The connection has ended: the peer's consumers have expired. */
void pier__comch_dir_end(struct pier_comch_conn *c);

/* Errors: -EBUSY, @c has consumers or producers, whose names are reported. */
int pier__comch_dir_idle(struct pier_comch_conn *c);

/* Free what @c has of it. */
void pier__comch_dir_drop(struct pier_comch_conn *c);

#endif
