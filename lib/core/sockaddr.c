/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "core/sockaddr.h"

static const struct sockaddr_in *v4(const struct sockaddr *addr)
{
	return (const void *)addr;
}

static const struct sockaddr_in6 *v6(const struct sockaddr *addr)
{
	return (const void *)addr;
}

static void text_v6(const struct sockaddr_in6 *addr, char *ret, size_t size)
{
	char ip[INET6_ADDRSTRLEN], scope[IF_NAMESIZE + 1] = "";

	inet_ntop(AF_INET6, &addr->sin6_addr, ip, sizeof(ip));
	if (addr->sin6_scope_id) {
		scope[0] = '%';
		if (!if_indextoname(addr->sin6_scope_id, scope + 1))
			snprintf(scope, sizeof(scope), "%%%u",
				 addr->sin6_scope_id);
	}
	snprintf(ret, size, "[%s%s]:%u", ip, scope, ntohs(addr->sin6_port));
}

void pier__sockaddr_text(const struct sockaddr *addr, char *ret, size_t size)
{
	char ip[INET_ADDRSTRLEN];

	switch (addr->sa_family) {
	case AF_INET:
		inet_ntop(AF_INET, &v4(addr)->sin_addr, ip, sizeof(ip));
		snprintf(ret, size, "%s:%u", ip, ntohs(v4(addr)->sin_port));
		return;
	case AF_INET6:
		text_v6(v6(addr), ret, size);
		return;
	default:
		snprintf(ret, size, "address family %u", addr->sa_family);
		return;
	}
}

socklen_t pier__sockaddr_len(const struct sockaddr *addr)
{
	switch (addr->sa_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	default:
		return 0;
	}
}

uint16_t pier__sockaddr_port(const struct sockaddr *addr)
{
	switch (addr->sa_family) {
	case AF_INET:
		return ntohs(v4(addr)->sin_port);
	case AF_INET6:
		return ntohs(v6(addr)->sin6_port);
	default:
		return 0;
	}
}

bool pier__sockaddr_is_any(const struct sockaddr *addr)
{
	switch (addr->sa_family) {
	case AF_INET:
		return v4(addr)->sin_addr.s_addr == htonl(INADDR_ANY);
	case AF_INET6:
		return IN6_IS_ADDR_UNSPECIFIED(&v6(addr)->sin6_addr);
	default:
		return false;
	}
}

void pier__sockaddr_gid(const struct sockaddr *addr, uint8_t ret[16])
{
	memset(ret, 0, 16);
	switch (addr->sa_family) {
	case AF_INET:
		memset(ret + 10, 0xff, 2);
		memcpy(ret + 12, &v4(addr)->sin_addr, 4);
		return;
	case AF_INET6:
		memcpy(ret, &v6(addr)->sin6_addr, 16);
		return;
	}
}
