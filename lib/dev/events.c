/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/fail.h"
#include "dev/dev.h"

/*
 * Asynchronous events.  Whoever sees the descriptor readable first takes them
 * all and leaves what they mean in the device, where its contexts in every
 * thread look for it.
 */
static void take(struct pier_dev *dev, int event)
{
	const char *name = dev->info.port.name;

	switch (event) {
	case IBV_EVENT_DEVICE_FATAL:
		atomic_store(&dev->gone, true);
		pier__log(PIER_LOG_ERROR, "dev", "%s is gone", name);
		break;
	case IBV_EVENT_PORT_ERR:
		atomic_store(&dev->port_down, true);
		pier__log(PIER_LOG_WARNING, "dev", "%s: its port is down",
			  name);
		break;
	case IBV_EVENT_PORT_ACTIVE:
		atomic_store(&dev->port_down, false);
		pier__log(PIER_LOG_INFO, "dev", "%s: its port is up", name);
		break;
	default:	/* addresses, LID: the port is asked again */
		pier__log(PIER_LOG_DEBUG, "dev", "%s: event %d", name, event);
	}
}

void pier__dev_events(struct pier_dev *dev)
{
	const struct pier__fabric_dev *fab = dev->fabric->dev;
	bool any = false;
	int event;

	pthread_mutex_lock(&dev->lock);
	while (fab->event(dev->fdev, &event) == 0) {
		take(dev, event);
		any = true;
	}
	if (any && !atomic_load(&dev->gone))
		fab->query(dev->fdev);
	if (any)
		atomic_fetch_add(&dev->changes, 1);
	pthread_mutex_unlock(&dev->lock);
}

void pier__dev_port(struct pier_dev *dev, struct pier__port *ret)
{
	pier__dev_events(dev);
	pthread_mutex_lock(&dev->lock);
	*ret = dev->fdev->port;
	pthread_mutex_unlock(&dev->lock);
}

const char *pier__dev_trouble(const struct pier_dev *dev)
{
	if (atomic_load(&dev->gone))
		return "; the device is gone";
	if (atomic_load(&dev->port_down))
		return "; the port here is down";
	return "";
}
