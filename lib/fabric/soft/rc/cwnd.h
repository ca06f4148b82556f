/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_RC_CWND_H
#define PIER_FABRIC_SOFT_RC_CWND_H

#include "core/hash.h"
#include "core/list.h"
#include "fabric/soft/rc/ep.h"

/* Added to the bytes of a packet in its window: buffers on the path. */
#define SOFT_PACKET_COST 512

/* Congestion windows, in bytes with that: of a full packet, and at most. */
#define SOFT_CWND_PACKET (SOFT_MTU_MAX + SOFT_PACKET_COST)
#define SOFT_CWND_MAX (256 * SOFT_CWND_PACKET)
#define SOFT_CWND_FAR 4		/* times that, of a peer that is far away: */
				/* what a peer holds ahead of a gap */
#define SOFT_INCAST_MIN (SOFT_CWND_PACKET / 256)	/* least, in incast */

/*
 * The congestion window of a destination, that is a peer's endpoint, shared by
 * the QPs that are connected to it.  In bytes, SOFT_PACKET_COST included.
 */
struct soft_cwnd {
	struct pier__hash_link link;	/* of the endpoint's cwnds */
	struct pier__list active;	/* of its ready ones */
	struct pier__list qps;		/* that have requests to send */
	struct soft_addr addr;
	uint32_t refs;
	uint32_t window, ssthresh, inflight;
	uint32_t packet;		/* a full one of the QP that was */
					/* connected last */
	uint64_t rtt, rtt_var;		/* ns; 0: not measured yet */
	uint64_t late;			/* ns, longest time of an ACK that */
					/* came after a retransmission; 0 */
					/* from the next measurement on */
	uint64_t rtt_min, rtt_min_at;	/* recent minimum, and when */
	uint64_t reduced_at;
	uint32_t queue_cuts;		/* reductions for a queue, in a row */
	uint32_t uncut_window;		/* the window before the first */
	uint32_t counted;		/* period of senders in which it was, */
	uint32_t answered;		/* in which it responded to READs, */
					/* or one was lost */
	uint8_t senders;		/* of the peer, as it reports them */
	bool incast;			/* one of many that lose packets */
	bool fixed;			/* the window is: no network */
	uint64_t lost_at;		/* ns, the last time; 0: none was */
	uint64_t send_at;		/* ns, not before: pacing */
};

/* cwnd.c: what may be in flight to a destination. */
struct soft_cwnd *pier__soft_cwnd_get(struct soft_ep *ep,
				      const struct soft_addr *addr);
void pier__soft_cwnd_put(struct soft_ep *ep, struct soft_cwnd *cwnd);
bool pier__soft_cwnd_fits(const struct soft_ep *ep,
			  const struct soft_cwnd *cwnd, uint32_t cost);
/*
 * When a timer is to try again what pacing did not let be sent, ns: a burst
 * later than the first packet might be, for several.  0: it is not paced.
 */
uint64_t pier__soft_cwnd_send_at(const struct soft_ep *ep,
				 const struct soft_cwnd *cwnd);
void pier__soft_cwnd_charge(const struct soft_ep *ep, struct soft_cwnd *cwnd,
			    uint32_t cost);
/* @acked: it was acknowledged, the window may grow. */
void pier__soft_cwnd_release(struct soft_ep *ep, struct soft_cwnd *cwnd,
			     uint32_t cost, bool acked);
void pier__soft_cwnd_reduce(struct soft_ep *ep, struct soft_cwnd *cwnd);
/*
 * No network is on the way to the peer: the window is @window bytes, however
 * late the peer answers.  0: there is one again.
 */
void pier__soft_cwnd_fix(struct soft_cwnd *cwnd, uint32_t window);
void pier__soft_cwnd_rtt(struct soft_ep *ep, struct soft_cwnd *cwnd,
			 uint64_t sample);
/*
 * An acknowledgement came after a retransmission, @first ns after the first
 * transmission and @last after the last one.  @nak: that followed a NAK.
 */
void pier__soft_cwnd_late(struct soft_cwnd *cwnd, uint64_t first,
			  uint64_t last, bool nak);
/* The retransmission timeout, ns. */
uint64_t pier__soft_cwnd_rto(const struct soft_cwnd *cwnd);
/* @qp has requests to send; no effect if it is scheduled. */
void pier__soft_cwnd_schedule(struct soft_ep *ep, struct soft_qp *qp);

/*
 * incast.c: many peers that send to one endpoint, or read from it.  It counts
 * them, and reports each.  The first: a full packet or a READ request, of
 * @opcode, has come from the peer of @qp.
 */
void pier__soft_incast_count(struct soft_qp *qp, uint8_t opcode);
/* The peer has reported @senders, an exponent of two. */
void pier__soft_incast_report(const struct soft_ep *ep, struct soft_cwnd *cwnd,
			      uint8_t senders);
/* A packet of @qp was lost, or the response to one. */
void pier__soft_incast_lost(struct soft_qp *qp);
/* Is it one of many that send to the peer? */
bool pier__soft_incast_is_likely(const struct soft_cwnd *cwnd);
/* Is it over? */
void pier__soft_incast_check(const struct soft_ep *ep, struct soft_cwnd *cwnd);
/* In incast: how much the window grows by the acknowledgement of @cost. */
uint32_t pier__soft_incast_growth(const struct soft_cwnd *cwnd, uint32_t cost);
/* @cost was sent: when the next packet may be. */
void pier__soft_incast_pace(const struct soft_ep *ep, struct soft_cwnd *cwnd,
			    uint32_t cost);

#endif
