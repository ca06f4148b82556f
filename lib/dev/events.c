/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "core/clock.h"
#include "core/fail.h"
#include "dev/dev_impl.h"

/* A query is some system calls: many failures at once share one. */
#define QUERY_AGAIN (10 * PIER__MS)

/*
 * Asynchronous events.  The first thread that finds the descriptor readable
 * reads them all and stores the result in the device, for the contexts of all
 * threads.
 */
static void take(struct pier_dev *dev, int event)
{
	const char *name = dev->info.port.name;

	switch (event) {
	case IBV_EVENT_DEVICE_FATAL:
		pier__log(PIER_LOG_ERROR, "dev", "%s was removed", name);
		atomic_store(&dev->gone, true);
		break;
	case IBV_EVENT_PORT_ERR:
		pier__log(PIER_LOG_WARNING, "dev", "%s: its port is down",
			  name);
		break;
	case IBV_EVENT_PORT_ACTIVE:
		pier__log(PIER_LOG_INFO, "dev", "%s: its port is up", name);
		break;
	case IBV_EVENT_CQ_ERR:
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_SRQ_ERR:
		pier__log(PIER_LOG_ERROR, "dev", "%s: it reports that a %s "
			  "has failed", name, event == IBV_EVENT_CQ_ERR ?
			  "completion queue" : event == IBV_EVENT_SRQ_ERR ?
			  "receive queue" : "queue pair");
		break;
	default:	/* addresses, LID: the port is queried again */
		pier__log(PIER_LOG_DEBUG, "dev", "%s: event %d", name, event);
	}
}

/*
 * Query the port, under the lock.  Errors: -ENODEV, removed; a caller that can
 * use the earlier state ignores others.
 */
static int query(struct pier_dev *dev)
{
	int err;

	if (atomic_load(&dev->gone))
		return -ENODEV;
	err = dev->fabric->dev->query(dev->fdev);
	if (err == -ENODEV)
		take(dev, IBV_EVENT_DEVICE_FATAL);
	dev->queried = pier__now();
	return err;
}

static void take_all(struct pier_dev *dev)
{
	bool any = false;
	int event;

	while (dev->fabric->dev->event(dev->fdev, &event) == 0) {
		take(dev, event);
		any = true;
	}
	if (!any)
		return;
	query(dev);
	atomic_fetch_add(&dev->changes, 1);
}

void pier__dev_events(struct pier_dev *dev)
{
	pthread_mutex_lock(&dev->lock);
	take_all(dev);
	pthread_mutex_unlock(&dev->lock);
}

void pier__dev_port(struct pier_dev *dev, struct pier__port *ret)
{
	pthread_mutex_lock(&dev->lock);
	take_all(dev);
	if (dev->fdev->mute && pier__now() - dev->queried > QUERY_AGAIN)
		query(dev);
	*ret = dev->fdev->port;
	pthread_mutex_unlock(&dev->lock);
}

int pier__dev_alive(struct pier_dev *dev)
{
	if (!atomic_load(&dev->gone))
		return 0;
	return pier__fail(-ENODEV, "%s was removed: close it, as the "
			  "removal may wait for that, and open another "
			  "device",
			  dev->info.port.name);
}

int pier__dev_lost(struct pier_dev *dev)
{
	pthread_mutex_lock(&dev->lock);
	take_all(dev);
	if (!atomic_load(&dev->gone))
		take(dev, IBV_EVENT_DEVICE_FATAL);
	pthread_mutex_unlock(&dev->lock);
	return pier__dev_alive(dev);
}

int pier__dev_now(struct pier_dev *dev, struct pier__port *ret)
{
	int err = 0;

	pthread_mutex_lock(&dev->lock);
	take_all(dev);
	if (pier__now() - dev->queried > QUERY_AGAIN)
		err = query(dev);
	*ret = dev->fdev->port;
	pthread_mutex_unlock(&dev->lock);
	return atomic_load(&dev->gone) ? -ENODEV : err;
}
