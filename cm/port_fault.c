/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>

#include "cm/conn_impl.h"

/* A failure's reason may be that our own port is not what it was. */

/* Of a path that never was one of the port's, nothing is said. */
static bool has_gid(const struct pier__port *port,
		    const struct pier_conn *conn)
{
	uint32_t index;

	return !conn->gid_bound ||
	       pier__gid_find(port, &conn->local_gid, &index);
}

int pier__conn_port_fault(const struct pier_conn *conn, char *ret, size_t size)
{
	char gid[INET6_ADDRSTRLEN];
	struct pier__port port;

	if (pier__dev_now(conn->queues->dev, &port) == -ENODEV) {
		snprintf(ret, size, "; %s is gone", port.name);
		return -ENODEV;
	}
	if (!has_gid(&port, conn)) {
		snprintf(ret, size, "; %s has lost the address %s", port.name,
			 pier__gid_text(conn->local_gid.raw, gid));
		return -EADDRNOTAVAIL;
	}
	if (!port.active) {
		snprintf(ret, size, "; %s port %u is down: bring %s up",
			 port.name, port.port,
			 port.netdev[0] ? port.netdev : "its link");
		return -ENETDOWN;
	}
	if (conn->path_mtu > 128u << port.mtu) {
		snprintf(ret, size, "; the path MTU is %u, and %s has come "
			 "down to %u", conn->path_mtu, port.name,
			 128u << port.mtu);
		return -EMSGSIZE;
	}
	ret[0] = '\0';
	return 0;
}
