/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_COMCH_WIRE_H
#define PIER_OPS_COMCH_WIRE_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pier/comch.h>

#include "fabric/fabric.h"

/*
 * What Comm Channels send to each other, numbers in network order.
 *
 * The server listens on the first of PIER__COMCH_PORTS ports from
 * PIER__COMCH_PORT_MIN to PIER__COMCH_PORT_MAX that is free: the first 4 bytes
 * of the SHA-256 digest of its name, modulo their number, and those that
 * follow, in a ring.  A client sends a REQ to each of them at once.
 *
 * Private data of the client's REQ:
 *
 *	0  "pch3"	4  the first 12 bytes of the digest
 *	16 max_msg_size	20 recv_queue	24 the name's length	28 the name
 *
 * Of REP: 0 "pch3", 4 max_msg_size, 8 recv_queue.
 * Of REJ: 0 "pch3", 4 enum pier__comch_reject.
 *
 * A message is an RDMA send with an immediate: its kind in the upper 8 bits,
 * then 8 bits that are 0, then 16 bits: credits that the sender returns.  But
 * for those that only return credits, and for cancels and answers to them, it
 * takes a credit.  A new consumer:
 *
 *	0  id	4  port	8  the most immediate bytes	12 token
 *
 * An expired one: 0 id.
 *
 * A request of a client, before the program's bytes:
 *
 *	0  id	4  rkey	8  address	16 the most bytes of its reply
 *	20 1: replies may be written to that address; 0: it has none
 *
 * Its reply: 0 id, 4 enum pier__comch_reply_status, 8 the bytes that were
 * written to that address before, or 0 and the program's bytes.  A client that
 * wants its memory back sends 0 id, for one request at a time.  The answer is
 * the reply PIER__COMCH_REPLY_CANCELLED; or, if the server had replied before,
 * the same kind of message without bytes.
 */
#define PIER__COMCH_PORTS 4
#define PIER__COMCH_PORT_MIN 16384
#define PIER__COMCH_PORT_MAX 32767
#define PIER__COMCH_DIGEST 32
#define PIER__COMCH_HEAD 16	/* the REQ's part that the request has */
#define PIER__COMCH_REQ (28 + PIER_COMCH_NAME_MAX)
#define PIER__COMCH_REP 12
#define PIER__COMCH_REJ 8
#define PIER__COMCH_QUEUE_MAX 4096
#define PIER__COMCH_RESERVE 5	/* receives beyond recv_queue */
#define PIER__COMCH_NOTE_SENDS 2	/* of a connection: one that returns */
					/* credits, one about a consumer */
#define PIER__COMCH_REPLY_SENDS 2	/* at least: a reply that is written */
#define PIER__COMCH_OWN_SENDS (PIER__COMCH_NOTE_SENDS + PIER__COMCH_REPLY_SENDS)
#define PIER__COMCH_REQUEST_HEAD 24
#define PIER__COMCH_REPLY_HEAD 12
#define PIER__COMCH_CANCEL_LEN 4
#define PIER__COMCH_CLIENTS_MAX 65000
#define PIER__COMCH_TOKEN 16
#define PIER__COMCH_CONSUMER_LEN (12 + PIER__COMCH_TOKEN)
#define PIER__COMCH_EXPIRED_LEN 4
#define PIER__COMCH_ID_MAX 0xfffeu	/* ids of consumers and producers */
#define PIER__COMCH_KIND_SHIFT 24	/* in a message's immediate */
#define PIER__COMCH_EXTRA_CONNS 16	/* beyond the clients: requests that */
					/* are rejected */

struct pier__comch_name {
	char text[PIER_COMCH_NAME_MAX + 1];
	uint8_t digest[PIER__COMCH_DIGEST];
};

/* What an end receives. */
struct pier__comch_limits {
	uint32_t max_msg_size, recv_queue;
};

enum pier__comch_reject {
	PIER__COMCH_REJECT_NAME = 1,	/* this server has another name */
	PIER__COMCH_REJECT_FULL,	/* it has max_clients clients */
	PIER__COMCH_REJECT_MALFORMED,
};

enum pier__comch_kind {
	PIER__COMCH_DATA = 1,
	PIER__COMCH_CREDITS,		/* no bytes */
	PIER__COMCH_CONSUMER,		/* a new one */
	PIER__COMCH_EXPIRED,		/* a consumer that was new */
	PIER__COMCH_REQUEST,
	PIER__COMCH_REPLY,
	PIER__COMCH_CANCEL,		/* of a request */
};

enum pier__comch_reply_status {
	PIER__COMCH_REPLY_DATA,
	PIER__COMCH_REPLY_REFUSED,	/* by the program */
	PIER__COMCH_REPLY_NONE,		/* the server takes no requests */
	PIER__COMCH_REPLY_CANCELLED,	/* as the client asked for */
};

struct pier__comch_request_head {
	uint32_t id;
	uint32_t rkey;
	uint64_t addr;
	uint32_t reply_max;		/* bytes */
	bool writes;			/* addr and rkey are set */
};

struct pier__comch_reply_head {
	uint32_t id;
	enum pier__comch_reply_status status;
	uint32_t written;		/* bytes */
};

/* What the peer of a consumer gets. */
struct pier__comch_announced {
	uint32_t id;
	uint32_t imm_len;		/* bytes, at most */
	uint16_t port;			/* where it listens */
	uint8_t token[PIER__COMCH_TOKEN];	/* that producers repeat */
};

struct pier__comch_head {
	enum pier__comch_kind kind;
	uint32_t credits;
};

/*
 * A message of a producer is an RDMA send on a connection of its own to the
 * consumer.  Its first bytes are the head, the rest is the program's:
 *
 *	0 the producer's id	4 bytes of the immediate	8 the immediate
 *
 * Private data of the producer's REQ: 0 "pcp1", 4 token, 20 its id.
 */
#define PIER__COMCH_ASK (8 + PIER__COMCH_TOKEN)
#define PIER__COMCH_DATA_HEAD (8 + PIER_COMCH_IMM_MAX)

struct pier__comch_data_head {
	uint32_t producer, imm_len;	/* in network order */
	uint8_t imm[PIER_COMCH_IMM_MAX];
};

/* Returns the length. */
size_t pier__comch_req_encode(const struct pier__comch_name *name,
			      const struct pier__comch_limits *limits,
			      uint8_t ret[PIER__COMCH_REQ]);

/*
 * What is wrong with the first PIER__COMCH_HEAD bytes of a REQ to the server of
 * @name; 0: nothing.
 */
enum pier__comch_reject
pier__comch_req_reject(const struct pier__comch_name *name, const void *data,
		       size_t len);

/* Read a whole one, to the server of @name.  Errors: -EPROTO. */
int pier__comch_req_decode(const struct pier__comch_name *name,
			   const void *data, size_t len,
			   struct pier__comch_limits *ret);

void pier__comch_rep_encode(const struct pier__comch_limits *limits,
			    uint8_t ret[PIER__COMCH_REP]);
int pier__comch_rep_decode(const void *data, size_t len,
			   struct pier__comch_limits *ret);

void pier__comch_rej_encode(enum pier__comch_reject reason,
			    uint8_t ret[PIER__COMCH_REJ]);
/* Of any release.  0: it is none of ours. */
enum pier__comch_reject pier__comch_rej_decode(const void *data, size_t len);

/* The immediate, in network order; and back.  Errors: -EPROTO. */
static inline uint32_t pier__comch_head_encode(enum pier__comch_kind kind,
					       uint32_t credits)
{
	return htonl((uint32_t)kind << PIER__COMCH_KIND_SHIFT | credits);
}
int pier__comch_head_decode(uint32_t imm, struct pier__comch_head *ret);

/* Errors: -EPROTO. */
void pier__comch_consumer_encode(const struct pier__comch_announced *consumer,
				 uint8_t ret[PIER__COMCH_CONSUMER_LEN]);
int pier__comch_consumer_decode(const void *data, size_t len,
				struct pier__comch_announced *ret);
void pier__comch_request_encode(const struct pier__comch_request_head *head,
				uint8_t ret[PIER__COMCH_REQUEST_HEAD]);
int pier__comch_request_decode(const void *data, size_t len,
			       struct pier__comch_request_head *ret);
void pier__comch_reply_encode(const struct pier__comch_reply_head *head,
			      uint8_t ret[PIER__COMCH_REPLY_HEAD]);
int pier__comch_reply_decode(const void *data, size_t len,
			     struct pier__comch_reply_head *ret);
void pier__comch_cancel_encode(uint32_t id,
			       uint8_t ret[PIER__COMCH_CANCEL_LEN]);
int pier__comch_cancel_decode(const void *data, size_t len, uint32_t *ret);
void pier__comch_expired_encode(uint32_t id,
				uint8_t ret[PIER__COMCH_EXPIRED_LEN]);
int pier__comch_expired_decode(const void *data, size_t len, uint32_t *ret);

/* comch_name.c: check and digest @text.  Errors: -EINVAL; -EOPNOTSUPP. */
int pier__comch_name_set(struct pier__comch_name *name, const char *text);
/* The port that is tried as number @i. */
uint16_t pier__comch_name_port(const struct pier__comch_name *name,
			       unsigned int i);
/*
 * Have the name on @port, in this network namespace, until *ret is closed.
 * Errors: -EEXIST; those of socket(2).
 */
int pier__comch_name_lock(const struct pier__comch_name *name,
			  const struct pier__port *port, int *ret);

#endif
