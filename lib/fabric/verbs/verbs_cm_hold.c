/* SPDX-License-Identifier: BSD-2-Clause */
/* References to the device contexts that librdmacm opens. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fail.h"
#include "core/sockaddr.h"
#include "fabric/verbs/verbs_cm.h"
#include "fabric/verbs/verbs_impl.h"

/*
 * librdmacm opens the device of each id, and keeps it open until the process
 * ends.  If the driver cannot disconnect its users, as that of Soft-RoCE, the
 * removal of the device waits for that.  So an id of our own holds a reference
 * to that context while our device is open.  If the device was removed by
 * then, the context's descriptors are replaced by /dev/null.
 */
struct verbs_hold {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
};

/* A free port of @like's address, in a port space without connections. */
static int bind_as(struct verbs_hold *hold, const struct rdma_cm_id *like)
{
	union pier__sockaddr addr;

	memset(&addr, 0, sizeof(addr));
	memcpy(&addr, &like->route.addr.src_addr,
	       pier__sockaddr_len(&like->route.addr.src_addr));
	if (addr.sa.sa_family == AF_INET)
		addr.in.sin_port = 0;
	else
		addr.in6.sin6_port = 0;
	if (rdma_create_id(hold->channel, &hold->id, NULL, RDMA_PS_UDP))
		return -1;
	if (!rdma_bind_addr(hold->id, &addr.sa) &&
	    hold->id->verbs == like->verbs)
		return 0;
	rdma_destroy_id(hold->id);
	return -1;
}

static void hold_destroy(struct verbs_hold *hold)
{
	rdma_destroy_id(hold->id);
	rdma_destroy_event_channel(hold->channel);
	free(hold);
}

static struct verbs_hold *hold_create(const struct rdma_cm_id *like)
{
	struct verbs_hold *hold = calloc(1, sizeof(*hold));

	if (!hold)
		return NULL;
	hold->channel = rdma_create_event_channel();
	if (!hold->channel)
		goto err_free;
	if (bind_as(hold, like))
		goto err_destroy;
	return hold;

err_destroy:
	rdma_destroy_event_channel(hold->channel);
err_free:
	free(hold);
	return NULL;
}

void pier__verbs_cm_hold(struct verbs_dev *dev, const struct rdma_cm_id *like)
{
	struct verbs_hold *none = NULL, *hold;

	if (atomic_load(&dev->hold) || like->verbs == dev->ibv)
		return;
	hold = hold_create(like);
	if (!hold)
		pier__log(PIER_LOG_INFO, "verbs", "%s: if it is taken away, "
			  "its removal waits for the end of the process",
			  dev->fdev.port.name);
	else if (!atomic_compare_exchange_strong(&dev->hold, &none, hold))
		hold_destroy(hold);
}

/* librdmacm will close this number: it must not be reused meanwhile. */
static void let_go(int fd, int null_fd)
{
	if (fd >= 0 && dup3(null_fd, fd, O_CLOEXEC) < 0)
		pier__log(PIER_LOG_ERROR, "verbs", "descriptor %d of a device "
			  "that was removed stays open: %s", fd,
			  pier_strerror(-errno));
}

/* The connection manager reports it before the device's node disappears. */
static bool is_removed(struct verbs_dev *dev)
{
	return atomic_load(&dev->removed) ||
	       pier__verbs_watch_lost(&dev->watch);
}

void pier__verbs_cm_unhold(struct verbs_dev *dev)
{
	struct verbs_hold *hold = atomic_exchange(&dev->hold, NULL);
	int null_fd;

	if (!hold)
		return;
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null_fd >= 0 && is_removed(dev)) {
		let_go(hold->id->verbs->async_fd, null_fd);
		let_go(hold->id->verbs->cmd_fd, null_fd);
	}
	if (null_fd >= 0)
		close(null_fd);
	hold_destroy(hold);
}
