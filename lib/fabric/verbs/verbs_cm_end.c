/* SPDX-License-Identifier: BSD-2-Clause */
/* Listeners and ids of librdmacm: listen, resolve, release. */
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fail.h"
#include "core/sockaddr.h"
#include "fabric/verbs/verbs_cm.h"
#include "fabric/verbs/verbs_impl.h"

/*
 * 4.096 us * 2^14 = 67 ms: how long a REQ asks the peer to wait for an ACK,
 * as for connections by descriptor; the kernel's own would be 2 s.
 */
#define ACK_TIMEOUT 14

/*
 * How long the kernel resolves the peer's address, milliseconds, doubled each
 * time: it notices an answer from before its wait only at the end of it.
 */
#define FIRST_LOOK 50
#define LONGEST_LOOK 1600

static int check_address(const struct pier__cm *cm, const char *what,
			 const struct sockaddr *addr)
{
	if (pier__sockaddr_len(addr))
		return 0;
	return pier__fail(addr->sa_family == AF_IB ? -EOPNOTSUPP : -EINVAL,
			  "%s: %s of address family %u: IPv4 or IPv6; on "
			  "InfiniBand, that of IPoIB", port_of(cm)->name,
			  what, addr->sa_family);
}

/* The kernel takes a link-local address only with an interface: ours. */
static void take_address(const struct pier__cm *cm, const struct sockaddr *addr,
			 struct sockaddr_storage *ret)
{
	struct sockaddr_in6 *v6 = (void *)ret;

	memset(ret, 0, sizeof(*ret));
	memcpy(ret, addr, pier__sockaddr_len(addr));
	if (addr->sa_family == AF_INET6 && !v6->sin6_scope_id &&
	    IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr))
		v6->sin6_scope_id = if_nametoindex(port_of(cm)->netdev);
}

static int end_create(struct pier__cm *cm, struct cm_end **ret)
{
	struct cm_end *end = calloc(1, sizeof(*end));
	int err;

	if (!end)
		return pier__fail(-ENOMEM, "%s: no memory", port_of(cm)->name);
	errno = 0;
	if (rdma_create_id(verbs_cm(cm)->channel, &end->rdma, end,
			   RDMA_PS_TCP)) {
		err = pier__verbs_error(-1);
		free(end);
		return pier__fail(err, "%s: no id of the connection manager: "
				  "%s", port_of(cm)->name, pier_strerror(err));
	}
	*ret = end;
	return 0;
}

/* Every event is acknowledged, so that this does not block. */
static void end_destroy(struct cm_end *end)
{
	if (rdma_destroy_id(end->rdma))
		pier__log(PIER_LOG_ERROR, "verbs", "an id of the connection "
			  "manager cannot be destroyed: %s",
			  pier_strerror(errno));
	free(end);
}

static int set_option(struct cm_end *end, int option, void *value, size_t size)
{
	return rdma_set_option(end->rdma, RDMA_OPTION_ID, option, value, size);
}

/* Is @addr in the GID table of @port? */
static bool has_address(const struct pier__port *port,
			const struct sockaddr *addr)
{
	uint8_t gid[16];

	pier__sockaddr_to_gid(addr, gid);
	for (uint32_t i = 0; i < port->gid_count; i++) {
		if (!memcmp(port->gids[i].raw, gid, 16))
			return true;
	}
	return false;
}

/*
 * The kernel returns either error for a port that is taken on this address or
 * on all addresses.
 */
static int fail_bind(const struct pier__cm *cm, const struct sockaddr *addr,
		     int err)
{
	const struct pier__port *port = port_of(cm);
	char text[PIER__ADDR_TEXT];

	pier__sockaddr_text(addr, text);
	if (err == -EADDRNOTAVAIL &&
	    (pier__sockaddr_is_any(addr) || has_address(port, addr)))
		err = -EADDRINUSE;
	if (err == -EADDRINUSE)
		return pier__fail(err, "%s: cannot listen on %s: the port is "
				  "taken, take another", port->name, text);
	if (err == -EADDRNOTAVAIL || err == -ENODEV)
		return pier__port_lacks(port, addr, NULL);
	if (err == -EACCES)
		return pier__fail(err, "%s: cannot listen on %s: ports below "
				  "1024 are root's", port->name, text);
	return pier__fail(err, "%s: cannot listen on %s: %s", port->name,
			  text, pier_strerror(err));
}

/*
 * An address of one device is of no use to another's queue pairs.  To one that
 * is no device's at all, as 127.0.0.1, the kernel binds without any.
 */
static int check_bound(const struct pier__cm *cm, const struct cm_end *end,
		       const struct sockaddr *addr)
{
	char whose[80];

	if (pier__sockaddr_is_any(addr) ||
	    pier__verbs_cm_is_ours(cm, end->rdma))
		return 0;
	if (!end->rdma->verbs)
		return pier__port_lacks(port_of(cm), addr, NULL);
	snprintf(whose, sizeof(whose), "%s port %u",
		 ibv_get_device_name(end->rdma->verbs->device),
		 end->rdma->port_num);
	return pier__port_lacks(port_of(cm), addr, whose);
}

/* 0.0.0.0 gets IPv6 requests too unless this is set; :: gets both. */
static void choose_families(struct cm_end *end, const struct sockaddr *addr)
{
	int only = addr->sa_family == AF_INET;

	set_option(end, RDMA_OPTION_ID_AFONLY, &only, sizeof(only));
}

int pier__verbs_cm_listen(struct pier__cm *cm, const struct sockaddr *addr,
			  int backlog, void *owner,
			  struct pier__cm_listener **ret)
{
	struct sockaddr_storage own;
	struct cm_end *end;
	int err = check_address(cm, "a listener", addr);

	if (!err)
		err = end_create(cm, &end);
	if (err)
		return err;
	end->state = END_LISTENING;
	choose_families(end, addr);
	take_address(cm, addr, &own);
	errno = 0;
	if (rdma_bind_addr(end->rdma, (struct sockaddr *)&own)) {
		err = fail_bind(cm, addr, pier__verbs_error(-1));
		goto err_destroy;
	}
	err = check_bound(cm, end, addr);
	if (err)
		goto err_destroy;
	errno = 0;
	if (rdma_listen(end->rdma, backlog)) {
		err = fail_bind(cm, addr, pier__verbs_error(-1));
		goto err_destroy;
	}

	end->listener.cm = cm;
	end->listener.owner = owner;
	end->listener.port = ntohs(rdma_get_src_port(end->rdma));
	*ret = &end->listener;
	return 0;

err_destroy:
	end_destroy(end);
	return err;
}

void pier__verbs_cm_unlisten(struct pier__cm_listener *listener)
{
	if (listener)
		end_destroy((struct cm_end *)listener);
}

static bool same_subnet(const uint8_t a[16], const uint8_t b[16],
			unsigned int bits)
{
	unsigned int bytes = bits / 8;
	uint8_t mask = (uint8_t)(0xff00 >> bits % 8);

	return !memcmp(a, b, bytes) &&
	       (!mask || !((a[bytes] ^ b[bytes]) & mask));
}

/*
 * The kernel follows its routes, which may lead to another device.  With one of
 * our addresses as the source it takes ours: the one in the peer's subnet.
 */
static bool own_source(const struct pier__port *port,
		       const struct sockaddr *dst, struct sockaddr_storage *ret)
{
	struct sockaddr_in6 *v6 = (void *)ret;
	struct sockaddr_in *v4 = (void *)ret;
	bool is_v4 = dst->sa_family == AF_INET;
	unsigned int bits;
	uint8_t gid[16];

	pier__sockaddr_to_gid(dst, gid);
	if (gid[0] == 0xfe && !is_v4)
		return false;	/* a link-local one has its interface */
	for (uint32_t i = 0; i < port->gid_count; i++) {
		bits = port->gid_prefix[i];
		if (!bits || !same_subnet(port->gids[i].raw, gid,
					  bits + (is_v4 ? 96 : 0)))
			continue;
		memset(ret, 0, sizeof(*ret));
		ret->ss_family = dst->sa_family;
		if (is_v4)
			memcpy(&v4->sin_addr, port->gids[i].raw + 12, 4);
		else
			memcpy(&v6->sin6_addr, port->gids[i].raw, 16);
		return true;
	}
	return false;
}

static int look(struct cm_end *end, struct sockaddr *src)
{
	int left = pier__ms_left(pier__now(), end->deadline);
	int ms = end->resolve_ms < left ? end->resolve_ms : left;

	if (!left)
		return -ETIMEDOUT;
	if (end->resolve_ms < LONGEST_LOOK)
		end->resolve_ms *= 2;
	errno = 0;
	if (rdma_resolve_addr(end->rdma, src,
			      (struct sockaddr *)&end->id.peer, ms))
		return pier__verbs_error(-1);
	return 0;
}

int pier__verbs_cm_resolve_again(struct cm_end *end)
{
	return look(end, NULL);		/* it is bound to its source */
}

int pier__verbs_cm_resolve(struct pier__cm *cm, const struct sockaddr *src,
			   const struct sockaddr *dst, int timeout_ms,
			   void *owner, struct pier__cm_id **ret)
{
	struct sockaddr_storage own;
	uint8_t timeout = ACK_TIMEOUT;
	struct cm_end *end;
	bool bound;
	int err = check_address(cm, "a peer", dst);

	if (!err && src)
		err = check_address(cm, "a source", src);
	if (!err && timeout_ms <= 0)
		err = pier__fail(-EINVAL, "%s: %d ms to find the peer: at "
				 "least 1", port_of(cm)->name, timeout_ms);
	if (!err)
		err = end_create(cm, &end);
	if (err)
		return err;

	if (src)
		take_address(cm, src, &own);
	bound = src || own_source(port_of(cm), dst, &own);
	end->id.cm = cm;
	end->id.owner = owner;
	take_address(cm, dst, &end->id.peer);
	end->state = END_RESOLVING;
	end->deadline = pier__deadline(pier__now(), timeout_ms);
	/* Linux before 5.2 lacks it. */
	set_option(end, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof(timeout));
	end->resolve_ms = FIRST_LOOK;
	err = look(end, bound ? (struct sockaddr *)&own : NULL);
	if (err) {
		err = pier__verbs_cm_fail(end, "no route to", err);
		end_destroy(end);
		return err;
	}
	*ret = &end->id;
	return 0;
}

void pier__verbs_cm_release(struct pier__cm_id *id)
{
	if (id)
		end_destroy(end_of(id));
}
