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

static void remedy_down(json_t *finding, const struct pier_devinfo *info)
{
	const char *netdev = pier_devinfo_netdev(info);

	doctor_remedy(finding, "ip link set %s up, and the cable",
		      *netdev ? netdev : "INTERFACE");
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
		remedy_down(finding, info);
}

/*
 * What follows the reason in "REASON: REMEDY", a text of the library; NULL: it
 * has no remedy.  Reasons have colons, too, so the first word decides.
 */
static const char *find_remedy(const char *text)
{
	static const char *const begins[] = { ": bring ", ": chmod ",
					      ": install ", ": load ",
					      ": modprobe " };
	const char *first = NULL, *at;

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		at = strstr(text, begins[i]);
		if (at && (!first || at < first))
			first = at;
	}
	return first;
}

/* A finding of a text of the library; @remedy: if it has none. */
static json_t *add_text(struct doctor *d, const char *check,
			enum doctor_grade grade, const char *text,
			const char *remedy)
{
	const char *end = find_remedy(text);
	size_t len = end ? (size_t)(end - text) : strlen(text);
	json_t *finding = doctor_add(d, check, grade, "%.*s", (int)len, text);

	doctor_remedy(finding, "%s", end ? end + strlen(": ") : remedy);
	return finding;
}

/* A machine without any RDMA device is what soft devices are for. */
static void add_missing(struct doctor *d)
{
	const char *name;
	json_t *finding;

	for (size_t i = 0; (name = pier_devlist_missing(d->devs, i)); i++) {
		finding = add_text(d, "missing_device",
				   *name ? DOCTOR_WARNING : DOCTOR_OK,
				   pier_devlist_missing_text(d->devs, i),
				   "dmesg has the messages of its driver; soft "
				   "devices do not need it");
		tool_json_set(finding, "device", tool_json_text(name));
	}
}

/* The text of a name that is of no device may have commands for others. */
static void add_unknown(struct doctor *d, bool is_named)
{
	json_t *finding;

	if (!is_named) {
		add_text(d, "chosen_device", DOCTOR_ERROR, pier_last_error(),
			 "pier info lists the devices");
		return;
	}
	finding = doctor_add(d, "chosen_device", DOCTOR_ERROR, "%s",
			     pier_last_error());
	doctor_remedy(finding, "pier info lists the devices, of which %s has "
		      "to name one", d->args.device ? "-d" : "PIER_DEVICE");
}

/* The one that programs take, as they find it. */
static void choose(struct doctor *d)
{
	const char *named = getenv("PIER_DEVICE");
	bool by_env = named && *named;
	const char *reason = d->args.device ? "named by -d" :
			     by_env ? "named by PIER_DEVICE" :
			     "the first active one, as none is named";
	json_t *finding;

	if (pier_devlist_find(d->devs, d->args.device, &d->info)) {
		add_unknown(d, d->args.device || by_env);
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
	if (!pier_devinfo_active(d->info))
		remedy_down(finding, d->info);
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
	json_t *finding;

	if (pier_devlist_create(&d->devs)) {
		finding = doctor_add(d, "device", DOCTOR_ERROR, "%s",
				     pier_last_error());
		doctor_remedy(finding, "ulimit -n 1024, and a container that "
			      "permits sockets of netlink");
		return;
	}
	for (size_t i = 0; i < pier_devlist_count(d->devs); i++)
		add_device(d, pier_devlist_get(d->devs, i));
	add_missing(d);
	choose(d);
	if (d->info && d->args.gid_index >= 0)
		check_gid(d);
}
