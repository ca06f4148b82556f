/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "core/fail.h"
#include "dev/dev_impl.h"

const char *pier_devinfo_name(const struct pier_devinfo *info)
{
	return info->port.name;
}

const char *pier_devinfo_kind(const struct pier_devinfo *info)
{
	return info->port.fabric->name;
}

const char *pier_devinfo_netdev(const struct pier_devinfo *info)
{
	return info->port.netdev;
}

const char *pier_devinfo_pci(const struct pier_devinfo *info)
{
	return info->port.pci;
}

unsigned int pier_devinfo_port(const struct pier_devinfo *info)
{
	return info->port.port;
}

enum pier_link pier_devinfo_link(const struct pier_devinfo *info)
{
	return info->port.link_layer == IBV_LINK_LAYER_INFINIBAND ?
		       PIER_LINK_INFINIBAND :
		       PIER_LINK_ETHERNET;
}

int pier_devinfo_active(const struct pier_devinfo *info)
{
	return info->port.active;
}

unsigned int pier_devinfo_lid(const struct pier_devinfo *info)
{
	return pier_devinfo_link(info) == PIER_LINK_INFINIBAND ?
		       info->port.lid : 0;
}

unsigned int pier_devinfo_mtu(const struct pier_devinfo *info)
{
	return 128u << info->port.mtu;
}

int pier_devinfo_gid(const struct pier_devinfo *info, size_t i,
		     struct pier_gid *ret)
{
	if (i >= info->port.gid_count)
		return pier__fail(-ERANGE, "%s: no GID number %zu of %u",
				  info->port.name, i, info->port.gid_count);
	*ret = info->port.gids[i];
	return 0;
}

int pier_devinfo_can_export(const struct pier_devinfo *info,
			    enum pier_export kind)
{
	switch (kind) {
	case PIER_EXPORT_MMAP:
	case PIER_EXPORT_SYNC_EVENT:
		return 0;
	case PIER_EXPORT_CONN:
		return info->port.limits.by_address ? -EOPNOTSUPP : 0;
	}
	return pier__fail(-EINVAL, "unknown kind of export %d: 0 to %d",
			  (int)kind, PIER_EXPORT_SYNC_EVENT);
}

/* Whatever a device can export it can use when a peer exports it. */
int pier_devinfo_can_import(const struct pier_devinfo *info,
			    enum pier_export kind)
{
	return pier_devinfo_can_export(info, kind);
}

int pier_devinfo_limit(const struct pier_devinfo *info, enum pier_limit limit,
		       uint64_t *ret)
{
	const struct pier__limits *lim = &info->port.limits;
	const uint64_t values[] = {
		[PIER_LIMIT_MESSAGE] = lim->message,
		[PIER_LIMIT_MMAP] = lim->mmap,
		[PIER_LIMIT_INLINE] = lim->inline_size,
		[PIER_LIMIT_SEND_SGE] = lim->send_sge,
		[PIER_LIMIT_RECV_SGE] = lim->recv_sge,
		[PIER_LIMIT_CONNS] = lim->qps,
		[PIER_LIMIT_SEND_QUEUE] = lim->send_wr,
		[PIER_LIMIT_RECV_QUEUE] = lim->srq_wr,
		[PIER_LIMIT_RD_ATOMIC] = lim->rd_atomic,
		[PIER_LIMIT_GIDS] = info->port.gid_count,
	};

	if ((unsigned int)limit > PIER_LIMIT_GIDS)
		return pier__fail(-EINVAL, "unknown limit %d: 0 to %d",
				  (int)limit, PIER_LIMIT_GIDS);
	*ret = values[limit];
	return 0;
}
