/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_CMPAIR_H
#define PIER_T_LIB_CMPAIR_H

#include "fabric/soft/cm/soft_cm.h"
#include "fabric/soft/wire/mad.h"
#include "t/lib/vnet.h"

/*
 * Two endpoints with connection management on a virtual network, and what
 * they send to each other.  Side 0 connects, side 1 listens on CM_SERVICE.
 */
#define CM_PORT0 40000		/* UDP ports of data */
#define CM_PORT1 40001
#define CM_SERVICE 7471
#define CM_QKEY 0x1234567	/* of datagram services */

/* One end of a connection, as the program sees it. */
struct cmpair_end {
	struct pier__cm_id *id;		/* NULL: released */
	uint32_t qpn;
	int events[PIER__CM_TIMEWAIT_EXIT + 1];	/* how many, by kind */
	int over;			/* kind that ended it, or -1 */
	int error;
	uint16_t reason;
	uint8_t data[SOFT_MAD_DATA_MAX];	/* of the last event with any */
	struct pier__cm_event event;	/* the last one */
	struct cmpair_end *next; /* of the side's */
};

/* What the program does by itself. */
enum cm_manner {
	CM_WAIT,		/* nothing */
	CM_AGREE,		/* accept and establish at once */
	CM_REFUSE,		/* reject */
};

struct cm_node {
	struct soft_cm_host host;	/* first */
	struct cm_pair *pair;
	const char *ip;
	struct soft_io *io, *listen_io, *roce_io;
	struct soft_addr addr;
	struct soft_mr_table *keys;
	struct soft_ep *ep;
	struct soft_cq *cq;
	struct soft_srq *srq;
	struct soft_cm *cm;
	struct soft_cm_listener listener;
	enum cm_manner manner;
	bool roce_port_taken;		/* port 4791 is another's */
	bool needs_roce_port;		/* its listener does, from now on */
	bool no_roce_port;		/* the listener never uses it */
	bool no_gid;			/* the address went away */
	int roce_port_users, rings;
	bool peer_closed;		/* ICMP of its host: no process has */
					/* the service's port */
	int port_probes, port_probes_open;	/* of it; states not freed */
	uint32_t last_qpn;
	struct cmpair_end *ends; /* owned, the newest first */
};

/* Messages sent, by attribute. */
struct cm_sent {
	unsigned int count, lose;	/* lose: so many more */
	uint16_t port;			/* UDP port of the last one */
	struct soft_mad mad;		/* the last one, without data */
	struct vnet_packet packet;
};

struct cm_pair {
	struct vnet net;
	struct cm_node node[2];
	struct cm_sent sent[SOFT_MAD_APR + 1];
	struct soft_qp *qp[2];		/* NULL: that side has none */
};

/* Ends the program if it cannot.  A backlog of 0 is none: no listener. */
struct cm_pair *cm_open(uint64_t seed, bool v6, uint32_t backlog);
void cm_close(struct cm_pair *pair);

/* Have side @i listen, or not. */
void cm_listen(struct cm_pair *pair, int i, uint32_t backlog);
void cm_unlisten(struct cm_pair *pair, int i);

/* Resolve and connect from side 0 to side 1's @port. */
struct cmpair_end *cm_ask(struct cm_pair *pair, uint16_t port,
			  const char *data);
struct cmpair_end *cm_ask_in(struct cm_pair *pair, uint16_t port,
			     const char *data, enum pier__cm_space space);
/* For a datagram service. */
struct cmpair_end *cm_ask_datagram(struct cm_pair *pair, uint16_t port,
				   const char *data);
int cm_accept(struct cmpair_end *end, const char *data);
int cm_establish(struct cmpair_end *end);
void cm_release(struct cmpair_end *end);

/* Give side @i a queue pair, whose QPN the next end there has. */
void cm_queue(struct cm_pair *pair, int i);
/* Move it to RTS, for the end that was made last. */
void cm_queue_connect(struct cm_pair *pair, int i);

/* Take all events of @node and do what its manner is. */
void cm_events(struct cm_node *node);

/* Run @ms of virtual time, or until nothing is left to happen. */
void cm_run(struct cm_pair *pair, uint64_t ms);

/* The end that was made last; NULL: none. */
struct cmpair_end *cm_last(struct cm_node *node);

/* Connect the two; the ends are cm_last() of each. */
bool cm_connected(struct cm_pair *pair);

/*
 * Have side @i receive @mad from @src, on its UDP port @port, as a RoCE device
 * or a forger would send it.
 */
void cm_inject(struct cm_pair *pair, int i, const struct soft_addr *src,
	       uint16_t port, const struct soft_mad *mad);

/* A REQ as Linux would send it from @src to side 1. */
void cm_linux_req(struct cm_pair *pair, const struct soft_addr *src,
		  uint32_t comm_id, uint32_t qpn, struct soft_mad *ret,
		  uint8_t *data);

#endif
