/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_COMCH_CALL_H
#define PIER_OPS_COMCH_CALL_H

#include "ops/comch_impl.h"

/* How long the server may take to answer a cancel, and to acknowledge it. */
#define PIER__COMCH_CANCEL_MS 4000

/*
 * Requests: comch_call.c has those of a client, comch_call_send.c their sends,
 * comch_pending.c which of them have no reply yet, comch_reply.c those that a
 * server replies to.
 *
 * A request takes a credit, which the server returns when its reply was sent.
 * So a client has at most as many requests without a reply as it has credits.
 */

enum pier__comch_call_end {
	PIER__COMCH_CALL_OPEN,		/* there is no reply yet */
	PIER__COMCH_CALL_REPLIED,
	PIER__COMCH_CALL_REFUSED,
	PIER__COMCH_CALL_NO_SERVICE,
	PIER__COMCH_CALL_CANCELLED,
	PIER__COMCH_CALL_LOST,		/* the connection has ended */
};

/*
 * A request on its way to the server, with its bytes.  A reply proves that it
 * has arrived, but its memory has to stay until it is acknowledged, which may
 * be later: its task completes without it.
 */
struct pier__comch_call_send {
	struct pier__op op;		/* wr_id points here */
	struct pier__posted posted;
	struct pier_comch_conn *conn;	/* held */
	struct pier__comch_call *call;	/* NULL: it has completed */
	struct pier__comch_call_send *next;	/* free */
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	uint8_t data[];			/* its head, and its bytes */
};

/* Those of a client, from its first request on. */
struct pier__comch_call_sends {
	struct pier__comch_call_send *free;	/* NULL: none */
	struct pier__mr *mr;
	uint8_t *memory;
};

/* A request of a client. */
struct pier__comch_call {
	struct pier_task task;		/* first */
	struct pier__posted posted;	/* to end in a later round */
	struct pier_comch_conn *conn;	/* held */
	struct pier__comch_call_send *send;	/* NULL: it was sent */
	const void *msg;
	size_t len;
	bool too_long;
	void *reply;
	size_t reply_size;
	struct pier_buf *dst;		/* held while submitted; NULL: reply */
	size_t reply_len;
	uint64_t deadline;		/* of what is overdue, or of the */
					/* answer to its cancel */
	struct pier__list timed;	/* comch->timed, or alone */

	uint32_t id;
	bool cancel_sends;		/* its cancel is in flight */
	enum pier__comch_call_end end;	/* it finishes without that */
	bool cancelled;			/* a reply is waited for, to end with */
	bool overdue;			/* the time of its cancel has passed, */
					/* or that of its task */
	struct pier__list waiting;	/* calls->cancels, or alone */
	struct pier__op cancel_op;
	struct pier__posted cancel_posted;

	int verbs_status;		/* of a failure; -1: none */
	uint32_t vendor_error;
	struct ibv_send_wr cancel_wr;
	struct ibv_sge cancel_sge;
	uint8_t cancel_data[PIER__COMCH_CANCEL_LEN];
};

/* The requests of a client that have no reply yet. */
struct pier__comch_calls {
	struct pier__comch_call *cancel;	/* whose turn it is; NULL: */
						/* none is to be cancelled */
	bool posted;			/* its cancel was */
	bool unanswered;		/* the server may not have processed */
					/* the last cancel that was posted */
	struct pier__list cancels;	/* behind it */
	uint32_t count, free;		/* slots; the first free one, count: */
					/* none */
	struct pier__comch_slot {
		struct pier__comch_call *call;	/* NULL: it has ended */
		uint32_t id;		/* of the last one */
		uint32_t next;		/* free */
		bool used;
	} slots[];
};

/* comch_call.c: what a task of the pool takes, if @other needs so much. */
size_t pier__comch_call_size(size_t other);
/* It has an end: finish it once no cancel of it is in flight. */
void pier__comch_call_end(struct pier__comch_call *call,
			  enum pier__comch_call_end end);
/* The same in a later round. */
void pier__comch_call_end_later(struct pier__comch_call *call,
				enum pier__comch_call_end end);
/* Cancels whose time is over. */
void pier__comch_expire(struct pier_comch *comch);
/* Be called at @call->deadline at the latest. */
void pier__comch_call_time(struct pier__comch_call *call);

/* comch_call_send.c.  Errors: -ENOMEM; the device's. */
int pier__comch_call_sends_create(struct pier_comch *comch);
void pier__comch_call_sends_destroy(struct pier_comch *comch);

/* comch_pending.c */
int pier__comch_calls_create(struct pier_comch_conn *c);
/* Give @call an id; there is a free one. */
void pier__comch_calls_add(struct pier_comch_conn *c,
			   struct pier__comch_call *call);
/* Its reply is to be dropped; or it was not posted. */
void pier__comch_calls_abandon(struct pier__comch_call *call);
void pier__comch_calls_forget(struct pier__comch_call *call);
/* Ask the server to write no reply to its memory. */
void pier__comch_calls_cancel(struct pier__comch_call *call);
/* Post the cancel whose turn it is, if it may be. */
void pier__comch_cancels_post(struct pier_comch_conn *c);
/* The server had replied before a cancel arrived.  Errors: -EPROTO. */
int pier__comch_cancel_late(struct pier_comch_conn *c, size_t len);
/* A reply has arrived.  Errors: -EPROTO. */
int pier__comch_replied(struct pier_comch_conn *c, const void *msg, size_t len);
/* The connection has ended. */
void pier__comch_calls_end(struct pier_comch_conn *c);

/* comch_reply.c: the request in @recv. */
void pier__comch_request_init(struct pier__comch_recv *recv);
int pier__comch_requested(struct pier_comch_conn *c,
			  struct pier__comch_recv *recv, size_t len);
int pier__comch_cancelled(struct pier_comch_conn *c, const void *msg,
			  size_t len);
/* Post replies that wait.  Returns whether none is left. */
bool pier__comch_replies_post(struct pier_comch_conn *c);
void pier__comch_requests_end(struct pier_comch_conn *c);

#endif
