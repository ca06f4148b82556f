/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_COMCH_IMPL_H
#define PIER_OPS_COMCH_IMPL_H

#include <stdatomic.h>
#include <stdbool.h>

#include <pier/comch_request.h>

#include "cm/post.h"
#include "engine/task_pool.h"
#include "ops/comch_wire.h"

struct pier__comch_dir;
struct pier__comch_frame;

/*
 * A Comm Channel, server or client: comch.c has what both are as contexts,
 * comch_server.c and comch_client.c how they connect, comch_conn.c the
 * connection, comch_send.c and comch_recv.c its messages, comch_wire.c what
 * peers send, comch_name.c the name, comch_dir.c the consumers and producers
 * on a connection.
 *
 * Messages are RDMA sends.  The receives of all connections are in one queue,
 * which has as many for each connection as its peer may use: recv_queue for
 * messages, for which the peer needs credits, and PIER__COMCH_RESERVE more.  So
 * a peer that keeps to the protocol always finds a receive.
 *
 * The reserve: credits are returned when half of them are owed, or when the
 * peer has none and none is on its way to it, as requests hold the rest.  So at
 * most two messages that return some are not received yet.  One receive is in
 * use while the program's callback runs, after its credit may have been
 * returned; one is for a cancel of the client's, or the server's answer to it.
 */

/*
 * A request of a client, in the receive that it came in, which is not posted
 * again, and whose credit is not returned, before the reply was sent.
 */
struct pier__comch_request {
	struct pier__list link;		/* conn->requests */
	struct pier__list waiting;	/* conn->replies, or alone */
	struct pier_comch_conn *conn;	/* held while its reply is in flight */
	uint64_t handle;		/* the program's; 0: it is void */
	uint64_t reported;		/* what the program was given; 0: */
					/* nothing */
	bool has_reply;			/* by the program, or of a cancel */
	struct pier__comch_request_head head;
	struct pier_buf *src;		/* held, to be written; NULL: none */
	struct ibv_sge write_sge;	/* its data when it was passed */
	uint32_t len;			/* of what is sent, with the head */
	uint32_t sends;			/* in flight */
	bool is_request;		/* until the receive is posted again */
	int status;			/* to be reported */
	struct pier__op write_op, send_op;
	struct pier__posted write_posted, send_posted;
};

/* A receive. */
struct pier__comch_recv {
	struct pier__op op;		/* first: wr_id points here */
	struct pier__posted posted;
	struct pier_comch *comch;
	struct ibv_recv_wr wr;
	struct ibv_sge sge;
	struct pier__comch_request request;
};

struct pier__comch_callbacks {
	pier_comch_conn_fn *connected, *disconnected, *writable;
	pier_comch_msg_fn *received;
	pier_comch_consumer_fn *consumer, *expired;
	pier_comch_request_fn *requested;
	pier_comch_request_end_fn *request_ended;
};

struct pier_comch {
	struct pier_ctx ctx;		/* first: pier_comch_ctx() */
	const struct pier__comch_role *role;
	struct pier_comch_config cfg;	/* settled */
	struct pier__queues_config conn_cfg;	/* of cfg */
	struct pier_dev *dev;		/* held */
	struct pier__comch_name name;
	struct pier__conn_owner owner;	/* of its connections */
	struct pier__comch_callbacks callbacks;
	struct pier_comch_counters counters;	/* sent ones: of connections */
					/* that are over */
	struct pier__deferred deferred;	/* destroy inside a callback */

	struct pier__source source;
	atomic_bool attention;		/* a directory has something to send; */
					/* any thread */
	struct pier__list timed;	/* requests of this end's whose */
					/* cancel is waited for */
	uint64_t request_serial;	/* of the last handle */

	/* while it is not idle */
	struct pier__list conns;	/* struct pier_comch_conn, those that */
					/* are not established, too */
	uint32_t conn_count;
	uint32_t busy;			/* that have tasks */
	struct pier__list starved;	/* that wait for a task */
	bool queues_stop;		/* was called */
	struct pier__task_pool *pool;	/* NULL before the start */
	struct pier__mr *pool_mr;	/* of its messages */
	struct pier__comch_recv *recvs;
	uint8_t *recv_mem;
	struct pier__mr **recv_mrs;	/* of its blocks */
	uint32_t recv_blocks;		/* that are registered */
	uint32_t recv_count;		/* that were posted at least once */

	/* of a server */
	struct pier_rep *rep;		/* borrowed; NULL: none */
	struct pier_listener *listener;
	struct pier__list opening;	/* accepted, not established; the */
					/* oldest is first */
	int lock;			/* socket that has the name; -1 */

	/* of a client */
	char *address;			/* the server's host; owned, NULL: */
					/* this one */
	struct pier_comch_conn *conn;	/* established; NULL: none */
	struct pier__comch_call_sends *call_sends;	/* NULL: no request */
							/* yet */
	bool is_elsewhere;		/* its error message has where the */
					/* peer listens instead */
	int error;			/* 0: none */
	char text[1200];		/* its message */
};

/* What distinguishes a server from a client. */
struct pier__comch_role {
	const char *name;		/* in messages */
	/* Begin to accept connections, or to connect. */
	int (*start)(struct pier_comch *comch);
	void (*stop)(struct pier_comch *comch);		/* accept no more */
	void (*stopped)(struct pier_comch *comch);	/* it is idle */
	/* The handshake is complete.  Errors: it is not one of ours. */
	int (*check)(struct pier_comch_conn *conn);
	void (*established)(struct pier_comch *comch,
			    struct pier_comch_conn *conn);
	/* @conn, which is freed then, was established, or was not. */
	void (*ended)(struct pier_comch *comch, struct pier_comch_conn *conn);
	void (*failed)(struct pier_comch *comch, struct pier_comch_conn *conn);
};

extern const struct pier__comch_role pier__comch_server, pier__comch_client;

struct pier_comch_conn {
	struct pier__list link;		/* comch->conns */
	struct pier_comch *comch;	/* valid until it has ended */
	struct pier__list opening;	/* in comch->opening, or alone */
	uint64_t since;			/* when it was accepted, ns */
	uint8_t peer[16];		/* the client's address, as a GID */
	uint16_t port;			/* of the server; of a client */
	struct pier_conn *conn;		/* held; NULL: it has none yet */
	void *user_data;
	uint32_t holds;			/* requests taken for it, credits in */
					/* flight, one for its tasks, and one */
					/* until it has ended */
	uint32_t tasks;			/* messages taken for it */
	struct pier__list starved;	/* in comch->starved, or alone */
	bool open;			/* reported as connected, not as */
					/* disconnected */
	bool ending;			/* this end has disconnected */
	bool broken;			/* the peer broke the protocol */
	bool over;			/* its messages count as those of */
					/* comch, which has counted them */
	bool blocked;			/* refused is set, a reply waits, one */
					/* is starved, or it is over */
	bool refused;			/* a submit was */
	int error;			/* of the protocol; 0: none */
	char text[256];			/* its message */
	struct pier_comch_counters counters;

	uint32_t max_msg;		/* bytes, of what is sent */
	uint32_t peer_queue;		/* credits, at most */
	uint32_t credits;		/* messages that may be sent */
	uint32_t granted;		/* messages that the peer may send */
	uint32_t owed;			/* received, not granted again yet */
	uint32_t reply_sends;		/* that replies, or a cancel, may */
					/* still post */
	bool late_cancel;		/* to be answered: it came after the */
					/* reply */
	bool returning;			/* of credits, in flight: */
	struct pier__op op;
	struct pier__posted posted;

	struct pier__comch_dir *dir;	/* NULL: not needed yet */
	struct pier__comch_frame *frame;	/* the same */

	/* of a server: requests of the client, struct pier__comch_request */
	struct pier__list requests;	/* whose reply is not sent yet */
	struct pier__list replies;	/* of them, to be posted */
	bool cancelling;		/* one of replies answers a cancel */
	uint64_t received, cancels;	/* requests, in all */

	/* of a client */
	struct pier__comch_calls *calls;	/* NULL: no request yet */
};

static inline struct pier_comch *pier__comch_of(struct pier_ctx *ctx)
{
	return pier__container_of(ctx, struct pier_comch, ctx);
}

/* comch.c: the object. */
int pier__comch_create(const struct pier__comch_role *role,
		       struct pier_dev *dev, const char *name,
		       struct pier_comch **ret);
/* How many sends a connection has for replies, or for a cancel. */
uint32_t pier__comch_reply_sends(const struct pier_comch *comch,
				 const struct pier_comch_config *cfg);
/* Its last connection has ended, or it has none: end the queues. */
void pier__comch_finish(struct pier_comch *comch);

/*
 * comch_conn.c: one for @conn, whose user data it becomes.  Errors: -ENOMEM.
 * And back, of one that has no @conn yet.
 */
int pier__comch_conn_create(struct pier_comch *comch,
			    struct pier_comch_conn **ret);
void pier__comch_conn_bind(struct pier_comch_conn *c, struct pier_conn *conn);
void pier__comch_conn_free(struct pier_comch_conn *c);
/* End it, after what was submitted. */
int pier__comch_conn_end(struct pier_comch_conn *c);
/* The owner's callbacks. */
extern const struct pier__conn_callbacks pier__comch_conn_callbacks;
/* What the peer's handshake has. */
void pier__comch_conn_set_limits(struct pier_comch_conn *c,
				 const struct pier__comch_limits *theirs);
/* The peer broke the protocol, the last error is how: end it. */
void pier__comch_violated(struct pier_comch_conn *c, int err);

/* comch_send.c */
int pier__comch_sends_create(struct pier_comch *comch);
void pier__comch_sends_destroy(struct pier_comch *comch);
/* What of the configuration the queues take. */
uint32_t pier__comch_conn_tasks(const struct pier_comch_config *cfg);
void pier__comch_send_init(struct pier_comch_conn *c);
/* Return credits to the peer, if it is time. */
void pier__comch_return_credits(struct pier_comch_conn *c);
/* May a message about a consumer be sent?  Then post it: c->frame. */
bool pier__comch_may_frame(const struct pier_comch_conn *c);
int pier__comch_frame_post(struct pier_comch_conn *c,
			   enum pier__comch_kind kind);
/* Report if a message can be sent again. */
void pier__comch_check_writable(struct pier_comch_conn *c);

/*
 * Post @wr of @posted, which takes a credit and has a head of its own, as
 * pier_task_submit() does with @flags.  Errors: the device's.
 */
int pier__comch_post(struct pier_comch_conn *c, struct pier__posted *posted,
		     struct ibv_send_wr *wr, unsigned int flags);
/* Fail a submit: -ENOTCONN; -EAGAIN, full, which @trying does not report. */
int pier__comch_not_up(const struct pier_comch_conn *c);
int pier__comch_full(struct pier_comch_conn *c, bool trying);

/* comch_share.c: may pier_comch_send() take a task for @c? */
bool pier__comch_may_take(const struct pier_comch_conn *c);
/* It may not: @writable reports when.  Returns -EAGAIN. */
int pier__comch_starve(struct pier_comch_conn *c);
/* A task of @c, which is blocked, has completed: report who can send. */
void pier__comch_task_over(struct pier_comch_conn *c);

/* comch_recv.c: post again what a request was in. */
void pier__comch_recv_post(struct pier__comch_recv *recv);
int pier__comch_recvs_create(struct pier_comch *comch);
void pier__comch_recvs_destroy(struct pier_comch *comch);
/* Post those of so many clients.  Errors: the device's. */
int pier__comch_recvs_reserve(struct pier_comch *comch, uint32_t clients);
uint64_t pier__comch_recv_count(const struct pier_comch_config *cfg,
				bool is_server);

/* The head of a message of @kind, with the credits that are to be returned. */
static inline uint32_t pier__comch_next_head(const struct pier_comch_conn *c,
					     enum pier__comch_kind kind)
{
	return pier__comch_head_encode(kind, c->owed);
}

/* It is posted, or will be. */
static inline void pier__comch_head_posted(struct pier_comch_conn *c)
{
	if (!c->owed)
		return;
	c->granted += c->owed;
	c->owed = 0;
}

/* May a task be posted?  Pier's own requests always may. */
static inline bool pier__comch_may_send(const struct pier_comch_conn *c)
{
	return c->credits && c->conn->send_credits > PIER__COMCH_NOTE_SENDS;
}

/* Sends of replies are not among those of the connection but while in use. */
static inline void pier__comch_take_reply_send(struct pier_comch_conn *c)
{
	c->reply_sends--;
	c->conn->send_credits++;
}

static inline void pier__comch_give_reply_send(struct pier_comch_conn *c)
{
	c->conn->send_credits--;
	c->reply_sends++;
}

static inline void pier__comch_conn_drop(struct pier_comch_conn *c)
{
	if (!--c->holds)
		pier__comch_conn_free(c);
}

/* The first task of a connection holds it, until the last one is freed. */
static inline void pier__comch_task_taken(struct pier_comch_conn *c)
{
	if (c->tasks++)
		return;
	c->holds++;
	c->comch->busy++;
}

static inline void pier__comch_task_freed(struct pier_comch_conn *c)
{
	if (--c->tasks)
		return;
	if (!c->over)
		c->comch->busy--;
	pier__comch_conn_drop(c);
}

static inline void pier__comch_count_sent(struct pier_comch *comch,
					  uint64_t messages, uint64_t bytes)
{
	comch->counters.sent_messages += messages;
	comch->counters.sent_bytes += bytes;
}

static inline bool pier__comch_is_server(const struct pier_comch *comch)
{
	return comch->role == &pier__comch_server;
}

#endif
