/* SPDX-License-Identifier: BSD-2-Clause */
/* Devices, and the list of them. */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "dropin/dropin.h"
#include "dropin/real/real.h"
#include "fabric/soft/soft.h"

void pier__dropin_device_put(struct dropin_device *device)
{
	if (atomic_fetch_sub(&device->refs, 1) == 1)
		free(device);
}

/*
 * The library of real devices has NULL in this member, which verbs calls never
 * used.
 */
static struct ibv_context *is_soft(struct ibv_device *device, int fd)
{
	(void)device;
	(void)fd;
	return NULL;
}

bool pier__dropin_is_soft(const struct ibv_device *device)
{
	return device->_ops._dummy1 == is_soft;
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
	dev->_ops._dummy1 = is_soft;
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

/*
 * A real device keeps its name and its number.  Returns how many of @ports are
 * in @list then; below 0: out of memory.
 */
static int fill(const struct pier__ports *ports, struct ibv_device **list)
{
	size_t first, i;
	int count = 0;

	pier__dropin_real();
	first = pier__dropin_real_next();
	for (i = 0; i < ports->count; i++) {
		if (pier__dropin_real_has(ports->port[i].name))
			continue;
		list[count] = device_new(&ports->port[i], first + i);
		if (!list[count++])
			return -1;
	}
	return count;
}

struct ibv_device **ibv_get_device_list(int *num_devices)
{
	struct pier__ports ports = { 0 };
	struct ibv_device **list = NULL;
	int count = 0, err;

	if (num_devices)
		*num_devices = 0;
	err = pier__soft_dev.list(&ports);
	if (!err)
		list = calloc(ports.count + 1, sizeof(struct ibv_device *));
	if (list)
		count = fill(&ports, list);
	if (count < 0) {
		ibv_free_device_list(list);
		list = NULL;
	}
	free(ports.port);
	if (!list)
		return pier__dropin_null(err ? err : -ENOMEM);
	if (num_devices)
		*num_devices = count;
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
