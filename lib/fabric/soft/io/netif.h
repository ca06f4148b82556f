/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_IO_NETIF_H
#define PIER_FABRIC_SOFT_IO_NETIF_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/fabric.h"

/*
 * Network interfaces, as the soft device sees them.  Any thread.
 */
struct soft_netif {
	char name[IFNAMSIZ];
	unsigned int index;
	bool active;		/* up and running */
	unsigned int mtu;	/* bytes */
	uint64_t guid;
	char pci[16];
	uint32_t gid_count;	/* those that stay come first, then IPv6's */
				/* temporary ones, link-local ones last */
	struct pier_gid gids[32];
	uint8_t gid_prefix[32];
	uint32_t gid_passing;	/* bit a GID: temporary, or deprecated */
};

/*
 * Every interface that has an address, the default one first, the others by
 * their index.  The default is that of the default route, else lo.
 * The caller frees *ret.  Errors: -ENOMEM; those of a netlink socket.
 */
int pier__soft_netif_list(struct soft_netif **ret, size_t *ret_count);

/* The largest path MTU that packets on links of @mtu bytes leave space for. */
enum ibv_mtu pier__soft_netif_path_mtu(unsigned int mtu);

/*
 * A socket, non-blocking, that is readable when links or addresses change,
 * for the caller to close.  Errors: those of socket(2) and bind(2).
 */
int pier__soft_netif_watch(int *ret);

/* Empty the socket @fd.  Returns whether interface @index may have changed. */
bool pier__soft_netif_changed(int fd, unsigned int index);

#endif
