/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_VNET_H
#define PIER_T_LIB_VNET_H

#include "core/hash.h"
#include "core/list.h"
#include "fabric/soft/rc/ep.h"
#include "fabric/soft/rc/timer_heap.h"
#include "fabric/soft/wire/codec.h"

/*
 * A network in virtual time, for endpoints of one process.  All chance comes
 * from one seed, so that a run can be repeated.  One thread.
 */
struct vnet_faults {
	double loss, duplicate, reorder, corrupt, truncate;
	double refuse;		/* as if full: takes a part; 1: nothing */
};

struct vnet_node;
struct vlink;
struct vnet;

/* A packet on its way; the bytes are as a socket would give them. */
struct vnet_packet {
	struct soft_addr src, dst;
	uint16_t id;		/* IPv4 identification */
	uint8_t tclass;
	size_t len;
	uint8_t data[SOFT_PACKET_MAX];
};

/* A packet that is due at @at: at a node, or at the end of a link. */
struct vnet_event {
	struct pier__list link;
	uint64_t at;
	struct vnet_packet packet;
};

/* Of a node or a link. */
struct vnet_timer {
	struct soft_timer timer;	/* first */
	void (*run)(struct vnet *net, struct vnet_timer *timer);
};

struct vnet {
	uint64_t now;		/* ns */
	uint64_t random;
	uint64_t latency;		/* ns, one way */
	uint32_t inbox;		/* packets a node holds at most; 0: any */
	bool polls;		/* @until of a run is called as a program is */
				/* that polls: before answers are sent */
	struct vnet_faults faults;
	struct vnet_node *nodes;
	struct pier__hash by_addr;	/* the same */
	uint64_t sent;		/* packets */

	/* With links (vlink.h): what is due, nodes and links. */
	struct vlink *links;
	struct soft_heap timers;
	uint32_t timer_count;

	/* Sees all that is sent.  Returns false: it is lost. */
	bool (*tap)(const struct vnet_packet *packet, void *arg);
	void *tap_arg;
};

void vnet_init(struct vnet *net, uint64_t seed);
void vnet_fini(struct vnet *net);
uint64_t vnet_random(struct vnet *net);
bool vnet_chance(struct vnet *net, double p);

/* A place for an endpoint; @ip in text, IPv4 or IPv6. */
struct soft_io *vnet_node(struct vnet *net, const char *ip, uint16_t port);
struct soft_addr vnet_addr(const struct soft_io *io);

/* The endpoint on @io, which vnet_run() drives; NULL: none is there. */
void vnet_attach(struct soft_io *io, struct soft_ep *ep);

/*
 * The packets of @io go by @up, and those for it by @down; NULL: at once.  Then
 * only what is due is driven, so that a network may have a thousand nodes.
 */
void vnet_route(struct soft_io *io, struct vlink *up, struct vlink *down);
struct vlink *vnet_down(struct vnet *net, const struct soft_addr *addr);

/*
 * Call @program(@arg) whenever the endpoint on @io was driven, and at the
 * beginning of a run.  With links it alone may post during a run.
 */
void vnet_program(struct soft_io *io, void (*program)(void *arg), void *arg);

/*
 * Give what arrives at @io to @take, which owns it, and not to an endpoint; and
 * send a packet from there.
 */
void vnet_taker(struct soft_io *io,
		void (*take)(void *arg, struct vnet_event *event), void *arg);
void vnet_send(struct soft_io *io, const struct vnet_packet *packet);

/* There is one more timer. */
void vnet_timer_add(struct vnet *net);
void vnet_timer_set(struct vnet *net, struct vnet_timer *timer, uint64_t due);

/* Sort @event into @list by its time, behind those of the same time. */
void vnet_queue(struct pier__list *list, struct vnet_event *event);

/* Give @event to the node that its packet is for, now; it owns it. */
void vnet_arrive(struct vnet *net, struct vnet_event *event);

/* The packet that a socket would make of @tx. */
void vnet_build(struct vnet *net, const struct soft_tx *tx,
		struct vnet_packet *packet);

/* Bring @packet to its destination now, faults aside. */
void vnet_deliver(struct vnet *net, const struct vnet_packet *packet);

/* Drive all endpoints until none does anything without time going on. */
void vnet_settle(struct vnet *net);

/*
 * Go on until nothing remains to do, or @until is true, or @limit ns have
 * passed.  Returns false at the limit.
 */
bool vnet_run(struct vnet *net, uint64_t limit, bool (*until)(void *arg),
	      void *arg);

#endif
