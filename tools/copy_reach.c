/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "copy.h"

/*
 * Where a server that ssh has started is reached: the host may have a name that
 * only ssh's configuration knows.
 */

/* The address to which the ssh client has connected; false: there is none. */
static int ssh_address(struct in6_addr *ret)
{
	const char *words = getenv("SSH_CONNECTION");
	char text[64], mapped[80];

	if (!words || sscanf(words, "%*s %*s %63s", text) != 1)
		return 0;
	text[strcspn(text, "%")] = '\0';	/* the interface */
	snprintf(mapped, sizeof(mapped), "::ffff:%s", text);
	return inet_pton(AF_INET6, text, ret) == 1 ||
	       inet_pton(AF_INET6, mapped, ret) == 1;
}

static int is_loopback(const struct in6_addr *addr)
{
	return IN6_IS_ADDR_LOOPBACK(addr) ||
	       (IN6_IS_ADDR_V4MAPPED(addr) && addr->s6_addr[12] == 127);
}

static int has(const struct pier_devinfo *info, const struct in6_addr *addr)
{
	struct pier_gid gid;

	for (size_t i = 0; !pier_devinfo_gid(info, i, &gid); i++)
		if (!memcmp(gid.raw, addr, sizeof(gid.raw)))
			return 1;
	return 0;
}

/* The first address of the device that leads to it from other links, too. */
static int first_address(const struct pier_devinfo *info, struct in6_addr *ret)
{
	struct pier_gid gid;

	for (size_t i = 0; !pier_devinfo_gid(info, i, &gid); i++) {
		memcpy(ret, gid.raw, sizeof(*ret));
		if (!IN6_IS_ADDR_LINKLOCAL(ret) && !is_loopback(ret))
			return 1;
	}
	return 0;
}

/* By loopback, both are on one host and have the same default device. */
void copy_reach_device(struct copy_tool *t)
{
	const char *chosen = getenv("PIER_DEVICE");
	const struct pier_devinfo *info;
	struct pier_devlist *list;
	struct in6_addr addr;

	if (t->device || (chosen && *chosen) || !ssh_address(&addr) ||
	    is_loopback(&addr) || pier_devlist_create(&list))
		return;
	for (size_t i = 0; !t->device && (info = pier_devlist_get(list, i));
	     i++) {
		if (!has(info, &addr) || !pier_devinfo_active(info) ||
		    pier_devinfo_has(info, PIER_FEATURE_COMCH))
			continue;
		snprintf(t->reached, sizeof(t->reached), "%s:%u",
			 pier_devinfo_name(info), pier_devinfo_port(info));
		t->device = t->reached;
	}
	pier_devlist_destroy(list);
}

int copy_reach_address(const struct pier_devinfo *info, char *ret, size_t size)
{
	struct in6_addr addr;

	if (!ssh_address(&addr) ||
	    (!is_loopback(&addr) && !has(info, &addr) &&
	     !first_address(info, &addr)))
		return 0;
	if (IN6_IS_ADDR_V4MAPPED(&addr))
		inet_ntop(AF_INET, &addr.s6_addr[12], ret, (socklen_t)size);
	else
		inet_ntop(AF_INET6, &addr, ret, (socklen_t)size);
	return 1;
}
