/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "core/fail.h"
#include "dev/dev_impl.h"

const char *pier_devinfo_name(const struct pier_devinfo *info)
{
	if (!info)
		return "";
	return info->port.name;
}

const char *pier_devinfo_kind(const struct pier_devinfo *info)
{
	if (!info)
		return "";
	return info->port.fabric->name;
}

const char *pier_devinfo_netdev(const struct pier_devinfo *info)
{
	if (!info)
		return "";
	return info->port.netdev;
}

const char *pier_devinfo_pci(const struct pier_devinfo *info)
{
	if (!info)
		return "";
	return info->port.pci;
}

unsigned int pier_devinfo_port(const struct pier_devinfo *info)
{
	if (!info)
		return 0;
	return info->port.port;
}

enum pier_link pier_devinfo_link(const struct pier_devinfo *info)
{
	return info && info->port.link_layer == IBV_LINK_LAYER_INFINIBAND ?
		       PIER_LINK_INFINIBAND :
		       PIER_LINK_ETHERNET;
}

int pier_devinfo_active(const struct pier_devinfo *info)
{
	if (!info)
		return 0;
	return info->port.active;
}

unsigned int pier_devinfo_lid(const struct pier_devinfo *info)
{
	if (!info)
		return 0;
	return pier_devinfo_link(info) == PIER_LINK_INFINIBAND ?
		       info->port.lid : 0;
}

unsigned int pier_devinfo_mtu(const struct pier_devinfo *info)
{
	if (!info)
		return 0;
	return 128u << info->port.mtu;
}

int pier_devinfo_gid(const struct pier_devinfo *info, size_t i,
		     struct pier_gid *ret)
{
	if (!info)
		return pier__no_object(__func__);
	if (i >= info->port.gid_count)
		return pier__fail(-ERANGE, "%s: no GID number %zu of %u",
				  info->port.name, i, info->port.gid_count);
	*ret = info->port.gids[i];
	return 0;
}

int pier_devinfo_can_gid(const struct pier_devinfo *info, size_t i)
{
	const char *fault;
	struct pier_gid gid;
	int err;

	if (!info)
		return pier__no_object(__func__);
	err = pier_devinfo_gid(info, i, &gid);
	if (err)
		return err;
	fault = pier__port_gid_fault(&info->port, (uint32_t)i);
	if (!fault)
		return 0;
	return pier__fail(-EADDRNOTAVAIL, "%s: GID index %u is not chosen: %s",
			  info->port.name, gid.index, fault);
}

int pier__devinfo_connects(const struct pier_devinfo *info)
{
	if (!info->port.limits.by_address)
		return 0;
	return pier__fail(-EOPNOTSUPP, "%s is an iWARP device: pier connects "
			  "as InfiniBand and RoCE do", info->port.name);
}

int pier_devinfo_can_export(const struct pier_devinfo *info,
			    enum pier_export kind)
{
	if (!info)
		return pier__no_object(__func__);
	switch (kind) {
	case PIER_EXPORT_MMAP:
	case PIER_EXPORT_SYNC_EVENT:
		return 0;
	case PIER_EXPORT_CONN:
		return pier__devinfo_connects(info);
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
