/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/fail.h"
#include "core/random.h"
#include "dev/dev_impl.h"

int pier__dev_open_port(const struct pier__port *port, struct ibv_pd *pd,
			struct pier_dev **ret)
{
	struct pier_dev *dev;
	int err;

	if (!port->active)
		return pier__fail(-ENETDOWN, "%s port %u is down: bring %s up",
				  port->name, port->port,
				  port->netdev[0] ? port->netdev : "its link");
	dev = calloc(1, sizeof(*dev));
	if (!dev)
		return pier__fail(-ENOMEM, "%s: no memory", port->name);

	if (pd)
		err = port->fabric->dev->adopt(port, pd, &dev->fdev);
	else
		err = port->fabric->dev->open(port, &dev->fdev);
	if (err) {
		free(dev);
		return err;
	}
	pthread_mutex_init(&dev->lock, NULL);
	dev->info.port = dev->fdev->port;
	dev->fabric = port->fabric;
	pier__random(dev->id, sizeof(dev->id));
	*ret = dev;
	return 0;
}

int pier_dev_open(const char *name, struct pier_dev **ret)
{
	const struct pier_devinfo *info;
	struct pier_devlist *list;
	int err = pier_devlist_create(&list);

	if (err)
		return err;
	err = pier_devlist_find(list, name, &info);
	if (!err)
		err = pier__dev_open_port(&info->port, NULL, ret);
	pier_devlist_destroy(list);
	return err;
}

void pier_dev_users(const struct pier_dev *dev, unsigned int *ret_mmaps,
		    unsigned int *ret_ctxs)
{
	if (!dev)
		return;
	*ret_mmaps = atomic_load(&dev->mmaps);
	*ret_ctxs = atomic_load(&dev->ctxs);
}

void pier_dev_close(struct pier_dev *dev)
{
	unsigned int mmaps, ctxs;

	if (!dev)
		return;
	pier_dev_users(dev, &mmaps, &ctxs);
	if (mmaps || ctxs) {
		pier__log(PIER_LOG_CRITICAL, "dev", "%s closed while %u "
			  "objects use it, %u mmaps and %u contexts: it "
			  "remains open", dev->info.port.name, mmaps + ctxs,
			  mmaps, ctxs);
		return;
	}
	dev->fabric->dev->close(dev->fdev);
	pthread_mutex_destroy(&dev->lock);
	free(dev);
}

const struct pier_devinfo *pier_dev_info(const struct pier_dev *dev)
{
	if (!dev)
		return NULL;
	return &dev->info;
}

void pier__dev_hold(struct pier_dev *dev)
{
	atomic_fetch_add(&dev->ctxs, 1);
}

void pier__dev_drop(struct pier_dev *dev)
{
	atomic_fetch_sub(&dev->ctxs, 1);
}

void pier__dev_hold_mmap(struct pier_dev *dev)
{
	atomic_fetch_add(&dev->mmaps, 1);
}

void pier__dev_drop_mmap(struct pier_dev *dev)
{
	atomic_fetch_sub(&dev->mmaps, 1);
}

const char *pier__dev_id_text(const uint8_t id[8], char ret[PIER__DEV_ID_TEXT])
{
	for (size_t i = 0; i < 8; i++)
		snprintf(ret + 2 * i, 3, "%02x", id[i]);
	return ret;
}
