/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses of AF_IB: a GID, which on RoCE is an IP address, and a service ID,
 * which is a port space and a port.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include <infiniband/ib.h>

#include "core/roce.h"
#include "dropin/cma/cma.h"

#define PORT_BITS 0xffffu
#define PREFIX(ps) ((uint64_t)(ps) << 16)	/* of a service ID */

bool pier__cma_ip(const struct sockaddr *from, union pier__sockaddr *ret)
{
	union pier__sockaddr copy;
	struct sockaddr_ib ib;

	if (from->sa_family == AF_IB) {
		memcpy(&ib, from, sizeof(ib));
		pier__sockaddr_from_gid(ib.sib_addr.sib_raw, ret);
		pier__sockaddr_set_port(ret, be64toh(ib.sib_sid) & PORT_BITS);
		return true;
	}
	if (!pier__sockaddr_len(from))
		return false;
	/* Programs give addresses of the id itself. */
	memset(&copy, 0, sizeof(copy));
	memcpy(&copy, from, pier__sockaddr_len(from));
	*ret = copy;
	return true;
}

static uint16_t port_of(const union pier__sockaddr *addr)
{
	return ntohs(addr->sa.sa_family == AF_INET6 ? addr->in6.sin6_port :
						      addr->in.sin_port);
}

void pier__cma_ib(const union pier__sockaddr *from, enum rdma_port_space ps,
		  struct sockaddr_ib *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->sib_family = AF_IB;
	ret->sib_pkey = htobe16(ROCE_PKEY_DEFAULT);
	if (!pier__sockaddr_is_any(&from->sa))
		pier__sockaddr_to_gid(&from->sa, ret->sib_addr.sib_raw);
	ret->sib_sid = htobe64(PREFIX(ps) | port_of(from));
	ret->sib_sid_mask = UINT64_MAX;
}

int pier__cma_fits(const struct cma_id *id, const struct sockaddr *addr)
{
	struct sockaddr_ib ib;
	uint64_t sid, mask;

	if (addr->sa_family != AF_IB)
		return pier__sockaddr_len(addr) ? 0 : -EINVAL;
	memcpy(&ib, addr, sizeof(ib));
	mask = be64toh(ib.sib_sid_mask) & ~(uint64_t)PORT_BITS;
	sid = be64toh(ib.sib_sid);
	return (sid & mask) == (PREFIX(id->id.ps) & mask) ? 0 :
							   -EPROTONOSUPPORT;
}

static void set_name(const struct cma_id *id, struct sockaddr_storage *to,
		     const union pier__sockaddr *from)
{
	memset(to, 0, sizeof(*to));
	if (id->ib)
		pier__cma_ib(from, id->id.ps, (struct sockaddr_ib *)to);
	else
		memcpy(to, from, sizeof(*from));
}

void pier__cma_set_local(struct cma_id *id, const union pier__sockaddr *from)
{
	struct rdma_addr *names = &id->id.route.addr;

	set_name(id, &names->src_storage, from);
	names->addr.ibaddr.pkey = htobe16(ROCE_PKEY_DEFAULT);
	if (!pier__sockaddr_is_any(&from->sa))
		pier__sockaddr_to_gid(&from->sa, names->addr.ibaddr.sgid.raw);
}

void pier__cma_set_peer(struct cma_id *id, const union pier__sockaddr *from)
{
	struct rdma_addr *names = &id->id.route.addr;

	set_name(id, &names->dst_storage, from);
	pier__sockaddr_to_gid(&from->sa, names->addr.ibaddr.dgid.raw);
}

union pier__sockaddr pier__cma_local(const struct cma_id *id)
{
	union pier__sockaddr ret = { .sa.sa_family = AF_UNSPEC };

	pier__cma_ip(&id->id.route.addr.src_addr, &ret);
	return ret;
}

union pier__sockaddr pier__cma_peer(const struct cma_id *id)
{
	union pier__sockaddr ret = { .sa.sa_family = AF_UNSPEC };

	pier__cma_ip(&id->id.route.addr.dst_addr, &ret);
	return ret;
}

__be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	union pier__sockaddr addr = pier__cma_local(cma_of(id));

	return htons(port_of(&addr));
}

__be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
	union pier__sockaddr addr = pier__cma_peer(cma_of(id));

	return htons(port_of(&addr));
}
