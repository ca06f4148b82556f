/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "core/sockaddr.h"
#include "fabric/fabric.h"

#define ADDRESSES_MAX 4	/* of a port, in a message */

int pier__ports_add(struct pier__ports *ports, const struct pier__port *port)
{
	struct pier__port *grown;

	grown = realloc(ports->port, (ports->count + 1) * sizeof(*grown));
	if (!grown)
		return pier__fail(-ENOMEM, "no memory for %zu ports",
				  ports->count + 1);
	ports->port = grown;
	grown[ports->count++] = *port;
	return 0;
}

void pier__ports_miss(struct pier__ports *ports,
		      const struct pier__fabric *kind, bool repairable,
		      const char *device, const char *reason)
{
	struct pier__absent *absent = &ports->absent[ports->absent_count];

	if (ports->absent_count < PIER__ABSENT_MAX) {
		snprintf(absent->device, sizeof(absent->device), "%s", device);
		snprintf(absent->reason, sizeof(absent->reason), "%s", reason);
		ports->absent_count++;
	}
	if (ports->missing && (ports->repairable || !repairable))
		return;
	ports->missing = kind;
	ports->repairable = repairable;
	snprintf(ports->reason, sizeof(ports->reason), "%s", reason);
}

static bool is_link_local(const struct pier_gid *gid)
{
	return gid->raw[0] == 0xfe && (gid->raw[1] & 0xc0) == 0x80;
}

/* Is it an address that a user may specify? */
static bool is_listed(const struct pier_gid *gid)
{
	return gid->type == PIER_GID_ROCE_V2 && !is_link_local(gid);
}

/* Does an address that may be chosen not expire? */
static bool has_lasting(const struct pier__port *port)
{
	for (uint32_t i = 0; i < port->gid_count; i++)
		if (is_listed(&port->gids[i]) && !(port->gid_passing >> i & 1))
			return true;
	return false;
}

const char *pier__port_gid_fault(const struct pier__port *port, uint32_t i)
{
	const struct pier_gid *gid = &port->gids[i];

	if (port->link_layer == IBV_LINK_LAYER_INFINIBAND)
		return NULL;
	if (gid->type != PIER_GID_ROCE_V2)
		return "it is of RoCE v1";
	if (is_link_local(gid))
		return "it is link-local";
	if (port->gid_passing >> i & 1 && has_lasting(port))
		return "it expires, and others do not";
	return NULL;
}

/* The addresses of @port, as "10.9.0.1, fd00:9::1", or what it has instead. */
static void list_addresses(const struct pier__port *port, char *ret,
			   size_t size)
{
	char text[PIER__ADDR_TEXT];
	union pier__sockaddr addr;
	size_t len = 0, count = 0;

	for (uint32_t i = 0; i < port->gid_count; i++) {
		if (!is_listed(&port->gids[i]))
			continue;
		if (count++ == ADDRESSES_MAX) {
			snprintf(ret + len, size - len, " and more");
			return;
		}
		pier__sockaddr_from_gid(port->gids[i].raw, &addr);
		len += (size_t)snprintf(ret + len, size - len, "%s%s",
					count > 1 ? ", " : "",
					pier__sockaddr_text(&addr.sa, text));
	}
	if (!count)
		snprintf(ret, size, "%s", port->link_layer ==
			 IBV_LINK_LAYER_INFINIBAND ? "those of IPoIB" :
			 "no IP address");
}

int pier__port_lacks(const struct pier__port *port,
		     const struct sockaddr *addr, const char *whose)
{
	char has[(ADDRESSES_MAX + 1) * PIER__ADDR_TEXT];
	char text[PIER__ADDR_TEXT];

	list_addresses(port, has, sizeof(has));
	return pier__fail(-EADDRNOTAVAIL, "%s: cannot listen on %s, %s%s: %s "
			  "port %u has %s; name no address to listen on all",
			  port->name, pier__sockaddr_text(addr, text),
			  whose ? "an address of " : "which it does not have",
			  whose ? whose : "", port->name, port->port, has);
}

/* Is it valid on other hosts? */
static bool is_global(const struct in6_addr *ip)
{
	if (IN6_IS_ADDR_V4MAPPED(ip))
		return ip->s6_addr[12] != 127;
	return !IN6_IS_ADDR_LINKLOCAL(ip) && !IN6_IS_ADDR_LOOPBACK(ip);
}

bool pier__port_like(const struct pier__port *port, const uint8_t gid[16],
		     uint8_t ret[16])
{
	struct in6_addr like, own;

	memcpy(&like, gid, sizeof(like));
	for (uint32_t i = 0; i < port->gid_count; i++) {
		memcpy(&own, port->gids[i].raw, sizeof(own));
		if (port->gids[i].type != PIER_GID_ROCE_V2 ||
		    !is_global(&own) || IN6_IS_ADDR_V4MAPPED(&own) !=
					IN6_IS_ADDR_V4MAPPED(&like))
			continue;
		memcpy(ret, &own, sizeof(own));
		return true;
	}
	return false;
}

size_t pier__cm_elsewhere(const struct pier__cm *cm, const uint8_t *data,
			  size_t len, const uint8_t gid[16],
			  uint8_t ret[PIER__CM_ELSEWHERE])
{
	if (!cm->elsewhere[0] || len < PIER__CM_ELSEWHERE_KEY ||
	    memcmp(data, cm->elsewhere, PIER__CM_ELSEWHERE_KEY))
		return 0;
	memcpy(ret, cm->elsewhere, PIER__CM_ELSEWHERE_HEAD);
	memcpy(ret + PIER__CM_ELSEWHERE_HEAD, gid, 16);
	return PIER__CM_ELSEWHERE;
}

void pier__port_update(struct pier__port *port, const struct pier__port *now)
{
	if (strcmp(port->netdev, now->netdev))
		memcpy(port->netdev, now->netdev, sizeof(port->netdev));
	port->active = now->active;
	port->lid = now->lid;
	port->grh = now->grh;
	__atomic_store_n(&port->mtu, now->mtu, __ATOMIC_RELAXED);
	port->gid_count = now->gid_count;
	memcpy(port->gids, now->gids, sizeof(port->gids));
	memcpy(port->gid_prefix, now->gid_prefix, sizeof(port->gid_prefix));
	port->gid_passing = now->gid_passing;
}

int pier__counteds_add(struct pier__counteds *list,
		       const struct pier__counted *row)
{
	struct pier__counted *grown;
	size_t n = list->count;

	/* The array is full at powers of two. */
	if (!(n & (n - 1))) {
		grown = realloc(list->row, (n ? 2 * n : 1) * sizeof(*grown));
		if (!grown)
			return pier__fail(-ENOMEM, "no memory for the "
					  "counters of %zu things", n + 1);
		list->row = grown;
	}
	list->row[list->count++] = *row;
	return 0;
}

void pier__counteds_free(struct pier__counteds *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		free(list->row[i].events);
	free(list->row);
}

void pier__counters_put(struct pier_counters *counters, const char *name,
			uint64_t value)
{
	const size_t max = sizeof(counters->counter) /
			   sizeof(counters->counter[0]);
	struct pier_counter *one;

	if (counters->count == max)
		return;
	one = &counters->counter[counters->count++];
	snprintf(one->name, sizeof(one->name), "%s", name);
	one->value = value;
}
