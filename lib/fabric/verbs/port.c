/* SPDX-License-Identifier: BSD-2-Clause */
/* Attributes and GIDs of a port. */
#include <endian.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "fabric/verbs/sys.h"
#include "fabric/verbs/verbs_impl.h"

#define GIDS_MAX (sizeof(((struct pier__port *)0)->gids) / \
		  sizeof(struct pier_gid))

/* Beyond that the length of the kernel's answer overflows its 16 bits. */
#define TABLE_MAX (UINT16_MAX / sizeof(struct ibv_gid_entry))

/* The GIDs in use of all ports of @ctx; *ret is the caller's to free. */
static ssize_t read_gids(struct ibv_context *ctx, size_t max,
			 struct ibv_gid_entry **ret)
{
	struct ibv_gid_entry *gids = calloc(max + 1, sizeof(*gids));
	ssize_t n;

	if (!gids)
		return -ENOMEM;
	n = ibv_query_gid_table(ctx, gids, max, 0);
	if (n < 0) {
		free(gids);
		return n;
	}
	*ret = gids;
	return n;
}

static enum pier_gid_type gid_type(uint32_t type)
{
	switch (type) {
	case IBV_GID_TYPE_ROCE_V1:
		return PIER_GID_ROCE_V1;
	case IBV_GID_TYPE_ROCE_V2:
		return PIER_GID_ROCE_V2;
	default:
		return PIER_GID_IB;
	}
}

static void add_gid(struct pier__port *port, const struct ibv_gid_entry *gid,
		    const struct ifaddrs *addrs)
{
	struct pier_gid *to = &port->gids[port->gid_count];

	memcpy(to->raw, gid->gid.raw, 16);
	to->index = gid->gid_index;
	to->type = gid_type(gid->gid_type);
	port->gid_prefix[port->gid_count] = to->type == PIER_GID_ROCE_V2 ?
		pier__sys_prefix(addrs, to->raw) : 0;
	port->gid_count++;
	if (!port->netdev[0] && gid->ndev_ifindex) {
		char name[IF_NAMESIZE];

		if (if_indextoname(gid->ndev_ifindex, name))
			snprintf(port->netdev, sizeof(port->netdev), "%s",
				 name);
	}
}

/* RoCEv2 first: a table may hold more than the list has entries. */
static void add_gids(struct pier__port *port, const struct ibv_gid_entry *gids,
		     ssize_t n)
{
	struct ifaddrs *addrs = NULL;

	if (getifaddrs(&addrs))
		addrs = NULL;	/* then all prefixes are unknown */
	port->gid_count = 0;
	for (int v2 = 1; v2 >= 0; v2--) {
		for (ssize_t i = 0; i < n; i++) {
			bool is_v2 = gids[i].gid_type == IBV_GID_TYPE_ROCE_V2;

			if (gids[i].port_num == port->port && is_v2 == v2 &&
			    port->gid_count < GIDS_MAX)
				add_gid(port, &gids[i], addrs);
		}
	}
	freeifaddrs(addrs);
}

/* For a port that was unplugged the kernel returns EIO. */
static int gone(const char *device, uint32_t port, int err)
{
	if (err == -EIO)
		err = -ENODEV;
	return pier__fail(err, "%s port %u cannot be queried: %s", device,
			  port, pier_strerror(err));
}

static void take_attr(const struct ibv_context *ctx,
		      const struct ibv_port_attr *attr, struct pier__port *ret)
{
	ret->link_layer = attr->link_layer;
	/* Old providers leave it out; every such device was InfiniBand. */
	if (attr->link_layer == IBV_LINK_LAYER_UNSPECIFIED)
		ret->link_layer = IBV_LINK_LAYER_INFINIBAND;
	ret->active = attr->state == IBV_PORT_ACTIVE;
	ret->lid = attr->lid;
	ret->grh = attr->flags & IBV_QPF_GRH_REQUIRED;
	ret->mtu = attr->active_mtu;
	ret->guid = be64toh(ibv_get_device_guid(ctx->device));
	ret->limits.message = attr->max_msg_sz;
	ret->limits.pkeys = attr->pkey_tbl_len;
}

int pier__verbs_port(struct ibv_context *ctx, uint32_t port,
		     struct pier__port *ret)
{
	const char *name = ibv_get_device_name(ctx->device);
	struct ibv_gid_entry *gids = NULL;
	struct ibv_port_attr attr;
	size_t max;
	ssize_t n;
	int rc;

	rc = ibv_query_port(ctx, (uint8_t)port, &attr);
	if (rc)
		return gone(name, port, pier__verbs_error(rc));
	/* The table is the device's: entries of every port. */
	max = (size_t)attr.gid_tbl_len * (port > 1 ? port : 2);
	if (max > TABLE_MAX)
		max = TABLE_MAX;
	n = read_gids(ctx, max, &gids);
	if (n < 0)
		return gone(name, port, (int)n);

	snprintf(ret->name, sizeof(ret->name), "%s", name);
	ret->port = port;
	take_attr(ctx, &attr, ret);
	pier__sys_netdev("", name, port, ret->netdev, sizeof(ret->netdev));
	add_gids(ret, gids, n);
	pier__sys_pci("", name, ret->netdev, ret->pci);
	free(gids);
	return 0;
}
