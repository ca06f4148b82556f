/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_IO_FDEV_H
#define PIER_FABRIC_SOFT_IO_FDEV_H

#include <pthread.h>
#include <stdbool.h>

#include "fabric/fabric.h"
#include "fabric/soft/rc/mr.h"
#include "fabric/soft/wire/packet.h"

/* An opened soft device. */
struct soft_fdev {
	struct pier__fdev fdev;		/* first */
	unsigned int ifindex;
	struct soft_mr_table *keys;	/* owned */
	pthread_mutex_t lock;		/* fdev.port and what follows */
	struct pier__port reported;	/* as known from events */
	bool changed;			/* the port may differ from it */
};

/* Does PIER_SHM have processes of this host map memory?  As the fabric's. */
bool pier__soft_fdev_maps(const struct pier__fdev *fdev);

/* The GID of @port of the index @index; NULL: no address has it. */
const struct pier_gid *pier__soft_port_gid(const struct pier__port *port,
					   uint32_t index);

/* The indices of all GIDs of @port are below. */
uint32_t pier__soft_port_gid_end(const struct pier__port *port);

/*
 * While a device of the interface @ifindex is open, each of its GIDs has the
 * index that it had first in this process, in lists as well.  A new GID gets
 * the lowest that is free.  The first to hold it gives those of @port.  Errors:
 * -ENOMEM.
 *
 * Any thread, between lock and unlock, which is also when the kernel is asked
 * for @port: what was asked earlier is not numbered later.
 */
void pier__soft_gids_lock(void);
void pier__soft_gids_unlock(void);
int pier__soft_gids_hold(unsigned int ifindex, const struct pier__port *port);
void pier__soft_gids_release(unsigned int ifindex);
void pier__soft_gids_number(unsigned int ifindex, struct pier__port *port);

/*
 * The address of GID @index of @fdev, which it has until it is removed, as on a
 * device of the kernel.  Errors: -EINVAL, there is none.
 */
int pier__soft_gid(struct pier__fdev *fdev, unsigned int index,
		   struct soft_addr *ret);

/* Is the first address of @fdev a loopback one? */
bool pier__soft_is_loopback(struct pier__fdev *fdev);

/* The index of the GID @ip of @fdev; negative: it has none such. */
int pier__soft_gid_index(struct pier__fdev *fdev, const struct in6_addr *ip);

/* That of its first one of the family of @ip; negative: it has none. */
int pier__soft_gid_index_like(struct pier__fdev *fdev,
			      const struct in6_addr *ip);

/*
 * An address of @fdev of the family of @ip, not of a link, nor a loopback one.
 * Returns false: it has none.
 */
bool pier__soft_address_like(struct pier__fdev *fdev, const struct in6_addr *ip,
			     struct in6_addr *ret);

/*
 * The source address for packets to @dst, one of @fdev's; *src unless that is
 * unspecified.  Errors: -EADDRNOTAVAIL, not an address of the device; -EINVAL,
 * none that can be; -EHOSTUNREACH; those of socket(2).
 */
int pier__soft_route(struct pier__fdev *fdev, const struct in6_addr *src,
		     const struct in6_addr *dst, struct in6_addr *ret);

/*
 * Open a socket from @src to find out whether UDP port @dst has a socket.  The
 * caller closes it.  Errors: those of socket(2), bind(2), connect(2).
 */
int pier__soft_port_probe_open(unsigned int ifindex, const struct in6_addr *src,
			       const struct soft_addr *dst);

/*
 * Send an empty datagram.  Returns whether an ICMP message has reported that
 * the port has no socket.  Over loopback it comes at once.
 */
bool pier__soft_port_probe(int fd);

#endif
