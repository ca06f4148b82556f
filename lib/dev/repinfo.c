/* SPDX-License-Identifier: BSD-2-Clause */
#include "dev/rep_impl.h"

enum pier_rep_kind pier_repinfo_kind(const struct pier_repinfo *info)
{
	return info ? info->kind : 0;
}

uint32_t pier_repinfo_controller(const struct pier_repinfo *info)
{
	if (!info)
		return 0;
	return info->controller;
}

uint32_t pier_repinfo_pf(const struct pier_repinfo *info)
{
	if (!info)
		return 0;
	return info->pf;
}

uint32_t pier_repinfo_number(const struct pier_repinfo *info)
{
	if (!info)
		return 0;
	return info->number;
}

const char *pier_repinfo_port(const struct pier_repinfo *info)
{
	if (!info)
		return "";
	return info->port;
}

const char *pier_repinfo_netdev(const struct pier_repinfo *info)
{
	if (!info)
		return "";
	return info->netdev;
}

const char *pier_repinfo_vuid(const struct pier_repinfo *info)
{
	if (!info)
		return "";
	return info->vuid;
}

const char *pier_repinfo_parent(const struct pier_repinfo *info)
{
	if (!info)
		return "";
	return info->parent;
}

const char *pier_repinfo_pci(const struct pier_repinfo *info)
{
	if (!info)
		return "";
	return info->pci;
}

int pier_repinfo_is_pci(const struct pier_repinfo *info, const char *pci)
{
	if (!info)
		return 0;
	return pier__pci_is(info->pci, pci);
}
