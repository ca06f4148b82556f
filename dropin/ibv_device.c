/* SPDX-License-Identifier: BSD-2-Clause */
/* Devices, and the list of them. */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "dropin/dropin.h"
#include "fabric/soft/soft.h"

void pier__dropin_device_put(struct dropin_device *device)
{
	if (atomic_fetch_sub(&device->refs, 1) == 1)
		free(device);
}

/* Names and paths are those that a device of the kernel would have. */
static struct ibv_device *device_new(const struct pier__port *port,
				     size_t number)
{
	struct dropin_device *device = calloc(1, sizeof(*device));
	struct ibv_device *dev;

	if (!device)
		return NULL;
	device->port = *port;
	atomic_init(&device->refs, 1);
	dev = &device->dev;
	dev->node_type = IBV_NODE_CA;
	dev->transport_type = IBV_TRANSPORT_IB;
	snprintf(dev->name, sizeof(dev->name), "%s", port->name);
	snprintf(dev->dev_name, sizeof(dev->dev_name), "uverbs%zu", number);
	snprintf(dev->dev_path, sizeof(dev->dev_path),
		 "/sys/class/infiniband_verbs/%s", dev->dev_name);
	snprintf(dev->ibdev_path, sizeof(dev->ibdev_path),
		 "/sys/class/infiniband/%s", port->name);
	return dev;
}

/* Returns how many of @ports are in @list then; fewer: out of memory. */
static size_t fill(const struct pier__ports *ports, struct ibv_device **list)
{
	size_t i;

	for (i = 0; i < ports->count; i++) {
		list[i] = device_new(&ports->port[i], i);
		if (!list[i])
			break;
	}
	return i;
}

struct ibv_device **ibv_get_device_list(int *num_devices)
{
	struct pier__ports ports = { 0 };
	struct ibv_device **list = NULL;
	size_t count = ports.count;
	int err;

	if (num_devices)
		*num_devices = 0;
	err = pier__soft_dev.list(&ports);
	if (!err)
		list = calloc(ports.count + 1, sizeof(struct ibv_device *));
	if (list && fill(&ports, list) < ports.count) {
		ibv_free_device_list(list);
		list = NULL;
	}
	count = ports.count;
	free(ports.port);
	if (!list)
		return pier__dropin_null(err ? err : -ENOMEM);
	if (num_devices)
		*num_devices = (int)count;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	size_t i;

	for (i = 0; list && list[i]; i++)
		pier__dropin_device_put((struct dropin_device *)list[i]);
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

/* The kernel's, which has none of these devices. */
int ibv_get_device_index(struct ibv_device *device)
{
	(void)device;
	return -1;
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
	return htobe64(((struct dropin_device *)device)->port.guid);
}
