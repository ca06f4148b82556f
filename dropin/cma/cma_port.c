/* SPDX-License-Identifier: BSD-2-Clause */
/* Ports that ids are bound to. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/roce.h"
#include "dropin/cma/cma.h"

#define PORTS_TRIED 16		/* before one is free of all ids */

/*
 * The ids that have one, to which the rules of the kernel apply.  For other
 * processes a port is taken while a socket has it: the first id of a port here
 * has one until it listens, or connects.
 */
static struct pier__list bound = { &bound, &bound };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct cma_id *id_of(struct pier__list *link)
{
	return pier__container_of(link, struct cma_id, bound.link);
}

static bool is_any(const struct cma_id *id)
{
	return pier__sockaddr_is_any(&id->bound.addr.sa);
}

/* Without the option IPv4 is, as in the kernel. */
static bool is_afonly(const struct cma_id *id)
{
	if (id->bound.afonly_set)
		return id->bound.afonly;
	return id->bound.addr.sa.sa_family == AF_INET && !id->ib;
}

static uint16_t port_in(const union pier__sockaddr *addr)
{
	return ntohs(addr->sa.sa_family == AF_INET ? addr->in.sin_port :
						     addr->in6.sin6_port);
}

/* Both have one port of one space.  Errors: as the kernel has them. */
static int conflict(const struct cma_id *id, const struct cma_id *other)
{
	const struct sockaddr *addr = &id->bound.addr.sa;
	const struct sockaddr *its = &other->bound.addr.sa;
	uint8_t gid[2][16];

	if (is_afonly(id) && is_afonly(other) &&
	    addr->sa_family != its->sa_family)
		return 0;
	if (is_any(id) || is_any(other))
		return -EADDRNOTAVAIL;
	pier__sockaddr_to_gid(addr, gid[0]);
	pier__sockaddr_to_gid(its, gid[1]);
	return memcmp(gid[0], gid[1], sizeof(gid[0])) ? 0 : -EADDRINUSE;
}

/* With the lock held, as below.  *@shared: other ids have the port, too. */
static int check(const struct cma_id *id, bool reuse, bool *shared)
{
	struct pier__list *pos, *tmp;
	const struct cma_id *other;
	int err = 0;

	*shared = false;
	PIER__LIST_EACH(pos, tmp, &bound) {
		other = id_of(pos);
		if (other == id || other->bound.port != id->bound.port)
			continue;
		*shared = true;
		if (other->id.ps != id->id.ps ||
		    (reuse && other->bound.reuse))
			continue;
		if (!err)
			err = conflict(id, other);
	}
	return err;
}

static void close_socket(struct cma_id *id)
{
	if (id->bound.reserved >= 0)
		close(id->bound.reserved);
	id->bound.reserved = -1;
}

void pier__cma_ports_hold(void)
{
	pthread_mutex_lock(&lock);
}

void pier__cma_ports_release(void)
{
	pthread_mutex_unlock(&lock);
}

/* A copy of a socket in the child would keep the parent from listening. */
void pier__cma_ports_forked(void)
{
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &bound)
		close_socket(id_of(pos));
	pthread_mutex_unlock(&lock);
}

static int set(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

/* At the address of @id; without a port on one that is free at each address. */
static int open_socket(struct cma_id *id)
{
	union pier__sockaddr name = { .in6.sin6_family = AF_INET6 };
	bool chosen = id->bound.port, only = chosen && is_afonly(id);
	socklen_t len = sizeof(name);
	int fd, err = 0;

	if (chosen)
		name = id->bound.addr;
	fd = socket(name.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	/* A host may have no IPv6. */
	if (fd < 0 && errno == EAFNOSUPPORT && (!chosen || is_any(id))) {
		name = (union pier__sockaddr){ .in.sin_family = AF_INET };
		pier__sockaddr_set_port(&name, id->bound.port);
		fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	}
	if (fd < 0)
		return -errno;
	if ((chosen && id->bound.reuse &&
	     set(fd, SOL_SOCKET, SO_REUSEADDR, 1)) ||
	    (name.sa.sa_family == AF_INET6 &&
	     set(fd, IPPROTO_IPV6, IPV6_V6ONLY, only)) ||
	    bind(fd, &name.sa, pier__sockaddr_len(&name.sa)) ||
	    getsockname(fd, &name.sa, &len))
		err = -errno;
	if (err) {
		close(fd);
		return err == -EADDRINUSE && chosen && is_any(id) ?
		       -EADDRNOTAVAIL : err;
	}
	id->bound.port = port_in(&name);
	id->bound.reserved = fd;
	return 0;
}

/* UDP port 4791 is shared with queue pairs; a scope is not known here. */
static bool has_socket(const struct cma_id *id)
{
	const union pier__sockaddr *addr = &id->bound.addr;

	return id->bound.port != ROCE_UDP_PORT &&
	       (addr->sa.sa_family == AF_INET ||
		!IN6_IS_ADDR_LINKLOCAL(&addr->in6.sin6_addr));
}

static int take_once(struct cma_id *id, const union pier__sockaddr *addr)
{
	bool shared;
	int err = 0;

	id->bound.addr = *addr;
	id->bound.port = port_in(addr);
	if (!id->bound.port)
		err = open_socket(id);
	if (!err)
		err = check(id, port_in(addr) && id->bound.reuse, &shared);
	if (!err && id->bound.reserved < 0 && !shared && has_socket(id))
		err = open_socket(id);
	if (err)
		close_socket(id);
	return err;
}

int pier__cma_port_take(struct cma_id *id, union pier__sockaddr *addr)
{
	int tries = port_in(addr) ? 1 : PORTS_TRIED, err;

	pthread_mutex_lock(&lock);
	do
		err = take_once(id, addr);
	while (err && --tries);
	if (!err)
		pier__list_add(&bound, &id->bound.link);
	pthread_mutex_unlock(&lock);
	if (!err)
		pier__sockaddr_set_port(addr, id->bound.port);
	return err;
}

int pier__cma_port_listen(struct cma_id *id)
{
	struct pier__list *pos, *tmp;
	bool shared;
	int err = 0;

	pthread_mutex_lock(&lock);
	if (id->bound.reuse)
		err = check(id, false, &shared);
	if (!err) {
		id->bound.reuse = false;
		PIER__LIST_EACH(pos, tmp, &bound)
			if (id_of(pos)->bound.port == id->bound.port)
				close_socket(id_of(pos));
	}
	pthread_mutex_unlock(&lock);
	return err;
}

void pier__cma_unreserve(struct cma_id *id)
{
	pthread_mutex_lock(&lock);
	close_socket(id);
	pthread_mutex_unlock(&lock);
}

void pier__cma_port_free(struct cma_id *id)
{
	pthread_mutex_lock(&lock);
	close_socket(id);
	if (id->bound.link.next)
		pier__list_del(&id->bound.link);
	id->bound.link.next = NULL;
	pthread_mutex_unlock(&lock);
}

int pier__cma_set_reuse(struct cma_id *id, bool on)
{
	if (on ? id->state == CMA_LISTENING : id->state != CMA_IDLE)
		return -EINVAL;
	pthread_mutex_lock(&lock);
	id->bound.reuse = on;
	pthread_mutex_unlock(&lock);
	return 0;
}

int pier__cma_set_afonly(struct cma_id *id, bool on)
{
	if (id->state != CMA_IDLE && id->state != CMA_BOUND)
		return -EINVAL;
	pthread_mutex_lock(&lock);
	id->bound.afonly = on;
	id->bound.afonly_set = true;
	pthread_mutex_unlock(&lock);
	return 0;
}
