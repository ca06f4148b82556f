/* SPDX-License-Identifier: BSD-2-Clause */
/* The source address for a peer, and probes of its UDP ports. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/fail.h"
#include "core/sockaddr.h"
#include "fabric/soft/io/fdev.h"

#define DISCARD 9	/* any port: nothing is sent */
#define IPV4_AT 96	/* bits of a GID before an IPv4 address */

static socklen_t name_put(union pier__sockaddr *name, const struct in6_addr *ip,
			  unsigned int ifindex, uint16_t port)
{
	pier__sockaddr_from_gid(ip->s6_addr, name);
	pier__sockaddr_set_port(name, port);
	if (IN6_IS_ADDR_LINKLOCAL(ip))
		name->in6.sin6_scope_id = ifindex;
	return pier__sockaddr_len(&name->sa);
}

/* Printable; in a buffer of PIER__ADDR_TEXT. */
static const char *text(const struct in6_addr *ip, char *buf)
{
	union pier__sockaddr name;

	pier__sockaddr_from_gid(ip->s6_addr, &name);
	return pier__sockaddr_text(&name.sa, buf);
}

/* A socket to @dst; from @src unless NULL.  Returns it, or -errno. */
static int connected(unsigned int ifindex, const struct in6_addr *src,
		     const struct in6_addr *dst, uint16_t port)
{
	union pier__sockaddr name, own;
	socklen_t len = name_put(&name, dst, ifindex, port), own_len = 0;
	int fd, err;

	fd = socket(name.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (src)
		own_len = name_put(&own, src, ifindex, 0);
	if ((!src || !bind(fd, &own.sa, own_len)) &&
	    !connect(fd, &name.sa, len))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Query the kernel for the source address to @dst; from @src unless NULL. */
static int probe(unsigned int ifindex, const struct in6_addr *src,
		 const struct in6_addr *dst, struct in6_addr *ret)
{
	union pier__sockaddr own;
	socklen_t own_len = sizeof(own);
	int fd = connected(ifindex, src, dst, DISCARD), err = 0;

	if (fd < 0)
		return fd;
	if (getsockname(fd, &own.sa, &own_len))
		err = -errno;
	close(fd);
	if (!err)
		pier__sockaddr_to_gid(&own.sa, ret->s6_addr);
	return err;
}

static bool same_subnet(const uint8_t *a, const uint8_t *b, unsigned int bits)
{
	unsigned int rest = bits % 8;

	if (memcmp(a, b, bits / 8))
		return false;
	return !rest || !((a[bits / 8] ^ b[bits / 8]) >> (8 - rest));
}

static bool gid_is_v4(const struct pier_gid *gid)
{
	struct in6_addr ip;

	memcpy(&ip, gid->raw, sizeof(ip));
	return IN6_IS_ADDR_V4MAPPED(&ip);
}

/* The address of @fdev in the subnet of @dst.  Returns false: none. */
static bool neighbour(struct pier__fdev *fdev, const struct in6_addr *dst,
		      struct in6_addr *ret)
{
	struct soft_fdev *soft = (struct soft_fdev *)fdev;
	const struct pier__port *port = &fdev->port;
	bool v4 = IN6_IS_ADDR_V4MAPPED(dst), found = false;
	unsigned int bits;
	uint32_t i;

	pthread_mutex_lock(&soft->lock);
	for (i = 0; i < port->gid_count && !found; i++) {
		bits = port->gid_prefix[i];
		found = bits && gid_is_v4(&port->gids[i]) == v4 &&
			same_subnet(port->gids[i].raw, dst->s6_addr,
				    bits + (v4 ? IPV4_AT : 0));
		if (found)
			memcpy(ret, port->gids[i].raw, 16);
	}
	pthread_mutex_unlock(&soft->lock);
	return found;
}

/* A probe has failed with @err.  A limit of the process is not the route's. */
static int no_route(int err, const struct in6_addr *src,
		    const struct in6_addr *dst)
{
	bool limit = err == -EMFILE || err == -ENFILE || err == -ENOMEM;
	char a[PIER__ADDR_TEXT] = "", b[PIER__ADDR_TEXT];

	return pier__fail(limit ? err : -EHOSTUNREACH, "%s%s%s to %s: %s",
			  limit ? "cannot query the route" : "no route",
			  src ? " from " : "", src ? text(src, a) : a,
			  text(dst, b), pier_strerror(err));
}

static int from(struct pier__fdev *fdev, const struct in6_addr *src,
		const struct in6_addr *dst, struct in6_addr *ret)
{
	char a[PIER__ADDR_TEXT], b[PIER__ADDR_TEXT];
	int err;

	if (pier__soft_gid_index(fdev, src) < 0)
		return pier__fail(-EADDRNOTAVAIL, "%s is no address of %s",
				  text(src, a), fdev->port.name);
	if (IN6_IS_ADDR_V4MAPPED(src) != IN6_IS_ADDR_V4MAPPED(dst))
		return pier__fail(-EINVAL, "from %s to %s: not of one family",
				  text(src, a), text(dst, b));
	if (pier__sockaddr_is_group(dst)) {	/* sockets have the interface */
		*ret = *src;
		return 0;
	}
	err = probe(((struct soft_fdev *)fdev)->ifindex, src, dst, ret);
	return err ? no_route(err, src, dst) : 0;
}

int pier__soft_route(struct pier__fdev *fdev, const struct in6_addr *src,
		     const struct in6_addr *dst, struct in6_addr *ret)
{
	char a[PIER__ADDR_TEXT], b[PIER__ADDR_TEXT];
	struct in6_addr found;
	int err;

	if (!pier__sockaddr_is_host(dst) && !pier__sockaddr_is_group(dst))
		return pier__fail(-EINVAL, "%s is no address of a host or a "
				  "group", text(dst, a));
	if (!IN6_IS_ADDR_UNSPECIFIED(src))
		return from(fdev, src, dst, ret);
	err = probe(((struct soft_fdev *)fdev)->ifindex, NULL, dst, &found);
	if (err)
		return no_route(err, NULL, dst);
	if (pier__soft_gid_index(fdev, &found) >= 0) {
		*ret = found;
		return 0;
	}
	if (neighbour(fdev, dst, ret))
		return 0;
	return pier__fail(-EHOSTUNREACH, "%s is reached from %s, which is no "
			  "address of %s: take the device that has it",
			  text(dst, a), text(&found, b), fdev->port.name);
}

int pier__soft_port_probe_open(unsigned int ifindex, const struct in6_addr *src,
			       const struct soft_addr *dst)
{
	return connected(ifindex, src, &dst->ip, dst->port);
}

/* Has an ICMP message reported the port as unreachable? */
static bool is_closed(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == ECONNREFUSED;
}

bool pier__soft_port_probe(int fd)
{
	/* The result of the last probe, else of this one. */
	if (is_closed(fd))
		return true;
	if (send(fd, "", 0, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return errno == ECONNREFUSED;
	return is_closed(fd);
}
