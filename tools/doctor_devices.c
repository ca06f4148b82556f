/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

/* Which devices are there, and why is one not? */

static bool is_soft(const struct pier_devinfo *info)
{
	return !strcmp(pier_devinfo_kind(info), "soft");
}

bool doctor_has_rdma(const struct doctor *d)
{
	const char *name;

	for (size_t i = 0; i < pier_devlist_count(d->devs); i++)
		if (!is_soft(pier_devlist_get(d->devs, i)))
			return true;
	name = pier_devlist_missing(d->devs, 0);
	return name && *name;
}

/* An interface without a carrier is usual, a port of an adapter is not. */
static void add_device(struct doctor *d, const struct pier_devinfo *info)
{
	const char *netdev = pier_devinfo_netdev(info);
	bool active = pier_devinfo_active(info);
	json_t *finding;

	finding = doctor_add(d, "device", active || is_soft(info) ?
			     DOCTOR_OK : DOCTOR_WARNING, "%s: %s%s%s, MTU %u",
			     pier_devinfo_name(info), netdev,
			     *netdev ? ", " : "", active ? "active" : "down",
			     pier_devinfo_mtu(info));
	tool_json_set(finding, "device",
		      tool_json_text(pier_devinfo_name(info)));
	if (!active)
		doctor_remedy(finding, "ip link set %s up, and the cable",
			      *netdev ? netdev : "INTERFACE");
}

/* A machine without any RDMA device is what soft devices are for. */
static void add_missing(struct doctor *d)
{
	const char *name;
	json_t *finding;

	for (size_t i = 0; (name = pier_devlist_missing(d->devs, i)); i++) {
		finding = doctor_add(d, "missing_device",
				     *name ? DOCTOR_WARNING : DOCTOR_OK, "%s",
				     pier_devlist_missing_text(d->devs, i));
		tool_json_set(finding, "device", tool_json_text(name));
	}
}

/* The one that programs take, as they find it. */
static void choose(struct doctor *d)
{
	const char *named = getenv("PIER_DEVICE");
	const char *reason = d->args.device ? "named by -d" :
			     named && *named ? "named by PIER_DEVICE" :
			     "the first active one, as none is named";
	json_t *finding;

	if (pier_devlist_find(d->devs, d->args.device, &d->info)) {
		doctor_add(d, "chosen_device", DOCTOR_ERROR, "%s",
			   pier_last_error());
		return;
	}
	finding = doctor_add(d, "chosen_device",
			     pier_devinfo_active(d->info) ? DOCTOR_OK :
			     DOCTOR_ERROR, "%s is used: %s%s",
			     pier_devinfo_name(d->info), reason,
			     pier_devinfo_active(d->info) ? "" :
			     ", but it is down");
	tool_json_set(finding, "device",
		      tool_json_text(pier_devinfo_name(d->info)));
}

/* Has the chosen device the GID of -g? */
static void check_gid(struct doctor *d)
{
	uint32_t low = UINT32_MAX, high = 0;
	struct pier_gid gid;
	json_t *finding;

	for (size_t i = 0; !pier_devinfo_gid(d->info, i, &gid); i++) {
		if (gid.index == (uint32_t)d->args.gid_index)
			return;
		low = gid.index < low ? gid.index : low;
		high = gid.index > high ? gid.index : high;
	}
	d->unusable = true;
	finding = doctor_add(d, "chosen_gid", DOCTOR_ERROR, "%s has no GID "
			     "index %d, which -g names",
			     pier_devinfo_name(d->info), d->args.gid_index);
	tool_json_set(finding, "device",
		      tool_json_text(pier_devinfo_name(d->info)));
	tool_json_set(finding, "index", json_integer(d->args.gid_index));
	if (low > high)
		doctor_remedy(finding, "no -g; it has no GID at all");
	else if (low == high)
		doctor_remedy(finding, "-g %u, its only one", low);
	else
		doctor_remedy(finding, "-g %u to %u; pier info -d %s lists "
			      "them", low, high, pier_devinfo_name(d->info));
}

void doctor_devices(struct doctor *d)
{
	if (pier_devlist_create(&d->devs)) {
		doctor_add(d, "device", DOCTOR_ERROR, "%s", pier_last_error());
		return;
	}
	for (size_t i = 0; i < pier_devlist_count(d->devs); i++)
		add_device(d, pier_devlist_get(d->devs, i));
	add_missing(d);
	choose(d);
	if (d->info && d->args.gid_index >= 0)
		check_gid(d);
}
