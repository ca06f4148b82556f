/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "core/sockaddr.h"

static const uint8_t v4_prefix[12] = { [10] = 0xff, [11] = 0xff };

void pier__sockaddr_from_gid(const uint8_t raw[16], union pier__sockaddr *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (memcmp(raw, v4_prefix, sizeof(v4_prefix))) {
		ret->in6.sin6_family = AF_INET6;
		memcpy(&ret->in6.sin6_addr, raw, 16);
	} else {
		ret->in.sin_family = AF_INET;
		memcpy(&ret->in.sin_addr, raw + 12, 4);
	}
}

void pier__sockaddr_to_gid(const struct sockaddr *addr, uint8_t ret[16])
{
	const union pier__sockaddr *a = (const void *)addr;

	if (addr->sa_family == AF_INET6) {
		memcpy(ret, &a->in6.sin6_addr, 16);
		return;
	}
	memcpy(ret, v4_prefix, sizeof(v4_prefix));
	memcpy(ret + 12, &a->in.sin_addr, 4);
}

void pier__sockaddr_set_port(union pier__sockaddr *addr, uint16_t port)
{
	if (addr->sa.sa_family == AF_INET6)
		addr->in6.sin6_port = htons(port);
	else
		addr->in.sin_port = htons(port);
}

const char *pier__sockaddr_text(const struct sockaddr *addr, char *ret)
{
	const union pier__sockaddr *a = (const void *)addr;
	char text[INET6_ADDRSTRLEN], scope[IF_NAMESIZE + 1] = "";
	uint16_t port;

	ret[0] = '\0';
	if (addr->sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &a->in6.sin6_addr, text, sizeof(text));
		port = ntohs(a->in6.sin6_port);
		if (a->in6.sin6_scope_id &&
		    if_indextoname(a->in6.sin6_scope_id, scope + 1))
			scope[0] = '%';
	} else if (addr->sa_family == AF_INET) {
		inet_ntop(AF_INET, &a->in.sin_addr, text, sizeof(text));
		port = ntohs(a->in.sin_port);
	} else {
		return ret;
	}
	if (port)
		snprintf(ret, PIER__ADDR_TEXT, "%s%s port %u", text, scope,
			 port);
	else
		snprintf(ret, PIER__ADDR_TEXT, "%s%s", text, scope);
	return ret;
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

bool pier__sockaddr_is_any(const struct sockaddr *addr)
{
	const union pier__sockaddr *a = (const void *)addr;

	switch (addr->sa_family) {
	case AF_INET:
		return a->in.sin_addr.s_addr == htonl(INADDR_ANY);
	case AF_INET6:
		return IN6_IS_ADDR_UNSPECIFIED(&a->in6.sin6_addr);
	default:
		return false;
	}
}

bool pier__sockaddr_is_loopback(const struct sockaddr *addr)
{
	const union pier__sockaddr *a = (const void *)addr;

	switch (addr->sa_family) {
	case AF_INET:
		return ntohl(a->in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	case AF_INET6:
		return IN6_IS_ADDR_LOOPBACK(&a->in6.sin6_addr);
	default:
		return false;
	}
}

bool pier__sockaddr_gid_is_loopback(const uint8_t raw[16])
{
	union pier__sockaddr addr;

	pier__sockaddr_from_gid(raw, &addr);
	return pier__sockaddr_is_loopback(&addr.sa);
}

bool pier__sockaddr_is_host(const struct in6_addr *ip)
{
	static const uint8_t any[4];

	if (IN6_IS_ADDR_V4MAPPED(ip))
		return ip->s6_addr[12] < 224 &&
		       memcmp(&ip->s6_addr[12], any, sizeof(any));
	return !IN6_IS_ADDR_UNSPECIFIED(ip) && !IN6_IS_ADDR_MULTICAST(ip);
}

bool pier__sockaddr_is_group(const struct in6_addr *ip)
{
	if (IN6_IS_ADDR_V4MAPPED(ip))
		return ip->s6_addr[12] >> 4 == 14;
	return IN6_IS_ADDR_MULTICAST(ip);
}
