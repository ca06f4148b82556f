/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "doctor.h"

socklen_t doctor_addr_len(const union doctor_addr *addr)
{
	return addr->sa.sa_family == AF_INET ? sizeof(addr->in) :
					       sizeof(addr->in6);
}

const char *doctor_addr_text(const union doctor_addr *addr,
			     char ret[DOCTOR_ADDR_TEXT])
{
	char name[IF_NAMESIZE];
	size_t len;

	if (addr->sa.sa_family == AF_INET)
		return inet_ntop(AF_INET, &addr->in.sin_addr, ret,
				 DOCTOR_ADDR_TEXT);
	inet_ntop(AF_INET6, &addr->in6.sin6_addr, ret, DOCTOR_ADDR_TEXT);
	len = strlen(ret);
	if (addr->in6.sin6_scope_id &&
	    if_indextoname(addr->in6.sin6_scope_id, name))
		snprintf(ret + len, DOCTOR_ADDR_TEXT - len, "%%%s", name);
	return ret;
}

void doctor_addr_set_port(union doctor_addr *addr, uint16_t port)
{
	if (addr->sa.sa_family == AF_INET)
		addr->in.sin_port = htons(port);
	else
		addr->in6.sin6_port = htons(port);
}

bool doctor_addr_lacks_netdev(const union doctor_addr *addr)
{
	return addr->sa.sa_family == AF_INET6 && !addr->in6.sin6_scope_id &&
	       IN6_IS_ADDR_LINKLOCAL(&addr->in6.sin6_addr);
}

const char *doctor_addr_fault(const union doctor_addr *addr)
{
	bool four = addr->sa.sa_family == AF_INET;
	uint32_t ip = four ? ntohl(addr->in.sin_addr.s_addr) : 0;

	if (doctor_addr_lacks_netdev(addr))
		return "is link-local, and has no interface";
	if (four ? !ip : IN6_IS_ADDR_UNSPECIFIED(&addr->in6.sin6_addr))
		return "is no address of a host";
	if (four ? IN_MULTICAST(ip) :
		   IN6_IS_ADDR_MULTICAST(&addr->in6.sin6_addr))
		return "is a multicast address";
	return four && ip == INADDR_BROADCAST ? "is a broadcast address" :
						NULL;
}

void doctor_addr_unmap(union doctor_addr *addr)
{
	struct sockaddr_in in = { .sin_family = AF_INET };

	if (addr->sa.sa_family != AF_INET6 ||
	    !IN6_IS_ADDR_V4MAPPED(&addr->in6.sin6_addr))
		return;
	memcpy(&in.sin_addr, addr->in6.sin6_addr.s6_addr + 12, 4);
	in.sin_port = addr->in6.sin6_port;
	addr->in = in;
}

static void from_gid(const struct pier_gid *gid, union doctor_addr *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->in6.sin6_family = AF_INET6;
	memcpy(&ret->in6.sin6_addr, gid->raw, 16);
	doctor_addr_unmap(ret);
}

bool doctor_addr_named(const struct doctor *d, union doctor_addr *ret)
{
	struct pier_gid gid;

	for (size_t i = 0; !pier_devinfo_gid(d->info, i, &gid); i++) {
		if ((int)gid.index != d->args.gid_index)
			continue;
		from_gid(&gid, ret);
		return true;
	}
	return false;
}

bool doctor_own_addr(const struct pier_devinfo *info, union doctor_addr *ret)
{
	struct pier_gid gid;

	if (!info || pier_devinfo_link(info) != PIER_LINK_ETHERNET)
		return false;
	for (size_t i = 0; !pier_devinfo_gid(info, i, &gid); i++) {
		if (pier_devinfo_can_gid(info, i))
			continue;
		from_gid(&gid, ret);
		return true;
	}
	return false;
}
