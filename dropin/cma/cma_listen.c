/* SPDX-License-Identifier: BSD-2-Clause */
/* Ids that listen: at an address, or at all of all devices. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dropin/cma/cma.h"
#include "dropin/cma/cma_real.h"

#define BACKLOG 1024		/* the most, and what 0 stands for */

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

/* Does @id listen at addresses of @family, too? */
static bool has_family(const struct cma_id *id, int family)
{
	int own = id->bound.addr.sa.sa_family;

	if (own == family)
		return true;
	return id->bound.afonly_set ? !id->bound.afonly : own != AF_INET;
}

/*
 * At each known address of @device: two endpoints cannot both have a port on
 * all.  An address may have been removed.
 */
static int listen_on(struct cma_id *id, struct cma_device *device, int backlog)
{
	union pier__sockaddr addr;
	int i, err = 0;

	for (i = 0; !err && pier__dropin_known(device->verbs, i, &addr); i++) {
		if (!has_family(id, addr.sa.sa_family) ||
		    listens_at(id, device, &addr))
			continue;
		pier__sockaddr_set_port(&addr, id->bound.port);
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
			 int backlog)
{
	struct pier__list *pos, *tmp;
	struct cma_device *device;
	union ibv_gid gid;
	int err = 0, turn;

	for (turn = 0; turn < 2; turn++) {
		PIER__LIST_EACH(pos, tmp, all) {
			device = pier__container_of(pos, struct cma_device,
						    link);
			if (turn)
				ibv_query_gid(device->verbs, 1, 0, &gid);
			if (!err)
				err = listen_on(id, device, backlog);
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

static int listen_everywhere(struct cma_id *id, struct pier__list *all,
			     int backlog)
{
	int err = listen_on_all(id, all, backlog);

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
	struct cma_device *device = id->device;
	struct pier__list *all;
	int err;

	err = pier__cma_devices(&all);	/* opening them takes a while */
	if (err)
		return err;
	if (!device && !pier__sockaddr_is_any(addr)) {
		device = pier__cma_device_at(addr);
		if (!device)
			return -EADDRNOTAVAIL;
	}
	err = pier__cma_port_listen(id);
	if (err)
		return err;
	return device ? listen_at(id, device, addr, backlog) :
			listen_everywhere(id, all, backlog);
}

int rdma_listen(struct rdma_cm_id *ibid, int backlog)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	struct cma_id *id = cma_of(ibid);
	union pier__sockaddr local;
	int err;

	if (!ibid)
		return pier__cma_result(-EINVAL);
	if (id->state == CMA_IDLE &&
	    rdma_bind_addr(ibid, (struct sockaddr *)&any))
		return -1;
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
	if (!id->ib && pier__sockaddr_is_any(&local.sa) &&
	    pier__cma_real_listen_too(id, backlog)) {
		err = -errno;
		end_all(id);
		return pier__cma_result(err);
	}
	id->state = CMA_LISTENING;
	return 0;
}
