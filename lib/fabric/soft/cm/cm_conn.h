/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_CM_CM_CONN_H
#define PIER_FABRIC_SOFT_CM_CM_CONN_H

#include "core/roce.h"
#include "fabric/soft/cm/soft_cm.h"
#include "fabric/soft/rc/timer_heap.h"
#include "fabric/soft/wire/mad.h"

/*
 * The insides of connection management, shared by its files.
 *
 * A connection is a protocol record (struct soft_cm_conn) and, as long as the
 * program holds it, an id.  Either may end first: the record, when the attempt
 * or connection is over; the id, when the program releases it.  The record
 * then stays in timewait, where it answers retransmitted messages, and is
 * freed.
 *
 * A request for a datagram service (SIDR) is such a record, too: active in
 * REQ_SENT until the response, and then in REP_RCVD, without a message to its
 * peer; passive in REQ_RCVD, and then in timewait.
 */
#define SOFT_CM_PREFIX UINT64_C(0x73f7)	/* of a soft CA GUID: no EUI-64 of a */
					/* device, the group bit is set */
#define SOFT_CM_TIMEWAIT_MAX 4096		/* records in timewait */

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
	SOFT_CM_TIMEWAIT,		/* without an id */
};

/* The keys of the tables of records. */
enum soft_cm_key {
	SOFT_CM_BY_LOCAL,	/* our communication ID: every record */
	SOFT_CM_BY_PEER,	/* the peer's GUID and ID: passive side */
	SOFT_CM_BY_QPN,		/* the peer's GUID and QPN: once known */
	SOFT_CM_KEYS,
};

/* The search for the listener's UDP port; cm_find.c. */
struct soft_cm_find {
	bool listener_seen;	/* the listener has sent an MRA */
	bool port_closed;	/* the service's UDP port has no socket */
	bool has_roce_port;	/* counted as user of our port 4791 */
	bool both_ports;	/* REQ goes to 4791 as well */
	uint64_t rejected_until;	/* one port has no listener: wait */
				/* for the other until then; else 0 */
	void *probe;		/* state of the host's port_probe, owned */
};

/* The part of a record that only the handshake needs. */
struct soft_cm_handshake {
	uint8_t mad[SOFT_MAD_LEN];	/* sent, to be retransmitted */
	uint8_t data[SOFT_MAD_DATA_MAX];	/* received, for the event */
	uint16_t len;			/* of data */
	uint16_t service_port;		/* the listener's UDP port */
	uint8_t space;			/* enum pier__cm_space */
	uint16_t req_port;		/* UDP port that the REQ came to, */
	uint64_t req_at;		/* and when, ns */
	struct soft_cm_find find;	/* active side */
	struct soft_cm_listener *listener;	/* of a REQ not reported */
};

struct soft_cm_conn {
	struct soft_timer timer;	/* first */
	struct soft_cm *cm;
	struct pier__hash_link link[SOFT_CM_KEYS];
	struct pier__list wait;		/* of the cm's timewait */
	struct soft_cm_id *id;		/* NULL: the program has none */
	struct soft_cm_id *ended;	/* that gets TIMEWAIT_EXIT; or NULL */
	struct soft_cm_handshake *handshake;	/* owned; NULL: not needed */
	uint64_t guid;			/* the peer's */
	uint64_t tid;
	uint32_t local_id, remote_id;	/* remote_id: if peer_known */
	struct in6_addr src, dst;
	uint16_t port;			/* the peer's, of messages and data; */
					/* 0: not known yet */
	uint32_t qpn, dest_qpn;
	uint32_t qkey;			/* the peer's, of a datagram service */
	uint32_t rq_psn, sq_psn;
	uint8_t state;			/* enum soft_cm_state */
	uint8_t keys;			/* bit per table that it is in */
	uint8_t sends;			/* of the current message; in */
					/* timewait: still to be done */
	uint8_t max_retries;
	uint8_t timeout;		/* code: longest wait for a response */
	bool peer_known;
	bool passive;
	bool datagram;			/* SIDR */
	bool proven;			/* passive: the peer has received a */
					/* message of ours */
	bool rtu_unseen;		/* active: it may be lost; RTU is */
					/* sent again */
	bool doubted;			/* another REQ has the peer's QPN */
	uint8_t answers;		/* not proven: messages that may */
					/* still be sent */
	uint8_t mtu, ack_timeout, tclass, retry_count, rnr_retry;
	uint8_t responder_resources, initiator_depth;	/* ours */
	uint8_t peer_responder_resources, peer_initiator_depth;
};

struct soft_cm_id {
	struct pier__cm_id id;		/* first */
	struct soft_cm_conn *conn;	/* NULL: over */
	struct soft_cm_conn *timewait;	/* whose "ended" it is; or NULL */
	struct soft_cm_listener *listener;	/* of a REQUEST not reported */
	struct soft_cm_handshake *rej;	/* owned: data of a REJ */
	struct pier__list link;		/* of the cm's events */
	struct pier__list early;	/* of the cm's */
	uint64_t report_at;		/* ns; of those that are early, */
	uint32_t unread_qpn;		/* with their QP */
	uint16_t events;		/* bit per enum pier__cm_kind */
	uint16_t reason;
	uint8_t instead[16];		/* of a REJ; 0: not known */
	int error;
};

struct soft_cm {
	struct soft_gsi gsi;		/* first */
	struct soft_ep *ep;
	struct soft_cm_host *host;
	struct pier__cm *owner;
	bool reports_timewait;
	bool waits_for_polls;
	uint16_t left_port;		/* of the last listener that ended, */
	uint64_t left_at;		/* and when */
	uint64_t guid;			/* ours */
	uint32_t tid;			/* upper half of transaction IDs */
	uint32_t psn;
	struct in6_addr last_roce_peer;	/* unspecified: none yet */
	struct pier__hash table[SOFT_CM_KEYS];	/* of records */
	struct soft_heap timers;
	struct pier__list listeners;
	struct soft_timer roce_port_timer;	/* to retry port 4791 */
	struct pier__list events;	/* ids with events */
	struct pier__list early;	/* ids that are disconnected, which */
	struct soft_timer early_timer;	/* is not reported yet */
	struct pier__list timewait;	/* records, the oldest first */
	uint32_t timewait_count;
	uint8_t event_data[SOFT_MAD_DATA_MAX];	/* of the last event */
};

static inline uint64_t pier__soft_cm_now(const struct soft_cm *cm)
{
	return cm->ep->io->ops->now(cm->ep->io);
}

/* The endpoint's hook (rc/ep.h): cm_recv.c, cm_timer.c, cm_passive.c. */
void pier__soft_cm_receive(struct soft_gsi *gsi, const struct soft_hdr *hdr,
			   const struct soft_rx *rx, const uint8_t *data,
			   size_t len);
int pier__soft_cm_timers(struct soft_gsi *gsi);
uint64_t pier__soft_cm_deadline(const struct soft_gsi *gsi);
bool pier__soft_cm_data(struct soft_gsi *gsi, uint32_t local_id,
			enum soft_shown shown);

/* cm_table.c: records. */
void pier__soft_cm_table_init(struct soft_cm *cm);
/* Free all records. */
void pier__soft_cm_table_fini(struct soft_cm *cm);
struct soft_cm_conn *pier__soft_cm_conn_new(struct soft_cm *cm);
void pier__soft_cm_conn_free(struct soft_cm_conn *conn);
/* Add it to the table of @key, whose fields do not change from now on. */
void pier__soft_cm_index(struct soft_cm_conn *conn, enum soft_cm_key key);
struct soft_cm_conn *pier__soft_cm_by_local(const struct soft_cm *cm,
					    uint32_t local_id);
struct soft_cm_conn *pier__soft_cm_by_peer(const struct soft_cm *cm,
					   uint64_t guid, uint32_t remote_id);
/* Not in timewait. */
struct soft_cm_conn *pier__soft_cm_by_qpn(const struct soft_cm *cm,
					  uint64_t guid, uint32_t qpn);
/* The handshake is complete, or none of its messages is sent again. */
void pier__soft_cm_handshake_free(struct soft_cm_conn *conn);
/* Answer only retransmitted messages from now on, then free it. */
void pier__soft_cm_timewait(struct soft_cm_conn *conn);
/* Call @call with every record, which it does not free. */
void pier__soft_cm_each(struct soft_cm *cm,
			void (*call)(struct soft_cm_conn *conn));

/* cm_event.c: events for the program. */
void pier__soft_cm_notify(struct soft_cm *cm, struct soft_cm_id *id,
			  enum pier__cm_kind kind);
/*
 * Report that @conn is over; its id, if there is one, is separated from it.
 * @error of UNREACHABLE; @reason of REJECTED, with the data in the handshake.
 */
void pier__soft_cm_finish(struct soft_cm_conn *conn, enum pier__cm_kind kind,
			  int error, uint16_t reason);
/* An id of @conn; NULL: no memory. */
struct soft_cm_id *pier__soft_cm_id_new(struct soft_cm_conn *conn,
					uint16_t src_port, uint16_t dst_port);
void pier__soft_cm_id_free(struct soft_cm_id *id);

/*
 * cm_early.c: @id, whose QP was @qpn, is disconnected.  It is reported once
 * that has nothing unread, or later; and its timer.
 */
void pier__soft_cm_disconnected(struct soft_cm_id *id, struct soft_cm *cm,
				uint32_t qpn);
void pier__soft_cm_early_run(struct soft_cm *cm);

/* cm_send.c: messages sent. */
/*
 * To the peer of @conn, at each port where it may be.  A client that is not
 * proven gets as many messages as pier__soft_cm_grant() has granted.
 */
void pier__soft_cm_send(struct soft_cm_conn *conn, const uint8_t *mad);
/* Another REQ of @conn, which is passive, has arrived. */
void pier__soft_cm_grant(struct soft_cm_conn *conn);
/* Is @guid's UDP port the one that @rx came from, or 4791? */
bool pier__soft_cm_port_ok(uint64_t guid, const struct soft_rx *rx);
/* Answer @rx at @port, without a record. */
void pier__soft_cm_answer(struct soft_cm *cm, const struct soft_rx *rx,
			  uint16_t port, const struct soft_mad *mad);
/* The port of the sender of @rx, a message without a GUID. */
uint16_t pier__soft_cm_port_of(const struct soft_rx *rx);
/* The UDP port in a soft GUID; 4791 of any other GUID. */
uint16_t pier__soft_cm_guid_port(uint64_t guid);
void pier__soft_cm_send_mra(struct soft_cm_conn *conn,
			    enum soft_mad_message message);
void pier__soft_cm_send_rtu(struct soft_cm_conn *conn);
void pier__soft_cm_send_drep(struct soft_cm_conn *conn, uint64_t tid);
/*
 * Send REJ and keep it in the handshake, to send it again in timewait.
 * With ROCE_REJ_TIMEOUT it has our GUID.
 */
void pier__soft_cm_send_rej(struct soft_cm_conn *conn,
			    enum soft_mad_message message,
			    enum roce_rej_reason reason, const void *data,
			    size_t len);

/* cm_timer.c: retransmission. */
/* The timer of @conn is due then; PIER__NEVER: not at all. */
void pier__soft_cm_timer_set(struct soft_cm_conn *conn, uint64_t due);
/* @conn sends its message for the first time: start the timer. */
void pier__soft_cm_retry_start(struct soft_cm_conn *conn);
/* ns of a 5-bit time. */
uint64_t pier__soft_cm_time(uint8_t code);
/* The peer has sent MRA: wait longer. */
void pier__soft_cm_mra_wait(struct soft_cm_conn *conn, uint8_t service_timeout);

/* The listener has a full backlog: ask again soon. */
void pier__soft_cm_backlog_full(struct soft_cm_conn *conn);

/* A listener is without port 4791: try to get it later. */
void pier__soft_cm_want_roce_port(struct soft_cm *cm);
/* In timewait: when REJ is sent again, then when the record is freed. */
void pier__soft_cm_timewait_timer(struct soft_cm_conn *conn);

/* cm_find.c: the peer's UDP port.  Of attempts in REQ_SENT. */
/* Send REQ to each port where the listener may be. */
void pier__soft_cm_find_send(struct soft_cm_conn *conn);
/* One port has no listener.  Returns whether the attempt is rejected. */
bool pier__soft_cm_find_is_rejected(struct soft_cm_conn *conn);
/* The listener has answered. */
void pier__soft_cm_find_listener_seen(struct soft_cm_conn *conn);
/* REQ is due again.  Returns true if the attempt has failed instead. */
bool pier__soft_cm_find_expired(struct soft_cm_conn *conn);
/* How long to wait before REQ is sent again, at most @wait ns. */
uint64_t pier__soft_cm_find_wait(const struct soft_cm_conn *conn,
				 uint64_t wait);
/* The error of an attempt without a response. */
int pier__soft_cm_find_error(const struct soft_cm_conn *conn);
/* The search is over; any state. */
void pier__soft_cm_find_end(struct soft_cm_conn *conn);

/* cm_passive.c: requests, also those of datagrams. */
/* The service ID of what @conn requests, or was requested. */
uint64_t pier__soft_cm_service_id(const struct soft_cm_conn *conn);
/* The listener that @mad may be for: on any address, of its kind; or NULL. */
struct soft_cm_listener *pier__soft_cm_service(const struct soft_cm *cm,
					       const struct soft_mad *mad,
					       const struct in6_addr *ip,
					       bool datagram);
/* Are the addresses in @mad those of the packet? */
bool pier__soft_cm_addresses_ok(const struct soft_mad *mad,
				const struct soft_rx *rx);
bool pier__soft_cm_has_place(const struct soft_cm_listener *listener);
/* Report @conn, which is new, for @mad.  False: no memory; it is freed. */
bool pier__soft_cm_request(struct soft_cm_conn *conn,
			   struct soft_cm_listener *listener,
			   const struct soft_mad *mad);
/* Can the program still accept or reject it? */
int pier__soft_cm_undecided(const struct soft_cm_id *id);

/* cm_sidr.c: datagram services, which report the QPN and Q_Key of a UD QP. */
int pier__soft_cm_sidr_connect(struct soft_cm_conn *conn,
			       const struct pier__cm_param *param);
int pier__soft_cm_sidr_accept(struct soft_cm_id *id,
			      const struct pier__cm_param *param);
int pier__soft_cm_sidr_reject(struct soft_cm_id *id, const void *data,
			      size_t len);
/* Our end drops @conn. */
void pier__soft_cm_sidr_abandon(struct soft_cm_conn *conn);
/* The last retransmission was not answered. */
void pier__soft_cm_sidr_timed_out(struct soft_cm_conn *conn);
void pier__soft_cm_sidr_req(struct soft_cm *cm, const struct soft_mad *mad,
			    const struct soft_rx *rx);
void pier__soft_cm_sidr_rep(struct soft_cm *cm, const struct soft_mad *mad,
			    const struct soft_rx *rx);

/* cm_active.c, cm_passive.c, cm_close.c: by message. */
/* Send REQ with a smaller MTU, for REJ @mad.  Returns false: there is none. */
bool pier__soft_cm_shrink(struct soft_cm_conn *conn,
			  const struct soft_mad *mad);
void pier__soft_cm_rep(struct soft_cm_conn *conn, const struct soft_mad *mad);
void pier__soft_cm_req(struct soft_cm *cm, const struct soft_mad *mad,
		       const struct soft_rx *rx);
void pier__soft_cm_rtu(struct soft_cm_conn *conn);
/* Until a packet shows that it has arrived, a few times. */
void pier__soft_cm_rtu_again(struct soft_cm_conn *conn);
/* Of our DREQ, which begins a transaction of its own. */
uint64_t pier__soft_cm_dreq_tid(const struct soft_cm_conn *conn);
void pier__soft_cm_dreq_send(struct soft_cm_conn *conn);
void pier__soft_cm_dreq(struct soft_cm_conn *conn, const struct soft_mad *mad);
void pier__soft_cm_drep(struct soft_cm_conn *conn);
void pier__soft_cm_rej(struct soft_cm_conn *conn, const struct soft_mad *mad);

/* cm_stale.c: has the peer restarted, and lost its connection? */
/*
 * Another REQ has the QPN of @conn's peer.  End @conn unless the peer shows
 * within seconds that it has it.
 */
void pier__soft_cm_doubt(struct soft_cm_conn *conn);
/* Send the next packet that the peer must answer.  Returns false: give up. */
bool pier__soft_cm_doubt_again(struct soft_cm_conn *conn);
/* The peer's QP has sent something: its RTU may still be to be sent again. */
void pier__soft_cm_doubt_end(struct soft_cm_conn *conn);

/* cm_close.c. */
/* Disconnect: @conn is established. */
void pier__soft_cm_dreq_begin(struct soft_cm_conn *conn);
/* The last retransmission was not answered. */
void pier__soft_cm_timed_out(struct soft_cm_conn *conn);
/* Our end drops @conn: REJ or DREQ, by its state. */
void pier__soft_cm_abandon(struct soft_cm_conn *conn);

#endif
