/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_STAR_H
#define PIER_T_LIB_STAR_H

#include "fabric/soft/rc/qp.h"
#include "t/lib/cubic.h"
#include "t/lib/softpair.h"
#include "t/lib/vlink.h"

/*
 * Hosts around a switch, in virtual time: many clients, and one server, each an
 * endpoint with a link there and one back.  Each client has one connection to
 * the server, on which it writes or reads all the time, or the server reads
 * from it.  A failed call ends the program.
 */
#define STAR_MEM (256u << 10)

struct star_opts {
	int clients;
	struct vlink_opts up;		/* of each client, both ways */
	struct vlink_opts server;	/* from the switch to it; its queue */
					/* is that of the way back, too, */
					/* unless the server reads */
	double spread;			/* clients are up to this share */
					/* further away */
	uint64_t far;			/* ns more of the last one's line */
	int behind;			/* so many are at a second switch */
	struct vlink_opts trunk;	/* from there; back, its latency */
	enum ibv_wr_opcode opcode;	/* IBV_WR_RDMA_WRITE or READ */
	bool pull;			/* the server's requests, not theirs */
	uint32_t len;			/* of a request; 0: STAR_MEM */
	int depth;			/* requests at a time; 0: 4 */
	bool tcp;			/* a stream of TCP to the server, too */
	struct softpair_opts pair;	/* of the connections; mtu 0: 4096 */
};

struct star_host {
	struct soft_io *io;
	struct soft_mr_table *keys;
	struct soft_ep *ep;
	struct soft_cq *cq;
	struct soft_mr mr;
	struct vlink *up, *down;
};

struct star_client {
	struct star_host host;
	struct star *star;
	struct soft_qp *qp, *peer;	/* the latter is the server's */
	struct soft_qp *requester;	/* one of them */
	int posted;
	uint64_t done;			/* requests */
	uint64_t first_done_at;		/* ns; 0: none yet */
	bool failed;
};

struct star {
	struct vnet net;
	struct star_opts opts;
	struct star_host server;
	struct vlink *trunk;		/* NULL: none is behind it */
	struct star_client *client;	/* opts.clients of them */
	struct cubic *tcp;		/* NULL: none */
	uint8_t *mem;			/* of all hosts */
	uint64_t started;		/* ns */
	bool begun;			/* the server's program has */
};

struct star *star_open(const struct star_opts *opts, uint64_t seed);
void star_close(struct star *star);

/* Go on for @ns. */
void star_run(struct star *star, uint64_t ns);

/* What of client @i's requests is acknowledged, bytes. */
uint64_t star_bytes(const struct star *star, int i);

#endif
