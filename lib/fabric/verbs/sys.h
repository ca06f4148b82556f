/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_VERBS_SYS_H
#define PIER_FABRIC_VERBS_SYS_H

#include <stddef.h>
#include <stdint.h>

#include "fabric/pci.h"

/*
 * What sysfs and the network interfaces have about an RDMA device. @root is
 * put before every path: "" but in tests.  Texts are "" if unknown.
 */

/* The network interface of @port of @device. */
void pier__sys_netdev(const char *root, const char *device, uint32_t port,
		      char *ret, size_t size);

/*
 * Its PCI address; that of @netdev, which may be made up, if it has none of
 * its own, as rxe and siw; else one derived from its name.
 */
void pier__sys_pci(const char *root, const char *device, const char *netdev,
		   char ret[PIER__PCI_SIZE]);

/*
 * Append what the kernel and the driver count of @port, by name within each of
 * their directories; other than numbers are omitted.
 */
struct pier_counters;
void pier__sys_counters(const char *root, const char *device, uint32_t port,
			struct pier_counters *ret);

/*
 * The bits of the subnet of the address @gid, IPv4 as ::ffff:a.b.c.d counted
 * from 0 to 32; 0: no interface has it.
 */
struct ifaddrs;
uint8_t pier__sys_prefix(const struct ifaddrs *addrs, const uint8_t gid[16]);

#endif
