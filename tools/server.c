/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pier/pier.h>

#include "tool.h"

/* Which devices of this host a server listens on. */

int tool_gid_of(const struct pier_devinfo *info, const char *address)
{
	uint8_t raw[16] = { [10] = 0xff, [11] = 0xff };	/* IPv4, mapped */
	char text[INET6_ADDRSTRLEN];
	int index = TOOL_NOT_THERE;
	struct pier_gid gid;

	/* a link-local one has its interface behind it, a GID has none */
	if (snprintf(text, sizeof(text), "%.*s", (int)strcspn(address, "%"),
		     address) >= (int)sizeof(text))
		return TOOL_NO_ADDRESS;
	if (inet_pton(AF_INET, text, raw + 12) != 1 &&
	    inet_pton(AF_INET6, text, raw) != 1)
		return TOOL_NO_ADDRESS;
	/* an address may be there for RoCE v1, too */
	for (size_t i = 0; !pier_devinfo_gid(info, i, &gid); i++)
		if (!memcmp(gid.raw, raw, sizeof(raw)) &&
		    (index < 0 || gid.type == PIER_GID_ROCE_V2))
			index = (int)gid.index;
	return index;
}

int tool_on_all_devices(const struct pier_args *args, const char *address)
{
	const char *chosen = getenv("PIER_DEVICE");

	return !args->device && args->gid_index < 0 &&
	       !(chosen && chosen[0]) &&
	       (!address[0] || tool_is_any(address));
}

const char *tool_device_of(const char *address, char ret[TOOL_DEVICE_MAX])
{
	const char *chosen = getenv("PIER_DEVICE"), *found = NULL;
	const struct pier_devinfo *info;
	struct pier_devlist *list;

	if ((chosen && chosen[0]) || pier_devlist_create(&list))
		return NULL;
	for (size_t i = 0; !found && (info = pier_devlist_get(list, i)); i++) {
		if (!pier_devinfo_active(info) ||
		    tool_gid_of(info, address) < 0)
			continue;
		snprintf(ret, TOOL_DEVICE_MAX, "%s:%u",
			 pier_devinfo_name(info), pier_devinfo_port(info));
		found = ret;
	}
	pier_devlist_destroy(list);
	return found;
}

static void print_fault(const char *command, const struct pier_host *host,
			size_t i)
{
	const char *text = pier_host_error_text(host, i);
	const char *name = pier_host_name(host, i);
	int is_named = strstr(text, name) != NULL;

	if (pier_host_dev(host, i) && pier_host_error(host, i) &&
	    pier_devinfo_active(pier_dev_info(pier_host_dev(host, i))))
		tool_message("%s: %s%s%s", command, is_named ? "" : name,
			     is_named ? "" : ": ", text);
}

void tool_print_host(const char *command, const struct pier_host *host,
		     FILE *file)
{
	const char *separator = " ";
	int column = fprintf(file, "%s listens on port %u, devices", command,
			     pier_host_port(host));

	for (size_t i = 0; i < pier_host_count(host); i++) {
		if (!pier_host_rdma(host, i) || pier_host_error(host, i))
			continue;
		column = tool_word(file, pier_host_name(host, i), separator,
				   column, 2);
		separator = ", ";
	}
	fprintf(file, "\n");
	fflush(file);
	for (size_t i = 0; i < pier_host_count(host); i++)
		print_fault(command, host, i);
}
