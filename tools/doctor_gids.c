/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "doctor.h"

/* GIDs that connections do not choose, and devices without any other. */

static const char *gid_text(const struct pier_gid *gid,
			    char ret[INET6_ADDRSTRLEN])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (!memcmp(gid->raw, mapped, sizeof(mapped)))
		inet_ntop(AF_INET, gid->raw + 12, ret, INET6_ADDRSTRLEN);
	else
		inet_ntop(AF_INET6, gid->raw, ret, INET6_ADDRSTRLEN);
	return ret;
}

static void add_rejected(struct doctor *d, const struct pier_devinfo *info,
			 const struct pier_gid *gid)
{
	char text[INET6_ADDRSTRLEN];
	json_t *finding;

	finding = doctor_add(d, "rejected_gid", DOCTOR_OK, "%s, %s",
			     pier_last_error(), gid_text(gid, text));
	tool_json_set(finding, "device",
		      tool_json_text(pier_devinfo_name(info)));
	tool_json_set(finding, "index", json_integer(gid->index));
	tool_json_set(finding, "gid", json_string(text));
	doctor_remedy(finding, "-g %u uses it nevertheless", gid->index);
}

static void check(struct doctor *d, const struct pier_devinfo *info)
{
	const char *netdev = pier_devinfo_netdev(info);
	struct pier_gid gid;
	json_t *finding;
	size_t usable = 0;

	for (size_t i = 0; !pier_devinfo_gid(info, i, &gid); i++) {
		if (pier_devinfo_can_gid(info, i))
			add_rejected(d, info, &gid);
		else
			usable++;
	}
	if (usable)
		return;
	finding = doctor_add(d, "no_gid", info == d->info ? DOCTOR_ERROR :
			     DOCTOR_WARNING, "%s has no GID that connections "
			     "choose", pier_devinfo_name(info));
	tool_json_set(finding, "device",
		      tool_json_text(pier_devinfo_name(info)));
	doctor_remedy(finding, "ip addr add ADDRESS/24 dev %s",
		      *netdev ? netdev : "INTERFACE");
}

void doctor_gids(struct doctor *d)
{
	for (size_t i = 0; i < pier_devlist_count(d->devs); i++)
		check(d, pier_devlist_get(d->devs, i));
}
