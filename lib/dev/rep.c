/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "dev/rep_impl.h"

/* Is it still the same port of the same switch? */
static int find_port(const char *root, const struct pier_repinfo *info)
{
	struct pier_repinfo now = *info;

	pier__rep_read(root, &now);
	if (!strcmp(now.switch_id, info->switch_id) &&
	    !strcmp(now.port, info->port))
		return 0;
	return pier__fail(-ENODEV, "%s: its representor %s (%s) was removed or "
			  "renamed after it was listed", info->parent,
			  info->port, info->netdev);
}

/* A device that stands for itself. */
static int find_parent(const struct pier_repinfo *info)
{
	const struct pier_devinfo *parent;
	struct pier_devlist *list;
	int err = pier_devlist_create(&list);

	if (err)
		return err;
	err = pier_devlist_find(list, info->parent, &parent);
	pier_devlist_destroy(list);
	return err;
}

int pier__rep_open(const char *root, const struct pier_repinfo *info,
		   struct pier_rep **ret)
{
	struct pier_rep *rep;
	int err;

	if (info->switch_id[0])
		err = find_port(root, info);
	else
		err = find_parent(info);
	if (err)
		return err;
	rep = calloc(1, sizeof(*rep));
	if (!rep)
		return pier__fail(-ENOMEM, "%s: no memory for a representor",
				  info->parent);

	rep->info = *info;
	*ret = rep;
	return 0;
}

int pier_rep_open(const struct pier_repinfo *info, struct pier_rep **ret)
{
	if (!info)
		return pier__no_object(__func__);
	return pier__rep_open("", info, ret);
}

int pier_rep_open_by_name(struct pier_dev *dev, const char *name,
			  struct pier_rep **ret)
{
	const struct pier_repinfo *info;
	struct pier_replist *list;
	int err;

	if (!dev)
		return pier__no_object(__func__);
	err = pier_replist_create(pier_dev_info(dev), PIER_REP_ALL, &list);
	if (err)
		return err;
	err = pier_replist_find(list, name, &info);
	if (!err)
		err = pier_rep_open(info, ret);
	pier_replist_destroy(list);
	return err;
}

void pier_rep_close(struct pier_rep *rep)
{
	free(rep);
}

const struct pier_repinfo *pier_rep_info(const struct pier_rep *rep)
{
	if (!rep)
		return NULL;
	return &rep->info;
}
