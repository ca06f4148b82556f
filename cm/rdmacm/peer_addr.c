/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "cm/rdmacm/peer_addr.h"
#include "core/fail.h"

/* IPv6, perhaps followed by "%eth0".  Returns whether it is one. */
static bool read_v6(const char *text, union pier__sockaddr *ret)
{
	char buf[INET6_ADDRSTRLEN];
	size_t len = strcspn(text, "%");
	uint8_t raw[16];

	if (len >= sizeof(buf))
		return false;
	memcpy(buf, text, len);
	buf[len] = '\0';
	if (inet_pton(AF_INET6, buf, raw) != 1)
		return false;
	pier__sockaddr_from_gid(raw, ret);
	if (!text[len])
		return true;
	if (ret->sa.sa_family != AF_INET6)
		return false;
	ret->in6.sin6_scope_id = if_nametoindex(text + len + 1);
	return ret->in6.sin6_scope_id != 0;
}

static bool read_numeric(const char *text, union pier__sockaddr *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (inet_pton(AF_INET, text, &ret->in.sin_addr) == 1) {
		ret->in.sin_family = AF_INET;
		return true;
	}
	return read_v6(text, ret);
}

/* Letters, digits, '-', '_' and dots, as DNS and /etc/hosts have them. */
static bool is_name(const char *text)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_.";

	return text[0] && text[0] != '-' && text[0] != '.' &&
	       !text[strspn(text, allowed)];
}

static int read_port(const char *text, const char *digits, uint32_t *ret)
{
	char *end;
	unsigned long port = strtoul(digits, &end, 10);

	if (digits[0] < '0' || digits[0] > '9' || *end || port < 1 ||
	    port > UINT16_MAX)
		return pier__fail(-EINVAL, "\"%s\": a port is 1 to 65535",
				  text);
	*ret = (uint32_t)port;
	return 0;
}

/* Cut ":PORT" and brackets off; @host holds PIER__HOST_MAX bytes. */
static int split(const char *text, char *host, uint32_t *port)
{
	const char *colon = strrchr(text, ':');
	size_t len = strlen(text);

	if (text[0] == '[') {
		const char *end = strchr(text, ']');

		if (!end || (end[1] && end[1] != ':'))
			return pier__fail(-EINVAL, "\"%s\": [IPV6] or "
					  "[IPV6]:PORT", text);
		colon = end[1] ? end + 1 : NULL;
		len = (size_t)(end - ++text);
	} else if (colon && strchr(text, ':') == colon) {
		len = (size_t)(colon - text);
	} else {
		colon = NULL;	/* a bare IPv6 address has several */
	}
	if (!len || len >= PIER__HOST_MAX)
		return pier__fail(-EINVAL, "\"%s\": a name has 1 to %d "
				  "characters", text, PIER__HOST_MAX - 1);
	memcpy(host, text, len);
	host[len] = '\0';
	return colon ? read_port(text, colon + 1, port) : 0;
}

/* Is the numeric @peer of @type? */
static int check_type(const char *text, enum pier_addr_type type,
		      const struct pier__peer *peer)
{
	bool v6 = peer->addr.sa.sa_family == AF_INET6;

	if (type == PIER_ADDR_IPV4 && (v6 || strchr(peer->name, ':')))
		return pier__fail(-EINVAL, "\"%s\" is an IPv6 address, but the "
				  "address type is IPv4", text);
	if (type == PIER_ADDR_IPV6 && !v6)
		return pier__fail(-EINVAL, "\"%s\" is an IPv4 address, but the "
				  "address type is IPv6", text);
	if (type == PIER_ADDR_GID && !strchr(peer->name, ':'))
		return pier__fail(-EINVAL, "\"%s\" is not a GID, such as "
				  "fd00::1 or ::ffff:10.9.0.1", text);
	return 0;
}

int pier__peer_parse(const char *text, enum pier_addr_type type, uint32_t port,
		     struct pier__peer *ret)
{
	struct pier__peer peer = { 0 };
	int err;

	if (!text || !text[0])
		return pier__fail(-EINVAL, "connect: no peer is given");
	if ((unsigned int)type > PIER_ADDR_GID)
		return pier__fail(-EINVAL, "connect: address type %u: 0 to %d",
				  type, PIER_ADDR_GID);
	err = split(text, peer.name, &port);
	if (err)
		return err;
	if (!port && strchr(peer.name, ':'))
		return pier__fail(-EINVAL, "connect to \"%s\": no port; with "
				  "an IPv6 address, write [IPV6]:PORT", text);
	if (port < 1 || port > UINT16_MAX)
		return pier__fail(-EINVAL, "connect to \"%s\": port %u: 1 to "
				  "65535", text, port);
	peer.port = (uint16_t)port;
	peer.is_name = !read_numeric(peer.name, &peer.addr);
	if (peer.is_name && (type == PIER_ADDR_GID || !is_name(peer.name)))
		return pier__fail(-EINVAL, "\"%s\" is not %s", text,
				  type == PIER_ADDR_GID ?
					  "a GID, such as fd00::1" :
					  "an address or name of a host");
	if (!peer.is_name) {
		err = check_type(text, type, &peer);
		if (err)
			return err;
		pier__sockaddr_set_port(&peer.addr, peer.port);
	}
	*ret = peer;
	return 0;
}

int pier__own_parse(const char *text, uint16_t port, union pier__sockaddr *ret)
{
	union pier__sockaddr addr = { .in6.sin6_family = AF_INET6 };

	if (text && text[0] && !read_numeric(text, &addr))
		return pier__fail(-EINVAL, "\"%s\" is not an IPv4 or IPv6 "
				  "address or GID of this host", text);
	pier__sockaddr_set_port(&addr, port);
	*ret = addr;
	return 0;
}
