/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "cm/rdmacm/rdmacm.h"
#include "core/fail.h"

/*
 * The addresses of an attempt to connect: which can be reached from the device,
 * and which of the device's own it begins at.
 */

static bool is_link_local(const union pier__sockaddr *addr)
{
	return addr->sa.sa_family == AF_INET6 &&
	       IN6_IS_ADDR_LINKLOCAL(&addr->in6.sin6_addr);
}

bool pier__is_reachable(const struct pier__port *port,
			const union pier__sockaddr *addr)
{
	const uint32_t most = sizeof(port->gids) / sizeof(port->gids[0]);
	union pier__sockaddr own;

	if (port->link_layer == IBV_LINK_LAYER_INFINIBAND ||
	    port->gid_count == most)	/* the list may be incomplete */
		return true;
	for (uint32_t i = 0; i < port->gid_count; i++) {
		pier__sockaddr_from_gid(port->gids[i].raw, &own);
		if (port->gids[i].type == PIER_GID_ROCE_V2 &&
		    own.sa.sa_family == addr->sa.sa_family)
			return true;
	}
	return false;
}

/* Replace the address in @addr, not its port. */
static void put_address(union pier__sockaddr *addr,
			const union pier__sockaddr *from)
{
	if (addr->sa.sa_family == AF_INET6)
		addr->in6.sin6_addr = from->in6.sin6_addr;
	else
		addr->in.sin_addr = from->in.sin_addr;
}

bool pier__set_own_address(const struct pier_conn *conn,
			   union pier__sockaddr *addr)
{
	const struct pier__attempt *attempt = conn->cm->attempt;
	union pier__sockaddr own, home = { 0 };
	struct pier__port port;

	if (!pier__sockaddr_is_loopback(&addr->sa))
		return false;
	if (attempt->has_source)
		home = attempt->source;
	pier__dev_port(conn->queues->dev, &port);
	for (uint32_t i = 0; i < port.gid_count; i++) {
		pier__sockaddr_from_gid(port.gids[i].raw, &own);
		if (port.gids[i].type != PIER_GID_ROCE_V2 ||
		    own.sa.sa_family != addr->sa.sa_family)
			continue;
		if (pier__sockaddr_is_loopback(&own.sa))
			return false;	/* the loopback device's */
		if (!home.sa.sa_family && !is_link_local(&own))
			home = own;
	}
	if (home.sa.sa_family != addr->sa.sa_family)
		return false;
	put_address(addr, &home);
	return true;
}

int pier__check_peer(const union pier__sockaddr *src,
		     const union pier__sockaddr *dst)
{
	char text[INET6_ADDRSTRLEN];
	struct in6_addr ip;

	pier__sockaddr_to_gid(&dst->sa, ip.s6_addr);
	if (!pier__sockaddr_is_host(&ip))
		return pier__fail(-EINVAL, "%s is no address of a host",
				  pier__gid_text(ip.s6_addr, text));
	if (src && src->sa.sa_family != dst->sa.sa_family)
		return pier__fail(-EHOSTUNREACH, "the source address is of "
				  "another family");
	return 0;
}

int pier__check_family(const struct pier_conn *conn,
		       const union pier__sockaddr *dst)
{
	struct pier_dev *dev = conn->queues->dev;
	struct pier__port port;

	pier__dev_port(dev, &port);
	if (pier__is_reachable(&port, dst) ||
	    (!pier__dev_now(dev, &port) && pier__is_reachable(&port, dst)))
		return 0;
	return pier__fail(-EHOSTUNREACH, "%s has no %s address", port.name,
			  dst->sa.sa_family == AF_INET ? "IPv4" : "IPv6");
}

void pier__set_scope(const struct pier_conn *conn, union pier__sockaddr *addr)
{
	if (is_link_local(addr) && !addr->in6.sin6_scope_id)
		addr->in6.sin6_scope_id = if_nametoindex(
			conn->queues->dev->info.port.netdev);
}

/* May @gid be an address of @port?  A full list may be incomplete. */
static bool is_own(const struct pier__port *port, const uint8_t gid[16])
{
	const uint32_t most = sizeof(port->gids) / sizeof(port->gids[0]);

	for (uint32_t i = 0; i < port->gid_count; i++)
		if (!memcmp(port->gids[i].raw, gid, 16))
			return true;
	return port->gid_count == most;
}

static int check_source(const struct pier_conn *conn,
			const union pier__sockaddr *addr)
{
	struct pier_dev *dev = conn->queues->dev;
	char own[INET6_ADDRSTRLEN] = "none", asked[INET6_ADDRSTRLEN];
	struct pier__port port;
	uint8_t gid[16];

	pier__sockaddr_to_gid(&addr->sa, gid);
	pier__dev_port(dev, &port);
	if (port.link_layer == IBV_LINK_LAYER_INFINIBAND ||
	    pier__sockaddr_is_any(&addr->sa) || is_own(&port, gid) ||
	    (!pier__dev_now(dev, &port) && is_own(&port, gid)))
		return 0;
	if (port.gid_count)
		pier__gid_text(port.gids[0].raw, own);
	return pier__fail(-EADDRNOTAVAIL, "connect from \"%s\": it is "
			  "not an address of %s, whose first is %s",
			  pier__gid_text(gid, asked), port.name, own);
}

int pier__set_source(struct pier_conn *conn, const char *text)
{
	struct pier__attempt *attempt = conn->cm->attempt;
	int index = conn->queues->cfg->gid_index;
	struct pier__gid_offer gid;
	struct pier__port port;
	int err;

	if (text && text[0]) {
		attempt->has_source = true;
		err = pier__own_parse(text, 0, &attempt->source);
		return err ? err : check_source(conn, &attempt->source);
	}
	if (index == PIER__GID_ANY)
		return 0;
	pier__dev_port(conn->queues->dev, &port);
	err = pier__gid_at(&port, index, &gid);
	if (err < 0)
		return err;
	pier__sockaddr_from_gid(gid.raw, &attempt->source);
	attempt->has_source = true;
	return 0;
}
