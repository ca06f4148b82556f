/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_RC_EP_H
#define PIER_FABRIC_SOFT_RC_EP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/hash.h"
#include "core/list.h"
#include "fabric/fabric.h"
#include "fabric/soft/rc/mr.h"
#include "fabric/soft/rc/timer_heap.h"
#include "fabric/soft/stats/count.h"
#include "fabric/soft/wire/codec.h"
#include "fabric/soft/wire/packet.h"

struct soft_cq;
struct soft_srq;
struct soft_qp;
struct soft_wqe;
struct soft_board;
struct soft_events;
struct soft_qp_events;

#define SOFT_EXTRA_SOCKS 256	/* of an endpoint besides its own socket */

/* A socket, or shared memory, that the endpoint receives from. */
struct soft_rx_io {
	struct soft_io *io;		/* borrowed */
	unsigned int idle_polls;	/* without a packet, in a row */
	uint64_t read_at;		/* ns */
};

/* What a packet shows of its sender: each value more than the one before. */
enum soft_shown {
	SOFT_SHOWN_NOTHING,	/* it may be of an earlier connection */
	SOFT_SHOWN_QP,		/* its QP exists: the answer to a probe */
	SOFT_SHOWN_RESPONSE,	/* it answers a request in flight */
	SOFT_SHOWN_REQUEST,	/* it knows the PSN that we have chosen */
};

/*
 * The hook of connection management, QP 1 of an endpoint.  Its calls are made
 * by the thread that drives the endpoint.
 */
struct soft_gsi {
	const struct soft_gsi_ops *ops;
};

struct soft_gsi_ops {
	/* A packet for QP 1 with a good ICRC: headers, and its @len bytes. */
	void (*receive)(struct soft_gsi *gsi, const struct soft_hdr *hdr,
			const struct soft_rx *rx, const uint8_t *data,
			size_t len);

	/* Run the timers that are due.  Returns how many. */
	int (*timers)(struct soft_gsi *gsi);

	/* When the next one is due, ns; PIER__NEVER. */
	uint64_t (*deadline)(const struct soft_gsi *gsi);

	/*
	 * The QP of connection @cm_id has received a packet that shows
	 * something.  Returns false: report the next one too.
	 */
	bool (*data)(struct soft_gsi *gsi, uint32_t cm_id,
		     enum soft_shown shown);
};

/* How many peers send full packets: incast.c. */
struct soft_senders {
	uint64_t begun_at;		/* ns, of the current period */
	uint32_t period;		/* its number */
	uint32_t count, before;		/* in it, and in the one before */
	uint8_t reported;		/* to peers: SOFT_SENDERS_MAX */
};

/* What a packet of the batch belongs to: to undo it if it is not sent. */
struct soft_tx_note {
	struct soft_qp *qp;
	struct soft_wqe *wqe;		/* of a request, else NULL */
	uint64_t seq;
	uint32_t cost;			/* of a request, to its window */
	uint32_t packets;		/* of one that is sent selectively */
	uint8_t res;			/* of a response: its place, or none */
	uint8_t part;			/* the same */
	uint8_t due;			/* of an acknowledgement */
	bool retransmit;		/* a request that was sent before */
	bool selective;			/* and those behind it were not */
	bool fresh;			/* of a response: not answered yet */
};

/*
 * An endpoint: QP table, completion and receive queues, timers, packets to
 * send.  One per (engine, device).  Its engine's thread or the helper drives
 * it and holds its lock meanwhile: every call but create and destroy is made
 * between enter and leave.  It uses no socket and no thread.
 */
struct soft_ep {
	struct soft_io *io;		/* borrowed; a QP may send by another */
	struct soft_rx_io rx_io[2 + SOFT_EXTRA_SOCKS];	/* shm: one */
	int rx_io_count;
	int rx_io_last;			/* where the last packet came from */
	unsigned int rounds;		/* of receiving */
	struct soft_gsi *gsi;		/* borrowed; NULL: no QP 1 */
	struct soft_mr_table *keys;	/* borrowed, the device's */
	pthread_mutex_t owner;		/* held by the thread that drives it */
	bool verbs;			/* for a program of libibverbs: */
	/* @type, of enum ibv_event_type, has come for a queue's @async */
	void (*event)(int type, void *async);
	bool one_sided;			/* a peer has used memory by itself */

	/* The endpoint's own. */
	struct soft_mr_user user;	/* of keys */
	uint64_t now;			/* ns, of this round or earlier */
	bool clock_read;		/* in this round */
	uint64_t round_at;		/* ns, when a round last read it */
	bool brisk;			/* the last rounds were short */
	struct soft_counters *counters;	/* own, or of a row of the file */
	struct soft_counters own;
	struct soft_events *events;	/* borrowed; NULL: none are recorded */

	struct pier__list windows;	/* that are bound: window.h */
	struct pier__hash qps;		/* the code is the QPN */
	struct pier__list groups;	/* of ud_group.c: who is in which */
	uint32_t group_count;
	uint32_t freed_qpns[64], freed_next;	/* not to be reused soon */

	struct soft_wqe *wqes;		/* free ones */
	struct soft_board *boards;	/* the same */
	int spare_boards;		/* in the list */
	struct soft_part *parts;	/* a free ring; NULL: in use */
	struct pier__list wqe_chunks;
	uint32_t wqe_total;
	uint64_t cqe_sum, send_wr_sum;	/* of the queues: wqe_total is enough */

	struct soft_heap timers;	/* of QPs */
	uint32_t early;			/* packets held, of all QPs */

	struct pier__hash cwnds;	/* by address */
	struct soft_senders senders;
	struct pier__list ready;	/* cwnds that may send requests */
	struct pier__list replying;	/* QPs with responses to send */
	struct pier__list coalesced;	/* with an ACK that may wait */
	uint64_t send_at;		/* the socket was full: retry then */

	struct soft_fronts fronts;	/* of what is received */
	int tx_count;
	struct soft_tx tx[SOFT_BATCH];
	struct soft_tx_note note[SOFT_BATCH];	/* one a packet of tx */
	struct soft_rx rx[SOFT_BATCH];
};

int pier__soft_ep_create(struct soft_io *io, struct soft_mr_table *keys,
			 struct soft_ep **ret);

/*
 * @ep is for a program written for libibverbs.  Its QPNs carry the UDP port of
 * its io (qpn.h), which must fit, and its send queues may be filled even if
 * completion queues have fewer entries.  Called before anything is created on
 * @ep.
 */
void pier__soft_ep_for_verbs(struct soft_ep *ep);

/*
 * Receive from @io as well: from at most SOFT_EXTRA_SOCKS sockets, and from
 * shared memory.  An @io is not removed while the endpoint is driven.
 */
void pier__soft_ep_add_io(struct soft_ep *ep, struct soft_io *io);
void pier__soft_ep_remove_io(struct soft_ep *ep, struct soft_io *io);

/* Its queues must be destroyed first. */
void pier__soft_ep_destroy(struct soft_ep *ep);

void pier__soft_ep_enter(struct soft_ep *ep);
/* By the helper, which a program that polls makes way for when it leaves. */
void pier__soft_ep_enter_helper(struct soft_ep *ep);
bool pier__soft_ep_try_enter(struct soft_ep *ep);
void pier__soft_ep_leave(struct soft_ep *ep);

/*
 * Receive, run timers, send: one bounded round.  Returns non-zero if it did
 * anything: then there may be more.
 */
int pier__soft_ep_drive(struct soft_ep *ep);

/*
 * The two halves of a round: receive and run timers, and send.  Packets that
 * were not sent in between leave with the requests posted meanwhile.  A socket
 * that has been idle for long is read only in some rounds, unless @all is set:
 * a caller that polls saves the system calls that would return nothing.
 */
int pier__soft_ep_receive(struct soft_ep *ep, bool all);
int pier__soft_ep_send(struct soft_ep *ep);

/* The same, but acknowledgements that an answer may follow wait for that. */
int pier__soft_ep_send_held(struct soft_ep *ep);

/* Send the acknowledgements that are coalesced, too. */
int pier__soft_ep_send_all(struct soft_ep *ep);

/* Send between rounds: requests, and with @replies responses too. */
int pier__soft_ep_send_posted(struct soft_ep *ep, bool replies);

/*
 * An io of shared memory delivers: the first call in each round, then a packet.
 * Requests by it can do with a clock that is some rounds old: what they begin
 * to wait for reads it.
 */
void pier__soft_ep_look(struct soft_ep *ep);
void pier__soft_ep_packet(struct soft_ep *ep, const struct soft_rx *rx);

/* Are there responses or acknowledgements to send? */
bool pier__soft_ep_replies_pending(const struct soft_ep *ep);

/* Is there anything to send, with @replies also of these? */
bool pier__soft_ep_has_any(const struct soft_ep *ep, bool replies);

/* When the next timer is due, ns of io->now; PIER__NEVER. */
uint64_t pier__soft_ep_deadline(const struct soft_ep *ep);

/*
 * Count in @counters, which keep their values and must outlive @ep.  Called
 * before anything is created on @ep.
 */
void pier__soft_ep_count_in(struct soft_ep *ep, struct soft_counters *counters);

/* Record events in @events, which outlive @ep; NULL: none are recorded. */
void pier__soft_ep_record_in(struct soft_ep *ep, struct soft_events *events);

/*
 * note.c: record an event, of enum soft_event_kind, of QP @qpn, 0: of none yet.
 * For events that are rare.  The second: one that happened at @at, ns of
 * io->now.
 */
void pier__soft_ep_note(struct soft_ep *ep, uint32_t qpn, int kind, int detail,
			uint64_t psn);
void pier__soft_ep_note_at(struct soft_ep *ep, uint32_t qpn, int kind,
			   int detail, uint64_t at);

/* Limits of the queues; beyond them calls return -EINVAL. */
#define SOFT_SEND_SGE SOFT_TX_IOV
#define SOFT_RECV_SGE 32
#define SOFT_INLINE_MAX 256
#define SOFT_RD_ATOMIC 16	/* as initiator and as responder */
#define SOFT_MESSAGE_MAX (UINT32_C(1) << 31)
#define SOFT_QUEUE_MAX (1 << 20)	/* entries of any queue */

/*
 * Queues: as the fabric's members of the same name (fabric.h).
 */
int pier__soft_cq_create(struct soft_ep *ep, uint32_t cqe,
			 struct soft_cq **ret);
void pier__soft_cq_destroy(struct soft_cq *cq);
/*
 * Make another queue of @cqe entries of *@cq, which its QPs use from now on.
 * Errors: -EINVAL, it has more completions; -ENOMEM.
 */
int pier__soft_cq_resize(struct soft_cq **cq, uint32_t cqe);
/*
 * Asynchronous events of the queue, for programs of verbs: they are reported to
 * @async by ep->event, which is called while the endpoint is held.
 */
void pier__soft_cq_async(struct soft_cq *cq, void *async);
void pier__soft_srq_async(struct soft_srq *srq, void *async);
void pier__soft_qp_async(struct soft_qp *qp, void *async);
int pier__soft_cq_poll(struct soft_cq *cq, struct ibv_wc *wc, int max);
bool pier__soft_cq_empty(const struct soft_cq *cq);
/* Are there receives of the QP @qpn that succeeded? */
bool pier__soft_cq_has_received(const struct soft_cq *cq, uint32_t qpn);

int pier__soft_srq_create(struct soft_ep *ep, uint32_t max_wr,
			  uint32_t max_sge, struct soft_srq **ret);
void pier__soft_srq_destroy(struct soft_srq *srq);
/* Its receives, of which none is posted, use keys of @pd only, as of a QP. */
void pier__soft_srq_protect(struct soft_srq *srq, const void *pd);
/*
 * Take up to @max_wr receives from now on.  Errors: -EINVAL, there are more, or
 * it is too many; -ENOMEM.
 */
int pier__soft_srq_resize(struct soft_srq *srq, uint32_t max_wr);
/* Report once that fewer than @limit are posted; 0: do not. */
void pier__soft_srq_limit(struct soft_srq *srq, uint32_t limit);
/* Take a receive back; false: a QP has taken it. */
bool pier__soft_srq_recall(struct soft_srq *srq, uint64_t wr_id);
int pier__soft_srq_post(struct soft_srq *srq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad);

int pier__soft_qp_create(struct soft_cq *cq, struct soft_srq *srq,
			 const struct ibv_qp_cap *cap, struct soft_qp **ret);
/* @src: the address of the GID that the attributes chose. */
int pier__soft_qp_modify(struct soft_qp *qp, struct ibv_qp_attr *attr, int mask,
			 const struct soft_addr *src, uint16_t udp_port);
void pier__soft_qp_destroy(struct soft_qp *qp);
/*
 * The receives of @qp complete in @cq from now on; unless NULL, @own is where
 * they are posted, a queue of @qp alone, which is flushed when @qp fails and
 * destroyed after it.
 */
void pier__soft_qp_recv_by(struct soft_qp *qp, struct soft_cq *cq,
			   struct soft_srq *own);
/* Send by @io, which outlives @qp and has the endpoint's UDP port. */
void pier__soft_qp_send_by(struct soft_qp *qp, struct soft_io *io);
/* @qp, which is new, may use keys of @pd only; NULL: those that have none. */
void pier__soft_qp_protect(struct soft_qp *qp, const void *pd);
/* As of the endpoint; @counters must outlive @qp. */
void pier__soft_qp_count_in(struct soft_qp *qp, struct soft_counters *counters);
/* note.c: the last events of @qp go to @events, which are empty; NULL: none. */
void pier__soft_qp_record_in(struct soft_qp *qp, struct soft_qp_events *events);
int pier__soft_qp_post(struct soft_qp *qp, struct ibv_send_wr *wr,
		       struct ibv_send_wr **bad);
/* May @wr be posted to @qp, of RC or UD, if its queue has a place for it? */
int pier__soft_qp_post_check(const struct soft_qp *qp,
			     const struct ibv_send_wr *wr);

/*
 * UD.  The way to a peer's host, an address handle: @io has the address of
 * @src, and outlives it.
 */
#define SOFT_GRH_LEN 40		/* of a datagram, at the start of its receive */

struct soft_way {
	struct soft_io *io;
	struct soft_addr src;
	struct in6_addr dst;
	uint8_t tclass, hop_limit;
};

/*
 * @qp, which is new, is UD: its datagrams have at most @mtu bytes.  Only
 * pier__soft_ud_send() sends from it: to the QP of @wr at @udp_port there, or
 * nowhere if the socket is full.  To a group, but on lo, it sends to port 4791
 * besides: RoCE devices in the group receive there.
 */
void pier__soft_ud_set(struct soft_qp *qp, uint32_t mtu);
int pier__soft_ud_check(const struct soft_qp *qp, const struct ibv_send_wr *wr);
int pier__soft_ud_send(struct soft_qp *qp, const struct ibv_send_wr *wr,
		       const struct soft_way *way, uint16_t udp_port);

/*
 * Send @tx, but for its headers, which are @hdr, at once: one datagram that no
 * one sends again.
 */
void pier__soft_tx_datagram(struct soft_ep *ep, struct soft_io *io,
			    struct soft_tx *tx, struct soft_hdr *hdr);

/*
 * Multicast: @qp, which is UD, gets what is sent to @group.  The caller has a
 * socket in that group.  Errors: -ENOMEM, also if there are SOFT_GROUPS.
 */
#define SOFT_GROUPS 1024	/* QPs in groups, of an endpoint */

int pier__soft_group_attach(struct soft_qp *qp, const struct in6_addr *group);
/* Returns false: it was not attached. */
bool pier__soft_group_detach(struct soft_qp *qp, const struct in6_addr *group);
bool pier__soft_group_has(const struct soft_qp *qp,
			  const struct in6_addr *group);
/* How many QPs of @ep are in @group. */
uint32_t pier__soft_group_users(const struct soft_ep *ep,
				const struct in6_addr *group);
/* That of a member of the endpoint's list. */
const struct in6_addr *pier__soft_group_at(struct pier__list *member);
/* A group that @qp is in.  Returns false: in none. */
bool pier__soft_group_of(const struct soft_qp *qp, struct in6_addr *ret);

/* Send the acknowledgement of all that has arrived on @qp. */
void pier__soft_qp_acknowledge(struct soft_qp *qp);
/* Was the last response to @qp an RNR NAK? */
bool pier__soft_qp_rnr(const struct soft_qp *qp);
/* As the fabric's member psns. */
struct pier__psns pier__soft_qp_psns(const struct soft_qp *qp);
/* As the fabric's member fault. */
bool pier__soft_qp_fault(const struct soft_qp *qp, struct pier__fault *ret);
/* False: the peer has not reported how long its receive was. */
bool pier__soft_qp_refused(const struct soft_qp *qp, uint32_t *ret);

/*
 * Have the peer's QP send an ACK, if it exists.  Returns false if @qp is not
 * in RTS.
 */
bool pier__soft_qp_probe(struct soft_qp *qp);

#endif
