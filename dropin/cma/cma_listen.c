/* SPDX-License-Identifier: BSD-2-Clause */
/* Ids that listen: at an address, or at all of all devices. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dropin/cma/cma.h"
#include "dropin/cma/cma_real.h"

#define BACKLOG 1024		/* the most, and what 0 stands for */
#define PORTS_TRIED 16		/* before a port is free on all devices */

static int listen_at(struct cma_id *id, struct cma_device *device,
		     const struct sockaddr *addr, int backlog)
{
	struct cma_listener *listener = calloc(1, sizeof(*listener));
	int err;

	if (!listener)
		return -ENOMEM;
	listener->id = id;
	listener->device = device;
	pier__sockaddr_to_gid(addr, listener->gid);
	err = pier__dropin_cm_listen(device->cm, pier__cma_space(id), addr,
				     backlog, listener, &listener->listener);
	if (err) {
		free(listener);
		return err;
	}
	pier__list_add(&id->listeners, &listener->link);
	return 0;
}

void pier__cma_unlisten(struct cma_id *id)
{
	struct cma_listener *listener;
	struct pier__list *pos;

	while ((pos = pier__list_pop(&id->listeners))) {
		listener = pier__container_of(pos, struct cma_listener, link);
		pier__dropin_cm_calls()->unlisten(listener->listener);
		free(listener);
	}
}

/* The port in use, in host order; 0: none yet. */
static uint16_t port_of(const struct cma_id *id)
{
	if (pier__list_empty(&id->listeners))
		return 0;
	return pier__container_of(id->listeners.next, struct cma_listener,
				  link)->listener->port;
}

static bool listens_at(const struct cma_id *id, const struct cma_device *device,
		       const union pier__sockaddr *addr)
{
	struct cma_listener *listener;
	struct pier__list *pos, *tmp;
	uint8_t gid[16];

	pier__sockaddr_to_gid(&addr->sa, gid);
	PIER__LIST_EACH(pos, tmp, &id->listeners) {
		listener = pier__container_of(pos, struct cma_listener, link);
		if (listener->device == device &&
		    !memcmp(listener->gid, gid, sizeof(gid)))
			return true;
	}
	return false;
}

/*
 * At each known address of @device, of IPv4 only if @family is AF_INET: two
 * endpoints cannot both have a port on all.  An address may have been removed.
 */
static int listen_on(struct cma_id *id, struct cma_device *device, int family,
		     uint16_t port, int backlog)
{
	union pier__sockaddr addr;
	int i, err = 0;

	for (i = 0; !err && pier__dropin_known(device->verbs, i, &addr); i++) {
		if ((family == AF_INET && addr.sa.sa_family != AF_INET) ||
		    listens_at(id, device, &addr))
			continue;
		pier__sockaddr_set_port(&addr, port ? port : port_of(id));
		err = listen_at(id, device, &addr.sa, backlog);
		if (err == -EADDRNOTAVAIL)
			err = 0;
	}
	return err;
}

/*
 * First at what is known: finding out all addresses takes a while, and a client
 * on a RoCE device that connects meanwhile, as those of perftest do, gets a
 * reject.
 */
static int listen_on_all(struct cma_id *id, struct pier__list *all,
			 uint16_t port, int backlog)
{
	int family = pier__cma_local(id).sa.sa_family, err = 0, turn;
	struct pier__list *pos, *tmp;
	struct cma_device *device;
	union ibv_gid gid;

	for (turn = 0; turn < 2; turn++) {
		PIER__LIST_EACH(pos, tmp, all) {
			device = pier__container_of(pos, struct cma_device,
						    link);
			if (turn)
				ibv_query_gid(device->verbs, 1, 0, &gid);
			if (!err)
				err = listen_on(id, device, family, port,
						backlog);
		}
	}
	return err;
}

/* No address after all: a request that one of them has got is of none. */
static void end_all(struct cma_id *id)
{
	pthread_mutex_lock(&pier__cma_lock);
	id->closing = true;
	pthread_mutex_unlock(&pier__cma_lock);
	pier__cma_unlisten(id);
	pier__cma_discard(id);
	pthread_mutex_lock(&pier__cma_lock);
	id->closing = false;
	pthread_mutex_unlock(&pier__cma_lock);
}

/* @port 0: any that is free on all. */
static int listen_once(struct cma_id *id, uint16_t port, int backlog)
{
	struct pier__list *all;
	int err;

	err = pier__cma_devices(&all);
	if (!err)
		err = listen_on_all(id, all, port, backlog);
	if (!err && pier__list_empty(&id->listeners))
		err = -EADDRNOTAVAIL;
	if (err)
		end_all(id);
	return err;
}

/* At the address that @id is bound to: of one device, or of all. */
static int listen_bound(struct cma_id *id, int backlog)
{
	const union pier__sockaddr local = pier__cma_local(id);
	const struct sockaddr *addr = &local.sa;
	uint16_t port = be16toh(rdma_get_src_port(&id->id));
	struct cma_device *device = id->device;
	struct pier__list *all;
	int tries = 0, err;

	err = pier__cma_devices(&all);	/* opening them takes a while */
	if (err)
		return err;
	if (!device && !pier__sockaddr_is_any(addr)) {
		device = pier__cma_device_at(addr);
		if (!device)
			return -EADDRNOTAVAIL;
	}
	pier__cma_unreserve(id);
	if (device)
		return listen_at(id, device, addr, backlog);
	do
		err = listen_once(id, port, backlog);
	while (err == -EADDRINUSE && !port && ++tries < PORTS_TRIED);
	return err;
}

int rdma_listen(struct rdma_cm_id *ibid, int backlog)
{
	struct cma_id *id = cma_of(ibid);
	union pier__sockaddr local;
	int err;

	if (!ibid)
		return pier__cma_result(-EINVAL);
	if (id->state == CMA_IDLE) {
		ibid->route.addr.src_sin.sin_family = AF_INET;
		id->state = CMA_BOUND;
	}
	if (id->state != CMA_BOUND)
		return pier__cma_result(-EINVAL);
	if (backlog <= 0 || backlog > BACKLOG)
		backlog = BACKLOG;
	if (id->real) {
		if (pier__cma_real_listen(id, backlog))
			return -1;
		id->state = CMA_LISTENING;
		return 0;
	}
	err = listen_bound(id, backlog);
	if (err)
		return pier__cma_result(err);
	local = pier__cma_local(id);
	pier__sockaddr_set_port(&local, port_of(id));
	pier__cma_unwatch(id);
	pier__cma_set_local(id, &local);
	pier__cma_watch(id);
	if (!id->ib && pier__sockaddr_is_any(&local.sa) &&
	    pier__cma_real_listen_too(id, backlog)) {
		err = -errno;
		end_all(id);
		return pier__cma_result(err);
	}
	id->state = CMA_LISTENING;
	return 0;
}
