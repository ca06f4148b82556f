/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CM_CONN_IMPL_H
#define PIER_CM_CONN_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include <pier/conn.h>

#include "cm/addr.h"
#include "cm/conn_state.h"
#include "cm/queues.h"
#include "core/op.h"

/* What one end needs of the other: the body of a descriptor. */
struct pier__end {
	uint64_t created;	/* seconds since 1970 */
	uint64_t valid;		/* seconds from then; 0: no bound */
	uint64_t nonce;		/* the value of the other end's hello */
	uint8_t dev_id[8];	/* pier_dev.id: which key of an mmap fits */
	uint32_t qpn, psn;
	uint8_t link_layer;
	uint16_t lid;
	uint32_t mtu;		/* bytes */
	uint16_t udp_port;
	uint64_t ctl_addr;	/* its control words */
	uint32_t ctl_rkey;
	uint32_t access;	/* PIER_REMOTE_* granted on this connection */
	uint32_t rd_atomic;	/* reads it serves at a time */
	uint64_t message;	/* bytes, the most it takes */
	unsigned int gid_count;
	struct pier__gid_offer gids[PIER__GIDS_MAX];
};

/* Bytes <-> struct.  encode returns the length. */
int pier__end_encode(const struct pier__end *end, void *buf, size_t size);
int pier__end_decode(const void *desc, size_t len, struct pier__end *ret);

enum pier__ctl_kind {
	PIER__CTL_NONE,
	PIER__CTL_HELLO,
	PIER__CTL_KEEPALIVE,
	PIER__CTL_GOODBYE,
	PIER__CTL_READ,		/* of the peer's private data */
};

struct pier_conn {
	struct pier__queues *queues;	/* NULL: its context is idle */
	struct pier__conn_owner *owner;
	const struct pier__conn_flow *flow;
	enum pier__conn_state state;	/* by pier__conn_transition() alone */
	enum pier_conn_state reported;	/* as the callback last got it */
	pier_conn_state_fn *state_changed;
	void *user_data;
	char *error_text;		/* owned; NULL: none */
	int error;
	uint32_t holds;			/* tasks taken for it */
	bool destroyed;			/* free when closed and not held */
	/* What has passed on the wire. */
	bool hello_acked, hello_seen;
	bool peer_disconnected;		/* by CM */

	uint32_t slot;			/* of its control words */
	struct pier__qp *qp;		/* NULL: closed */
	struct pier__hash_link by_qpn;	/* in queues->by_qpn, with qp */
	struct pier__posted_queue posted; /* sends in flight, in order; */
					/* pier's own are not in it */
	struct pier__posted_queue flushed; /* those that end once the end */
					/* of the connection is reported */
	uint64_t completed;		/* in all: constant while idle */
	struct ibv_send_wr *chain, *chain_last;	/* to be posted together */
	struct pier__list pending;	/* in queues->pending, or alone */
	uint32_t send_credits;		/* how many more sends */
	int post_error;			/* posting a chain failed: fail */

	struct pier__rdmacm_conn *cm;	/* of the flow by address; owned */
	struct pier__end local, remote;
	struct pier__gid_offer local_gid, remote_gid;
	uint32_t path_mtu;
	enum pier_transport transport;
	uint64_t gid_lost_at;		/* NEVER: local_gid is present; */
					/* 0: it is not watched */
	void (*at_end)(void *arg);	/* called once, when destroyed; NULL */
	void *at_end_arg;
	void *desc;			/* exported; owned */
	size_t desc_len;

	uint64_t rkey_serial;		/* mmap of the cached key */
	uint32_t rkey;

	enum pier__ctl_kind ctl_kind;	/* which is in flight */
	bool keepalive_ahead;		/* ahead of the goodbye in flight */
	struct pier__op ctl_op;
	struct pier__op marker;
	uint64_t drained_at;		/* queues->polled by when all that */
					/* came before the marker is polled; */
					/* NEVER: in flight; 0: not posted */
	uint32_t unacked;		/* requests flushed in RESETTING */
	bool resumed;			/* that was its state once */
	bool goodbye_acked;
	uint64_t deadline;		/* of the state */
	uint64_t next_try;		/* of the hello, or keepalive */
	uint64_t seen_completed;	/* for the keepalive */
	uint64_t looked_completed;	/* at the last step in UP */
	uint64_t rnr_since;		/* tasks wait for a receive of the */
					/* peer's; 0: they do not */
	uint64_t rnr_at;		/* and did when last looked at */
	bool rnr_logged;
	struct pier__list link;		/* in the context's list */
	struct pier__list hot;		/* in scheduler.hot, or alone */
	uint64_t due;			/* when its next step is */
};

/*
 * A connection with a slot but without a QP, not listed yet; and back.
 * Errors: -ENOSPC, max_conns are in use; -ENOMEM; the queues have failed.
 */
int pier__conn_create(struct pier__queues *queues,
		      const struct pier__conn_flow *flow,
		      struct pier_conn **ret);
void pier__conn_uncreate(struct pier_conn *conn);

/* Every QP allows these: a peer's rights are those of key and context. */
#define PIER__QP_ACCESS (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
			 IBV_ACCESS_REMOTE_ATOMIC)

/* Give it a QP, in RESET; and back, if it has one. */
int pier__conn_create_qp(struct pier_conn *conn);
void pier__conn_destroy_qp(struct pier_conn *conn);

/*
 * @gid_index: of the address to offer, or PIER__GID_ANY.  @valid_s: seconds
 * that the descriptor is valid; 0: no bound.
 */
int pier__conn_export(struct pier__queues *queues, int gid_index,
		      uint32_t valid_s, struct pier_conn **ret);

/*
 * Connect within @timeout_ms; also again, to another descriptor, as long as
 * nothing has arrived from the first peer: its file may be an earlier run's.
 */
int pier__conn_connect(struct pier_conn *conn, const void *desc, size_t len,
		       uint32_t timeout_ms);

/* May it connect to another one now?  Not while a hello is in flight. */
bool pier__conn_may_retarget(const struct pier_conn *conn);

/* Post the pending chain. */
void pier__conn_flush(struct pier_conn *conn);

/*
 * A request on @conn failed: store the reason, fail all others on it.  Returns
 * the error of @wc, with its message; @what names the operation.
 */
int pier__conn_failed(struct pier_conn *conn, const char *what,
		      const struct ibv_wc *wc);

/* Fail @conn: tasks have waited for the peer's receive for rnr_timeout_ms. */
void pier__conn_rnr_expired(struct pier_conn *conn);

/*
 * Fail @conn because the program cancels what is posted on it; @what names the
 * operation.
 */
void pier__conn_cancel(struct pier_conn *conn, const char *what);

/*
 * Something has failed on @conn: is the local port the reason?  @ret gets the
 * end of a message, "" if not.  Returns 0; -ENODEV, removed; -ENETDOWN;
 * -EADDRNOTAVAIL; -EMSGSIZE, its MTU.  Sets no last error.
 */
int pier__conn_port_fault(const struct pier_conn *conn, char *ret, size_t size);

/* Fail because no hello arrived, naming the peer.  Returns -PIER_ENOHELLO. */
int pier__conn_no_hello(const struct pier_conn *conn);

/* Fail it if its queue pair has ended by itself. */
void pier__conn_check_fault(struct pier_conn *conn);

/*
 * Before it ends as the peer has disconnected: its queue pair may have ended by
 * itself, which the peer answers so.  Returns whether it is ending.
 */
bool pier__conn_is_at_fault(struct pier_conn *conn);

/* Its context's queues have failed: fail it for the same reason. */
void pier__conn_queues_failed(struct pier_conn *conn);

/* Fail for the loss of local_gid.  Returns -EADDRNOTAVAIL. */
int pier__conn_gid_lost(const struct pier_conn *conn);

/* Fail @conn with the thread's last error as the reason. */
void pier__conn_fail(struct pier_conn *conn, int err);

/* The key of remote @mmap for this peer.  Errors: -EACCES; -ESTALE. */
struct pier_mmap;
int pier__conn_rkey(struct pier_conn *conn, const struct pier_mmap *mmap,
		    uint32_t *ret);

/* Set the transport; local_gid is set. */
void pier__conn_set_transport(struct pier_conn *conn);

/* The largest MTU code of at most @bytes, which are 256 or more. */
enum ibv_mtu pier__conn_mtu_code(uint32_t bytes);
int pier__conn_qp_modify(struct pier_conn *conn, struct ibv_qp_attr *attr,
			 int mask);
void pier__conn_qp_error(struct pier_conn *conn);

/*
 * pier's own requests, one at a time and the marker behind all, in control.c.
 * -EAGAIN: one is in flight already, or too many of all
 * connections are.
 */
int pier__conn_control(struct pier_conn *conn, enum pier__ctl_kind kind);
int pier__conn_control_post(struct pier_conn *conn, enum pier__ctl_kind kind,
			    struct ibv_send_wr *wr);
int pier__conn_mark(struct pier_conn *conn);
bool pier__conn_hello_seen(const struct pier_conn *conn);
bool pier__conn_goodbye_seen(const struct pier_conn *conn);
void pier__conn_control_init(struct pier_conn *conn);

/*
 * A request on the way to "connected" has failed: if only because the peer
 * did not answer, reset the QP, so that the step sends it again.  False: the
 * caller is to fail the connection, for the reason in @wc.
 */
bool pier__conn_recover(struct pier_conn *conn, const struct ibv_wc *wc);

/* Destroy the QP; what is still posted is to be cancelled. */
void pier__conn_close(struct pier_conn *conn);

/*
 * Cancel what is posted, within the engine's budget; some is.  The connection
 * is closed.
 */
void pier__conn_cancel_posted(struct pier_conn *conn);

/* Remove it from its context; it is freed once no task holds it. */
void pier__conn_retire(struct pier_conn *conn);

/* Tasks hold their connection: it may end, but its memory remains. */
static inline void pier__conn_hold(struct pier_conn *conn)
{
	conn->holds++;
}

/* Destroyed, and no task holds it any more: free it unless it is ending. */
void pier__conn_released(struct pier_conn *conn);

static inline void pier__conn_drop(struct pier_conn *conn)
{
	if (--conn->holds == 0 && conn->destroyed)
		pier__conn_released(conn);
}

/*
 * Have @fn called with @arg when @conn is destroyed, once.  One that was set
 * before is called now; NULL: none is called later.
 */
void pier__conn_at_end(struct pier_conn *conn, void (*fn)(void *arg),
		       void *arg);

/* Is it known that its first task in flight waits for a receive? */
bool pier__conn_rnr(const struct pier_conn *conn);

/* Step @conn in the next round. */
void pier__conn_schedule(struct pier_conn *conn);

#endif
