/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "doca_dev_impl.h"
#include "doca_fail.h"

/* The other side of each device has its address and a name made from it. */
struct doca_devinfo_rep {
	char pci[DOCA_DEVINFO_REP_PCI_ADDR_SIZE];
	char iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
	char vuid[DOCA_DEVINFO_REP_VUID_SIZE];
};

struct doca_dev_rep {
	struct doca_devinfo_rep info;
};

/* What create_list returns is the last member. */
struct replist {
	struct doca_devinfo_rep *infos;
	struct doca_devinfo_rep *array[];
};

static struct replist *allocate(size_t count)
{
	struct replist *list =
		calloc(1, sizeof(*list) + (count + 1) * sizeof(list->array[0]));

	if (!list)
		return NULL;
	list->infos = calloc(count + 1, sizeof(list->infos[0]));
	if (list->infos)
		return list;
	free(list);
	return NULL;
}

static void describe(const struct pier_devinfo *info,
		     struct doca_devinfo_rep *ret)
{
	snprintf(ret->pci, sizeof(ret->pci), "%s", pier_devinfo_pci(info));
	snprintf(ret->iface, sizeof(ret->iface), "%s",
		 pier_devinfo_netdev(info));
	snprintf(ret->vuid, sizeof(ret->vuid), "PIER%s",
		 pier_devinfo_name(info));
}

static doca_error_t fill(struct pier_devlist *devs,
			 struct doca_devinfo_rep ***list, uint32_t *count)
{
	size_t n = pier_devlist_count(devs);
	struct replist *new = allocate(n);

	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	for (size_t i = 0; i < n; i++) {
		describe(pier_devlist_get(devs, i), &new->infos[i]);
		new->array[i] = &new->infos[i];
	}
	*list = new->array;
	*count = (uint32_t)n;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_create_list(struct doca_dev *dev, int filter,
					  struct doca_devinfo_rep ***list,
					  uint32_t *count)
{
	struct pier_devlist *devs;
	doca_error_t error;
	int err;

	if (!dev || !list || !count)
		return DOCA_ERROR_INVALID_VALUE;
	if (filter != DOCA_DEVINFO_REP_FILTER_ALL &&
	    filter != DOCA_DEVINFO_REP_FILTER_NET)
		return pier__doca_unsupported("a filter of emulated devices");
	err = pier_devlist_create(&devs);
	if (err)
		return pier__doca_error(err);
	error = fill(devs, list, count);
	pier_devlist_destroy(devs);
	return error;
}

doca_error_t doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **array)
{
	struct replist *list;

	if (!array)
		return DOCA_ERROR_INVALID_VALUE;
	list = (struct replist *)((char *)array -
				  offsetof(struct replist, array));
	free(list->infos);
	free(list);
	return DOCA_SUCCESS;
}

doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *info,
			       struct doca_dev_rep **rep)
{
	struct doca_dev_rep *new;

	if (!info || !rep)
		return DOCA_ERROR_INVALID_VALUE;
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	new->info = *info;
	*rep = new;
	return DOCA_SUCCESS;
}

doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev)
{
	free(dev);
	return DOCA_SUCCESS;
}

struct doca_devinfo_rep *doca_dev_rep_as_devinfo(struct doca_dev_rep *rep)
{
	return rep ? &rep->info : NULL;
}

doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *info,
				       char *rep_vuid, uint32_t size)
{
	if (!info || !rep_vuid)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_copy_text(info->vuid, rep_vuid, size);
}

doca_error_t
doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *info,
				  char *pci)
{
	if (!info || !pci)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_copy_text(info->pci, pci,
				    DOCA_DEVINFO_REP_PCI_ADDR_SIZE);
}

doca_error_t
doca_devinfo_rep_get_pci_func_type(const struct doca_devinfo_rep *info,
				   enum doca_pci_func_type *pci_func_type)
{
	if (!info || !pci_func_type)
		return DOCA_ERROR_INVALID_VALUE;
	*pci_func_type = DOCA_PCI_FUNC_TYPE_PF;
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_rep_get_is_hotplug(const struct doca_devinfo_rep *info,
				uint8_t *is_hotplug)
{
	if (!info || !is_hotplug)
		return DOCA_ERROR_INVALID_VALUE;
	*is_hotplug = 0;
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_rep_get_iface_name(const struct doca_devinfo_rep *info,
				char *iface_name, uint32_t size)
{
	if (!info || !iface_name)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_copy_text(info->iface, iface_name, size);
}

doca_error_t
doca_devinfo_rep_is_equal_pci_addr(const struct doca_devinfo_rep *info,
				   const char *pci, uint8_t *ret)
{
	if (!info || !pci || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_pci_equal(info->pci, pci, ret);
}
