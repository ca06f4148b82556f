/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses and routes of ids. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/ib.h>

#include "core/roce.h"
#include "dropin/cma/cma.h"
#include "dropin/cma/cma_real.h"

#define HOP_LIMIT 64
#define EXACTLY 2		/* of the selectors of a path record */

/*
 * As in the kernel an id that is bound to a loopback address has no device:
 * libfabric then uses any.  It listens at that address alone.
 */
static int bind_to(struct cma_id *id, union pier__sockaddr *addr)
{
	struct cma_device *device = NULL;
	int err;

	if (!pier__sockaddr_is_any(&addr->sa)) {
		device = pier__cma_device_at(&addr->sa);
		if (!device)
			return -EADDRNOTAVAIL;
	}
	err = pier__cma_port_take(id, addr);
	if (err)
		return err;
	if (device && !pier__sockaddr_is_loopback(&addr->sa))
		pier__cma_use(id, device);
	pier__cma_set_local(id, addr);
	pier__cma_watch(id);
	id->state = CMA_BOUND;
	return 0;
}

int rdma_bind_addr(struct rdma_cm_id *ibid, struct sockaddr *addr)
{
	struct cma_id *id = cma_of(ibid);
	union pier__sockaddr ip;
	int err;

	if (!ibid || !addr || id->state != CMA_IDLE)
		return pier__cma_result(-EINVAL);
	err = pier__cma_fits(id, addr);
	if (err)
		return pier__cma_result(err);
	pier__cma_ip(addr, &ip);
	id->ib = addr->sa_family == AF_IB;
	if (!id->ib && pier__cma_real_bind(id, addr))
		return -1;
	if (id->real) {
		id->state = CMA_BOUND;
		return 0;
	}
	return pier__cma_result(bind_to(id, &ip));
}

/* The outcome of a call of @id is an event. */
static int report(struct cma_id *id, enum rdma_cm_event_type type, int status)
{
	struct cma_event *event = pier__cma_event_new(id, type, status);

	if (!event)
		return pier__cma_result(-ENOMEM);
	pier__cma_push(event);
	return pier__cma_complete(id);
}

/*
 * Without a port @id has a device and addresses and never connects: programs
 * find out so what they would use.
 */
static int conn_new(struct cma_id *id, struct cma_device *device,
		    const union pier__sockaddr *from,
		    const struct sockaddr *dst, int timeout_ms)
{
	int err;

	if (!rdma_get_dst_port(&id->id)) {
		pier__cma_set_local(id, from);
		return 0;
	}
	err = pier__cma_reserve(id);
	if (err)
		return err;
	err = pier__dropin_cm_calls()->resolve(device->cm, &from->sa, dst,
					       timeout_ms, id, &id->conn);
	if (!err)
		pier__cma_set_local(id, (const union pier__sockaddr *)
					&id->conn->local);
	return err;
}

/* @src may be that of no family. */
static int resolve(struct cma_id *id, const union pier__sockaddr *src,
		   const union pier__sockaddr *dst, int timeout_ms)
{
	bool given = src->sa.sa_family != AF_UNSPEC;
	struct cma_device *device;
	union pier__sockaddr from;
	int err;

	pier__cma_set_peer(id, dst);
	err = pier__cma_device_to(given ? &src->sa : NULL, &dst->sa, &device,
				  &from);
	if (!err)
		err = conn_new(id, device, &from, &dst->sa, timeout_ms);
	if (err)
		return err;
	pier__cma_use(id, device);
	return 0;
}

int rdma_resolve_addr(struct rdma_cm_id *ibid, struct sockaddr *src,
		      struct sockaddr *dst, int timeout_ms)
{
	union pier__sockaddr from = { .sa.sa_family = AF_UNSPEC }, to;
	struct cma_id *id = cma_of(ibid);
	int err;

	if (!ibid || !dst || (!id->real && id->state > CMA_BOUND))
		return pier__cma_result(-EINVAL);
	err = pier__cma_fits(id, dst);
	if (!err && src)
		err = pier__cma_fits(id, src);
	if (err)
		return pier__cma_result(err);
	if (src)
		pier__cma_ip(src, &from);
	else if (id->state == CMA_BOUND)
		from = pier__cma_local(id);
	pier__cma_ip(dst, &to);
	pier__cma_unwatch(id);
	id->ib = dst->sa_family == AF_IB;
	if (!id->ib && !id->real && !id->device &&
	    pier__cma_real_bind_to(id, from.sa.sa_family != AF_UNSPEC ?
				   &from.sa : NULL, &to.sa))
		return -1;
	if (id->real) {
		if (id->state == CMA_IDLE)
			id->state = CMA_BOUND;
		return pier__cma_real_resolve_addr(id, dst, timeout_ms);
	}
	pier__cma_unreserve(id);
	err = resolve(id, &from, &to, timeout_ms);
	pier__cma_watch(id);
	if (err)
		return report(id, RDMA_CM_EVENT_ADDR_ERROR, err);
	id->state = CMA_ADDR_RESOLVED;
	return report(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
}

/* The path that programs read, of a port on Ethernet. */
static struct ibv_sa_path_rec *path_new(const struct cma_id *id)
{
	union pier__sockaddr local = pier__cma_local(id);
	union pier__sockaddr peer = pier__cma_peer(id);
	struct ibv_sa_path_rec *path = calloc(1, sizeof(*path));
	struct ibv_port_attr port;

	if (!path || ibv_query_port(id->id.verbs, 1, &port)) {
		free(path);
		return NULL;
	}
	pier__sockaddr_to_gid(&local.sa, path->sgid.raw);
	pier__sockaddr_to_gid(&peer.sa, path->dgid.raw);
	path->hop_limit = HOP_LIMIT;
	path->traffic_class = id->tos;
	path->reversible = 1;
	path->numb_path = 1;
	path->pkey = htobe16(ROCE_PKEY_DEFAULT);
	path->mtu_selector = EXACTLY;
	path->mtu = (uint8_t)port.active_mtu;
	path->rate_selector = EXACTLY;
	path->rate = IBV_RATE_10_GBPS;
	path->packet_life_time_selector = EXACTLY;
	return path;
}

int rdma_resolve_route(struct rdma_cm_id *ibid, int timeout_ms)
{
	struct cma_id *id = cma_of(ibid);

	(void)timeout_ms;	/* it is known */
	if (ibid && id->real)
		return pier__cma_real_resolve_route(id, timeout_ms);
	if (!ibid || id->state != CMA_ADDR_RESOLVED)
		return pier__cma_result(-EINVAL);
	ibid->route.path_rec = path_new(id);
	if (!ibid->route.path_rec)
		return pier__cma_result(-ENOMEM);
	ibid->route.num_paths = 1;
	id->state = CMA_ROUTE_RESOLVED;
	return report(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
}
