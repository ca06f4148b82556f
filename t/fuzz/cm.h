/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_FUZZ_CM_H
#define PIER_T_FUZZ_CM_H

#include "fabric/soft/cm/cm_conn.h"
#include "t/fuzz/fuzz.h"

/*
 * Connection management of one soft endpoint in virtual time, with a program
 * above it that listens and connects, and the input as its peers.
 */
#define NET_ENDS 48		/* connections that the program has at most */
#define NET_LISTENERS 2
#define NET_SERVICE 7471	/* the first listener's port */
#define NET_PORT 5000		/* the endpoint's */
#define NET_PEER_PORT 6000

enum net_step {
	NET_FREE,		/* the place is */
	NET_RESOLVED,
	NET_ASKED,
	NET_ANSWERED,		/* RESPONSE was reported */
	NET_REQUESTED,
	NET_ACCEPTED,
	NET_UP,
	NET_OVER,
};

/* One end, as the program sees it; and what a peer has received of it. */
struct net_end {
	struct pier__cm_id *id;	/* NULL: released, or free */
	enum net_step step;
	bool passive, resolved;
	uint32_t qpn;
	uint32_t local_id, remote_id;
	uint64_t guid, tid;
};

struct net {
	struct soft_io io;	/* first */
	struct soft_cm_host host;
	uint64_t now;
	uint32_t budget;	/* packets that can be sent until more is */
	uint32_t sent;		/* since the last step began */
	struct soft_addr here, peer, other;
	bool no_gid, roce_port_taken;
	int roce_port_users;
	struct soft_mr_table *keys;
	struct soft_ep *ep;
	struct soft_cq *cq;
	struct soft_srq *srq;
	struct soft_qp *qp;	/* moved as every connection does */
	struct soft_cm *cm;
	struct soft_cm_listener listener[NET_LISTENERS];
	bool listening[NET_LISTENERS];
	struct net_end end[NET_ENDS];
	uint32_t ends;		/* ever */
};

/* Made by the first byte of @in. */
void net_open(struct net *net, struct fuzz_in *in);

/* The program lets go of all, and time goes on: then nothing is left. */
void net_close(struct net *net);

/* The endpoint receives for QP 1. */
void net_receive(struct net *net, const struct soft_hdr *hdr,
		 const struct soft_rx *rx, const uint8_t *data, size_t len);

/* What the program does; each checks that it may, or expects an error. */
void net_listen(struct net *net, unsigned int i, bool on);
void net_connect(struct net *net, size_t len);
void net_accept(struct net *net, struct net_end *end, size_t len);
void net_reject(struct net_end *end, size_t len);
void net_establish(struct net *net, struct net_end *end);
void net_disconnect(struct net_end *end);
void net_release(struct net_end *end);
/* Take at most @max events. */
void net_events(struct net *net, int max);

/* Let @ns go by. */
void net_wait(struct net *net, uint64_t ns);

/* What holds at any time. */
void net_check(struct net *net);

#endif
