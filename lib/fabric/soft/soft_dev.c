/* SPDX-License-Identifier: BSD-2-Clause */
/* The soft device: list, open, events, memory regions. */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fail.h"
#include "fabric/soft/io/fdev.h"
#include "fabric/soft/io/netif.h"
#include "fabric/soft/rc/ep.h"
#include "fabric/soft/soft.h"
#include "fabric/soft/stats/counters_file.h"

static const struct pier__limits limits = {
	.message = SOFT_MESSAGE_MAX,
	.mmap = UINT64_C(1) << 47,	/* all that a process can address */
	.inline_size = SOFT_INLINE_MAX,
	.inline_free = SOFT_INLINE_MAX,
	.send_sge = SOFT_SEND_SGE,
	.recv_sge = 16,
	.qps = 65535,
	.send_wr = 16384,
	.srq_wr = 32768,
	.cqe = 1 << 20,
	.pkeys = 1,
	.rd_atomic = SOFT_RD_ATOMIC,
	.opcodes = 1u << IBV_WR_SEND | 1u << IBV_WR_SEND_WITH_IMM |
		   1u << IBV_WR_RDMA_READ | 1u << IBV_WR_RDMA_WRITE |
		   1u << IBV_WR_RDMA_WRITE_WITH_IMM |
		   1u << IBV_WR_ATOMIC_CMP_AND_SWP |
		   1u << IBV_WR_ATOMIC_FETCH_AND_ADD,
	.atomic_cpu = true,
	.srq_flush = false,
	.retry_7_forever = false,
	.by_address = false,
	.shares_roce_port = true,
	.self_rep = true,
	.dmabuf = false,
};

static struct soft_fdev *soft_of(struct pier__fdev *fdev)
{
	return (struct soft_fdev *)fdev;
}

static void port_fill(const struct soft_netif *netif, struct pier__port *port)
{
	memset(port, 0, sizeof(*port));
	port->fabric = &pier__soft;
	snprintf(port->name, sizeof(port->name), "soft_%s", netif->name);
	port->port = 1;
	memcpy(port->netdev, netif->name, sizeof(port->netdev));
	memcpy(port->pci, netif->pci, sizeof(port->pci));
	port->link_layer = IBV_LINK_LAYER_ETHERNET;
	port->active = netif->active;
	port->guid = netif->guid;
	port->mtu = pier__soft_netif_path_mtu(netif->mtu);
	port->limits = limits;
	port->gid_count = netif->gid_count;
	memcpy(port->gids, netif->gids, sizeof(port->gids));
	memcpy(port->gid_prefix, netif->gid_prefix, sizeof(port->gid_prefix));
	port->gid_passing = netif->gid_passing;
}

static int list_numbered(struct pier__ports *ports)
{
	struct pier__port port;
	struct soft_netif *netifs;
	size_t count, i;
	int err;

	err = pier__soft_netif_list(&netifs, &count);
	if (err)
		return err;
	for (i = 0; !err && i < count; i++) {
		port_fill(&netifs[i], &port);
		pier__soft_gids_number(netifs[i].index, &port);
		err = pier__ports_add(ports, &port);
	}
	free(netifs);
	return err;
}

static int soft_list(struct pier__ports *ports)
{
	int err;

	pier__soft_gids_lock();
	err = list_numbered(ports);
	pier__soft_gids_unlock();
	return err;
}

/* The port called @name as it is now. */
static int port_now(const char *name, struct pier__port *ret,
		    unsigned int *ret_ifindex)
{
	struct soft_netif *netifs;
	struct pier__port port;
	size_t count, i;
	int err;

	err = pier__soft_netif_list(&netifs, &count);
	if (err)
		return err;
	err = -ENODEV;
	for (i = 0; err && i < count; i++) {
		port_fill(&netifs[i], &port);
		if (strcmp(port.name, name))
			continue;
		*ret = port;
		*ret_ifindex = netifs[i].index;
		err = 0;
	}
	free(netifs);
	return err;
}

static int gone(const char *name)
{
	return pier__fail(-ENODEV, "%s: its interface was removed, or has no "
			  "IP address", name);
}

/* The port of @soft, which was listed as @listed. */
static int find_port(struct soft_fdev *soft, const struct pier__port *listed)
{
	int err;

	pier__soft_gids_lock();
	err = port_now(listed->name, &soft->fdev.port, &soft->ifindex);
	if (!err)
		err = pier__soft_gids_hold(soft->ifindex, listed);
	if (!err) {
		soft->reported = soft->fdev.port;
		pier__soft_gids_number(soft->ifindex, &soft->fdev.port);
	}
	pier__soft_gids_unlock();
	return err == -ENODEV ? gone(listed->name) : err;
}

static void release_port(const struct soft_fdev *soft)
{
	pier__soft_gids_lock();
	pier__soft_gids_release(soft->ifindex);
	pier__soft_gids_unlock();
}

static int soft_open(const struct pier__port *port, struct pier__fdev **ret)
{
	struct soft_fdev *soft = calloc(1, sizeof(*soft));
	int err;

	if (!soft)
		return pier__fail(-ENOMEM, "no memory for a device");
	err = pier__soft_netif_watch(&soft->fdev.event_fd);
	if (err)
		goto err_free;
	err = find_port(soft, port);
	if (err)
		goto err_close;
	err = pier__soft_mr_table_create(&soft->keys);
	if (err)
		goto err_release;
	soft->fdev.fabric = &pier__soft;
	pthread_mutex_init(&soft->lock, NULL);

	*ret = &soft->fdev;
	return 0;

err_release:
	release_port(soft);
err_close:
	close(soft->fdev.event_fd);
err_free:
	free(soft);
	return err;
}

static void soft_close(struct pier__fdev *fdev)
{
	struct soft_fdev *soft = soft_of(fdev);

	if (!fdev)
		return;
	pthread_mutex_destroy(&soft->lock);
	pier__soft_mr_table_destroy(soft->keys);
	release_port(soft);
	close(fdev->event_fd);
	free(soft);
}

/* A port whose interface, or whose last address, was removed. */
static void port_empty(struct pier__port *port)
{
	port->active = false;
	port->gid_count = 0;
	port->gid_passing = 0;
	memset(port->gids, 0, sizeof(port->gids));
}

/* Errors: -ENODEV, it has no address; those of the kernel's lists. */
static int query_port(struct soft_fdev *soft)
{
	struct pier__fdev *fdev = &soft->fdev;
	struct pier__port port;
	unsigned int ifindex;
	int err;

	err = port_now(fdev->port.name, &port, &ifindex);
	if (!err && ifindex != soft->ifindex)
		err = -ENODEV;		/* another one of the same name */
	if (err && err != -ENODEV)
		return err;
	pthread_mutex_lock(&soft->lock);
	if (err) {
		port_empty(&fdev->port);
		pier__soft_gids_number(soft->ifindex, &fdev->port);
	} else {
		pier__soft_gids_number(soft->ifindex, &port);
		pier__port_update(&fdev->port, &port);
	}
	pthread_mutex_unlock(&soft->lock);
	return err;
}

static int soft_query(struct pier__fdev *fdev)
{
	struct soft_fdev *soft = soft_of(fdev);
	char name[IF_NAMESIZE];
	int err;

	pier__soft_gids_lock();
	err = query_port(soft);
	pier__soft_gids_unlock();
	/* an interface that is still there may get an address again */
	if (err == -ENODEV)
		err = if_indextoname(soft->ifindex, name) ?
		      0 : gone(fdev->port.name);
	return err;
}

/* The next event that makes @reported equal @port; -EAGAIN: none. */
static int next_event(struct pier__port *reported,
		      const struct pier__port *port, int *ret)
{
	if (reported->active != port->active) {
		reported->active = port->active;
		*ret = port->active ? IBV_EVENT_PORT_ACTIVE :
				      IBV_EVENT_PORT_ERR;
		return 0;
	}
	if (reported->gid_count != port->gid_count ||
	    memcmp(reported->gids, port->gids, sizeof(port->gids))) {
		*reported = *port;
		*ret = IBV_EVENT_GID_CHANGE;
		return 0;
	}
	return -EAGAIN;
}

/*
 * The kernel sends the same message more than once, so the ports are compared.
 * One message can be two events: @changed stays set until there is none.
 */
static int soft_event(struct pier__fdev *fdev, int *ret)
{
	struct soft_fdev *soft = soft_of(fdev);
	struct pier__port port;
	unsigned int ifindex;
	int err = -EAGAIN;

	pthread_mutex_lock(&soft->lock);
	if (pier__soft_netif_changed(fdev->event_fd, soft->ifindex))
		soft->changed = true;
	if (!soft->changed)
		goto out_unlock;
	err = port_now(soft->reported.name, &port, &ifindex);
	if (err == -ENODEV || (!err && ifindex != soft->ifindex)) {
		port = soft->reported;
		port_empty(&port);
		err = 0;
	}
	if (!err)
		err = next_event(&soft->reported, &port, ret);
	if (err == -EAGAIN)
		soft->changed = false;
out_unlock:
	pthread_mutex_unlock(&soft->lock);
	return err;
}

/* Is the range a valid one? */
static int range_check(const void *addr, size_t len, int access)
{
	if ((!addr && !(access & IBV_ACCESS_ON_DEMAND)) || !len)
		return pier__fail(-EINVAL, "cannot register %zu bytes at %p: "
				  "at least 1, not at NULL", len, addr);
	if (len > limits.mmap || (uintptr_t)addr > UINTPTR_MAX - len)
		return pier__fail(-EINVAL, "cannot register %zu bytes at %p: "
				  "the range ends beyond the last address",
				  len, addr);
	return 0;
}

int pier__soft_reg_check(const void *addr, size_t len, int access)
{
	const int writes = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
	int err = range_check(addr, len, access);

	if (err)
		return err;
	if ((access & writes) && !(access & IBV_ACCESS_LOCAL_WRITE))
		return pier__fail(-EINVAL, "cannot register: remote write and "
				  "atomic need IBV_ACCESS_LOCAL_WRITE");
	return access & IBV_ACCESS_ON_DEMAND ? 0 :
	       pier__soft_mapped(addr, len, access & IBV_ACCESS_LOCAL_WRITE);
}

int pier__soft_reg_in(struct pier__fdev *fdev, const void *pd, void *addr,
		      size_t len, uint64_t iova, int access,
		      struct pier__mr **ret)
{
	static _Atomic uint64_t last_id;
	struct soft_mr *mr;
	int err;

	err = pier__soft_reg_check(addr, len, access);
	if (err)
		return err;
	if (iova > UINT64_MAX - len)
		return pier__fail(-EINVAL, "cannot register %zu bytes at %#llx "
				  "of their own: the range ends beyond the "
				  "last address", len,
				  (unsigned long long)iova);
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return pier__fail(-ENOMEM, "no memory for a memory region");
	mr->mr.fdev = fdev;
	mr->pd = pd;
	mr->addr = iova;
	mr->shift = (uintptr_t)addr - (uintptr_t)iova;
	mr->len = len;
	mr->access = access;
	mr->id = atomic_fetch_add(&last_id, 1) + 1;
	atomic_init(&mr->memfd, -1);
	err = pier__soft_mr_add(soft_of(fdev)->keys, mr);
	if (err) {
		free(mr);
		return err;
	}

	*ret = &mr->mr;
	return 0;
}

static int soft_reg(struct pier__fdev *fdev, void *addr, size_t len,
		    int access, struct pier__mr **ret)
{
	return pier__soft_reg_in(fdev, NULL, addr, len, (uintptr_t)addr,
				 access, ret);
}

static int soft_reg_dmabuf(struct pier__fdev *fdev, int fd, uint64_t offset,
			   size_t len, uint64_t iova, int access,
			   struct pier__mr **ret)
{
	(void)offset;
	(void)len;
	(void)iova;
	(void)access;
	(void)ret;
	return pier__fail(-EOPNOTSUPP, "%s cannot register the dma-buf %d: on "
			  "a soft device the CPU moves the bytes, and it has "
			  "no address of them", fdev->port.name, fd);
}

static void soft_share(struct pier__mr *mr, int fd, atomic_bool *held)
{
	struct soft_mr *shared = (struct soft_mr *)mr;

	shared->held = held;
	atomic_store(&shared->memfd, fd);
}

static void soft_dereg(struct pier__mr *mr)
{
	if (!mr)
		return;
	pier__soft_mr_remove(soft_of(mr->fdev)->keys, (struct soft_mr *)mr);
	free(mr);
}

static struct ibv_pd *soft_pd(struct pier__fdev *fdev)
{
	(void)fdev;
	return NULL;
}

static int soft_adopt(const struct pier__port *port, struct ibv_pd *pd,
		      struct pier__fdev **ret)
{
	(void)pd;
	(void)ret;
	return pier__fail(-EOPNOTSUPP, "%s is not a verbs device: it has no "
			  "protection domain", port->name);
}

const struct pier__fabric_dev pier__soft_dev = {
	.list = soft_list,
	.open = soft_open,
	.adopt = soft_adopt,
	.close = soft_close,
	.query = soft_query,
	.event = soft_event,
	.reg = soft_reg,
	.reg_dmabuf = soft_reg_dmabuf,
	.maps = pier__soft_fdev_maps,
	.share = soft_share,
	.dereg = soft_dereg,
	.pd = soft_pd,
	.counters = pier__soft_counters,
	.counted = pier__soft_counters_file_list,
};
