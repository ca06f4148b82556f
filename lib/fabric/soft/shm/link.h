/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_SHM_LINK_H
#define PIER_FABRIC_SOFT_SHM_LINK_H

#include <stdbool.h>
#include <sys/types.h>

#include "fabric/soft/rc/qp.h"
#include "fabric/soft/shm/direct.h"
#include "fabric/soft/shm/ring.h"

/*
 * A link: the rings between an endpoint and one of another process of this
 * host, or of this one, and the socket by which they found each other.  QPs
 * that are connected over it send by its io.
 *
 * Attaching.  The endpoint with the lower UDP port connects to the abstract
 * socket of the other's port.  Each sends a greeting, the one that connects
 * first, with the descriptor of its memory, and checks the other's.
 *
 * Using it.  Each end sends a hello for every QP in RTR that is connected to
 * the other's port.  Who receives one that is for a QP of its own sends by the
 * link from then on, and answers by a hello that is not answered.  Until then
 * packets go by UDP; none is lost in between, or repeated, that the protocol
 * does not repeat.
 */
enum soft_link_state {
	SOFT_LINK_GREETING,	/* the peer's greeting has not come */
	SOFT_LINK_UP,
	SOFT_LINK_BROKEN,	/* the peer wrote what is no record */
};

struct soft_link {
	struct soft_io io;		/* first; sends only */
	struct soft_ep *ep;		/* borrowed */
	enum soft_link_state state;
	bool active;			/* has connected, not accepted */
	bool ended;			/* the peer: no direct requests */
	uint16_t port;			/* of the peer; 0: not known yet */
	int sock, pidfd;		/* owned; pidfd: from up on */
	pid_t pid;			/* whose memory is read; 0: none */
	uint64_t probe;			/* that the peer tries to read */
	uint32_t rung;			/* peer's asleep that was rung for */
	bool unrung;			/* there are records since */
	struct soft_ring_out out;	/* out.own and in.peer are owned; */
					/* they are one to itself */
	struct soft_ring_in in;
	struct soft_grants *grants;	/* owned, as below; NULL: without */
	struct soft_imports *imports;
};

/* @port: of the peer, 0: its greeting has it.  Errors: -ENOMEM. */
int pier__soft_link_create(struct soft_ep *ep, int sock, uint16_t port,
			   struct soft_link **ret);

/*
 * Make its memory.  The caller closes *fd, which is for the peer.
 * Errors: those of pier__soft_region_create().
 */
int pier__soft_link_open(struct soft_link *link, int *fd);

/* No QP sends by it any more, unless the process ends or was forked. */
void pier__soft_link_destroy(struct soft_link *link);

/* The peer has @ring, which the link owns. */
void pier__soft_link_up(struct soft_link *link, const struct soft_ring *ring);

/* The peer is the endpoint itself, which reads the ring that it writes. */
void pier__soft_link_up_self(struct soft_link *link);

/*
 * What follows is done by the thread that drives the endpoint.
 *
 * Send a hello for @qp, which has the peer's port; if it is in RTR, or later.
 */
void pier__soft_link_greet(struct soft_link *link, struct soft_qp *qp);

/* A hello has come: @len bytes at @data, which are not checked. */
void pier__soft_link_hello(struct soft_link *link, const uint8_t *data,
			   uint32_t len);

/* Ring the peer's bell if it sleeps and was not rung. */
void pier__soft_link_ring(struct soft_link *link);

/* Has the peer's process ended, or closed its socket? */
bool pier__soft_link_has_ended(const struct soft_link *link);

/* Is @io that of a link? */
bool pier__soft_link_is(const struct soft_io *io);

#endif
