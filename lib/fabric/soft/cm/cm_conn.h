/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_CM_CM_CONN_H
#define PIER_FABRIC_SOFT_CM_CM_CONN_H

#include "fabric/soft/cm/soft_cm.h"
#include "fabric/soft/rc/timer_heap.h"
#include "fabric/soft/wire/mad.h"

/*
 * The insides of connection management, shared by its files.
 *
 * A connection is a protocol record (struct soft_cm_conn) and, as long as the
 * program holds it, an id.  Either may go first: the record, when the attempt
 * or connection is over; the id, when the program releases it.  What is left
 * of the record answers the peer's repeats for a while, and is forgotten.
 */
#define SOFT_CM_PREFIX UINT64_C(0x73f7)	/* of a soft CA GUID: no EUI-64 that */
					/* a device has, it is a group's */
#define SOFT_CM_SERVICE UINT64_C(0x0106)	/* RDMA_PS_TCP */
#define SOFT_CM_TWAIT_MAX 4096		/* records in it */

enum soft_cm_state {
	/* Active side. */
	SOFT_CM_IDLE,			/* resolved */
	SOFT_CM_REQ_SENT,
	SOFT_CM_REP_RCVD,		/* until establish() */
	/* Passive side. */
	SOFT_CM_REQ_RCVD,		/* until accept() or reject() */
	SOFT_CM_REP_SENT,
	/* Both. */
	SOFT_CM_ESTABLISHED,
	SOFT_CM_DREQ_SENT,
	SOFT_CM_TIMEWAIT,		/* no id any more */
};

/* What a record is found by. */
enum soft_cm_key {
	SOFT_CM_BY_LOCAL,	/* our communication ID: all are */
	SOFT_CM_BY_PEER,	/* the peer's GUID and ID: passive side */
	SOFT_CM_BY_QPN,		/* the peer's GUID and QPN: once known */
	SOFT_CM_KEYS,
};

/* What is known of where the peer is; cm_find.c. */
struct soft_cm_find {
	bool alive;		/* the listener has asked for patience */
	bool closed;		/* nobody has the service's UDP port */
	bool standard;		/* counted as user of our port 4791 */
	bool both;		/* REQ goes to 4791 as well */
	uint64_t refused_until;	/* somebody has no listener: wait for */
				/* another until then; else 0 */
	void *knock;		/* the host's, owned */
};

/* What only the handshake needs. */
struct soft_cm_shake {
	uint8_t mad[SOFT_MAD_LEN];	/* said, to be said again */
	uint8_t data[SOFT_MAD_DATA_MAX];	/* heard, until it is told */
	uint16_t len;			/* of data */
	uint16_t service;		/* the listener's UDP port */
	uint16_t came_to;		/* port that the REQ came to */
	struct soft_cm_find find;	/* active side */
	struct soft_cm_listener *listener;	/* of a REQ not told yet */
};

struct soft_cm_conn {
	struct soft_timer timer;	/* first */
	struct soft_cm_conn *chain[SOFT_CM_KEYS];
	struct pier__list wait;		/* of the cm's timewait */
	struct soft_cm_id *id;		/* NULL: the program has none */
	struct soft_cm_shake *shake;	/* owned; NULL: not needed */
	uint64_t guid;			/* the peer's */
	uint64_t tid;
	uint32_t local_id, remote_id;	/* remote_id: if peer_known */
	struct in6_addr src, dst;
	uint16_t port;			/* the peer's, of messages and data; */
					/* 0: not known yet */
	uint32_t qpn, dest_qpn;
	uint32_t rq_psn, sq_psn;
	uint8_t state;			/* enum soft_cm_state */
	uint8_t keys;			/* bit per table that it is in */
	uint8_t sends;			/* of the message being repeated; in */
					/* timewait: still to come */
	uint8_t max_retries;
	uint8_t timeout;		/* code: longest wait for an answer */
	bool peer_known;
	bool passive;
	uint8_t mtu, ack_timeout, tclass, retry_count, rnr_retry;
	uint8_t rd_serve, rd_ask;	/* reads and atomics: ours */
	uint8_t peer_serve, peer_ask;	/* and the peer's */
};

struct soft_cm_id {
	struct pier__cm_id id;		/* first */
	struct soft_cm_conn *conn;	/* NULL: over */
	struct soft_cm_listener *listener;	/* of a REQUEST not told */
	struct soft_cm_shake *heard;	/* owned: what came with REJ */
	struct pier__list link;		/* of the cm's events */
	uint16_t events;		/* bit per enum pier__cm_kind */
	uint16_t reason;
	int error;
};

struct soft_cm {
	struct soft_ep *ep;
	struct soft_cm_host *host;
	struct pier__cm *owner;
	uint64_t guid;			/* ours */
	uint64_t seed;			/* of the tables */
	uint32_t tid;			/* upper half of transaction IDs */
	uint32_t psn;
	struct in6_addr last_standard;	/* peer; unspecified: none yet */
	struct soft_cm_conn **table[SOFT_CM_KEYS];
	uint32_t mask, count;
	struct soft_heap timers;
	struct pier__list listeners;
	struct soft_timer wanting;	/* to ask for port 4791 */
	struct pier__list events;	/* ids with something to tell */
	struct pier__list twait;	/* records, the oldest first */
	uint32_t twait_count;
	uint8_t told[SOFT_MAD_DATA_MAX];	/* data of the last event */
};

static inline uint64_t pier__soft_cm_now(const struct soft_cm *cm)
{
	return cm->ep->io->ops->now(cm->ep->io);
}

/* cm_table.c: records. */
struct soft_cm_conn *pier__soft_cm_conn_new(struct soft_cm *cm);
void pier__soft_cm_conn_free(struct soft_cm *cm, struct soft_cm_conn *conn);
/* Have it found by @key, whose fields are set from now on. */
void pier__soft_cm_index(struct soft_cm *cm, struct soft_cm_conn *conn,
			 enum soft_cm_key key);
struct soft_cm_conn *pier__soft_cm_by_local(const struct soft_cm *cm,
					    uint32_t local_id);
struct soft_cm_conn *pier__soft_cm_by_peer(const struct soft_cm *cm,
					   uint64_t guid, uint32_t remote_id);
/* One that is not in timewait. */
struct soft_cm_conn *pier__soft_cm_by_qpn(const struct soft_cm *cm,
					  uint64_t guid, uint32_t qpn);
/* The handshake is done, or nothing of it is to be said again. */
void pier__soft_cm_shake_free(struct soft_cm *cm, struct soft_cm_conn *conn);
/* Only its peer's repeats are answered from now on, then it is forgotten. */
void pier__soft_cm_timewait(struct soft_cm *cm, struct soft_cm_conn *conn);

/* cm_event.c: what the program is told. */
void pier__soft_cm_tell(struct soft_cm *cm, struct soft_cm_id *id,
			enum pier__cm_kind kind);
/*
 * Tell that @conn is over; the id, if there is one, is parted from it.
 * @error of UNREACHABLE, @reason of REJECTED with what the shake has heard.
 */
void pier__soft_cm_over(struct soft_cm *cm, struct soft_cm_conn *conn,
			enum pier__cm_kind kind, int error, uint16_t reason);
/* An id of @conn; NULL: no memory. */
struct soft_cm_id *pier__soft_cm_id_new(struct soft_cm *cm,
					struct soft_cm_conn *conn,
					uint16_t src_port, uint16_t dst_port);
void pier__soft_cm_id_free(struct soft_cm_id *id);

/* cm_send.c: messages out. */
/* Addressed by where @conn knows its peer. */
void pier__soft_cm_send(struct soft_cm *cm, const struct soft_cm_conn *conn,
			const uint8_t *mad);
/* Answer @rx at @port, as nobody's message. */
void pier__soft_cm_answer(struct soft_cm *cm, const struct soft_rx *rx,
			  uint16_t port, const struct soft_mad *mad);
/* Where the sender of @rx hears, who tells no GUID. */
uint16_t pier__soft_cm_port_of(const struct soft_rx *rx);
/* The UDP port that a GUID tells; 4791 if it tells none. */
uint16_t pier__soft_cm_guid_port(uint64_t guid);
void pier__soft_cm_send_mra(struct soft_cm *cm,
			    const struct soft_cm_conn *conn,
			    enum soft_mad_message message);
void pier__soft_cm_send_rtu(struct soft_cm *cm,
			    const struct soft_cm_conn *conn);
void pier__soft_cm_send_drep(struct soft_cm *cm,
			     const struct soft_cm_conn *conn, uint64_t tid);
/*
 * Say REJ and keep it in the shake, to say it again in timewait.
 * SOFT_REJ_TIMEOUT tells our GUID.
 */
void pier__soft_cm_send_rej(struct soft_cm *cm, struct soft_cm_conn *conn,
			    enum soft_mad_message message,
			    enum soft_mad_reason reason, const void *data,
			    size_t len);

/* cm_timer.c: repeats. */
/* @conn sent its message for the first time; call again when it is due. */
void pier__soft_cm_repeat_begin(struct soft_cm *cm, struct soft_cm_conn *conn);
/* ns of a 5-bit time. */
uint64_t pier__soft_cm_time(uint8_t code);
/* The peer asked for patience. */
void pier__soft_cm_patience(struct soft_cm *cm, struct soft_cm_conn *conn,
			    uint8_t service_timeout);

/* The listener is there, and full. */
void pier__soft_cm_busy(struct soft_cm *cm, struct soft_cm_conn *conn);

/* Some listener does without port 4791: ask for it later. */
void pier__soft_cm_want_standard(struct soft_cm *cm);
/* In timewait: a REJ that nobody asks for is said again, then it ends. */
void pier__soft_cm_twait_timer(struct soft_cm *cm, struct soft_cm_conn *conn);

/* cm_find.c: where the peer is.  Of attempts in REQ_SENT. */
/* Send REQ to wherever the peer may be. */
void pier__soft_cm_find_ask(struct soft_cm *cm, struct soft_cm_conn *conn);
/* Somebody has no listener.  Returns whether nobody has. */
bool pier__soft_cm_find_refused(struct soft_cm *cm, struct soft_cm_conn *conn);
/* The listener is there. */
void pier__soft_cm_find_alive(struct soft_cm *cm, struct soft_cm_conn *conn);
/* It is time to repeat.  Returns true: it would be in vain. */
bool pier__soft_cm_find_over(struct soft_cm *cm, struct soft_cm_conn *conn);
/* Of @wait ns until the next repeat, how many there may be. */
uint64_t pier__soft_cm_find_wait(const struct soft_cm *cm,
				 const struct soft_cm_conn *conn,
				 uint64_t wait);
/* Why nobody has answered. */
int pier__soft_cm_find_error(const struct soft_cm_conn *conn);
/* It is done with; any state. */
void pier__soft_cm_find_end(struct soft_cm *cm, struct soft_cm_find *find);

/* cm_active.c, cm_passive.c, cm_close.c: by message. */
/* Ask again with a smaller MTU, for REJ @mad.  Returns false: there is none. */
bool pier__soft_cm_shrink(struct soft_cm *cm, struct soft_cm_conn *conn,
			  const struct soft_mad *mad);
void pier__soft_cm_rep(struct soft_cm *cm, struct soft_cm_conn *conn,
		       const struct soft_mad *mad);
void pier__soft_cm_req(struct soft_cm *cm, const struct soft_mad *mad,
		       const struct soft_rx *rx);
void pier__soft_cm_rtu(struct soft_cm *cm, struct soft_cm_conn *conn);
void pier__soft_cm_dreq_send(struct soft_cm *cm, struct soft_cm_conn *conn);
void pier__soft_cm_dreq(struct soft_cm *cm, struct soft_cm_conn *conn,
			const struct soft_mad *mad);
void pier__soft_cm_drep(struct soft_cm *cm, struct soft_cm_conn *conn);
void pier__soft_cm_rej(struct soft_cm *cm, struct soft_cm_conn *conn,
		       const struct soft_mad *mad);
/* The peer has begun anew and does not know @conn any more. */
void pier__soft_cm_stale(struct soft_cm *cm, struct soft_cm_conn *conn);
/* Nobody answers what is repeated. */
void pier__soft_cm_give_up(struct soft_cm *cm, struct soft_cm_conn *conn);
/* Our end is finished with @conn, with its id or without. */
void pier__soft_cm_leave(struct soft_cm *cm, struct soft_cm_conn *conn);

#endif
