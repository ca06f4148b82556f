/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

/* Which device and address lead to the host, and may its answers come back? */

/* The active device that has the route's own address; NULL: none has. */
static const struct pier_devinfo *device_of(const struct doctor *d)
{
	for (size_t i = 0; i < pier_devlist_count(d->devs); i++) {
		const struct pier_devinfo *info = pier_devlist_get(d->devs, i);

		if (pier_devinfo_active(info) &&
		    tool_gid_of(info, d->path->own_text) >= 0)
			return info;
	}
	return NULL;
}

static void add_other(struct doctor *d)
{
	const struct pier_devinfo *other = device_of(d);
	json_t *finding;

	d->unusable = true;
	finding = doctor_add(d, "choice", DOCTOR_ERROR, "%s does not have %s, "
			     "from which %s is reached",
			     pier_devinfo_name(d->info), d->path->own_text,
			     d->path->peer_text);
	if (other)
		doctor_remedy(finding, "-d %s, or PIER_DEVICE=%s",
			      pier_devinfo_name(other),
			      pier_devinfo_name(other));
	else
		doctor_remedy(finding, "ip route get %s; no active device has "
			      "that address", d->path->peer_text);
}

/* An address of this host is reached from any of its devices. */
static bool is_local(const struct doctor *d)
{
	return !strcmp(d->path->own_text, d->path->peer_text);
}

void doctor_choice(struct doctor *d)
{
	const char *name = pier_devinfo_name(d->info);
	int index = tool_gid_of(d->info, d->path->own_text);
	json_t *finding;

	if (index < 0 && !is_local(d)) {
		add_other(d);
		return;
	}
	if (index < 0)
		finding = doctor_add(d, "choice", DOCTOR_OK, "%s, with an "
				     "address of its own, and MTU %u are used "
				     "for %s: it is this host", name,
				     pier_devinfo_mtu(d->info), d->host);
	else
		finding = doctor_add(d, "choice", DOCTOR_OK, "%s, GID index "
				     "%d, which is %s, and MTU %u are used for "
				     "%s: the route leads from there", name,
				     index, d->path->own_text,
				     pier_devinfo_mtu(d->info), d->host);
	tool_json_set(finding, "device", tool_json_text(name));
	if (index >= 0)
		tool_json_set(finding, "index", json_integer(index));
	tool_json_set(finding, "gid", tool_json_text(d->path->own_text));
	tool_json_set(finding, "mtu", json_integer(pier_devinfo_mtu(d->info)));
}

/* The kernel takes the greater of two numbers. */
static long strictness(const char *netdev)
{
	char line[DOCTOR_LINE];
	long all = 0, own = 0;

	if (doctor_line(line, "/proc/sys/net/ipv4/conf/all/rp_filter"))
		all = strtol(line, NULL, 10);
	if (doctor_line(line, "/proc/sys/net/ipv4/conf/%s/rp_filter", netdev))
		own = strtol(line, NULL, 10);
	return all > own ? all : own;
}

/*
 * A strict filter drops packets of the host that arrive on the device's
 * interface if the route back leads over another one.
 */
void doctor_rp_filter(struct doctor *d)
{
	const char *netdev = pier_devinfo_netdev(d->info);
	bool other = strcmp(netdev, d->path->netdev) && !is_local(d);
	json_t *finding;

	if (d->path->peer.sa.sa_family != AF_INET)
		return;
	if (strictness(netdev) != 1) {
		doctor_add(d, "rp_filter", DOCTOR_OK, "rp_filter of %s is not "
			   "strict", netdev);
		return;
	}
	finding = doctor_add(d, "rp_filter", other ? DOCTOR_ERROR : DOCTOR_OK,
			     "rp_filter of %s is strict: packets of %s may "
			     "arrive on %s only%s", netdev, d->path->peer_text,
			     d->path->netdev, other ? "" : ", as they do");
	if (other)
		doctor_remedy(finding, "sysctl -w net.ipv4.conf.%s.rp_filter=2,"
			      " and net.ipv4.conf.all.rp_filter=2", netdev);
}
