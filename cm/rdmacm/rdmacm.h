/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CM_RDMACM_RDMACM_H
#define PIER_CM_RDMACM_RDMACM_H

#include <stdbool.h>
#include <stdint.h>

#include <pier/cm.h>

#include "cm/conn_impl.h"
#include "cm/queues.h"
#include "cm/rdmacm/lookup.h"
#include "cm/rdmacm/peer_addr.h"
#include "cm/rdmacm/private_data.h"
#include "cm/rdmacm/retry.h"
#include "engine/source.h"
#include "fabric/fabric.h"

/*
 * Connections made by CM.  Events of the device's connection manager (rdmacm.c)
 * drive the active side (connect.c) and the passive side (listen.c, accept.c).
 * Both end in the same handshake (handshake.c); after it the connection is like
 * any other.  docs/connections.md has the states of both.
 */

/* The connection manager of a context, made when first needed. */
struct pier__rdmacm {
	struct pier__queues *queues;
	const struct pier__fabric_cm *fab;
	struct pier__cm *cm;
	struct pier__source source;
	struct pier__lookup *lookup;	/* NULL: not needed yet */
	struct pier__list to_reject;	/* pending requests */
};

/* A request before it is presented to the program: not a connection yet. */
struct pier__pending_request {
	struct pier__list link;		/* listener's, or rdmacm->to_reject */
	struct pier__cm_event ev;	/* its data is below */
	uint64_t deadline;
	uint8_t data[PIER__CM_REQ_DATA];
};

/* Takes a request instead of the context's callback. */
typedef void pier__request_fn(struct pier_conn *conn, void *arg);

struct pier_listener {
	struct pier__queues *queues;	/* NULL: its context has stopped */
	struct pier__cm_listener *cm;
	struct pier__list link;		/* owner->listeners */
	struct pier__list waiting;	/* struct pier__pending_request */
	uint32_t backlog;		/* of them, at most */
	uint32_t rate;			/* a second; 0: no bound */
	uint64_t next;			/* when the next may be presented */
	pier__request_fn *request;	/* pier's own; or NULL */
	void *arg;
};

/* Bytes that the peer may read, or that we read from the peer into. */
struct pier__blob {
	uint8_t *mem;			/* owned; NULL: none */
	size_t len;
	struct pier__mr *mr;		/* NULL: not registered */
};

/* What an attempt needs until the reply. */
struct pier__attempt {
	struct pier__peer peer;
	struct pier__addrs addrs;
	struct pier__query *query;	/* NULL: none under way */
	bool has_source;
	union pier__sockaddr source;
	bool dst_was_loopback;		/* and was replaced by our own */
	bool raw;
	unsigned int stale;		/* REQs that the peer took for an */
					/* earlier connection's */
	uint64_t until;			/* of the address being tried */
	enum pier_addr_type type;	/* of the name */
	struct pier__retry retry;
	bool may_pass;			/* the fault of at least one address; */
					/* false: this attempt is the last */
	int error;			/* of the last address */
	char text[900];			/* its message */
};

/* How a connection was made, if by CM. */
struct pier__rdmacm_conn {
	struct pier__cm_id *id;		/* NULL: none yet, or no more */
	struct pier__attempt *attempt;	/* active, until the reply; owned */
	bool foreign;			/* the peer sent no frame */
	uint16_t reason;		/* of a reject */
	/* reads in flight: of ours at the peer, of the peer's here */
	uint8_t initiator_depth, responder_resources;
	struct pier__op read_op;	/* of the peer's blob */
	struct pier_conn *conn;		/* whose op it is */
	int qp_resets;			/* how often the QP was reset */
	uint32_t packets_acked;		/* of ours, before the last reset */
	uint32_t packets_received;	/* of the peer's, before that */
	uint64_t blob_addr;		/* the peer's, to be read */
	uint32_t blob_rkey;
	size_t to_read;			/* bytes of it; 0: nothing */
	struct pier__blob own;		/* our private data */
	struct pier__blob theirs;	/* the peer's, as much as was read */
	size_t seen;			/* bytes of it */
	char local[PIER__ADDR_TEXT], peer[PIER__ADDR_TEXT];
	union pier__sockaddr peer_addr;	/* the same; family 0: not known */
};

/* rdmacm.c: the connection manager of a context; -EOPNOTSUPP. */
int pier__rdmacm_open(struct pier__queues *queues);

/* listen.c */
int pier__listen(struct pier__queues *queues,
		 const struct pier_listen_config *cfg,
		 pier__request_fn *request, void *arg,
		 struct pier_listener **ret);
void pier__unlisten(struct pier_listener *listener);
/* Destroy those of @owner, whose context is idle. */
void pier__listeners_destroy(struct pier__conn_owner *owner);
/* A REQ has arrived: add it to its listener's, or reject it. */
void pier__request_arrived(struct pier__rdmacm *rdmacm,
			   const struct pier__cm_event *ev);
/*
 * Is the backlog of a listener full, of one without a rate?  The next step
 * makes room.  Until then events remain with the device, which puts requests
 * off that are beyond the backlog.
 */
bool pier__requests_are_full(const struct pier__rdmacm *rdmacm);
/* Present, or reject, what is due.  Returns when to call it again. */
uint64_t pier__requests_step(struct pier__rdmacm *rdmacm, uint64_t now);
/* Reject all pending requests now. */
void pier__requests_end(struct pier__rdmacm *rdmacm);

/* connect.c */
int pier__connect_to(struct pier__queues *queues,
		     const struct pier_connect_config *cfg,
		     struct pier_conn **ret);
void pier__active_event(struct pier_conn *conn,
			const struct pier__cm_event *ev);
uint64_t pier__active_step(struct pier_conn *conn, uint64_t now);
void pier__attempt_free(struct pier_conn *conn);
/* This address has failed with the last error, which may pass: the next. */
void pier__active_next(struct pier_conn *conn, int err);

/* reach.c */
/* Can the device reach addresses of @addr's family? */
bool pier__is_reachable(const struct pier__port *port,
			const union pier__sockaddr *addr);
/* Errors: no later attempt connects to @dst from @src either; NULL: any. */
int pier__check_peer(const union pier__sockaddr *src,
		     const union pier__sockaddr *dst);
/* Errors: -EHOSTUNREACH, the device has no address of @dst's family now. */
int pier__check_family(const struct pier_conn *conn,
		       const union pier__sockaddr *dst);
/* A link-local address means this device's link. */
void pier__set_scope(const struct pier_conn *conn, union pier__sockaddr *addr);
/*
 * A loopback address means this host.  A device that does not have it reaches
 * the host by its own address.  Returns whether @addr is that one now.
 */
bool pier__set_own_address(const struct pier_conn *conn,
			   union pier__sockaddr *addr);
/* The requested source address, or that of the requested GID index. */
int pier__set_source(struct pier_conn *conn, const char *text);

/* accept.c */
/* Make it a connection and present it to the program. */
void pier__passive_request(struct pier__rdmacm *rdmacm,
			   struct pier_listener *listener,
			   const struct pier__cm_event *ev);
/* Reject a request that is no connection yet. */
void pier__request_reject(struct pier__rdmacm *rdmacm,
			  const struct pier__cm_event *ev,
			  enum pier__reject_reason reason);
/* Has the client of request @id given up? */
bool pier__request_is_abandoned(struct pier__rdmacm *rdmacm,
				struct pier__cm_id *id);
void pier__passive_event(struct pier_conn *conn,
			 const struct pier__cm_event *ev);
uint64_t pier__passive_step(struct pier_conn *conn, uint64_t now);

/* handshake.c: what goes into REQ or REP, of @size bytes.  The length. */
int pier__handshake_encode(struct pier_conn *conn, uint8_t *field, size_t size);
/* What was received: fills conn->remote in.  Errors: a malformed frame. */
int pier__handshake_decode(struct pier_conn *conn,
			   const struct pier__cm_event *ev);
/* May it be private data?  Errors: -EMSGSIZE; -EINVAL. */
int pier__handshake_check(const void *data, size_t len, size_t most);
/* Store a copy of our private data.  Errors: the same; -ENOMEM. */
int pier__handshake_data(struct pier_conn *conn, const void *data, size_t len,
			 size_t most);
uint64_t pier__handshake_step(struct pier_conn *conn, uint64_t now);
/* Did the peer have a blob, and has it been read? */
bool pier__was_read(const struct pier__rdmacm_conn *cm);
void pier__blob_drop(struct pier__queues *queues, struct pier__blob *blob);

/* rdmacm_conn.c: a connection without a QP; and back. */
int pier__rdmacm_conn_create(struct pier__queues *queues,
			     const struct pier__conn_flow *flow,
			     struct pier_conn **ret);
void pier__rdmacm_conn_uncreate(struct pier_conn *conn);
extern const struct pier__conn_flow pier__flow_active, pier__flow_passive;
/* Where it connects to, or where its request is from. */
void pier__rdmacm_set_peer(struct pier_conn *conn, const struct sockaddr *peer);
bool pier__rdmacm_is_active(const struct pier_conn *conn);
/* The local address is known: check from now on whether it is lost. */
void pier__rdmacm_gid_bound(struct pier_conn *conn);
/* Create the QP, in INIT; then move it to RTS, as the event requires. */
int pier__rdmacm_qp_create(struct pier_conn *conn);
int pier__rdmacm_qp_ready(struct pier_conn *conn);
/* How many packets a read of @len bytes has, in either direction. */
uint32_t pier__rdmacm_packets(const struct pier_conn *conn, size_t len);
void pier__rdmacm_param(const struct pier_conn *conn,
			struct pier__cm_param *ret);

/* rdmacm_error.c: a message for what has failed at @stage.  Returns @err. */
int pier__rdmacm_fail(const struct pier_conn *conn, int err, const char *stage,
		      const char *fmt, ...)
	__attribute__((format(printf, 4, 5), cold));
/* For a REJ: sets the reason and private data.  Returns the error. */
int pier__rdmacm_rejected(struct pier_conn *conn,
			  const struct pier__cm_event *ev);
/*
 * @ev is a REJ that has arrived.  What a device has put into its private data
 * moves to where it would be without: reason and instead.
 */
void pier__rdmacm_take_reject(struct pier__cm_event *ev);
/* Would a later request be rejected for the same reason? */
bool pier__rdmacm_is_final(const struct pier__cm_event *ev);

#endif
