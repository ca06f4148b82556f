/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

/* Which device and address lead to the host, and may its answers come back? */

/*
 * The index of the device's GID that is the route's own address; below 0: there
 * is none.  Interfaces may have the same link-local address.
 */
static int index_of(const struct doctor *d, const struct pier_devinfo *info)
{
	const struct doctor_path *path = d->path;

	if (path->own.sa.sa_family == AF_INET6 &&
	    path->own.in6.sin6_scope_id &&
	    !strcmp(pier_devinfo_kind(info), "soft") &&
	    strcmp(pier_devinfo_netdev(info), path->netdev))
		return TOOL_NOT_THERE;
	return tool_gid_of(info, path->own_text);
}

/* The active device that has the route's own address; NULL: none has. */
static const struct pier_devinfo *device_of(const struct doctor *d)
{
	for (size_t i = 0; i < pier_devlist_count(d->devs); i++) {
		const struct pier_devinfo *info = pier_devlist_get(d->devs, i);

		if (pier_devinfo_active(info) && index_of(d, info) >= 0)
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

/* The keys of a choice; below 0 for @index: the GID is not known. */
static void set_keys(const struct doctor *d, json_t *finding, int index,
		     const char *gid)
{
	tool_json_set(finding, "device",
		      tool_json_text(pier_devinfo_name(d->info)));
	if (index >= 0) {
		tool_json_set(finding, "index", json_integer(index));
		tool_json_set(finding, "gid", tool_json_text(gid));
	}
	tool_json_set(finding, "mtu", json_integer(pier_devinfo_mtu(d->info)));
}

/* The device has the route's own address as @index; below 0: the host's. */
static void add_choice(struct doctor *d, int index)
{
	const char *name = pier_devinfo_name(d->info);
	json_t *finding;

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
	set_keys(d, finding, index, d->path->own_text);
}

/* The GID @text of -g is of the other family; the route's own is @index. */
static void add_family(struct doctor *d, const char *text, int index)
{
	bool four = d->path->peer.sa.sa_family == AF_INET;
	json_t *finding;

	d->unusable = true;
	finding = doctor_add(d, "choice", DOCTOR_ERROR, "%s, GID index %d, "
			     "which -g names, is %s: %s is reached from an %s "
			     "address", pier_devinfo_name(d->info),
			     d->args.gid_index, text, d->path->peer_text,
			     four ? "IPv4" : "IPv6");
	set_keys(d, finding, d->args.gid_index, text);
	if (index < 0)
		doctor_remedy(finding, "no -g");
	else
		doctor_remedy(finding, "-g %d, which is %s, or no -g", index,
			      d->path->own_text);
}

/* -g names @addr, whatever the route's own address is, which is @index. */
static void add_named(struct doctor *d, const union doctor_addr *addr,
		      int index)
{
	char text[DOCTOR_ADDR_TEXT];
	json_t *finding;

	doctor_addr_text(addr, text);
	if (addr->sa.sa_family != d->path->peer.sa.sa_family) {
		add_family(d, text, index);
		return;
	}
	finding = doctor_add(d, "choice", DOCTOR_OK, "%s, GID index %d, which "
			     "is %s, and MTU %u are used for %s: -g names it",
			     pier_devinfo_name(d->info), d->args.gid_index,
			     text, pier_devinfo_mtu(d->info), d->host);
	set_keys(d, finding, d->args.gid_index, text);
}

void doctor_choice(struct doctor *d)
{
	int index = index_of(d, d->info);
	union doctor_addr named;

	if (index < 0 && !is_local(d))
		add_other(d);
	else if (doctor_addr_named(d, &named))
		add_named(d, &named, index);
	else
		add_choice(d, index);
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
