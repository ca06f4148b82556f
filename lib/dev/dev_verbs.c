/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>

#include <pier/verbs.h>

#include "core/fail.h"
#include "dev/dev_impl.h"

int pier_dev_open_pd(struct ibv_pd *pd, uint32_t port, struct pier_dev **ret)
{
	const struct pier_devinfo *info;
	struct pier_devlist *list;
	char name[sizeof(info->port.name) + 16];
	int err;

	if (!pd)
		return pier__fail(-EINVAL, "no protection domain");
	snprintf(name, sizeof(name), "%s:%u", pd->context->device->name, port);
	err = pier_devlist_create(&list);
	if (err)
		return err;
	err = pier_devlist_find(list, name, &info);
	if (!err)
		err = pier__dev_open_port(&info->port, pd, ret);
	pier_devlist_destroy(list);
	return err;
}

int pier_dev_pd(const struct pier_dev *dev, struct ibv_pd **ret)
{
	struct ibv_pd *pd;

	if (!dev)
		return pier__no_object(__func__);
	pd = dev->fabric->dev->pd(dev->fdev);
	if (!pd)
		return pier__fail(-EOPNOTSUPP, "%s has no protection domain: "
				  "it is no verbs device", dev->info.port.name);
	*ret = pd;
	return 0;
}
