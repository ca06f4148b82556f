/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "dev/dev_impl.h"
#include "fabric/pci.h"
#include "fabric/registry.h"

struct pier_devlist {
	struct pier__ports ports;
	struct pier_devinfo *info;
};

/* The snapshot of what every kind of device lists, preferred kinds first. */
static int collect(struct pier__ports *ports)
{
	int err = 0;

	for (int i = 0; !err && pier__fabrics[i]; i++)
		err = pier__fabrics[i]->dev->list(ports);
	return err;
}

int pier_devlist_create(struct pier_devlist **ret)
{
	struct pier_devlist *list = calloc(1, sizeof(*list));
	int err;

	if (!list)
		return pier__fail(-ENOMEM, "device list: no memory");
	err = collect(&list->ports);
	if (err)
		goto err_destroy;

	list->info = calloc(list->ports.count + 1, sizeof(*list->info));
	if (!list->info) {
		err = pier__fail(-ENOMEM, "device list: no memory");
		goto err_destroy;
	}
	for (size_t i = 0; i < list->ports.count; i++)
		list->info[i].port = list->ports.port[i];

	*ret = list;
	return 0;

err_destroy:
	pier_devlist_destroy(list);
	return err;
}

void pier_devlist_destroy(struct pier_devlist *list)
{
	if (!list)
		return;
	free(list->ports.port);
	free(list->info);
	free(list);
}

size_t pier_devlist_count(const struct pier_devlist *list)
{
	if (!list)
		return 0;
	return list->ports.count;
}

const struct pier_devinfo *pier_devlist_get(const struct pier_devlist *list,
					    size_t i)
{
	if (!list)
		return NULL;
	return i < list->ports.count ? &list->info[i] : NULL;
}

/*
 * The first active one: kinds and devices are listed in order of preference.
 * A device on which pier cannot make connections is no default.
 */
static int find_default(const struct pier_devlist *list,
			const struct pier_devinfo **ret)
{
	for (size_t i = 0; i < list->ports.count; i++) {
		const struct pier__port *port = &list->info[i].port;

		if (port->active && !port->limits.by_address) {
			*ret = &list->info[i];
			return 0;
		}
	}
	return pier__fail(-ENODEV, "no device with an active port among %zu: "
			  "bring a network interface up, lo will do",
			  list->ports.count);
}

/* "mlx5_0:2" is port 2; @name without ":" is any port. */
static bool is_name(const struct pier__port *port, const char *name)
{
	size_t len = strlen(port->name);
	unsigned int number;
	int end = 0;

	if (strncmp(name, port->name, len))
		return false;
	if (!name[len])
		return true;
	return sscanf(name + len, ":%u%n", &number, &end) == 1 &&
	       !name[len + (size_t)end] && number == port->port;
}

/* Does @name begin like those of a kind of which no device is missing? */
static bool is_of_other_kind(const struct pier__ports *ports, const char *name)
{
	size_t len;

	for (int i = 0; pier__fabrics[i]; i++) {
		len = strlen(pier__fabrics[i]->name);
		if (pier__fabrics[i] != ports->missing && name[len] == '_' &&
		    !strncmp(name, pier__fabrics[i]->name, len))
			return true;
	}
	return false;
}

/* The error message lists what is missing and which devices there are. */
static int not_found(const struct pier_devlist *list, const char *name)
{
	const struct pier__ports *ports = &list->ports;
	bool named = ports->missing && !is_of_other_kind(ports, name);
	char names[256] = "";
	size_t len = 0;

	for (size_t i = 0; i < list->ports.count && len < sizeof(names); i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len,
					"%s%s", i ? ", " : "",
					list->ports.port[i].name);
	return pier__fail(-ENODEV, "no device, netdev or PCI address "
			  "\"%.64s\"; %s%sthere are: %s", name,
			  named ? ports->reason : "", named ? "; " : "",
			  names[0] ? names : "none");
}

const char *pier_devlist_hint(const struct pier_devlist *list)
{
	if (!list)
		return "";
	return list->ports.repairable ? list->ports.reason : "";
}

static const struct pier__absent *absent(const struct pier_devlist *list,
					 size_t i)
{
	return list && i < list->ports.absent_count ? &list->ports.absent[i] :
						      NULL;
}

const char *pier_devlist_missing(const struct pier_devlist *list, size_t i)
{
	return absent(list, i) ? absent(list, i)->device : NULL;
}

const char *pier_devlist_missing_text(const struct pier_devlist *list,
				      size_t i)
{
	return absent(list, i) ? absent(list, i)->reason : NULL;
}

int pier_devlist_find(const struct pier_devlist *list, const char *name,
		      const struct pier_devinfo **ret)
{
	if (!list)
		return pier__no_object(__func__);
	if (!name || !name[0])
		name = getenv("PIER_DEVICE");
	if (!name || !name[0])
		return find_default(list, ret);

	for (size_t i = 0; i < list->ports.count; i++) {
		const struct pier__port *port = &list->info[i].port;

		if (is_name(port, name) || pier__pci_is(port->pci, name) ||
		    (port->netdev[0] && !strcmp(port->netdev, name))) {
			*ret = &list->info[i];
			return 0;
		}
	}
	return not_found(list, name);
}
