/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_VLINK_H
#define PIER_T_LIB_VLINK_H

#include "t/lib/vnet.h"

/* A link of one direction: a queue, a line behind it, and its faults. */
struct vlink_opts {
	uint64_t rate;		/* bit/s; 0: no limit */
	uint64_t latency;		/* ns */
	uint32_t queue;		/* packets; the rest is dropped; 0: any */
	uint32_t mark;		/* packets, from which on it marks; 0: never */
	double loss, reorder;	/* shares of the packets; the latter take up */
				/* to twice the latency more */
};

/* What a packet has on the line besides the UDP payload: IPv4 on Ethernet. */
#define VLINK_FRAME (8 + 14 + 20 + 8 + 4 + 12)

struct vlink_counts {
	uint64_t packets, bytes;	/* on the line, bytes with the frame */
	uint64_t dropped;		/* for the queue was full */
	uint64_t lost;
	uint32_t longest;		/* packets in the queue at once */
};

/*
 * Its packets go on by @to; NULL: they are at a switch, and go on by the link
 * of the node that they are for.  Destroyed with @net.
 */
struct vlink *vlink_create(struct vnet *net, const struct vlink_opts *opts,
			   struct vlink *to);
struct vlink_counts vlink_counts(const struct vlink *link);

/* Of vnet.c: @link ends at a node; @event enters @link, which owns it. */
void vlink_ends(struct vlink *link);
void vlink_send(struct vlink *link, struct vnet_event *event);
void vlink_destroy_all(struct vnet *net);

#endif
