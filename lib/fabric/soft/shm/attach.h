/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_SHM_ATTACH_H
#define PIER_FABRIC_SOFT_SHM_ATTACH_H

#include <stdint.h>

#include "fabric/soft/shm/link.h"

/*
 * How endpoints of a host find each other: abstract sockets, which network
 * namespaces have as they have UDP ports.  No call blocks.  Greetings are not
 * for the wire: both ends are programs of this host.
 */
#define SOFT_ATTACH_VERSION 6

struct soft_greeting {
	char magic[8];			/* "pier shm" */
	uint32_t version;		/* of all of this, rings included */
	uint32_t size;			/* of struct soft_ring */
	uint16_t from, to;		/* UDP ports */
	uint32_t zero;
	uint64_t probe_at, probe;	/* pull.h */
};

/*
 * Open the socket of UDP port @port, to accept on; connect to it.  Return a
 * descriptor, which the caller closes.
 * Errors: -ECONNREFUSED, no such endpoint, or without this; -EADDRINUSE;
 * those of socket(2).
 */
int pier__soft_attach_listen(uint16_t port);
int pier__soft_attach_connect(uint16_t port);

/* A socket that receives what it sends.  Errors: those of socket(2). */
int pier__soft_attach_self(void);

/*
 * Open the pidfd of the process at the other end of @sock.
 * Errors: -EACCES, it belongs to another user; those of pidfd_open(2).
 */
int pier__soft_attach_pidfd(int sock);

/*
 * Send @greeting, whose ports and probe are set, with @fd.
 * Errors: of sendmsg(2).
 */
int pier__soft_attach_greet(int sock, struct soft_greeting greeting, int fd);

/*
 * Receive a greeting for the UDP port greeting->to, from greeting->from unless
 * that is 0, into @greeting, and map its memory.
 * Errors: -EAGAIN, it has not come; -EPROTO, it is none, or its memory is not
 * as it has to be; -EPROTONOSUPPORT, another version; those of recvmsg(2).
 */
int pier__soft_attach_receive(int sock, struct soft_greeting *greeting,
			      const struct soft_ring **ret);

#endif
